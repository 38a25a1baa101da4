"""What follows an answer that cannot be used: the same model again, another model, or the end."""

import asyncio
from dataclasses import dataclass, replace

from agents.answers import REPETITION, TIMEOUTS, Answer, Failure
from agents.dialogue import Dialogue
from agents.fallback import FallbackState
from agents.llm.retry import MAX_WAITS
from agents.ports import Journal
from agents.prompts.nudges import ask_after_broken_answer, ask_after_repetition
from agents.records import ProviderWait
from agents.types import InteractionType, ModelName
from agents.waiting import explain_too_long_wait, pass_time, seconds_until

MAX_ASKED_AGAIN = 2
"""How often in a row a useless or a broken answer is asked for again."""
MAX_TIMEOUTS = 2
"""Timeouts in a row that end an execution."""


class BadAnswers:
    """Bears with the models of one execution, up to a point.

    What it returns is the failure to end with, None while the work goes on.
    """

    def __init__(self, fallback: FallbackState, dialogue: Dialogue, journal: Journal) -> None:
        self._fallback = fallback
        self._dialogue = dialogue
        self._journal = journal
        self._patience = _Patience()
        self._borne = 0
        """How often in a row a provider asked for time and was not given it while it was asked."""

    @property
    def model(self) -> ModelName:
        """The model that answers now."""
        return self._fallback.current

    @property
    def last(self) -> str:
        """What was wrong with the last one."""
        return self._patience.last

    def note_success(self) -> None:
        """The model answered, whatever its answer was worth."""
        self._borne = 0
        self._fallback.note_success()

    def note_calls(self) -> None:
        """The model asked for tools, so its answer was of use."""
        self._patience.broken = self._patience.useless = 0

    def note_results(self) -> None:
        """Those tools ended in time."""
        self._patience.timeouts = 0

    async def note_late(self, failure: Failure) -> Failure | None:
        """Those tools did not."""
        await self._dialogue.tell(failure)
        return self._patience.count_timeout(failure)

    async def react(
        self, answer: Answer, failure: Failure, kind: InteractionType
    ) -> Failure | None:
        """The model failed, so that its answer is none."""
        await self._dialogue.record(answer, kind=kind, failure=failure)
        if failure.code == REPETITION:
            return await self.ask_again(failure, ask_after_repetition(answer.text))
        if failure.asked_wait is not None:
            return await self._bear_or_end(failure)
        await self._dialogue.tell(failure)
        end = await self._switch_or_count(failure)
        if end is None and failure.partial:
            await self._dialogue.nudge(ask_after_broken_answer(failure.message, answer.text))
        return end

    async def ask_again(
        self, failure: Failure, nudge: str, *, last_nudge: str = ""
    ) -> Failure | None:
        """The answer was of no use. `last_nudge` is said instead of ending."""
        await self._dialogue.tell(failure)
        self._fallback.note_success()
        end = self._patience.count_useless(failure)
        if end is not None and not last_nudge:
            return end
        await self._dialogue.nudge(nudge if end is None else last_nudge)
        return None

    async def switch_model(self, failure: Failure) -> bool:
        """Let the next model take over, else an earlier one once its provider may be asked again;
        False where there is none."""
        takeover = self._fallback.take_next(failure) or self._fallback.take_rested(
            failure, latest=self._dialogue.ends_at
        )
        if takeover is None:
            return False
        await self._journal.record_fallback(takeover.switch)
        self._dialogue.llm = takeover.llm
        self._patience = _Patience()
        if takeover.reason is not None:
            await self._pass_time(seconds_until(takeover.ready_at), takeover.reason)
        return True

    async def bear_wait(self, failure: Failure) -> Failure | None:
        """The provider asks for time: let another one be asked, or wait for who may be first."""
        self._borne += 1
        if self._borne > MAX_WAITS:
            return self._give_up(failure, f"{failure.message} It was waited for {MAX_WAITS} times.")
        seconds = failure.asked_wait or 0.0
        until = asyncio.get_running_loop().time() + seconds
        self._fallback.note_wait(self._dialogue.llm, until, failure)
        if await self.switch_model(failure):
            return None
        left = seconds_until(self._dialogue.ends_at)
        if seconds > left:
            return self._give_up(failure, explain_too_long_wait(failure.message, left))
        await self._pass_time(seconds, failure)
        return None

    async def _pass_time(self, seconds: float, reason: Failure) -> None:
        if seconds > 0:
            llm = self._dialogue.llm
            await pass_time(
                ProviderWait(llm.provider_name, llm.model, seconds, reason.message, reason.code),
                self._journal,
            )

    async def _bear_or_end(self, failure: Failure) -> Failure | None:
        end = await self.bear_wait(failure)
        if end is None:
            self._dialogue.iteration -= 1
        else:
            await self._dialogue.tell(end)
        return end

    def explain(self, reason: str) -> str:
        """Why an execution failed, with the providers that could not take over."""
        return self._fallback.explain(reason)

    async def _switch_or_count(self, failure: Failure) -> Failure | None:
        """Let another model take over when it is time to, at the latest before this one fails."""
        is_due = self._fallback.note_failure(failure.code)
        if is_due and await self._switch_and_repeat(failure):
            return None
        end = self._count_failure(failure)
        if end is None or await self._switch_and_repeat(failure):
            return None
        return self._give_up(end, end.message)

    def _give_up(self, failure: Failure, reason: str) -> Failure:
        """The failure to end with where no provider is left."""
        return replace(failure, message=self.explain(reason), is_last=True)

    async def _switch_and_repeat(self, failure: Failure) -> bool:
        if not await self.switch_model(failure):
            return False
        self._dialogue.iteration -= 1
        return True

    def _count_failure(self, failure: Failure) -> Failure | None:
        if failure.code in TIMEOUTS:
            return self._patience.count_timeout(failure)
        if failure.code == "partial_stream_error":
            return self._patience.count_broken(failure)
        # Where somebody could take over, this one is asked once more before.
        return None if self._fallback.has_next else failure


@dataclass
class _Patience:
    """Bad answers in a row; each count returns the failure to end with once it is too many."""

    timeouts: int = 0
    broken: int = 0
    useless: int = 0
    last: str = ""

    def count_timeout(self, failure: Failure) -> Failure | None:
        self.timeouts += 1
        self.last = failure.message
        return failure if self.timeouts >= MAX_TIMEOUTS else None

    def count_broken(self, failure: Failure) -> Failure | None:
        self.broken += 1
        self.last = failure.message
        return _too_often(failure, self.broken)

    def count_useless(self, failure: Failure) -> Failure | None:
        self.timeouts = self.broken = 0
        self.useless += 1
        self.last = failure.message
        return _too_often(failure, self.useless)


def _too_often(failure: Failure, times: int) -> Failure | None:
    if times <= MAX_ASKED_AGAIN:
        return None
    return replace(failure, message=f"{failure.message} It did so {times} times in a row.")

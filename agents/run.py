"""The loop every agent runs: ask the model, do what it asks for, until it concludes."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from agents.answers import (
    ITERATION_TIMEOUT,
    OUTPUT_LIMIT,
    REPETITION,
    TIMEOUTS,
    Answer,
    Failure,
    explain_no_conclusion,
    explain_useless,
)
from agents.calls import CallRunner
from agents.controllers import AskAgain, CallTools, Conclude, make_controller
from agents.conversation import Conversation
from agents.dialogue import Dialogue
from agents.fallback import FallbackPlan, FallbackState
from agents.offers import OfferBook
from agents.patience import MAX_ASKED_AGAIN, Patience
from agents.ports import LLM, Journal, ResultReader, Review, Toolbox
from agents.prompts.nudges import (
    ask_after_broken_answer,
    ask_after_repetition,
    ask_for_text_without_tools,
    ask_to_conclude,
    ask_to_conclude_early,
)
from agents.recall import RecallToolbox
from agents.records import ToolCallRecord
from agents.reviewing import Reviewer
from agents.summaries import Circumstances, Summaries, SummaryPlan
from agents.task import AgentTask
from agents.types import (
    JSON,
    AgentOutcome,
    InteractionType,
    Message,
    ModelName,
    Note,
    Phase,
    ToolCall,
)

KEEPS_PROVIDER = frozenset({REPETITION, "no_conclusion"})
"""What a model did wrong and its provider did not."""
MAX_SINGLE_ATTEMPTS = 6
"""Model calls of a controller that does not iterate; only useless answers use them up."""


async def run_agent(
    task: AgentTask,
    *,
    llm: LLM,
    toolbox: Toolbox,
    journal: Journal,
    fallbacks: FallbackPlan | None = None,
    summaries: SummaryPlan | None = None,
    results: ResultReader | None = None,
    mask: Callable[[str], str] = str,
) -> AgentOutcome:
    """Work on a task until it is concluded, fails or runs out of iterations.

    When the model fails, the next one of `fallbacks` takes over. Large tool results are summarized
    as `summaries` says, and what was shortened can be read again where there are `results`. Goes on
    from `task.history` when that is there. What models say is kept, and told to them again, as
    `mask` leaves it; only the tools get their arguments as they were written. Cancelling the
    coroutine stops the model call and the tool calls; what is open on the timeline is left to the
    caller.
    """
    plan = fallbacks or FallbackPlan(ModelName(llm.provider_name, "", llm.model))
    tools = RecallToolbox(toolbox, results, offers=task.recalls_session)
    summaries = summaries or SummaryPlan()
    return await _Execution(task, llm, tools, journal, plan, summaries, mask).run()


class _Execution:
    def __init__(
        self,
        task: AgentTask,
        llm: LLM,
        toolbox: RecallToolbox,
        journal: Journal,
        plan: FallbackPlan,
        summaries: SummaryPlan,
        mask: Callable[[str], str],
    ) -> None:
        self._task = task
        self._toolbox = toolbox
        self._journal = journal
        self._controller = make_controller(task.controller)
        self._fallback = FallbackState(plan, is_single_shot=not self._controller.may_iterate)
        self._conversation = Conversation(task.history or task.opening)
        self._dialogue = Dialogue(
            task, llm, toolbox, journal, self._controller, self._conversation, mask
        )
        self._summaries = Summaries(
            summaries,
            journal,
            options=task.llm_options,
            iteration_limit=task.limits.iteration,
            can_recall=toolbox.can_recall,
            mask=mask,
        )
        self._dialogue.iteration = self._count_past_iterations()
        self._patience = Patience()
        self._offers = OfferBook(
            task.known_offers, toolbox, journal, is_by_text=task.controller == "react", mask=mask
        )
        self._reviewer = Reviewer(task, toolbox, self._offers)
        self._forced_prompt = ask_to_conclude(task.max_iterations)
        self._early_prompt = ask_to_conclude_early()

    async def run(self) -> AgentOutcome:
        if not self._task.history:
            # The prompt says what there is, so it is kept first: what changes after is told.
            await self._offers.record(tells_model=False)
            await self._journal.record_prompt(self._task.opening)
        review = await self._resume()
        if review is not None:
            return await self._complete(review)
        while self._dialogue.iteration < self._max_iterations and not self._is_forced():
            self._dialogue.iteration += 1
            outcome = await self._iterate()
            if outcome is not None:
                return outcome
        if not self._controller.may_iterate:
            return self._end(Failure("no_answer", self._patience.last))
        return await self._conclude_by_force()

    @property
    def _max_iterations(self) -> int:
        if self._controller.may_iterate:
            return self._task.max_iterations
        return MAX_SINGLE_ATTEMPTS

    def _count_past_iterations(self) -> int:
        if not self._task.history:
            return 0
        return min(self._conversation.count_iterations(), self._max_iterations)

    async def _resume(self) -> Review | None:
        """Finish what an interrupted iteration left open; returns its answer if that counts."""
        calls = self._conversation.find_open_calls()
        if calls:
            await self._run_calls(calls, self._task.open_numbers, self._start_deadline())
        answer = self._controller.conclude(self._conversation.find_answer())
        if answer is None:
            return None
        review = await self._review(answer.text, is_last=self._is_forced())
        if not review.objection:
            return review
        await self._dialogue.nudge(review.objection)
        return None

    async def _iterate(self) -> AgentOutcome | None:
        await self._look_at_tools()
        deadline = self._start_deadline()
        self._report(
            self._task.phase or self._controller.phase, f"Asking {self._dialogue.llm.model}"
        )
        answer = await self._dialogue.ask(self._kind, deadline)
        if answer.failure is not None:
            return await self._react_to_failure(answer, answer.failure)
        self._fallback.note_success()
        match self._controller.decide(answer.text, tuple(answer.calls)):
            case CallTools() as wanted:
                return await self._call_tools(answer, wanted, deadline)
            case Conclude() as conclusion:
                review = await self._review(
                    conclusion.text, is_last=not self._controller.may_iterate
                )
                if review.objection:
                    return await self._send_back(answer, conclusion, review)
                await self._dialogue.record_conclusion(answer, self._final_kind, conclusion, review)
                if answer.finish_reason == "length":
                    await self._dialogue.tell(OUTPUT_LIMIT)
                return await self._complete(review)
            case AskAgain(reason, nudge, code) as useless:
                failure = Failure(code, explain_useless(reason, answer))
                await self._dialogue.record(answer, kind=self._kind, failure=failure)
                return await self._ask_again_after_useless(
                    failure, nudge, may_conclude=useless.may_conclude
                )

    async def _look_at_tools(self) -> None:
        """Servers that are back and tools that are new come in before the question."""
        await self._toolbox.refresh()
        news = await self._offers.record(tells_model=True)
        if news is not None:
            self._conversation.add(news)

    async def _review(self, text: str, *, is_last: bool) -> Review:
        said = self._conversation.messages
        return await self._reviewer.review(text, self._dialogue.llm, said, is_last=is_last)

    async def _send_back(
        self, answer: Answer, conclusion: Conclude, review: Review
    ) -> AgentOutcome | None:
        """Tell the model why its answer does not count; in the end it is made to conclude."""
        await self._dialogue.record(
            answer, kind=self._kind, kept=conclusion.kept, shown=conclusion.text
        )
        await self._dialogue.tell(Failure("answer_not_accepted", review.reason))
        await self._dialogue.nudge(review.objection)
        return await self._conclude_by_force() if self._reviewer.is_out_of_patience else None

    # Tools

    async def _call_tools(
        self, answer: Answer, wanted: CallTools, deadline: float
    ) -> AgentOutcome | None:
        calls = wanted.calls
        numbers = await self._dialogue.record(
            answer, kind=self._kind, calls=calls, kept=wanted.kept, shown=wanted.shown
        )
        self._patience.note_calls()
        self._reviewer.note_calls()
        by_id = {call.id: number for call, number in zip(calls, numbers, strict=True)}
        is_late = await self._run_calls(calls, by_id, deadline)
        if not is_late:
            self._patience.note_results()
            return None
        limit = self._task.limits.iteration
        failure = Failure(
            ITERATION_TIMEOUT, f"Tools did not end within the {limit:g} s an iteration may take."
        )
        await self._dialogue.tell(failure)
        end = self._patience.count_timeout(failure)
        return None if end is None else self._end(end)

    async def _run_calls(
        self, calls: Sequence[ToolCall], numbers: Mapping[str, int], deadline: float
    ) -> bool:
        """Run calls and keep their results; True when the iteration's time ran out."""
        self._report("gathering_info", f"Running {_count(len(calls), 'tool call')}")
        runner = CallRunner(
            toolbox=self._toolbox,
            journal=self._journal,
            controller=self._controller,
            count_identical=self._conversation.count_identical,
            shorten=self._shorten,
            iteration_limit=self._task.limits.iteration,
        )
        results = await runner.run(calls, numbers, deadline=deadline)
        self._conversation.place_results(results.messages)
        return results.is_late

    async def _shorten(
        self, record: ToolCallRecord, write: Callable[[str], Message], deadline: float
    ) -> Message | None:
        now = Circumstances(
            self._fallback.current, self._dialogue.iteration, self._conversation.messages, deadline
        )
        return await self._summaries.shorten(record, now, write)

    # Bad answers

    async def _react_to_failure(self, answer: Answer, failure: Failure) -> AgentOutcome | None:
        await self._dialogue.record(answer, kind=self._kind, failure=failure)
        if failure.code == REPETITION:
            return await self._ask_again_after_useless(failure, ask_after_repetition(answer.text))
        await self._dialogue.tell(failure)
        outcome = await self._switch_or_count(failure)
        if outcome is None and failure.partial:
            await self._dialogue.nudge(ask_after_broken_answer(failure.message, answer.text))
        return outcome

    async def _switch_or_count(self, failure: Failure) -> AgentOutcome | None:
        """Let another model take over when it is time to, at the latest before this one fails."""
        is_due = self._fallback.note_failure(failure.code)
        if is_due and await self._switch_and_repeat(failure):
            return None
        end = self._count_failure(failure)
        if end is None or await self._switch_and_repeat(failure):
            return None
        return self._end(replace(end, message=self._fallback.explain(end.message)))

    async def _switch_and_repeat(self, failure: Failure) -> bool:
        if not await self._switch_model(failure):
            return False
        self._dialogue.iteration -= 1
        return True

    async def _switch_model(self, failure: Failure) -> bool:
        takeover = self._fallback.take_next(failure)
        if takeover is None:
            return False
        await self._journal.record_fallback(takeover.switch)
        self._dialogue.llm = takeover.llm
        self._patience = Patience()
        return True

    def _count_failure(self, failure: Failure) -> Failure | None:
        if failure.code in TIMEOUTS:
            return self._patience.count_timeout(failure)
        if failure.code == "partial_stream_error":
            return self._patience.count_broken(failure)
        # Where somebody could take over, this one is asked once more before.
        return None if self._fallback.has_next else failure

    async def _ask_again_after_useless(
        self, failure: Failure, nudge: str, *, may_conclude: bool = False
    ) -> AgentOutcome | None:
        await self._dialogue.tell(failure)
        self._fallback.note_success()
        end = self._patience.count_useless(failure)
        if end is not None and not may_conclude:
            return self._end(end)
        await self._dialogue.nudge(nudge if end is None else self._early_prompt)
        return None

    # Ends

    async def _conclude_by_force(self) -> AgentOutcome:
        self._report(
            "concluding", f"Concluding after {_count(self._dialogue.iteration, 'iteration')}"
        )
        if not self._is_forced():
            await self._dialogue.nudge(self._forced_prompt)
        asked_again = 0
        while True:
            answer = await self._dialogue.ask(
                "forced_conclusion", self._start_deadline(), with_tools=False
            )
            conclusion = None if answer.failure else self._controller.conclude(answer.text)
            if conclusion is not None:
                review = await self._review(conclusion.text, is_last=True)
                await self._dialogue.record_conclusion(
                    answer, "forced_conclusion", conclusion, review
                )
                return await self._complete(review)
            failure = answer.failure or explain_no_conclusion(answer)
            await self._dialogue.record(answer, kind="forced_conclusion", failure=failure)
            await self._dialogue.tell(failure)
            if failure.code == "no_conclusion" and asked_again < MAX_ASKED_AGAIN:
                asked_again += 1
                await self._dialogue.nudge(ask_for_text_without_tools())
            elif failure.code in KEEPS_PROVIDER or not await self._switch_model(failure):
                return self._end_without_conclusion(failure)

    def _end_without_conclusion(self, failure: Failure) -> AgentOutcome:
        iterations = _count(self._dialogue.iteration, "iteration")
        reason = f"After {iterations} no conclusion could be had. {failure.message}"
        return self._end(Failure(failure.code, self._fallback.explain(reason)))

    async def _complete(self, review: Review) -> AgentOutcome:
        is_forced, text = self._is_forced(), review.text
        metadata: dict[str, JSON] = dict(review.metadata)
        if is_forced:
            metadata |= {
                "forced_conclusion": True,
                "iterations_used": self._dialogue.iteration,
                "max_iterations": self._task.max_iterations,
            }
        await self._journal.record_note(Note("final_analysis", text, metadata))
        return AgentOutcome(
            "completed",
            final_analysis=text,
            iterations_used=self._dialogue.iteration,
            is_forced=is_forced,
        )

    def _end(self, failure: Failure) -> AgentOutcome:
        return AgentOutcome(
            "timed_out" if failure.code in TIMEOUTS else "failed",
            error=failure.message,
            error_code=failure.code,
            iterations_used=self._dialogue.iteration,
        )

    # Small things

    @property
    def _kind(self) -> InteractionType:
        return self._task.interaction_type or self._controller.interaction_type

    @property
    def _final_kind(self) -> InteractionType:
        return self._task.interaction_type or self._controller.final_interaction_type

    def _is_forced(self) -> bool:
        """Whether the model was made to conclude, now or before an interruption."""
        return any(
            message.role == "user" and message.content in (self._forced_prompt, self._early_prompt)
            for message in self._conversation.messages
        )

    def _start_deadline(self) -> float:
        return asyncio.get_running_loop().time() + self._task.limits.iteration

    def _report(self, phase: Phase, message: str) -> None:
        self._journal.report_progress(phase, message)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

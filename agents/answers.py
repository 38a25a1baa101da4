"""What came of one model call, and asking for it."""

import asyncio
import time
import uuid
from collections.abc import Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field, replace
from typing import Literal

from agents.call_time import CallTime
from agents.llm.head_thoughts import part_late
from agents.llm.retry import Retry, asks_to_wait, stream_with_retries
from agents.llm_events import (
    AnswerFinished,
    CallProposed,
    LLMEvent,
    NativeToolTold,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from agents.ports import LLM, Journal, LLMOptions, NotSent
from agents.records import ClosedBlock
from agents.repetition import RepetitionWatch
from agents.streaming import AnswerBlocks, Blocks, BlockStatus
from agents.types import JSON, Message, Note, ToolCall, ToolSpec, Usage
from agents.waiting import Patience, ProviderWaits
from tarsy.errors import LLMError

REPETITION = "repetition"
ITERATION_TIMEOUT = "iteration_timeout"
TIMEOUTS = frozenset({ITERATION_TIMEOUT, "initial_response_timeout", "stall_timeout"})


@dataclass(frozen=True)
class Failure:
    """Why a model call brought no usable answer."""

    code: str
    message: str
    partial: bool = False
    """Some of the answer was already shown."""
    retryable: bool = False
    """The provider's word on whether asking again may help."""
    asked_wait: float | None = None
    """The seconds after which the provider may be asked again, where another one may be before."""
    is_last: bool = False
    """Its provider has failed for good, and none is left that could take over."""

    @property
    def status(self) -> Literal["timed_out", "failed"]:
        """How what it ended is shown."""
        return "timed_out" if self.code in TIMEOUTS else "failed"


NO_CONCLUSION = Failure("no_conclusion", "The model asked for a tool instead of concluding.")


OUTPUT_LIMIT = Failure(
    "output_limit", "The model reached its output limit: the end of this answer is missing."
)


FILTERED = Failure(
    "content_filter",
    "The provider's content filter ended this answer: what stands behind is missing.",
)

_CUT = frozenset({"length", "max_tokens", "max_output_tokens", "model_length"})
_FILTERED = frozenset(
    {
        "content_filter", "content_filtered", "safety", "refusal", "recitation", "sensitive",
        "prohibited_content", "blocklist", "spii", "guardrail_intervened",
    }
)  # fmt: skip
"""The reasons to end of OpenAI, Anthropic, Google, Mistral, Bedrock and Z.ai."""


def says_cut(finish_reason: str) -> bool:
    """Whether a reason to end is the limit of an answer, in the word of any vendor."""
    return finish_reason.lower() in _CUT


class Answer:
    """A model's answer as it grows; complete unless `failure` is set."""

    def __init__(self, blocks: Blocks) -> None:
        self._blocks = blocks
        self._text = RepetitionWatch()
        self._thinking = RepetitionWatch()
        self.calls: list[ToolCall] = []
        self.usage = Usage()
        self.finish_reason = ""
        self.provider_fields: dict[str, JSON] = {}
        self.failure: Failure | None = None
        self.duration_ms = 0
        """What it took, without what was waited because the provider asked for it."""
        self.deadline = 0.0
        """When its iteration has to end: later than was planned where a provider was waited for."""
        self.notes: list[Note] = []

    @property
    def text(self) -> str:
        return self._text.text

    @property
    def thinking(self) -> str:
        return self._thinking.text

    @property
    def is_cut(self) -> bool:
        """Whether it reached the limit of its output."""
        return says_cut(self.finish_reason)

    @property
    def is_filtered(self) -> bool:
        """Whether its provider held some of it back."""
        return self.finish_reason.lower() in _FILTERED

    @property
    def missing_end(self) -> Failure | None:
        """What people are told of an answer that counts although its end is missing."""
        if self.is_cut:
            return OUTPUT_LIMIT
        return FILTERED if self.is_filtered else None

    @property
    def length(self) -> int:
        """Characters of text so far."""
        return self._text.length

    def make_message(self, calls: tuple[ToolCall, ...], kept: str | None = None) -> Message:
        """The message to keep, with `kept` in place of its text when there is such."""
        content = self.text if kept is None else kept
        return Message("assistant", content, calls, provider_fields=self.provider_fields)

    def take_new_notes(self, known: list[Note]) -> tuple[Note, ...]:
        """Its notes that are not known yet, and are from now on; many are the same at each call."""
        new = [note for note in self.notes if note not in known]
        known += new
        return tuple(new)

    async def take(self, event: LLMEvent) -> None:
        match event:
            case TextDelta(text):
                await self._blocks.add("llm_response", text)
                self._grow(self._text, text)
            case ThinkingDelta(text):
                await self._blocks.add("llm_thinking", text)
                self._grow(self._thinking, text)
            case CallProposed(call):
                self.calls.append(self._with_own_id(call))
            case UsageReported(usage):
                self.usage = usage
            case NativeToolTold(note):
                self.notes.append(note)
            case AnswerFinished(reason, fields):
                self.finish_reason = reason
                self.provider_fields = dict(fields)

    def part_thoughts(self) -> None:
        """Move to the thinking what stands before a closing tag that no opening one preceded."""
        thought, text = part_late(self.text)
        if thought or text != self.text:
            self._thinking.add(thought)
            self._text = RepetitionWatch()
            self._text.add(text)

    def close_blocks(
        self,
        status: BlockStatus = "completed",
        *,
        is_final: bool = False,
        response: str | None = None,
    ) -> tuple[ClosedBlock, ...]:
        """The blocks with the texts that stand in the end; `response` replaces what streamed."""
        response = self.text if response is None else response
        return self._blocks.close(response, self.thinking, status=status, is_final=is_final)

    def finish_blocks(self) -> None:
        self._blocks.finish()

    def discard_blocks(self) -> None:
        self._blocks.discard()

    def _grow(self, watch: RepetitionWatch, text: str) -> None:
        if watch.add(text):
            self.failure = Failure(
                REPETITION, "The model began to repeat itself and was stopped.", partial=True
            )

    def _with_own_id(self, call: ToolCall) -> ToolCall:
        # Some servers send no ids, or one id twice: results could not be told apart.
        if call.id and all(call.id != other.id for other in self.calls):
            return call
        return replace(call, id=f"call_{uuid.uuid4().hex[:24]}")


@dataclass(frozen=True)
class Question:
    """What one model call is made with. `deadline` is a time of the event loop's clock."""

    messages: Sequence[Message]
    tools: Sequence[ToolSpec]
    options: LLMOptions
    deadline: float
    iteration_limit: float
    longest_text: int | None = None
    """Characters of text after which the answer is stopped. What the model thinks is not counted,
    as it is against any limit a provider is given."""
    patience: Patience = field(default_factory=Patience)


async def ask(
    llm: LLM, question: Question, journal: Journal, blocks: Blocks | None = None
) -> Answer:
    """Make one model call and show it as it streams, in `blocks` or in blocks of its own.

    Tries again while nothing was shown. A failed call is an answer with `failure` set.
    """
    started = time.monotonic()
    answer = Answer(blocks or AnswerBlocks(journal))
    limit = CallTime(question.deadline)
    try:
        async with limit:
            await _collect(answer, llm, question, journal, limit)
    except NotSent as error:
        raise error.__cause__ or error from None
    except LLMError as error:
        answer.failure = _read_failure(error)
    except TimeoutError:
        if not limit.is_over:
            raise
        answer.failure = _describe_timeout(llm, question, answer)
    except asyncio.CancelledError:
        # What waits to be shown is part of what is kept. A stop becomes no other error by it.
        with suppress(Exception):
            answer.finish_blocks()
        raise
    finally:
        answer.discard_blocks()
    answer.finish_blocks()
    answer.part_thoughts()
    answer.deadline = limit.at
    waited = limit.at - question.deadline
    answer.duration_ms = round((time.monotonic() - started - waited) * 1000)
    return answer


def _read_failure(error: LLMError) -> Failure:
    asked_wait = error.retry_after if asks_to_wait(error) else None
    return Failure(error.code, str(error), error.partial, error.retryable, asked_wait)


async def _collect(
    answer: Answer, llm: LLM, question: Question, journal: Journal, time: CallTime
) -> None:
    async def tell_retry(retry: Retry) -> None:
        await journal.record_note(_note_retry(retry))

    async def confirm() -> None:
        # Each time: another worker may have taken over while this one waited to try again.
        try:
            await journal.confirm_lease()
        except Exception as error:
            raise NotSent from error

    options = replace(question.options, before_request=confirm)
    events = stream_with_retries(
        lambda: llm.stream(question.messages, question.tools, options),
        max_retries=llm.retry_rule.max_retries,
        on_retry=tell_retry,
        wait=ProviderWaits(llm, question.patience, journal, time).wait,
    )
    async with aclosing(events):
        async for event in events:
            await answer.take(event)
            if answer.failure is not None:
                return
            if question.longest_text is not None and answer.length > question.longest_text:
                answer.finish_reason = "length"
                return


def _note_retry(retry: Retry) -> Note:
    return Note(
        "error",
        f"{retry.error} Trying again in {retry.delay:.0f} s.",
        {
            "attempt": retry.attempt,
            "error_code": retry.error.code,
            "retry_in_seconds": round(retry.delay, 1),
        },
    )


def _describe_timeout(llm: LLM, question: Question, answer: Answer) -> Failure:
    return Failure(
        ITERATION_TIMEOUT,
        f"The model {llm.model} of {llm.provider_name} did not finish within the "
        f"{question.iteration_limit:.0f} s an iteration may take.",
        partial=bool(answer.text or answer.thinking),
    )


def explain_no_conclusion(answer: Answer) -> Failure:
    """Why the answer to the demand to conclude is none."""
    if answer.text.strip() or answer.calls:
        return NO_CONCLUSION
    return Failure("empty_answer", "The model gave an empty answer.")


def explain_useless(reason: str, answer: Answer) -> str:
    """Why an answer is of no use, as a sentence for people."""
    if answer.is_filtered:
        return f"{reason}: the provider's content filter held it back."
    if answer.is_cut and answer.text.strip():
        return f"{reason}: it reached its output limit."
    if answer.is_cut:
        return f"{reason}: it reached its output limit before it wrote anything."
    return f"{reason}."

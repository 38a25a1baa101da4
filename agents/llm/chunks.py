"""Reads OpenAI-shaped chunks, which both clients produce, as our events."""

from collections.abc import Collection, Mapping
from typing import Any

from agents.llm.call_pieces import CallPieces
from agents.llm.contents import find_calls, read_content, read_reasoning
from agents.llm.head_thoughts import HeadThoughts
from agents.llm.member_names import THOUGHT_TEXTS
from agents.llm.usages import UsageReader
from agents.llm.wanted_back import WantedBack
from agents.llm.wire_values import (
    as_dict,
    as_list,
    as_text,
    clean_characters,
    clean_fields,
    look,
)
from agents.llm_events import (
    AnswerFinished,
    CallProposed,
    LLMEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from agents.types import JSON
from tarsy.errors import LLMError

MAX_CHARACTERS = 2_000_000
"""Of one answer with thinking and calls; four times what the longest output limits amount to."""
MAX_CALLS = 500
MAX_EMPTY_CHUNKS = 100_000
"""In a row; a server that has nothing to say for longer has gone wrong."""

_BROKEN_OFF = frozenset({
    "error", "network_error", "insufficient_system_resource", "abort", "malformed_function_call",
    "engine_overloaded",
})  # fmt: skip
"""Reasons to end that say that the answer is none; of DeepSeek, Z.ai, OpenRouter, vLLM, Gemini and
Moonshot."""
_UNREADABLE = (
    AttributeError, TypeError, ValueError, KeyError, OverflowError, RecursionError,
)  # fmt: skip
_OVERFLOWN = "model_context_window_exceeded"
_SAYING = (
    "content", "refusal", "tool_calls", "function_call", "reasoning_details", *THOUGHT_TEXTS,
)  # fmt: skip
"""Members of a delta that say some of the answer; its role alone says nothing."""


class ChunkReader:
    """Turns the chunks of one answer into events.

    Chunks come from a network, as JSON or as the objects of an SDK that were built unchecked.
    `offered` are the names of the tools that can be called. Raises `LLMError` for a chunk that
    makes no sense and for an answer that was cut.
    """

    def __init__(self, model: str, offered: Collection[str] = ()) -> None:
        self._model = model
        self._calls = CallPieces(offered, self._count)
        self._usage = UsageReader()
        self._head = HeadThoughts()
        self._finish_reason = ""
        self._has_ended = self._has_deltas = self._has_choice = False
        self._length = 0
        self._empty = 0
        self._half: dict[type[TextDelta] | type[ThinkingDelta], str] = {}
        self.wanted_back = WantedBack()
        """What stands beside text and calls and has to be replayed."""

    def read(self, chunk: Any) -> list[LLMEvent]:
        try:
            length = self._length
            events = self._read(chunk)
        except _UNREADABLE as error:
            raise LLMError(
                "provider_error",
                f"The model {self._model} sent something that is not in the format of "
                "chat completions.",
                retryable=True,
            ) from error
        self._empty = 0 if events or self._length > length else self._empty + 1
        if self._empty > MAX_EMPTY_CHUNKS:
            raise LLMError(
                "endless_answer",
                f"The model {self._model} sent {MAX_EMPTY_CHUNKS:,} chunks in a row with nothing "
                "in them and was stopped.",
            )
        return events

    def end(self) -> None:
        """The server says that this is all, which is as good as a reason to end."""
        self._has_ended = True

    def finish(self, provider_fields: Mapping[str, JSON] | None = None) -> list[LLMEvent]:
        """The events that only the end of the stream makes certain."""
        calls = self._calls.join()
        reason = self._finish_reason
        if not reason and self._has_ended and self._has_choice:
            reason = "tool_calls" if calls else "stop"
        if not reason and calls and self._calls.are_complete:
            # Some gateways just close the connection; what is whole was meant.
            reason = "tool_calls"
        self._check_end(reason)
        events: list[LLMEvent] = []
        for is_thought, text in self._head.finish():
            self._show(ThinkingDelta if is_thought else TextDelta, text, events)
        events += [kind(clean_characters(half)) for kind, half in self._half.items() if half]
        finished = AnswerFinished(reason, clean_fields(provider_fields or {}))
        return [*events, *(CallProposed(each.call) for each in calls), finished]

    def collect_wanted(self) -> tuple[dict[str, JSON], list[JSON]]:
        """The members of the message, and those of each call in turn, to be replayed."""
        calls = self._calls.join()
        extras: list[JSON] = [dict(each.extra) for each in calls]
        return self.wanted_back.collect(has_calls=bool(calls)), extras if any(extras) else []

    def _check_end(self, reason: str) -> None:
        if not reason:
            raise LLMError(
                "connection",
                f"The model {self._model} ended the connection before its answer was complete.",
                retryable=True,
            )
        if reason.lower() in _BROKEN_OFF:
            raise LLMError(
                "provider_error",
                f"The model {self._model} broke its answer off ({reason}).",
                retryable=True,
            )
        if reason == _OVERFLOWN:
            raise LLMError(
                "context_window", f"The conversation is longer than {self._model} can read."
            )

    def _read(self, chunk: Any) -> list[LLMEvent]:
        events: list[LLMEvent] = []
        chunk = _unwrap(chunk)
        usage = self._usage.take(chunk)
        if usage is not None:
            events.append(UsageReported(usage))
        for choice in _find_choices(chunk):
            if reason := look(choice, "finish_reason"):
                self._finish_reason = str(reason)
            self._has_choice = True
            delta = self._find_delta(choice)
            if delta is not None:
                self._read_delta(delta, events)
            elif text := look(choice, "text"):
                self._hear(False, as_text(text), events)
        return events

    def _find_delta(self, choice: Any) -> Any:
        """An answer in one piece has a message in the place of a delta. Beside deltas, a message
        says all of it once more."""
        delta = look(choice, "delta") or None
        if delta is not None and any(look(delta, name) for name in _SAYING):
            self._has_deltas = True
        message = look(choice, "message")
        return delta if message is None or self._has_deltas else message

    def _read_delta(self, delta: Any, events: list[LLMEvent]) -> None:
        self._read_thinking(delta, events)
        content = look(delta, "content")
        for is_thought, text in read_content(content) if content else ():
            self._hear(is_thought, text, events)
        if refusal := look(delta, "refusal"):
            self._say(TextDelta, refusal, events)
        calls = look(delta, "tool_calls") or find_calls(content)
        self._calls.add(calls)
        # The form of before says the same once more where a server speaks both.
        if not calls and (call := look(delta, "function_call")):
            self._calls.add([call])
        self.wanted_back.take(delta)

    def _read_thinking(self, delta: Any, events: list[LLMEvent]) -> None:
        for name in THOUGHT_TEXTS:
            if thinking := look(delta, name):
                text = read_reasoning(thinking)
                self.wanted_back.take_thinking(name, thinking)
                self._say(ThinkingDelta, text, events)
                return
        if details := look(delta, "reasoning_details"):
            self._say(ThinkingDelta, read_reasoning(details), events)

    def _hear(self, is_thought: bool, text: str, events: list[LLMEvent]) -> None:
        """Some models write their thoughts at the head of the text, between tags."""
        counted = self._count(text)
        for is_tagged, part in [(True, counted)] if is_thought else self._head.feed(counted):
            self._show(ThinkingDelta if is_tagged else TextDelta, part, events)

    def _say(
        self, kind: type[TextDelta] | type[ThinkingDelta], said: str, events: list[LLMEvent]
    ) -> None:
        self._show(kind, self._count(said), events)

    def _show(
        self, kind: type[TextDelta] | type[ThinkingDelta], text: str, events: list[LLMEvent]
    ) -> None:
        """Some servers split an emoji into two escapes and put them into two chunks."""
        if self._half:
            text = self._half.pop(kind, "") + text
        if text and "\ud800" <= text[-1] <= "\udbff":
            self._half[kind], text = text[-1], text[:-1]
        if text:
            events.append(kind(clean_characters(text)))

    def _count(self, text: str) -> str:
        """The text, unless there was too much of it: nothing else ends a stream that flows."""
        self._length += len(text)
        if self._length > MAX_CHARACTERS or len(self._calls) > MAX_CALLS:
            raise LLMError(
                "endless_answer",
                f"The answer of the model {self._model} grew too long and was stopped: more than "
                f"{MAX_CHARACTERS:,} characters or {MAX_CALLS} tool calls.",
            )
        return text


def _unwrap(chunk: Any) -> Any:
    """What a gateway has put into an envelope of its own."""
    inner = as_dict(as_dict(chunk).get("data"))
    return inner if "choices" in inner and "choices" not in chunk else chunk


def _find_choices(chunk: Any) -> list[Any]:
    """Those of the first answer: a gateway may tell its text and its calls in two of one number."""
    choices = as_list(look(chunk, "choices"))
    number = look(choices[0], "index") if choices else None
    return [each for each in choices if look(each, "index") == number]

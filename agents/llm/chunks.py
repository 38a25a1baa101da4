"""Reads OpenAI-shaped chunks, which both clients produce, as our events."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.llm_events import (
    AnswerFinished,
    CallProposed,
    LLMEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from agents.types import JSON, ToolCall, Usage
from tarsy.errors import LLMError

MAX_CHARACTERS = 2_000_000
"""Of one answer with thinking and calls; four times what the longest output limits amount to."""
MAX_CALLS = 500

_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


@dataclass
class _Fragments:
    """A tool call while its pieces arrive."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    def join(self) -> ToolCall:
        return ToolCall(
            clean_characters(self.id),
            clean_characters(self.name),
            clean_characters(self.arguments),
        )


class ChunkReader:
    """Turns the chunks of one answer into events.

    Chunks come from a network, as JSON or as the objects of an SDK that were built unchecked.
    Raises `LLMError` for a chunk that makes no sense and for an answer that was cut.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._calls: list[_Fragments] = []
        self._by_index: dict[int, _Fragments] = {}
        self._finish_reason = ""
        self._length = 0
        self._half: dict[type[TextDelta] | type[ThinkingDelta], str] = {}

    def read(self, chunk: Any) -> list[LLMEvent]:
        try:
            return self._read(chunk)
        except (AttributeError, TypeError, ValueError, KeyError) as error:
            raise LLMError(
                "provider_error",
                f"The model {self._model} sent something that is not in the format of "
                "chat completions.",
                retryable=True,
            ) from error

    def finish(self, provider_fields: Mapping[str, JSON] | None = None) -> list[LLMEvent]:
        """The events that only the end of the stream makes certain."""
        if not self._finish_reason:
            raise LLMError(
                "connection",
                f"The model {self._model} ended the connection before its answer was complete.",
                retryable=True,
            )
        calls = [fragments.join() for fragments in self._calls]
        finished = AnswerFinished(self._finish_reason, _clean_fields(provider_fields or {}))
        rest = [kind(clean_characters(half)) for kind, half in self._half.items() if half]
        return [*rest, *(CallProposed(call) for call in calls if call.name), finished]

    def _read(self, chunk: Any) -> list[LLMEvent]:
        events: list[LLMEvent] = []
        usage = read_usage(_look(chunk, "usage"))
        if usage is not None:
            events.append(UsageReported(usage))
        for choice in _look(chunk, "choices") or ():
            if reason := _look(choice, "finish_reason"):
                self._finish_reason = str(reason)
            delta = _look(choice, "delta")
            if delta is not None:
                self._read_delta(delta, events)
        return events

    def _read_delta(self, delta: Any, events: list[LLMEvent]) -> None:
        if thinking := _look(delta, "reasoning_content") or _look(delta, "reasoning"):
            self._say(ThinkingDelta, thinking, events)
        if content := _look(delta, "content"):
            self._say(TextDelta, content, events)
        if refusal := _look(delta, "refusal"):
            self._say(TextDelta, refusal, events)
        for fragment in _look(delta, "tool_calls") or ():
            self._add_fragment(fragment)

    def _say(
        self, kind: type[TextDelta] | type[ThinkingDelta], said: object, events: list[LLMEvent]
    ) -> None:
        """Some servers split an emoji into two escapes and put them into two chunks."""
        text = self._count(_as_text(said))
        if self._half:
            text = self._half.pop(kind, "") + text
        if "\ud800" <= text[-1] <= "\udbff":
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

    def _add_fragment(self, fragment: Any) -> None:
        call_id = _look(fragment, "id") or ""
        call = self._find_call(int(_look(fragment, "index") or 0), call_id)
        call.id = call.id or self._count(call_id)
        function = _look(fragment, "function")
        if function is None:
            return
        call.name = call.name or self._count(_as_text(_look(function, "name") or ""))
        call.arguments += self._count(_as_text(_look(function, "arguments") or ""))

    def _find_call(self, index: int, call_id: str) -> _Fragments:
        known = self._by_index.get(index)
        # Some servers give every parallel call the index 0; a new id then means a new call.
        if known is not None and (not call_id or not known.id or call_id == known.id):
            return known
        fragments = _Fragments()
        self._by_index[index] = fragments
        self._calls.append(fragments)
        return fragments


def read_usage(usage: Any) -> Usage | None:
    if usage is None:
        return None
    details = _look(usage, "completion_tokens_details")
    thinking = None if details is None else _look(details, "reasoning_tokens")
    return Usage(
        input_tokens=_as_count(_look(usage, "prompt_tokens")),
        output_tokens=_as_count(_look(usage, "completion_tokens")),
        thinking_tokens=_as_count(thinking),
    )


def _look(value: Any, name: str) -> Any:
    """A member of an object; None when it is not there. Raises TypeError for what has none."""
    if type(value) is dict:
        return value.get(name)
    if value is None or isinstance(value, str | bytes | int | float | list):
        raise TypeError(f"an object expected, {type(value).__name__} found")
    return getattr(value, name, None)


def clean_characters(text: str) -> str:
    """The text with what neither PostgreSQL nor a wire takes replaced: NUL, half of a pair."""
    if _UNSTORABLE.search(text) is None:
        return text
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _HALF.sub("\ufffd", text).replace("\x00", "\ufffd")


def _clean_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    return {name: _clean_value(value) for name, value in fields.items()}


def _clean_value(value: JSON) -> JSON:
    if isinstance(value, str):
        return clean_characters(value)
    if isinstance(value, list):
        return [_clean_value(item) for item in value]
    if isinstance(value, dict):
        return {clean_characters(name): _clean_value(item) for name, item in value.items()}
    return value


def _as_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, {type(value).__name__} found")
    return value


def _as_count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None

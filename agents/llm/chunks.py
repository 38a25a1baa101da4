"""Reads OpenAI-shaped chunks, which both clients produce, as our events."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from agents.types import (
    JSON,
    AnswerFinished,
    CallProposed,
    LLMEvent,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    Usage,
    UsageReported,
)
from tarsy.errors import LLMError


@dataclass
class _Fragments:
    """A tool call while its pieces arrive."""

    id: str = ""
    name: str = ""
    arguments: str = ""

    def join(self) -> ToolCall:
        return ToolCall(self.id, self.name, self.arguments)


class ChunkReader:
    """Turns the chunks of one answer into events.

    Chunks come from a network and are read through `getattr`: SDKs build them without validation.
    Raises `LLMError` for a chunk that makes no sense and for an answer that was cut.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._calls: list[_Fragments] = []
        self._by_index: dict[int, _Fragments] = {}
        self._finish_reason = ""

    def read(self, chunk: Any) -> list[LLMEvent]:
        try:
            return list(self._read(chunk))
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
        finished = AnswerFinished(self._finish_reason, dict(provider_fields or {}))
        return [*(CallProposed(call) for call in calls if call.name), finished]

    def _read(self, chunk: Any) -> Iterator[LLMEvent]:
        usage = read_usage(getattr(chunk, "usage", None))
        if usage is not None:
            yield UsageReported(usage)
        for choice in chunk.choices or ():
            if choice.finish_reason:
                self._finish_reason = str(choice.finish_reason)
            if choice.delta is None:
                continue
            yield from self._read_delta(choice.delta)

    def _read_delta(self, delta: Any) -> Iterator[LLMEvent]:
        thinking = getattr(delta, "reasoning_content", None) or getattr(delta, "reasoning", None)
        if thinking:
            yield ThinkingDelta(_as_text(thinking))
        if delta.content:
            yield TextDelta(_as_text(delta.content))
        refusal = getattr(delta, "refusal", None)
        if refusal:
            yield TextDelta(_as_text(refusal))
        for fragment in delta.tool_calls or ():
            self._add_fragment(fragment)

    def _add_fragment(self, fragment: Any) -> None:
        call = self._find_call(int(fragment.index or 0), fragment.id or "")
        call.id = call.id or (fragment.id or "")
        if fragment.function is None:
            return
        call.name = call.name or _as_text(fragment.function.name or "")
        call.arguments += _as_text(fragment.function.arguments or "")

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
    details = getattr(usage, "completion_tokens_details", None)
    return Usage(
        input_tokens=_as_count(getattr(usage, "prompt_tokens", None)),
        output_tokens=_as_count(getattr(usage, "completion_tokens", None)),
        thinking_tokens=_as_count(getattr(details, "reasoning_tokens", None)),
    )


def _as_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, {type(value).__name__} found")
    return value


def _as_count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None

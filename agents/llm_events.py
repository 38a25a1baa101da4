"""What a model's answer consists of while it streams."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agents.types import JSON, Note, ToolCall, Usage


@dataclass(frozen=True)
class TextDelta:
    text: str


@dataclass(frozen=True)
class ThinkingDelta:
    text: str


@dataclass(frozen=True)
class CallProposed:
    """A complete tool call; its fragments were joined by the adapter."""

    call: ToolCall


@dataclass(frozen=True)
class UsageReported:
    usage: Usage


@dataclass(frozen=True)
class NativeToolTold:
    """What a tool of the provider's own did, or that it could not be offered."""

    note: Note


@dataclass(frozen=True)
class AnswerFinished:
    """The last event of every stream that was not cut."""

    reason: str
    provider_fields: Mapping[str, JSON] = field(default_factory=dict)


LLMEvent = (
    TextDelta | ThinkingDelta | CallProposed | UsageReported | NativeToolTold | AnswerFinished
)

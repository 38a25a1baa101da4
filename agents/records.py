"""What an agent tells its journal, each record written as one transaction."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from agents.types import (
    JSON,
    BlockKind,
    InteractionType,
    Message,
    ModelName,
    Note,
    ServerOffer,
    ToolCall,
    ToolResult,
    ToolTarget,
    Usage,
)


@dataclass(frozen=True)
class ClosedBlock:
    """A streamed block as it ended. `block_id` is what `Journal.open_block` gave."""

    block_id: str
    kind: BlockKind
    content: str
    status: Literal["completed", "failed", "cancelled", "timed_out"] = "completed"
    is_final: bool = False
    """This text is the execution's final analysis."""


@dataclass(frozen=True)
class PlannedCall:
    """A proposed call and what it means to us."""

    call: ToolCall
    target: ToolTarget


@dataclass(frozen=True)
class LLMCallRecord:
    """One finished model call, written as one transaction."""

    interaction_type: InteractionType
    iteration: int
    provider_name: str
    model: str
    messages_count: int
    tools_count: int
    blocks: tuple[ClosedBlock, ...]
    message: Message | None
    """The assistant's message to keep; None when the call failed."""
    planned_calls: tuple[PlannedCall, ...] = ()
    usage: Usage = field(default_factory=Usage)
    duration_ms: int = 0
    error: str = ""
    error_code: str = ""
    thinking: str = ""
    notes: tuple[Note, ...] = ()
    """What the provider's own tools did meanwhile."""
    estimated_tokens: int = 0
    """How large the question was, as we reckon before it is asked."""
    compacted: tuple[int, ...] = ()
    """The tool calls whose results the model got in short form."""
    asked: tuple[Message, ...] = ()
    """The question, where it is not the execution's own conversation."""
    max_iterations: int = 0
    """How many iterations the execution may have."""
    sent_back: str = ""
    """Why the answer was not accepted, in a sentence for people."""


@dataclass(frozen=True)
class CallPlan:
    """Calls that no model proposed, as one step of the conversation."""

    message: Message
    planned_calls: tuple[PlannedCall, ...]


@dataclass(frozen=True)
class ModelSwitch:
    """Another model takes over an execution: from which one, to which one and why."""

    before: ModelName
    after: ModelName
    reason: str
    metadata: Mapping[str, JSON]


@dataclass(frozen=True)
class ProviderWait:
    """A provider is not asked for so many seconds, because it wants that; `reason` says why."""

    provider_name: str
    model: str
    seconds: float
    reason: str
    error_code: str


@dataclass(frozen=True)
class ToolCallRecord:
    """One finished tool call: its row, its timeline event and the message the model gets."""

    number: int
    """Its number within the session: the 5 of `[T5]`."""
    call: ToolCall
    target: ToolTarget
    result: ToolResult
    message: Message


@dataclass(frozen=True)
class OffersRecord:
    """What tool servers give from now on, written as one transaction.

    `note` is for people, `message` for the model, which would otherwise not know.
    """

    offers: tuple[ServerOffer, ...]
    note: Note | None = None
    message: Message | None = None


@dataclass(frozen=True)
class SummaryLabel:
    """Which result a summary is of, and who makes it."""

    number: int
    target: ToolTarget
    original_tokens: int
    model: ModelName
    is_fallback: bool = False
    """Somebody else was to make it and could not."""


@dataclass(frozen=True)
class SummaryRecord:
    """An attempt at a summary, written as one transaction.

    `status` is that of the summary on the timeline; "streaming" when the next attempt goes on with
    it. `call` is None when no model could be asked. `message` takes the place of the tool's result.
    """

    block_id: str
    label: SummaryLabel
    status: Literal["streaming", "completed", "failed", "timed_out"]
    content: str
    call: LLMCallRecord | None
    message: Message | None = None


@dataclass(frozen=True)
class IncidentNews:
    """What became of the alerts of an incident since an agent was told last.

    Each alert by its title; `more` of a kind are counted. `last_change` is where this ends.
    """

    last_change: int
    joined: tuple[str, ...] = ()
    reopened: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    more_joined: int = 0
    more_reopened: int = 0
    more_resolved: int = 0
    firing: int = 0
    over_since: str = ""
    """When the last one was over; empty while any fires."""
    must_conclude: bool = False

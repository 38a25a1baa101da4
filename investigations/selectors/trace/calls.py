"""What models and tools were asked and answered: a list without bodies, and each call in full."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from agents.types import JSON
from investigations.models import (
    AgentExecution,
    AlertSession,
    AuditEvent,
    LLMInteraction,
    MCPInteraction,
    Message,
    Stage,
    TimelineEvent,
)
from investigations.models.foreign_json import write_value
from investigations.selectors.sessions import get_session
from tarsy.errors import NotFound


class ModelCall(NamedTuple):
    """A model call without its bodies. A session may have thousands, too many for model objects."""

    id: uuid.UUID
    execution_id: uuid.UUID | None
    interaction_type: str
    iteration: int
    model_name: str
    provider_name: str
    input_tokens: int | None
    output_tokens: int | None
    total_tokens: int | None
    thinking_tokens: int | None
    estimated_cost_usd: float | None
    duration_ms: int | None
    error_message: str
    created_at: datetime


class ToolCall(NamedTuple):
    """A tool call without its bodies, or one look at what a server gives."""

    id: uuid.UUID
    execution_id: uuid.UUID
    interaction_type: str
    server_name: str
    tool_name: str
    tool_number: int | None
    duration_ms: int | None
    error_message: str
    created_at: datetime

    @property
    def is_list(self) -> bool:
        return self.interaction_type == MCPInteraction.Type.TOOL_LIST


@dataclass(frozen=True)
class ExecutionTrace:
    """The calls of one execution, each in the order it was made, and those of its sub-agents."""

    execution: AgentExecution
    llm_interactions: list[ModelCall]
    mcp_interactions: list[ToolCall]
    sub_agents: list["ExecutionTrace"] = field(default_factory=list)

    @property
    def tool_calls(self) -> list[ToolCall]:
        return [each for each in self.mcp_interactions if not each.is_list]

    @property
    def tool_lists(self) -> list[ToolCall]:
        """What each server gave the agent, at its opening and whenever that changed."""
        return [each for each in self.mcp_interactions if each.is_list]


@dataclass(frozen=True)
class StageTrace:
    stage: Stage
    executions: list[ExecutionTrace]


@dataclass(frozen=True)
class SessionTrace:
    stages: list[StageTrace]
    session_interactions: list[ModelCall]
    """Model calls that belong to no execution."""


@dataclass(frozen=True)
class ProposedCall:
    """A tool call as the model said it, masked."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True)
class ConversationTurn:
    """One message of what a model was asked, and last what it answered."""

    role: str
    content: str
    tool_calls: tuple[ProposedCall, ...] = ()
    tool_call_id: str = ""
    tool_name: str = ""
    tool_number: int | None = None
    is_shortened: bool = False
    """The model got this result in short form; `content` is what is stored."""


@dataclass(frozen=True)
class LLMTrace:
    interaction: LLMInteraction
    conversation: tuple[ConversationTurn, ...]


@dataclass(frozen=True)
class ToolTrace:
    interaction: MCPInteraction
    event: TimelineEvent | None
    """What the timeline shows of it, without the content; None once that is gone."""
    acts: tuple[AuditEvent, ...]
    """What the safety gate did about it, in that order."""


# ---- The list -----------------------------------------------------------------------------------


def get_session_trace(session_id: uuid.UUID) -> SessionTrace:
    """Every call of a session without its bodies, in a fixed number of queries. Raises NotFound."""
    return read_session_trace(get_session(session_id))


def read_session_trace(session: AlertSession) -> SessionTrace:
    """The same of a session that is at hand."""
    stages = Stage.objects.filter(session=session).order_by("stage_index")
    executions = AgentExecution.objects.filter(session=session).order_by("agent_index", "id")
    models, tools = _list_calls(session=session)
    asked: dict[uuid.UUID | None, list[ModelCall]] = defaultdict(list)
    for call in models:
        asked[call.execution_id].append(call)
    by_stage = _arrange(executions, asked, tools)
    return SessionTrace(
        stages=[StageTrace(stage, by_stage.get(stage.pk, [])) for stage in stages],
        session_interactions=asked[None],
    )


def get_execution_trace(session_id: uuid.UUID, execution_id: uuid.UUID) -> ExecutionTrace:
    """The calls of one execution without its sub-agents. Raises NotFound."""
    session = get_session(session_id)
    execution = AgentExecution.objects.filter(session=session, pk=execution_id).first()
    if execution is None:
        raise NotFound("execution not found")
    models, tools = _list_calls(execution=execution)
    return ExecutionTrace(execution, models, tools)


def _list_calls(
    **where: AlertSession | AgentExecution,
) -> tuple[list[ModelCall], list[ToolCall]]:
    """In the order they were made.

    A check is stored at the moment of the write that it is about, and has no number: it comes last.
    """
    models = LLMInteraction.objects.filter(**where).order_by("created_at", "id")
    tools = MCPInteraction.objects.filter(**where).order_by(
        "created_at", "tool_number", "server_name", "id"
    )
    return (
        [ModelCall._make(row) for row in models.values_list(*ModelCall._fields)],
        [ToolCall._make(row) for row in tools.values_list(*ToolCall._fields)],
    )


def _arrange(
    executions: Iterable[AgentExecution],
    asked: dict[uuid.UUID | None, list[ModelCall]],
    tools: Iterable[ToolCall],
) -> dict[uuid.UUID, list[ExecutionTrace]]:
    """The executions of each stage, sub-agents below the agent that called them."""
    called: dict[uuid.UUID, list[ToolCall]] = defaultdict(list)
    for tool in tools:
        called[tool.execution_id].append(tool)
    below: dict[uuid.UUID, list[ExecutionTrace]] = defaultdict(list)
    by_stage: dict[uuid.UUID, list[ExecutionTrace]] = defaultdict(list)
    for execution in executions:
        pk = execution.pk
        trace = ExecutionTrace(execution, asked.get(pk, []), called[pk], below[pk])
        parent = execution.parent_execution_id
        (below[parent] if parent else by_stage[execution.stage_id]).append(trace)
    return by_stage


# ---- One call -----------------------------------------------------------------------------------


def get_llm_trace(session_id: uuid.UUID, interaction_id: uuid.UUID) -> LLMTrace:
    """A model call with its whole conversation. Raises NotFound, for another session's call too."""
    call = get_model_call(session_id, interaction_id)
    return LLMTrace(call, _conversation_of(call))


def get_model_call(session_id: uuid.UUID, interaction_id: uuid.UUID) -> LLMInteraction:
    """Raises NotFound, for another session's call too."""
    session = get_session(session_id)
    call = LLMInteraction.objects.filter(pk=interaction_id, session=session).first()
    if call is None:
        raise NotFound("interaction not found")
    return call


def get_tool_trace(session_id: uuid.UUID, interaction_id: uuid.UUID) -> ToolTrace:
    """A tool call with arguments and result. Raises NotFound, for another session's call too."""
    session = get_session(session_id)
    call = MCPInteraction.objects.filter(pk=interaction_id, session=session).first()
    if call is None:
        raise NotFound("interaction not found")
    events = TimelineEvent.objects.filter(session=session, mcp_interaction_id=call.pk)
    return ToolTrace(call, events.defer("content", "content_html").first(), _acts_about(call))


# ---- What a model call was asked ----------------------------------------------------------------


def kept_conversation(call: LLMInteraction) -> list[dict[str, JSON]] | None:
    """What a summarizer was asked stands with its call, not among its execution's messages."""
    kept = call.llm_request.get("conversation")
    if not isinstance(kept, list):
        return None
    return [turn for turn in kept if isinstance(turn, dict)]


def messages_of(call: LLMInteraction) -> QuerySet[Message]:
    """Up to its answer; of a call without one, the messages that there were by then."""
    messages = Message.objects.filter(execution_id=call.execution_id).order_by("sequence_number")
    if call.execution_id is None:
        return messages.none()
    if call.last_message_id is None:
        return messages.filter(created_at__lte=call.created_at)
    last = Message.objects.filter(pk=call.last_message_id).values("sequence_number")
    return messages.filter(sequence_number__lte=last)


def shortened_results(call: LLMInteraction) -> frozenset[int]:
    """The numbers of the tool calls whose results it was given in short form."""
    shortened = call.llm_request.get("compacted")
    return frozenset(shortened) if isinstance(shortened, list) else frozenset()


def proposed_calls(message: Message) -> tuple[ProposedCall, ...]:
    kept = message.tool_calls if isinstance(message.tool_calls, list) else ()
    return tuple(
        ProposedCall(*(write_value(each.get(name, "")) for name in ("id", "name", "arguments")))
        for each in kept
        if isinstance(each, Mapping)
    )


def _conversation_of(call: LLMInteraction) -> tuple[ConversationTurn, ...]:
    kept = kept_conversation(call)
    if kept is not None:
        return tuple(
            ConversationTurn(str(turn.get("role", "")), str(turn.get("content", "")))
            for turn in kept
        )
    shortened = shortened_results(call)
    return tuple(_turn_of(message, shortened) for message in messages_of(call))


def _turn_of(message: Message, shortened: frozenset[int]) -> ConversationTurn:
    return ConversationTurn(
        role=message.role,
        content=message.content,
        tool_calls=proposed_calls(message),
        tool_call_id=message.tool_call_id,
        tool_name=message.tool_name,
        tool_number=message.tool_number,
        is_shortened=message.tool_number in shortened,
    )


def _acts_about(call: MCPInteraction) -> tuple[AuditEvent, ...]:
    if call.tool_number is None:
        return ()
    acts = AuditEvent.objects.filter(
        target_type="session",
        target_id=str(call.session_id),
        details__execution=str(call.execution_id),
        details__call=call.tool_number,
    )
    return tuple(acts.order_by("id"))

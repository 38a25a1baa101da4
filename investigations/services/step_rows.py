"""The rows that an agent's steps consist of: messages, timeline events, model and tool calls."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from django.utils import timezone

from agents.records import LLMCallRecord
from agents.types import JSON, Note, ToolResult, ToolTarget, Usage
from agents.types import Message as AgentMessage
from config import get_config
from investigations.models import (
    AgentExecution,
    LLMInteraction,
    MCPInteraction,
    Message,
    TimelineEvent,
)
from investigations.rendering.markdown import render_markdown
from investigations.services.ledger import LeaseWrite

Mask = Callable[[str], str]

_SCRIPTED = Usage(input_tokens=0, output_tokens=0, cost_usd=0.0)


def new_event(execution: AgentExecution, kind: str) -> TimelineEvent:
    """An event that streams from now on, neither numbered nor saved."""
    return TimelineEvent(
        session_id=execution.session_id,
        stage_id=execution.stage_id,
        execution_id=execution.pk,
        parent_execution_id=execution.parent_execution_id,
        event_type=kind,
        status=TimelineEvent.Status.STREAMING,
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )


def add_note(
    write: LeaseWrite,
    execution: AgentExecution,
    kind: str,
    content: str,
    metadata: Mapping[str, JSON],
) -> None:
    """Put a finished event on the timeline; what it says is masked already."""
    event = new_event(execution, kind)
    event.status = TimelineEvent.Status.COMPLETED
    event.content = content
    event.metadata = dict(metadata)
    if event.event_type in TimelineEvent.MARKDOWN:
        event.content_html = render_markdown(event.content)
    write.announce(event)
    write.rows.insert(event)


def add_messages(
    write: LeaseWrite,
    execution: AgentExecution,
    messages: Sequence[AgentMessage],
    *,
    tool_number: int | None = None,
) -> list[Message]:
    """Append to the conversation; the messages are masked already. Returns their rows."""
    rows = [
        Message(
            session_id=execution.session_id,
            stage_id=execution.stage_id,
            execution_id=execution.pk,
            sequence_number=write.next_message_number(),
            role=message.role,
            content=message.content,
            tool_calls=[
                {"id": call.id, "name": call.name, "arguments": call.arguments}
                for call in message.tool_calls
            ]
            or None,
            tool_call_id=message.tool_call_id,
            # A name the model made up may be of any length; the call itself keeps it whole.
            tool_name=message.tool_name[:200],
            tool_number=tool_number,
            provider_fields=dict(message.provider_fields),
        )
        for message in messages
    ]
    for row in rows:
        write.rows.insert(row)
    return rows


def mask_message(message: AgentMessage, mask: Mask) -> AgentMessage:
    """A message of the model's as it is kept."""
    calls = tuple(replace(call, arguments=mask(call.arguments)) for call in message.tool_calls)
    return replace(message, content=mask(message.content), tool_calls=calls)


def mask_note(note: Note, mask: Mask) -> Note:
    """A note as it is kept."""
    return replace(note, content=mask(note.content), metadata=_mask_json(note.metadata, mask))


def _mask_json(value: Mapping[str, JSON], mask: Mask) -> dict[str, JSON]:
    """Metadata whose texts came from outside, such as the output of code a model ran."""
    return {name: _mask_value(each, mask) for name, each in value.items()}


def _mask_value(value: JSON, mask: Mask) -> JSON:
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_mask_value(each, mask) for each in value]
    if isinstance(value, dict):
        return _mask_json(value, mask)
    return value


def describe_call(execution: AgentExecution, record: LLMCallRecord, mask: Mask) -> LLMInteraction:
    """A model call as its row, which the caller saves."""
    text = record.message.content if record.message else ""
    usage = _count(record)
    request: dict[str, JSON] = {
        "messages_count": record.messages_count,
        "tools_count": record.tools_count,
        "iteration": record.iteration,
    }
    if record.estimated_tokens:
        request["estimated_tokens"] = record.estimated_tokens
    if record.compacted:
        request["compacted"] = list(record.compacted)
    return LLMInteraction(
        session_id=execution.session_id,
        stage_id=execution.stage_id,
        execution_id=execution.pk,
        interaction_type=record.interaction_type,
        iteration=record.iteration,
        model_name=record.model,
        provider_name=record.provider_name,
        llm_request=request,
        llm_response={
            "text_length": len(text),
            "tool_calls_count": len(record.planned_calls),
        },
        thinking_content=mask(record.thinking),
        response_metadata={"error_code": record.error_code} if record.error_code else None,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        thinking_tokens=usage.thinking_tokens,
        estimated_cost_usd=_estimate_cost(record.model, usage),
        duration_ms=record.duration_ms,
        error_message=mask(record.error),
    )


def _count(record: LLMCallRecord) -> Usage:
    """What a call took. What a script says that stands in for a model is no provider's count, and
    nobody may think that it was paid for; whoever gives it a price wants it counted."""
    config = get_config()
    is_priced = (
        record.usage.cost_usd is not None
        or record.model in config.system.cost_estimation.model_rates
    )
    if config.stands_in(record.provider_name):
        return record.usage if is_priced else _SCRIPTED
    # No model reads nothing: a gateway that says so has not counted.
    if record.usage.total_tokens == 0:
        return replace(
            record.usage,
            input_tokens=None,
            output_tokens=None,
            cost_usd=record.usage.cost_usd or None,
        )
    return record.usage


def _estimate_cost(model: str, usage: Usage) -> float | None:
    """By the operator's rates, else as the client knew; None where nobody knows or wants to."""
    estimation = get_config().system.cost_estimation
    if not estimation.enabled:
        return None
    price = estimation.price(model, usage.input_tokens, usage.output_tokens)
    return usage.cost_usd if price is None else price


def describe_tool_call(
    execution: AgentExecution, target: ToolTarget, result: ToolResult, **about: JSON
) -> MCPInteraction:
    """A tool call as its row, which the caller saves; `about` is kept beside the result."""
    return MCPInteraction(
        session_id=execution.session_id,
        stage_id=execution.stage_id,
        execution_id=execution.pk,
        interaction_type=MCPInteraction.Type.TOOL_CALL,
        server_name=target.server,
        tool_name=target.tool,
        tool_arguments=dict(target.arguments),
        tool_result={"content": result.content, "is_error": result.is_error, **about},
        duration_ms=result.duration_ms,
        error_message=result.stored[:2000] if result.is_error else "",
    )

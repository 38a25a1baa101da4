"""The tool calls an interrupted execution has made, as they are stored."""

from collections.abc import Sequence

from agents.types import PastCall, ToolCall, ToolCheck, ToolResult, ToolTarget
from investigations.models import AgentExecution, MCPInteraction, Message, TimelineEvent


def past_calls(execution: AgentExecution, messages: Sequence[Message]) -> tuple[PastCall, ...]:
    """Every call the model proposed, in that order, each with its result where it has one.

    The numbers of the timeline follow the proposals; ids do not, some models use one twice.
    """
    numbers = sorted(
        metadata["tool_number"]
        for metadata in execution.timeline_events.filter(
            event_type=TimelineEvent.Type.LLM_TOOL_CALL
        ).values_list("metadata", flat=True)
        if metadata.get("tool_number") is not None
    )
    results, checks = _results(execution), _checks(execution)
    proposed = [
        (ToolCall(**call), batch)
        for batch, message in enumerate(messages)
        for call in message.tool_calls or ()
    ]
    return tuple(
        PastCall(call, batch, results.get(number), checks.get(number))
        for (call, batch), number in zip(proposed, numbers, strict=False)
    )


def _results(execution: AgentExecution) -> dict[int, ToolResult]:
    rows = MCPInteraction.objects.filter(
        execution_id=execution.pk, interaction_type=MCPInteraction.Type.TOOL_CALL
    ).values_list("tool_number", "tool_result")
    return {
        number: ToolResult(result["content"], result["content"], is_error=result["is_error"])
        for number, result in rows
        if number is not None and result is not None
    }


def _checks(execution: AgentExecution) -> dict[int, ToolCheck]:
    """What we looked at ourselves, by the number of the write it was about."""
    rows = MCPInteraction.objects.filter(
        execution_id=execution.pk, tool_result__has_key="check_of"
    ).values_list("server_name", "tool_name", "tool_arguments", "tool_result")
    return {
        result["check_of"]: ToolCheck(
            target=ToolTarget(server, tool, arguments or {}),
            status=result["status"],
            reason=result["reason"],
            result=ToolResult(result["content"], result["content"], is_error=result["is_error"]),
        )
        for server, tool, arguments, result in rows
        if result is not None
    }

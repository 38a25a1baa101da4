"""What earlier tool calls of a session brought, for agents that ask for it again."""

import uuid

from agents.types import StoredResult
from investigations.models import MCPInteraction, TimelineEvent


def read_tool_result(session_id: uuid.UUID, number: int) -> StoredResult | None:
    """A tool call's result as history keeps it: masked and cut. None when there is no such call."""
    done = (
        MCPInteraction.objects.filter(
            session_id=session_id,
            interaction_type=MCPInteraction.Type.TOOL_CALL,
            tool_number=number,
        )
        .order_by("-created_at")
        .first()
    )
    if done is not None:
        result = done.tool_result or {}
        return StoredResult(_name(done.server_name, done.tool_name), str(result.get("content", "")))
    proposed = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__tool_number=number,
    ).first()
    if proposed is None:
        return None
    data = proposed.metadata
    return StoredResult(_name(data.get("server_name"), data.get("tool_name")), None)


def _name(server: object, tool: object) -> str:
    return f"{server}.{tool}" if server else str(tool or "")

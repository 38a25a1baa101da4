"""What earlier tool calls of a session brought, for whoever reads it again or holds words against
it: as history keeps it, masked, and cut only to what the agent was given at most."""

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from agents.types import StoredResult
from investigations.models import MCPInteraction, TimelineEvent
from safety.evidence import is_recall

_OWN_SERVER = "ops"


def read_tool_result(session_id: uuid.UUID, number: int) -> StoredResult | None:
    """A tool call's result. None when there is no such call."""
    return read_tool_results(session_id, [number]).get(number)


def read_tool_results(session_id: uuid.UUID, numbers: Collection[int]) -> dict[int, StoredResult]:
    """The results of those of the calls that the session has, by number."""
    if not numbers:
        return {}
    calls = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__tool_number__in=list(numbers),
    )
    found = {event.metadata["tool_number"]: _of_event(event) for event in calls}
    rows = MCPInteraction.objects.filter(
        session_id=session_id, interaction_type=MCPInteraction.Type.TOOL_CALL
    ).order_by("created_at")
    for row in rows.filter(tool_number__in=list(numbers)):
        if row.tool_number is not None:
            found[row.tool_number] = _of_interaction(row)
    return _with_checks(found, rows.filter(tool_result__check_of__in=list(numbers)))


def _of_event(event: TimelineEvent) -> StoredResult:
    """Of a call without a row of its own only what the page shows is kept, once it has ended."""
    data = event.metadata
    is_done = event.status == TimelineEvent.Status.COMPLETED
    return _describe(
        data.get("server_name"),
        data.get("tool_name"),
        data.get("arguments"),
        event.content if is_done else None,
        is_error=bool(data.get("is_error")),
    )


def _of_interaction(row: MCPInteraction) -> StoredResult:
    result = row.tool_result or {}
    return _describe(
        row.server_name,
        row.tool_name,
        row.tool_arguments,
        str(result.get("content", "")),
        is_error=bool(result.get("is_error")),
    )


def _describe(
    server: object, tool: object, arguments: Any, text: str | None, *, is_error: bool
) -> StoredResult:
    known = arguments if isinstance(arguments, Mapping) else {}
    return StoredResult(
        name=f"{server}.{tool}" if server else str(tool or ""),
        text=text,
        is_error=is_error,
        arguments=json.dumps(arguments, ensure_ascii=False, default=str) if arguments else "",
        is_recall=server == _OWN_SERVER and is_recall(str(tool or ""), known),
    )


def _with_checks(found: dict[int, StoredResult], checks: Any) -> dict[int, StoredResult]:
    """With what our own look at the effect of a write answered."""
    for row in checks:
        result = row.tool_result or {}
        number = result["check_of"]
        if number in found:
            found[number] = replace(found[number], check=str(result.get("content", "")))
    return found

"""What earlier tool calls of a session brought, for whoever reads it again or holds words against
it: as history keeps it, masked, and cut only to what the agent was given at most."""

import json
import uuid
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

from django.db.models import Case, Func, JSONField, OuterRef, Q, QuerySet, Subquery, When

from agents.types import StoredResult
from investigations.models import ApprovalRequest, MCPInteraction, TimelineEvent
from safety.evidence import is_recall

_OWN_SERVER = "ops"


def read_tool_result(session_id: uuid.UUID, number: int) -> StoredResult | None:
    """A tool call's result. None when there is no such call."""
    return read_tool_results(session_id, [number]).get(number)


def read_tool_results(
    session_id: uuid.UUID, numbers: Collection[int], *, with_text: Collection[int] | None = None
) -> dict[int, StoredResult]:
    """The results of those of the calls that the session has, by number.

    Texts may be long: those that are not among `with_text` are empty.
    """
    if not numbers:
        return {}
    read = numbers if with_text is None else with_text
    events = {event.metadata["tool_number"]: event for event in _calls(session_id, numbers)}
    found: dict[int, StoredResult] = {}
    checks: dict[int, str] = {}
    for row in _rows(session_id, read) if read else ():
        if row.tool_number is not None:
            found[row.tool_number] = _of_interaction(row)
        elif row.tool_result is not None:
            checks[row.tool_result["check_of"]] = str(row.tool_result.get("content", ""))
    for number, event in events.items():
        found.setdefault(number, _of_event(event, with_text=number in read))
    return {
        number: replace(
            result,
            not_approved=_not_approved(events.get(number)),
            check=checks.get(number, ""),
            call_id=str(events[number].metadata.get("tool_call_id") or "")
            if number in events
            else "",
        )
        for number, result in found.items()
    }


def _not_approved(event: TimelineEvent | None) -> Literal["denied", "expired"] | None:
    match event.decision if event else None:  # type: ignore[attr-defined]  # by `_calls`
        case ApprovalRequest.Status.DENIED:
            return "denied"
        case ApprovalRequest.Status.EXPIRED:
            return "expired"
    return None


def _rows(session_id: uuid.UUID, numbers: Collection[int]) -> QuerySet[MCPInteraction]:
    """Calls of these numbers, and our own looks at their effect, which have no number."""
    known = list(numbers)
    return MCPInteraction.objects.filter(
        Q(tool_number__in=known) | Q(tool_number__isnull=True, tool_result__check_of__in=known),
        session_id=session_id,
        interaction_type=MCPInteraction.Type.TOOL_CALL,
    ).order_by("created_at")


def newest_decision(session_id: uuid.UUID) -> Case:
    """Of a call's event that did not go well: how the newest request to let it run stands."""
    # Compared as JSON: what stands in an event need not be a number.
    number = Func("tool_number", function="to_jsonb", output_field=JSONField())
    asked = (
        ApprovalRequest.objects.filter(session_id=session_id)
        .annotate(number=number)
        .filter(number=OuterRef("metadata__tool_number"))
        .order_by("-created_at")
    )
    ended = TimelineEvent.Status.FAILED
    return Case(
        When(
            Q(metadata__is_error=True) | Q(status=ended), then=Subquery(asked.values("status")[:1])
        )
    )


def _calls(session_id: uuid.UUID, numbers: Collection[int]) -> QuerySet[TimelineEvent]:
    """The events of these calls, each with the decision about it."""
    return (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.LLM_TOOL_CALL,
            metadata__tool_number__in=list(numbers),
        )
        .annotate(decision=newest_decision(session_id))
        .only("metadata", "status")
    )


def _of_event(event: TimelineEvent, *, with_text: bool) -> StoredResult:
    """Of a call without a row of its own only what the page shows is kept, once it has ended."""
    data = event.metadata
    is_done = event.status == TimelineEvent.Status.COMPLETED
    text = event.content if is_done and with_text else ""
    return _describe(
        data.get("server_name"),
        data.get("tool_name"),
        data.get("arguments"),
        text if is_done else None,
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

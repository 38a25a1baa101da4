"""Timeline events as pages show them: of a long text only its beginning is read."""

import uuid
from collections.abc import Mapping, Sequence

from django.db.models import Case, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Left, Length

from investigations.models import ApprovalRequest, TimelineEvent
from investigations.rendering.markdown import CitedTool
from investigations.selectors.session_page.event_view import EventView
from investigations.selectors.session_page.live_text import read_live_texts
from investigations.selectors.session_page.tool_call_view import PREVIEW_CHARACTERS, ToolCallView
from investigations.selectors.tool_results import newest_decision
from investigations.selectors.trace.not_run import read_not_run
from investigations.selectors.trace.person_waits import CallKey, PersonWait, waits_of_events

_TEXT_CHARACTERS = 64 * 1024


def with_previews(events: QuerySet[TimelineEvent]) -> QuerySet[TimelineEvent]:
    """Long texts stay in the database."""
    preview = Case(
        When(event_type=TimelineEvent.Type.LLM_TOOL_CALL, then=Left("content", PREVIEW_CHARACTERS)),
        default=Left("content", _TEXT_CHARACTERS),
    )
    return events.defer("content").annotate(content_length=Length("content"), preview=preview)


def views_of(rows: Sequence[TimelineEvent]) -> list[EventView]:
    """Events as they are shown; the rows come from `with_previews`."""
    live = read_live_texts(rows)
    waits = waits_of_events(rows)
    return [_view(row, live.get(row.pk, ""), waits) for row in rows]


def read_event(session_id: uuid.UUID, event_id: uuid.UUID) -> EventView | None:
    return _first_view(TimelineEvent.objects.filter(session_id=session_id, pk=event_id))


def read_events(
    session_id: uuid.UUID, event_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, EventView]:
    """Several at once; those that are not of the session are left out."""
    found = TimelineEvent.objects.filter(session_id=session_id, pk__in=event_ids)
    return {view.event.pk: view for view in views_of(list(with_previews(found)))}


def read_event_content(session_id: uuid.UUID, event_id: uuid.UUID) -> str | None:
    """The whole content of one event, as it is kept."""
    found = TimelineEvent.objects.filter(session_id=session_id, pk=event_id)
    return found.values_list("content", flat=True).first()


def read_call(execution_id: uuid.UUID, tool_number: int | None) -> EventView | None:
    """The tool call of an execution with that number."""
    if tool_number is None:
        return None
    return _first_view(_calls(tool_number).filter(execution_id=execution_id))


def read_call_of_session(session_id: uuid.UUID, tool_number: int) -> EventView | None:
    """The tool call of a session with that number."""
    return _first_view(_calls(tool_number).filter(session_id=session_id))


def read_cited_tools(session_id: uuid.UUID) -> dict[int, CitedTool]:
    """Every tool call of a session by its number."""
    rows = (
        TimelineEvent.objects.filter(
            session_id=session_id, event_type=TimelineEvent.Type.LLM_TOOL_CALL
        )
        # As texts: taking thousands of pieces of JSON apart takes longer than reading them.
        .annotate(
            number=KeyTextTransform("tool_number", "metadata"),
            tool=KeyTextTransform("tool_name", "metadata"),
            failed=KeyTextTransform("is_error", "metadata"),
            may_write=KeyTextTransform("may_write", "metadata"),
        )
        # Results may be long, and only those of calls that did not go well tell why.
        .annotate(
            said=Case(
                When(metadata__is_error=True, then=Left("content", PREVIEW_CHARACTERS)),
                default=Value(""),
            )
        )
        .annotate(decision=newest_decision(session_id))
        .values_list("number", "tool", "failed", "may_write", "status", "said", "decision")
    )
    return {
        int(number): CitedTool(
            tool or "",
            failed == "true" or status == TimelineEvent.Status.FAILED,
            not_run=_say_why_not_run(said, decision),
            may_write=may_write == "true",
        )
        for number, tool, failed, may_write, status, said, decision in rows
        if number and number.isdecimal()
    }


def _say_why_not_run(said: str, decision: str | None) -> str:
    """In words, by the stored error; by the decision where the call ended without one."""
    if refused := read_not_run(said):
        return refused.title
    held = (ApprovalRequest.Status.DENIED, ApprovalRequest.Status.EXPIRED)
    return ApprovalRequest.Status(decision).label if decision in held else ""


def _calls(tool_number: int) -> QuerySet[TimelineEvent]:
    kind = TimelineEvent.Type.LLM_TOOL_CALL
    return TimelineEvent.objects.filter(event_type=kind, metadata__tool_number=tool_number)


def _first_view(events: QuerySet[TimelineEvent]) -> EventView | None:
    row = with_previews(events).first()
    return views_of([row])[0] if row else None


def _view(row: TimelineEvent, live_text: str, waits: Mapping[CallKey, PersonWait]) -> EventView:
    text: str = row.preview or live_text  # type: ignore[attr-defined]  # by with_previews
    length: int = row.content_length or len(live_text)  # type: ignore[attr-defined]
    if row.event_type != TimelineEvent.Type.LLM_TOOL_CALL:
        return EventView(row, text, length)
    wait = waits.get((row.execution_id, row.metadata.get("tool_number")))
    return ToolCallView(row, text, length, wait)

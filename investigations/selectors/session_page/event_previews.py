"""Timeline events as pages show them: of a long text only its beginning is read."""

import uuid
from collections.abc import Sequence

from django.db.models import Case, QuerySet, When
from django.db.models.functions import Left, Length

from investigations.models import TimelineEvent
from investigations.selectors.session_page.event_view import PREVIEW_CHARACTERS, EventView
from investigations.selectors.session_page.live_text import read_live_texts
from investigations.selectors.trace.person_waits import PersonWait, waits_of_events

_TEXT_CHARACTERS = 64 * 1024


def with_previews(events: QuerySet[TimelineEvent]) -> QuerySet[TimelineEvent]:
    """Long texts stay in the database."""
    preview = Case(
        When(event_type=TimelineEvent.Type.LLM_TOOL_CALL, then=Left("content", PREVIEW_CHARACTERS)),
        default=Left("content", _TEXT_CHARACTERS),
    )
    return events.defer("content").annotate(content_length=Length("content"), preview=preview)


def views_of(rows: Sequence[TimelineEvent]) -> list[EventView]:
    live = read_live_texts(rows)
    waits = waits_of_events(rows)
    return [
        _view(row, live.get(row.pk, ""), waits.get((row.execution_id, _number_of(row))))
        for row in rows
    ]


def read_call(execution_id: uuid.UUID, tool_number: int | None) -> EventView | None:
    """The tool call of an execution with that number."""
    if tool_number is None:
        return None
    kind = TimelineEvent.Type.LLM_TOOL_CALL
    calls = TimelineEvent.objects.filter(
        execution_id=execution_id, event_type=kind, metadata__tool_number=tool_number
    )
    row = with_previews(calls).first()
    return views_of([row])[0] if row else None


def _view(row: TimelineEvent, live_text: str, wait: PersonWait | None) -> EventView:
    text: str = row.preview or live_text  # type: ignore[attr-defined]  # by with_previews
    length: int = row.content_length or len(live_text)  # type: ignore[attr-defined]
    return EventView(event=row, content=text, length=length, wait=wait)


def _number_of(row: TimelineEvent) -> int | None:
    is_call = row.event_type == TimelineEvent.Type.LLM_TOOL_CALL
    return row.metadata.get("tool_number") if is_call else None

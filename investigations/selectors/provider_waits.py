"""Waits for model providers that are not over."""

from collections.abc import Iterator
from datetime import datetime

from django.db.models import QuerySet
from django.db.models.functions import Now

from agents.types import OpenWait
from investigations.models import AgentExecution, TimelineEvent


def open_waits_of_execution(execution: AgentExecution) -> tuple[OpenWait, ...]:
    """The waits that an interrupted execution was in, with what is left of each."""
    waits = open_waits(execution.timeline_events.all()).annotate(now=Now())
    return tuple(_read(waits))


def open_waits(events: QuerySet[TimelineEvent]) -> QuerySet[TimelineEvent]:
    return events.filter(
        event_type=TimelineEvent.Type.NOTICE,
        status=TimelineEvent.Status.STREAMING,
        metadata__about=TimelineEvent.ABOUT_WAIT,
    )


def _read(waits: QuerySet[TimelineEvent]) -> Iterator[OpenWait]:
    for event in waits:
        until = read_until(event)
        left = (until - event.now).total_seconds() if until else 0.0  # type: ignore[attr-defined]
        yield OpenWait(
            str(event.pk), str(event.metadata.get("provider", "")), max(0.0, left), event.content
        )


def read_until(event: TimelineEvent) -> datetime | None:
    """When a wait is over."""
    try:
        until = datetime.fromisoformat(event.metadata.get("until") or "")
    except ValueError:
        return None
    return until if until.tzinfo else None

"""The timeline and the stream, read in bounded pieces."""

import uuid
from collections.abc import Collection
from typing import Any

from investigations.models import AlertSession, Event, TimelineEvent
from investigations.selectors.sessions import get_session, visible_sessions
from investigations.stream_messages import Payload, wire_metadata, with_event_id

TIMELINE_LIMIT = 10_000
"""Rows in one answer: more than a session within its limits has."""
CATCHUP_LIMIT = 200
"""Stored messages that one answer carries; who missed more loads anew."""


TIMELINE_FIELDS = (
    "id", "session_id", "stage_id", "execution_id", "parent_execution_id", "sequence_number",
    "created_at", "updated_at", "event_type", "status", "content", "metadata",
    "llm_interaction_id", "mcp_interaction_id",
)  # fmt: skip


def list_timeline(
    session_id: uuid.UUID,
    *,
    after: int = 0,
    limit: int = TIMELINE_LIMIT,
    stage_id: uuid.UUID | None = None,
) -> list[dict[str, Any]]:
    """The `TIMELINE_FIELDS` of the rows behind `after`, in order, of one stage where one is named.

    Raises NotFound.
    """
    session = get_session(session_id)
    rows = TimelineEvent.objects.filter(session=session, sequence_number__gt=after)
    if stage_id is not None:
        rows = rows.filter(stage_id=stage_id)
    found = list(rows.order_by("sequence_number", "created_at").values(*TIMELINE_FIELDS)[:limit])
    for row in found:
        row["metadata"] = wire_metadata(row["metadata"])
    return found


def list_stream(session_id: uuid.UUID, *, after: int, limit: int) -> list[Payload]:
    """Stored messages behind `after`, in order, as they go over the wire; none of a deleted one."""
    events = Event.objects.filter(session_id=session_id, session__deleted_at=None)
    rows = events.filter(seq__gt=after).order_by("seq")
    return [
        with_event_id(payload, seq) for seq, payload in rows.values_list("seq", "payload")[:limit]
    ]


def stream_heads(session_ids: Collection[uuid.UUID]) -> dict[uuid.UUID, int]:
    """The newest `seq` of each session: one query for all of them."""
    rows = AlertSession.objects.filter(pk__in=session_ids).values_list("pk", "last_seq")
    return dict(rows)


def is_visible(session_id: uuid.UUID) -> bool:
    return visible_sessions().filter(pk=session_id).exists()


def block_announcement(event_id: uuid.UUID) -> tuple[int, str] | None:
    """Which `seq` announced a block, and its status; None when there is no such block."""
    rows = TimelineEvent.objects.filter(pk=event_id)
    return rows.values_list("sequence_number", "status").first()

"""Ways within and beyond a page: earlier events, what is around one, search, neighbours."""

import json
import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet, TextField
from django.db.models.fields.json import KeyTransform
from django.db.models.functions import Cast

from investigations.models import AgentExecution, AlertSession, TimelineEvent
from investigations.selectors.session_page.event_previews import views_of, with_previews
from investigations.selectors.session_page.event_view import EventView, place_summaries
from investigations.selectors.session_page.page import LATEST, pageable
from investigations.selectors.sessions import visible_sessions

MOST_HITS = 500
"""Hits that a search names; of more, the newest are left out and that is said."""


@dataclass(frozen=True)
class EventSlice:
    """Events of one execution in order, and how many the page still lacks on both sides."""

    events: Sequence[EventView]
    earlier: int
    between: int = 0
    """How many stand between these and those that the page shows already."""

    @property
    def oldest(self) -> int:
        return min((each.event.sequence_number for each in self.events), default=0)

    @property
    def newest(self) -> int:
        return max((each.event.sequence_number for each in self.events), default=0)


def find_execution(session_id: uuid.UUID, execution_id: uuid.UUID) -> AgentExecution | None:
    return AgentExecution.objects.filter(session_id=session_id, pk=execution_id).first()


def read_earlier(execution_id: uuid.UUID, before: int, *, after: int = 0) -> EventSlice:
    """The events just before one and behind another, and how many are older still."""
    older = _of_execution(execution_id).filter(
        sequence_number__lt=before, sequence_number__gt=after
    )
    rows = list(with_previews(older).order_by("-sequence_number")[:LATEST])
    return EventSlice(_placed(rows), earlier=max(0, older.count() - len(rows)))


def read_around(execution_id: uuid.UUID, at: int, *, before: int, after: int = 0) -> EventSlice:
    """The events on both sides of one, where the page shows what comes from `before` on."""
    missing = _of_execution(execution_id).filter(
        sequence_number__lt=before, sequence_number__gt=after
    )
    older, rest = missing.filter(sequence_number__lt=at), missing.filter(sequence_number__gte=at)
    half = LATEST // 2
    head = list(with_previews(older).order_by("-sequence_number")[:half])
    tail = list(with_previews(rest).order_by("sequence_number")[:half])
    return EventSlice(
        _placed([*head, *tail]),
        earlier=max(0, older.count() - len(head)),
        between=max(0, rest.count() - len(tail)),
    )


def _of_execution(execution_id: uuid.UUID) -> QuerySet[TimelineEvent]:
    return pageable(TimelineEvent.objects.filter(execution_id=execution_id))


def _placed(rows: Sequence[TimelineEvent]) -> list[EventView]:
    return place_summaries(views_of(sorted(rows, key=lambda row: row.sequence_number)))


# ---- Where something stands ---------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """Where an event stands: whose it is, and which link leads to it."""

    seq: int
    execution_id: uuid.UUID | None
    anchor: str


def find_place(session_id: uuid.UUID, name: str) -> Place | None:
    """What `T12` or `e-34` names."""
    found = re.fullmatch(r"(T|e-)([0-9]{1,15})", name, re.ASCII)
    if found is None:
        return None
    events = TimelineEvent.objects.filter(session_id=session_id)
    number = int(found[2])
    if found[1] == "T":
        kind = TimelineEvent.Type.LLM_TOOL_CALL
        events = events.filter(event_type=kind, metadata__tool_number=number)
    else:
        events = events.filter(sequence_number=number)
    row = events.values_list("sequence_number", "execution_id").first()
    return Place(row[0], row[1], name) if row else None


@dataclass(frozen=True)
class Neighbours:
    """The sessions that came just before and just after one."""

    before: uuid.UUID | None
    after: uuid.UUID | None


def find_neighbours(session: AlertSession) -> Neighbours:
    # Bounded by the moment alone, so that the index is entered where the session stands.
    older = Q(created_at__lte=session.created_at) & (
        Q(created_at__lt=session.created_at) | Q(id__lt=session.pk)
    )
    newer = Q(created_at__gte=session.created_at) & (
        Q(created_at__gt=session.created_at) | Q(id__gt=session.pk)
    )
    ids = visible_sessions().values_list("id", flat=True)
    return Neighbours(
        before=ids.filter(older).order_by("-created_at", "-id").first(),
        after=ids.filter(newer).order_by("created_at", "id").first(),
    )


@dataclass(frozen=True)
class Search:
    """What holds the words, from the first event to the last."""

    hits: Sequence[Place]
    has_more: bool


def search_session(session: AlertSession, words: str) -> Search:
    """Every event whose text, tool, arguments or result holds the words, in either case."""
    rows = _find(session.pk, words)[: MOST_HITS + 1]
    hits = [Place(seq, execution_id, f"e-{seq}") for seq, execution_id in rows]
    if words.casefold() in session.alert_data.casefold():
        hits.insert(0, Place(0, None, "alert"))
    return Search(hits[:MOST_HITS], has_more=len(hits) > MOST_HITS)


def _find(session_id: uuid.UUID, words: str) -> QuerySet[TimelineEvent, tuple[int, uuid.UUID]]:
    # Arguments are searched as JSON, where a quote or a line end is written otherwise.
    written = json.dumps(words, ensure_ascii=False)[1:-1]
    named = Q(tool__icontains=words) | Q(server__icontains=words)
    given = Q(arguments__icontains=words) | Q(arguments__icontains=written)
    return (
        TimelineEvent.objects.filter(session_id=session_id)
        .annotate(
            arguments=Cast(KeyTransform("arguments", "metadata"), TextField()),
            tool=Cast(KeyTransform("tool_name", "metadata"), TextField()),
            server=Cast(KeyTransform("server_name", "metadata"), TextField()),
        )
        .filter(Q(content__icontains=words) | named | given)
        # The same text follows as the finding of its agent, and only that is shown.
        .filter(
            ~Q(metadata__contains={"is_final": True}) | Q(status=TimelineEvent.Status.STREAMING)
        )
        .order_by("sequence_number")
        .values_list("sequence_number", F("execution_id"))
    )

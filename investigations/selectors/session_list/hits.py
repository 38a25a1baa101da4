"""Where in a session a text was found, for lists of what a search found."""

import re
import uuid
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from django.contrib.postgres.search import SearchHeadline
from django.db.models import IntegerField, QuerySet, Value
from django.db.models.functions import Greatest, Left, StrIndex, Substr, Upper

from investigations.models import AlertSession, TimelineEvent
from investigations.selectors.session_list.search import (
    SEARCHED_CHARACTERS,
    matching_events,
    words_of,
)
from investigations.selectors.sessions import visible_sessions
from investigations.selectors.time_limit import call_within
from tarsy.errors import TookTooLong

MOST_HITS = 50
LONGEST_SECONDS = 1.0
"""What looking for excerpts of events may take: a list is of use without them."""
_MOST_WORDS = 8
_CUT_FROM = 20_000
"""Characters of an event: cutting out reads each word of it for each word that is looked for."""
_BEFORE, _SHOWN = 60, 220
_BEGIN, _END = "\x02", "\x03"
"""Around a match in what PostgreSQL cuts out. Where a text has them itself, a mark is misplaced."""


@dataclass(frozen=True)
class Hit:
    """A place of a session in pieces of text, every second one of which is what was found."""

    session_id: uuid.UUID
    place: str
    pieces: Sequence[str]
    fragment: str = ""
    """Where on the session's page it stands."""


def find_hits(ids: Sequence[uuid.UUID], text: str, *, in_timelines: bool = True) -> list[Hit]:
    """The first place of each session: its alert, else its report, else an event."""
    sessions = visible_sessions().filter(pk__in=ids[:MOST_HITS])
    hits = {hit.session_id: hit for hit in _in_texts(sessions, text)}
    rest = [each for each in sessions.values_list("pk", flat=True) if each not in hits]
    if rest and in_timelines:
        with suppress(TookTooLong):
            found = call_within(LONGEST_SECONDS, lambda: list(_in_events(rest, text)))
            hits.update({hit.session_id: hit for hit in found})
    return list(hits.values())


def _in_texts(sessions: QuerySet[AlertSession], text: str) -> Iterator[Hit]:
    # What comes later stands before what came earlier.
    for column, place, fragment in (
        ("final_analysis", "In the report", "conclusion"),
        ("alert_data", "In the alert", ""),
    ):
        at = StrIndex(Upper(Left(column, SEARCHED_CHARACTERS * 2)), Upper(Value(text)))
        begin = Greatest(at - _BEFORE, Value(1), output_field=IntegerField())
        found = sessions.annotate(at=at).filter(at__gt=0)
        excerpts = found.values_list("pk", "at", Substr(column, begin, _SHOWN))
        for session_id, number, excerpt in excerpts:
            pieces = re.split(f"({re.escape(text)})", excerpt, maxsplit=1, flags=re.IGNORECASE)
            if number > _BEFORE:
                pieces[0] = f"…{pieces[0]}"
            yield Hit(session_id, place, pieces, fragment)


def _in_events(ids: Sequence[uuid.UUID], text: str) -> Iterator[Hit]:
    first = matching_events(text).filter(session_id__in=ids)
    chosen = first.order_by("session_id", "sequence_number").distinct("session_id")
    wanted = " ".join(dict.fromkeys(text.split()[-_MOST_WORDS:]))
    excerpt = SearchHeadline(
        Left("content", _CUT_FROM),
        words_of(wanted),
        config="english",
        start_sel=_BEGIN,
        stop_sel=_END,
        max_words=28,
        min_words=12,
    )
    events = TimelineEvent.objects.filter(pk__in=list(chosen.values_list("pk", flat=True)))
    for event in events.annotate(excerpt=excerpt).defer("content", "content_html"):
        pieces = re.split(f"[{_BEGIN}{_END}]", event.excerpt)
        if len(pieces) == 1:
            pieces = ["further on in it"]
        yield Hit(event.session_id, _name(event), pieces, f"e-{event.sequence_number}")


def _name(event: TimelineEvent) -> str:
    if event.event_type != TimelineEvent.Type.LLM_TOOL_CALL:
        return f"In: {event.get_event_type_display()}"
    names = (event.metadata.get("server_name"), event.metadata.get("tool_name"))
    tool = ".".join(str(name) for name in names if name)
    return f"In what {tool or 'a tool'} returned"

"""Where in a session a text was found, for lists of what a search found."""

import re
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.contrib.postgres.search import SearchHeadline
from django.db.models import IntegerField, QuerySet, Value
from django.db.models.functions import Greatest, Left, StrIndex, Substr, Upper

from investigations.models import AlertSession, TimelineEvent
from investigations.selectors.search import SEARCHED_CHARACTERS, matching_events, words_of
from investigations.selectors.sessions import visible_sessions

MOST_HITS = 50
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
        hits.update({hit.session_id: hit for hit in _in_events(rest, text)})
    return list(hits.values())


def _in_texts(sessions: QuerySet[AlertSession], text: str) -> Iterator[Hit]:
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
    # Cut out of no more than one event a session: this reads the whole of a text.
    excerpt = SearchHeadline(
        Left("content", SEARCHED_CHARACTERS),
        words_of(text),
        config="english",
        start_sel=_BEGIN,
        stop_sel=_END,
        max_words=28,
        min_words=12,
    )
    events = TimelineEvent.objects.filter(pk__in=[event.pk for event in chosen.only("pk")])
    for event in events.annotate(excerpt=excerpt).defer("content", "content_html"):
        pieces = re.split(f"[{_BEGIN}{_END}]", event.excerpt)
        yield Hit(event.session_id, _name(event), pieces, f"e-{event.sequence_number}")


def _name(event: TimelineEvent) -> str:
    if event.event_type != TimelineEvent.Type.LLM_TOOL_CALL:
        return f"In: {event.get_event_type_display()}"
    names = (event.metadata.get("server_name"), event.metadata.get("tool_name"))
    tool = ".".join(str(name) for name in names if name)
    return f"In what {tool or 'a tool'} returned"

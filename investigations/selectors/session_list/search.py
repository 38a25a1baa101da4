"""Finding sessions by what was written in them, however many there are.

A rare text is looked up in the indexes. A common one would bring most of the table along, while
walking from the newest session backwards meets it soon.
"""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib.postgres.search import CombinedSearchQuery, SearchQuery, SearchVector
from django.db.models import Q, QuerySet, Value
from django.db.models.functions import Left, Upper

from investigations.models import AlertSession, SessionText, TimelineEvent

SHORTEST_SEARCH = 3
"""Characters: the index knows no shorter parts of a text."""
SHORTEST_BEGINNING = 4
"""Characters of a last word for which longer words count too: fewer begin half a dictionary."""
SEARCHED_CHARACTERS = 100_000
"""PostgreSQL refuses a megabyte of words, and with it the row: one of four bytes a character that
is joined by hyphens counts whole and in parts."""
RARE = 5_000
"""Matches up to which each is looked up."""
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f-]{0,27}|[0-9a-f]{0,24})", re.IGNORECASE)


@dataclass(frozen=True)
class Search:
    """The sessions that hold a text, and whether it was too common to look through everything."""

    sessions: QuerySet[AlertSession]
    is_common: bool = False
    """The text is in so many alerts or reports that nobody should count them."""
    skips_timelines: bool = False
    """So many timelines hold it that only alerts and reports were looked through."""


def search_sessions(
    sessions: QuerySet[AlertSession], text: str, *, by_incident: bool = False
) -> Search:
    """Those whose alert or report has the text as it is, or whose timeline has its words.

    By incident, one is found by what an earlier investigation has of it as well, unless the text is
    a common one.
    """
    by_text = _matching_texts(text)
    by_id = _with_id(text)
    texts = _few(by_text.values_list("session_id", flat=True))
    if texts is None:
        found = sessions.filter(Q(pk__in=by_text.values("session_id")) | by_id)
        return Search(found, is_common=True, skips_timelines=True)
    contents = _few(matching_events(text).values_list("session_id", flat=True))
    ids = texts | (contents or set())
    if by_incident:
        ids |= _standing_for(Q(pk__in=ids) | by_id)
    found = sessions.filter(Q(pk__in=ids) | by_id)
    return Search(found, skips_timelines=contents is None)


def _standing_for(found: Q) -> set[uuid.UUID]:
    """The sessions that show the incidents of those that are not listed themselves. What was
    deleted finds nothing."""
    there = AlertSession.objects.filter(deleted_at=None)
    earlier = there.filter(found, is_listed=False).values("incident")
    shown = AlertSession.objects.filter(is_listed=True, incident__in=earlier)
    return set(shown.values_list("pk", flat=True)[:RARE])


def find_sessions(sessions: QuerySet[AlertSession], text: str) -> QuerySet[AlertSession]:
    """Those that a search finds, and those of an author, an alert type or a chain of this name."""
    search = search_sessions(AlertSession.objects.all(), text)
    if search.is_common:
        return search_sessions(sessions, text).sessions
    found = set(search.sessions.values_list("pk", flat=True))
    for column in ("author", "alert_type", "chain_id"):
        named = sessions.filter((column, text.strip())).order_by("-created_at", "-id")
        found.update(named.values_list("pk", flat=True)[:RARE])
    return sessions.filter(pk__in=found)


def _with_id(text: str) -> Q:
    """The sessions whose id begins with the text, as pages shorten one; none for other texts."""
    ids = read_ids(text)
    return Q(pk__range=ids) if ids else Q(pk__in=())


def read_ids(text: str) -> tuple[uuid.UUID, uuid.UUID] | None:
    """The first and the last id that begin with the text, an id or its first eight digits or more;
    None for what is neither."""
    text = text.strip().removesuffix("…")
    begun = text.replace("-", "")
    if not _ID.fullmatch(text) or len(begun) > 32:
        return None
    return uuid.UUID(begun.ljust(32, "0")), uuid.UUID(begun.ljust(32, "f"))


def matched_in_content(ids: Sequence[uuid.UUID], text: str) -> set[uuid.UUID]:
    """Those of the sessions whose timeline has the words."""
    if not text:
        return set()
    matches = matching_events(text).filter(session_id__in=ids)
    return set(matches.values_list("session_id", flat=True).distinct())


def _few(ids: QuerySet[Any, uuid.UUID]) -> set[uuid.UUID] | None:
    """All of them; None where there are more than it pays to look up."""
    found = list(ids[: RARE + 1])
    return set(found) if len(found) <= RARE else None


def _matching_texts(text: str) -> QuerySet[SessionText]:
    return SessionText.objects.filter(text__contains=Upper(Value(text))).order_by()


def matching_events(text: str) -> QuerySet[TimelineEvent]:
    # As the index `timeline_words` has it.
    words = SearchVector(Left("content", SEARCHED_CHARACTERS), config="english")
    return TimelineEvent.objects.annotate(words=words).filter(words=words_of(text)).order_by()


def words_of(text: str) -> SearchQuery | CombinedSearchQuery:
    """The words in any of their forms; the last one may be a beginning.

    A beginning is looked for as it is written, as no rule makes the stem of half a word.
    """
    whole = SearchQuery(text, config="english")
    before, last = text.split()[:-1], text.split()[-1] if text.split() else ""
    if len(last) < SHORTEST_BEGINNING:
        return whole
    quoted = last.replace("\\", r"\\").replace("'", "''")
    begun = SearchQuery(f"'{quoted}':*", config="simple", search_type="raw")
    return whole | (SearchQuery(" ".join(before), config="english") & begun if before else begun)

"""The way from a cause to what an alert is about, as rules found it."""

import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest

from agents.citations import Ref
from agents.types import JSON
from investigations.models import Stage, TimelineEvent

MOST_LINKS = 5
MOST_CITED = 3


@dataclass(frozen=True)
class ChainLink:
    """One box: a thing, what was found there, and the calls that show it.

    Where nothing was found, `behind` is the thing before it, on which it depends.
    """

    kind: str
    name: str
    says: str
    cites: tuple[Ref, ...]
    behind: str = ""


def read_chain(session_id: uuid.UUID) -> tuple[ChainLink, ...]:
    """The chain of the first cause in the latest report of rules; empty where it has no links."""
    found = (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.FINAL_ANALYSIS,
            stage__stage_type__in=Stage.FINDINGS,
            metadata__has_key="rules",
        )
        .order_by("-sequence_number")
        .values_list("metadata__rules", flat=True)
        .first()
    )
    causes = found.get("causes") if isinstance(found, dict) else None
    first = causes[0] if isinstance(causes, list) and causes else None
    links = first.get("chain") if isinstance(first, dict) else None
    read = tuple(_read_links(links if isinstance(links, list) else []))
    return read if len(read) > 1 else ()


def _read_links(links: list[JSON]) -> Iterator[ChainLink]:
    before = ""
    for link in links[:MOST_LINKS]:
        if not isinstance(link, Mapping):
            continue
        says, name = str(link.get("says", "")), str(link.get("name", ""))
        yield ChainLink(
            kind=str(link.get("kind", "")),
            name=name,
            says=says,
            cites=tuple(_read_cites(link.get("calls"), link.get("quotes")))[:MOST_CITED],
            behind="" if says else before,
        )
        before = name


def _read_cites(calls: JSON, quotes: JSON) -> Iterator[Ref]:
    """The calls with what is quoted of each; links that were kept before quotes were have none."""
    numbers = calls if isinstance(calls, list) else []
    words = quotes if isinstance(quotes, list) else []
    for number, quote in zip_longest(numbers, words[: len(numbers)]):
        if isinstance(number, int):
            yield Ref(number, quote if isinstance(quote, str) and quote else None)

"""What the list of incidents is narrowed to, as its address says it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import get_args
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from investigations.models import AlertSession, Incident
from investigations.rendering.state_colours import look_of
from investigations.selectors.alert_facts import label_of_source
from investigations.selectors.outcomes import OUTCOMES
from investigations.selectors.session_list.search import SHORTEST_SEARCH
from investigations.selectors.sessions import SessionFilter
from investigations.sources.severity import Severity

PERIODS: Mapping[str, tuple[str, timedelta]] = {
    "1h": ("Last hour", timedelta(hours=1)),
    "24h": ("Last 24 h", timedelta(days=1)),
    "7d": ("Last 7 days", timedelta(days=7)),
    "30d": ("Last 30 days", timedelta(days=30)),
}
SEVERITIES: tuple[str, ...] = get_args(Severity)
RANGE = "range"
"""The period that has a beginning and an end of its own."""
LONGEST_SEARCH = 400


@dataclass(frozen=True)
class Chip:
    """One filter that is on, and the address without it."""

    words: str
    href: str


@dataclass(frozen=True)
class ListFilter:
    """What was asked for, right or wrong; empty means all."""

    statuses: tuple[str, ...] = ()
    """Outcomes, as rows draw them."""
    severities: tuple[str, ...] = ()
    service: str = ""
    cluster: str = ""
    source: str = ""
    states: tuple[str, ...] = ()
    """What became of the alerts."""
    alert_type: str = ""
    chain_id: str = ""
    author: str = ""
    is_mine: bool = False
    search: str = ""
    time: str = ""
    start: str = ""
    end: str = ""

    @property
    def start_moment(self) -> datetime | None:
        return _moment(self.start) if self.time == RANGE else None

    @property
    def end_moment(self) -> datetime | None:
        return _moment(self.end) if self.time == RANGE else None

    @property
    def is_search_too_short(self) -> bool:
        return 0 < len(self.search) < SHORTEST_SEARCH

    @property
    def query(self) -> str:
        """As the address has it: the same view for whoever opens it."""
        pairs: list[tuple[str, str]] = [("status", status) for status in self.statuses]
        pairs += [("severity", severity) for severity in self.severities]
        pairs += [("state", state) for state in self.states]
        pairs += [("service", self.service), ("cluster", self.cluster), ("source", self.source)]
        pairs += [("alert_type", self.alert_type), ("chain_id", self.chain_id)]
        pairs += [("author", self.author), ("mine", "1" if self.is_mine else "")]
        pairs += [("search", self.search), ("time", self.time)]
        if self.time == RANGE:
            pairs += [("start_date", self.start), ("end_date", self.end)]
        return urlencode([(name, value) for name, value in pairs if value])

    @property
    def href(self) -> str:
        return f"/?{self.query}" if self.query else "/"

    def narrowed(self, actor: str) -> SessionFilter:
        """What the database is asked; `actor` is whose sessions are "mine"."""
        start, end = self.start_moment, self.end_moment
        if self.time in PERIODS:
            start = timezone.now() - PERIODS[self.time][1]
        both = self.is_mine and self.author not in ("", actor)
        return SessionFilter(
            statuses=self.statuses or AlertSession.TERMINAL,
            by_outcome=bool(self.statuses),
            by_incident=True,
            severities=self.severities,
            service=self.service,
            cluster=self.cluster,
            source=self.source,
            states=self.states,
            alert_type=self.alert_type,
            chain_id=self.chain_id,
            author=actor if self.is_mine else self.author,
            search="" if self.is_search_too_short else self.search,
            start_date=start,
            end_date=end,
            none_can_match=both or (self.is_mine and not actor),
        )

    def parts(self) -> list[tuple[str, "ListFilter"]]:
        """Each filter that is on, in words, with what is left without it."""
        parts = [
            (
                look_of(each)[2],
                replace(self, statuses=tuple(other for other in self.statuses if other != each)),
            )
            for each in self.statuses
        ]
        for each in self.severities:
            left = tuple(other for other in self.severities if other != each)
            parts.append((each.capitalize(), replace(self, severities=left)))
        for each in self.states:
            left = tuple(other for other in self.states if other != each)
            parts.append((Incident.State(each).label, replace(self, states=left)))
        if self.service:
            parts.append((self.service, replace(self, service="")))
        if self.cluster:
            parts.append((self.cluster, replace(self, cluster="")))
        if self.source:
            parts.append((label_of_source(self.source), replace(self, source="")))
        if self.alert_type:
            parts.append((self.alert_type, replace(self, alert_type="")))
        if self.chain_id:
            parts.append((self.chain_id, replace(self, chain_id="")))
        if self.author:
            parts.append((self.author, replace(self, author="")))
        if self.is_mine:
            parts.append(("Mine", replace(self, is_mine=False)))
        if self.time in PERIODS or self.start_moment or self.end_moment:
            parts.append((self._time_words(), replace(self, time="", start="", end="")))
        if self.search and not self.is_search_too_short:
            parts.append((f'"{self.search}"', replace(self, search="")))
        return parts

    def chips(self) -> list[Chip]:
        return [Chip(words, rest.href) for words, rest in self.parts()]

    def _time_words(self) -> str:
        if self.time in PERIODS:
            return PERIODS[self.time][0]
        start, end = self.start_moment, self.end_moment
        if start and end:
            return f"{start:%Y-%m-%d %H:%M} to {end:%Y-%m-%d %H:%M} UTC"
        return f"since {start:%Y-%m-%d %H:%M} UTC" if start else f"before {end:%Y-%m-%d %H:%M} UTC"


def read_list_filter(query: QueryDict) -> ListFilter:
    """Values that nobody knows are left out, as an old link may have them."""
    time = query.get("time", "")
    return ListFilter(
        statuses=tuple(_known(query.getlist("status"), OUTCOMES)),
        severities=tuple(_known(query.getlist("severity"), SEVERITIES)),
        states=tuple(_known(query.getlist("state"), Incident.State.values)),
        service=_plain(query, "service"),
        cluster=_plain(query, "cluster"),
        source=_plain(query, "source"),
        alert_type=_plain(query, "alert_type"),
        chain_id=_plain(query, "chain_id"),
        author=_plain(query, "author"),
        is_mine=query.get("mine", "") == "1",
        search=_plain(query, "search")[:LONGEST_SEARCH],
        time=time if time in PERIODS or time == RANGE else "",
        start=_plain(query, "start_date"),
        end=_plain(query, "end_date"),
    )


def _known(values: Iterable[str], known: Iterable[str]) -> list[str]:
    return [value for value in known if value in set(values)]


def _plain(query: QueryDict, name: str) -> str:
    return query.get(name, "").strip()


def _moment(text: str) -> datetime | None:
    """A moment as a form field writes it, in UTC; None for anything else."""
    try:
        moment = parse_datetime(text)
        if moment is None:
            return None
        zoned = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return zoned.astimezone(UTC)
    except (ValueError, OverflowError):
        return None

"""Incidents as rows of the list page, each by its newest session, newest first."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Q, QuerySet
from django.db.models.functions import Left

from investigations.models import AlertSession, AuditEvent
from investigations.selectors.costs import Costs, costs_by_session
from investigations.selectors.cursors import read_page
from investigations.selectors.outcomes import are_over, still_fires
from investigations.selectors.session_list.doubts import (
    UNDONE_WRITE,
    UNVERIFIED_WRITE,
    WITHHELD,
    read_doubts,
)
from investigations.selectors.session_list.states import read_states
from investigations.selectors.session_page.conclusions import (
    conclusion_of,
    confidence_of,
    first_words,
)
from investigations.selectors.sessions import (
    COMMON_COUNT_LIMIT,
    COUNT_LIMIT,
    SessionFilter,
    count_up,
    narrow,
    visible_sessions,
)
from investigations.selectors.tool_counts import count_of_sessions

PAGE_SIZE = 25
_CONCLUSION_CHARACTERS = 3000
_TOLD = {
    "unverified_write": UNVERIFIED_WRITE,
    "not_repaired": UNDONE_WRITE,
    "partly_done": UNDONE_WRITE,
}
"""The doubt that a state tells by itself."""


@dataclass(frozen=True)
class OutcomeRow:
    """A session that has ended, and what came of it in one line."""

    session: AlertSession
    line: str
    state: str
    """The status to draw."""

    @property
    def still_fires(self) -> bool:
        """Whether its alerts do, as far as anybody tells."""
        return still_fires(self.session)

    @property
    def is_over(self) -> bool:
        """Whether somebody has told that its alerts are."""
        return are_over(self.session)

    @property
    def is_repaired(self) -> bool:
        """Whether it changed something, and all that it asked for was done and seen to work."""
        is_told = self.session.writes_told == AlertSession.WritesTold.CHANGED
        return is_told and self.state == AlertSession.Status.COMPLETED

    @property
    def seconds(self) -> float | None:
        start, end = self.session.started_at, self.session.completed_at
        return (end - start).total_seconds() if start and end else None


@dataclass(frozen=True)
class RecentRow(OutcomeRow):
    costs: Costs
    tool_calls: int
    investigations: int = 1
    """Of its incident, which this one shows."""
    doubts: Sequence[str] = ()
    """What of the report cannot be relied on, in words."""

    @property
    def marks(self) -> Sequence[str]:
        """The doubts that the state does not tell."""
        told = _TOLD.get(self.state)
        return [each for each in self.doubts if each != told]

    @property
    def confidence(self) -> str:
        """How sure the report says it is; nothing where it rests on nothing, or tells of an act
        that never was."""
        has_withheld = any(each.endswith(WITHHELD) for each in self.doubts)
        if not self.session.is_terminal or has_withheld:
            return ""
        return confidence_of(self.session.analysis_start)  # type: ignore[attr-defined]


@dataclass(frozen=True)
class RecentPage:
    rows: Sequence[RecentRow] = ()
    next_cursor: str = ""
    """Where the next page begins, empty on the last one."""
    count: int = 0
    is_cut_off: bool = False
    """Whether there are more than were counted."""
    skips_timelines: bool = False
    """The text that was searched for is in too many timelines to look through them."""

    @property
    def count_words(self) -> str:
        return f"{self.count:,}{'+' if self.is_cut_off else ''}"


def is_empty() -> bool:
    return not visible_sessions().exists()


def has_come_since(moment: datetime) -> bool:
    return visible_sessions().filter(created_at__gte=moment).exists()


def read_recent(wanted: SessionFilter, before: str = "") -> RecentPage:
    """One page of incidents, by their newest investigations, the newest first.

    Raises InvalidInput for a cursor that is none.
    """
    if wanted.none_can_match:
        return RecentPage()
    found = narrow(visible_sessions(), wanted)
    count = count_up(found)
    shown, cursor = read_page(light(found.sessions), "created_at", before, PAGE_SIZE)
    ids = [session.pk for session in shown]
    costs, cancellers = costs_by_session(ids), _who_cancelled(shown)
    doubts, times = read_doubts(shown), _count_investigations(shown)
    states, calls = read_states(shown), count_of_sessions(shown)
    rows = [
        RecentRow(
            session,
            _line(session, cancellers),
            states[session.pk],
            costs.get(session.pk, Costs()),
            calls[session.pk],
            times.get(session.incident_id, 1),
            doubts.get(session.pk, ()),
        )
        for session in shown
    ]
    most = COMMON_COUNT_LIMIT if found.is_common else COUNT_LIMIT
    return RecentPage(rows, cursor, count, count >= most, found.skips_timelines)


def count_recent(wanted: SessionFilter) -> int:
    """How many a filter keeps, as far as anybody should count."""
    return 0 if wanted.none_can_match else count_up(narrow(visible_sessions(), wanted))


def count_newer(wanted: SessionFilter, moment: datetime) -> int:
    """How many of those that a filter keeps came or ended after a moment."""
    if wanted.none_can_match:
        return 0
    newer = Q(completed_at__gt=moment) | Q(created_at__gt=moment)
    return narrow(visible_sessions().filter(newer), wanted).sessions[:COUNT_LIMIT].count()


def read_chosen(ids: Sequence[uuid.UUID]) -> list[AlertSession]:
    """Those of the sessions that are there, in the order in which they were chosen."""
    found = light(visible_sessions().filter(pk__in=ids)).in_bulk()
    return [found[each] for each in ids if each in found]


def read_ended_since(moment: datetime) -> list[OutcomeRow]:
    """Those that have ended since then, the first of them first."""
    ended = visible_sessions().filter(completed_at__gte=moment).order_by("completed_at", "id")
    return rows_of(list(light(ended)[:PAGE_SIZE]))


def rows_of(sessions: Sequence[AlertSession]) -> list[OutcomeRow]:
    """Of sessions that `light` has read and that have ended."""
    states = read_states(sessions)
    return [OutcomeRow(each, outcome_line(each), states[each.pk]) for each in sessions]


def light(sessions: QuerySet[AlertSession]) -> QuerySet[AlertSession]:
    """Without the long texts, which may be a megabyte a row."""
    return (
        sessions.select_related("incident")
        .defer("alert_data", "final_analysis", "executive_summary", "mcp_selection")
        .annotate(
            analysis_start=Left("final_analysis", _CONCLUSION_CHARACTERS),
            summary_start=Left("executive_summary", _CONCLUSION_CHARACTERS),
        )
    )


def outcome_line(session: AlertSession) -> str:
    """The conclusion, or why there is none, in one line."""
    if session.status != AlertSession.Status.COMPLETED and session.error_message:
        return first_words(session.error_message)
    analysis: str = session.analysis_start  # type: ignore[attr-defined]
    summary: str = session.summary_start  # type: ignore[attr-defined]
    return conclusion_of(analysis) or first_words(summary)


def _line(session: AlertSession, cancellers: Mapping[str, str]) -> str:
    line = outcome_line(session)
    if session.status == AlertSession.Status.CANCELLED and not line:
        by = cancellers.get(str(session.pk), "")
        line = f"Cancelled by {by}." if by else "Cancelled before a conclusion."
    return line


def _count_investigations(shown: Sequence[AlertSession]) -> dict[uuid.UUID | None, int]:
    """By incident."""
    incidents = [each.incident_id for each in shown if each.incident_id]
    rows = visible_sessions().filter(incident_id__in=incidents).order_by()
    return dict(rows.values_list("incident_id").annotate(number=Count("pk")))


def _who_cancelled(sessions: Sequence[AlertSession]) -> dict[str, str]:
    ids = [str(each.pk) for each in sessions if each.status == AlertSession.Status.CANCELLED]
    if not ids:
        return {}
    acts = AuditEvent.objects.filter(
        target_type="session", target_id__in=ids, action="session.cancel"
    )
    return dict(acts.order_by("-id").values_list("target_id", "actor"))

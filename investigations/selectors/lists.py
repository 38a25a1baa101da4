"""What the list page shows: running, queued and recent sessions."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce, JSONObject, Left

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Event,
    TimelineEvent,
)
from investigations.selectors.conclusions import conclusion_of, first_words
from investigations.selectors.costs import Costs, costs_by_session
from investigations.selectors.cursors import read_page
from investigations.selectors.sessions import COUNT_LIMIT, visible_sessions

PAGE_SIZE = 25
_SHOWN_AT_ONCE = 50
_CONCLUSION_CHARACTERS = 3000


@dataclass(frozen=True)
class RunningRow:
    session: AlertSession
    stage_name: str
    agents_done: int
    agents_total: int
    step: str
    last_event_at: datetime | None
    needs_person: bool = False
    """A write of it waits for a decision."""

    @property
    def segments(self) -> list[str]:
        """One mark for each stage of the chain: done, run or nothing."""
        total = max(self.session.total_stages, self.session.current_stage_index or 0, 1)
        current = self.session.current_stage_index or 0
        return [
            "is-done" if n < current else "is-run" if n == current else ""
            for n in range(1, total + 1)
        ]

    @property
    def is_stale(self) -> bool:
        at = self.last_event_at
        return at is not None and (datetime.now(UTC) - at).total_seconds() >= 30


@dataclass(frozen=True)
class RecentRow:
    session: AlertSession
    line: str
    costs: Costs

    @property
    def seconds(self) -> float | None:
        start, end = self.session.started_at, self.session.completed_at
        return (end - start).total_seconds() if start and end else None


@dataclass(frozen=True)
class RecentPage:
    rows: Sequence[RecentRow]
    next_cursor: str
    """Where the next page begins, empty on the last one."""
    count: int
    """At most `COUNT_LIMIT` + 1, which stands for more."""

    @property
    def count_words(self) -> str:
        return f"{COUNT_LIMIT:,}+" if self.count > COUNT_LIMIT else f"{self.count:,}"


def is_empty() -> bool:
    return not visible_sessions().exists()


def read_running() -> list[RunningRow]:
    running = visible_sessions().filter(status__in=AlertSession.ACTIVE).order_by("started_at", "id")
    return _running_rows(running[:_SHOWN_AT_ONCE])


def read_running_row(session_id: uuid.UUID) -> RunningRow | None:
    """The row of one session, whatever has become of it."""
    rows = _running_rows(visible_sessions().filter(pk=session_id))
    return rows[0] if rows else None


def read_queued() -> tuple[list[AlertSession], int]:
    """The sessions that wait, oldest first, and how many there are."""
    queued = visible_sessions().filter(status=AlertSession.Status.PENDING)
    shown = list(light(queued).order_by("created_at", "id")[:_SHOWN_AT_ONCE])
    return shown, len(shown) if len(shown) < _SHOWN_AT_ONCE else queued.count()


def read_recent(statuses: Sequence[str] = (), before: str = "") -> RecentPage:
    """One page of sessions, newest first; those that ended unless statuses are named.

    Raises InvalidInput for a cursor that is none.
    """
    wanted = visible_sessions().filter(status__in=statuses or AlertSession.TERMINAL)
    count = wanted.order_by()[: COUNT_LIMIT + 1].count()
    shown, cursor = read_page(light(wanted), "created_at", before, PAGE_SIZE)
    costs = costs_by_session([session.pk for session in shown])
    rows = [
        RecentRow(session, outcome_line(session), costs.get(session.pk, Costs()))
        for session in shown
    ]
    return RecentPage(rows, cursor, count)


def light(sessions: QuerySet[AlertSession]) -> QuerySet[AlertSession]:
    """Without the long texts, which may be a megabyte a row."""
    return sessions.defer(
        "alert_data", "final_analysis", "executive_summary", "session_metadata", "mcp_selection"
    ).annotate(
        analysis_start=Left("final_analysis", _CONCLUSION_CHARACTERS),
        summary_start=Left("executive_summary", _CONCLUSION_CHARACTERS),
    )


def _running_rows(sessions: QuerySet[AlertSession]) -> list[RunningRow]:
    newest_event = Event.objects.filter(session_id=OuterRef("pk"), seq=OuterRef("last_seq"))
    newest_step = TimelineEvent.objects.filter(session_id=OuterRef("pk")).order_by(
        "-sequence_number"
    )
    waiting = ApprovalRequest.objects.filter(
        session_id=OuterRef("pk"), status=ApprovalRequest.Status.PENDING
    )
    rows = list(
        light(sessions).annotate(
            needs_person=Exists(waiting),
            last_event_at=Coalesce(
                Subquery(newest_event.values("created_at")[:1]), F("last_interaction_at")
            ),
            newest_step=Subquery(
                newest_step.values(
                    step=JSONObject(
                        kind="event_type",
                        server=F("metadata__server_name"),
                        tool=F("metadata__tool_name"),
                    )
                )[:1]
            ),
        )
    )
    agents = _count_agents([row.current_stage_id for row in rows if row.current_stage_id])
    return [_running_row(row, agents) for row in rows]


def _running_row(
    session: AlertSession, agents: Mapping[uuid.UUID, tuple[str, int, int]]
) -> RunningRow:
    nothing = ("", 0, 0)
    key = session.current_stage_id
    name, done, total = agents.get(key, nothing) if key else nothing
    needs_person: bool = session.needs_person  # type: ignore[attr-defined]
    return RunningRow(
        session=session,
        stage_name=name,
        agents_done=done,
        agents_total=total,
        step=_step_words(session.newest_step),  # type: ignore[attr-defined]
        needs_person=needs_person and not session.is_terminal,
        last_event_at=session.last_event_at,  # type: ignore[attr-defined]
    )


def _count_agents(stage_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, tuple[str, int, int]]:
    rows = (
        AgentExecution.objects.filter(stage_id__in=stage_ids, parent_execution__isnull=True)
        .order_by()
        .values("stage_id", "stage__stage_name")
        .annotate(total=Count("id"), done=Count("id", filter=Q(status__in=AgentExecution.TERMINAL)))
    )
    return {row["stage_id"]: (row["stage__stage_name"], row["done"], row["total"]) for row in rows}


def _step_words(step: Mapping[str, str | None] | None) -> str:
    if not step:
        return "starting"
    if step["kind"] == TimelineEvent.Type.LLM_TOOL_CALL:
        return f"{step['server'] or ''}.{step['tool'] or ''}".strip(".")
    if step["kind"] == TimelineEvent.Type.LLM_THINKING:
        return "thinking"
    return "writing"


def outcome_line(session: AlertSession) -> str:
    """The conclusion, or why there is none, in one line."""
    if session.status != AlertSession.Status.COMPLETED and session.error_message:
        return first_words(session.error_message)
    analysis: str = session.analysis_start  # type: ignore[attr-defined]
    summary: str = session.summary_start  # type: ignore[attr-defined]
    return conclusion_of(analysis) or first_words(summary)

"""The sessions that run, and those that wait for their turn."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KT
from django.db.models.functions import Coalesce, JSONObject

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Event,
    TimelineEvent,
)
from investigations.selectors.session_list.rows import light
from investigations.selectors.session_list.states import read_states
from investigations.selectors.sessions import COUNT_LIMIT, visible_sessions

SHOWN_RUNNING = 50
SHOWN_QUEUED = 10


@dataclass(frozen=True)
class RunningRow:
    session: AlertSession
    stage_name: str
    agents_done: int
    """Of those of the stage that runs."""
    agents_total: int
    step: str
    last_event_at: datetime | None
    state: str
    """The status to draw, where it has ended meanwhile."""
    needs_person: bool = False
    """A write of it waits for a decision."""

    @property
    def segments(self) -> list[str]:
        """One mark for each stage of the chain: done, run, waiting for a person or nothing."""
        total = max(self.session.total_stages, self.session.current_stage_index or 0, 1)
        current = self.session.current_stage_index or 0
        now = "is-you" if self.needs_person else "is-run"
        return [
            "is-done" if n < current else now if n == current else "" for n in range(1, total + 1)
        ]

    @property
    def stages_done(self) -> int:
        return self.segments.count("is-done")

    @property
    def is_stale(self) -> bool:
        """Nothing comes although something should: while a person is waited for, nothing does."""
        at = self.last_event_at
        return (
            at is not None
            and not self.needs_person
            and (datetime.now(UTC) - at).total_seconds() >= 30
        )


def read_running() -> list[RunningRow]:
    """Those that wait for a person first, then the longest running."""
    running = visible_sessions().filter(status__in=AlertSession.ACTIVE)
    first = running.order_by(Exists(_waiting()).desc(), "started_at", "id")
    return _running_rows(first[:SHOWN_RUNNING])


def read_running_row(session_id: uuid.UUID) -> RunningRow | None:
    """The row of one session, whatever has become of it."""
    rows = _running_rows(visible_sessions().filter(pk=session_id))
    return rows[0] if rows else None


def read_queued() -> tuple[list[AlertSession], int]:
    """The first in line, and how many there are."""
    queued = visible_sessions().filter(status=AlertSession.Status.PENDING)
    shown = list(light(queued).order_by("created_at", "id")[:SHOWN_QUEUED])
    return shown, len(shown) if len(shown) < SHOWN_QUEUED else queued[:COUNT_LIMIT].count()


def _running_rows(sessions: QuerySet[AlertSession]) -> list[RunningRow]:
    newest_event = Event.objects.filter(session_id=OuterRef("pk"), seq=OuterRef("last_seq"))
    newest_step = TimelineEvent.objects.filter(session_id=OuterRef("pk")).order_by(
        "-sequence_number"
    )
    rows = list(
        light(sessions).annotate(
            needs_person=Exists(_waiting()),
            last_event_at=Coalesce(
                Subquery(newest_event.values("created_at")[:1]), F("last_interaction_at")
            ),
            newest_step=Subquery(
                newest_step.values(
                    step=JSONObject(
                        kind="event_type",
                        server=KT("metadata__server_name"),
                        tool=KT("metadata__tool_name"),
                        about=KT("metadata__about"),
                        status="status",
                        stage="stage_id",
                    )
                )[:1]
            ),
        )
    )
    agents = _count_agents([row.current_stage_id for row in rows if row.current_stage_id])
    states = read_states(rows)
    return [_running_row(row, agents, states[row.pk]) for row in rows]


def _waiting() -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(
        session_id=OuterRef("pk"), status=ApprovalRequest.Status.PENDING
    )


def _running_row(
    session: AlertSession, agents: Mapping[uuid.UUID, tuple[str, int, int]], state: str
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
        step=_step_words(session.newest_step, key),  # type: ignore[attr-defined]
        state=state,
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


def _step_words(step: Mapping[str, str | None] | None, stage_id: uuid.UUID | None) -> str:
    """What was told last of the stage that runs; its agents tell nothing before their tools are
    there."""
    if not step or step["stage"] != (str(stage_id) if stage_id else None):
        return "getting tools ready"
    if step["kind"] == TimelineEvent.Type.LLM_TOOL_CALL:
        return f"{step['server'] or ''}.{step['tool'] or ''}".strip(".")
    if step["kind"] == TimelineEvent.Type.LLM_THINKING:
        return "thinking"
    is_open = step["status"] == TimelineEvent.Status.STREAMING
    if is_open and step["about"] == TimelineEvent.ABOUT_WAIT:
        return "waits as long as its model provider asks"
    return "writing"

"""Sessions as an agent asks about them: in short lists, one by one, and by what they are about."""

import re
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q, QuerySet
from django.db.models.functions import Left

from investigations.models import AgentExecution, AlertSession, Stage
from investigations.selectors.cursors import read_page
from investigations.selectors.session_list.rows import light, outcome_line
from investigations.selectors.sessions import visible_sessions

SEARCHED_SESSIONS = 500
"""How many of the newest sessions a search by text looks at: their alerts may be large."""
SEARCHED_CHARACTERS = 100_000
SHOWN_ALERT = 4_000
SHOWN_REPORT = 12_000
_MOST_STAGES = 50


@dataclass(frozen=True)
class PastSession:
    session: AlertSession
    line: str
    """The conclusion in one line, else why there is none."""


@dataclass(frozen=True)
class PastPage:
    sessions: Sequence[PastSession]
    next_cursor: str


@dataclass(frozen=True)
class PastStage:
    stage: Stage
    failures: Sequence[AgentExecution]


@dataclass(frozen=True)
class PastDetail:
    """`alert` and `report` are cut."""

    found: PastSession
    alert: str
    report: str
    stages: Sequence[PastStage]


@dataclass(frozen=True)
class PastFilter:
    """What a list is narrowed to; empty means all."""

    statuses: Sequence[str] = ()
    alert_type: str = ""
    text: str = ""
    since: datetime | None = None
    names: Sequence[str] = ()
    """Only sessions that speak of one of these, as a whole word."""

    @property
    def searches(self) -> bool:
        return bool(self.text or self.names)


def list_past(wanted: PastFilter, *, limit: int, cursor: str) -> PastPage:
    """One page, newest first. Raises InvalidInput for a cursor that is none."""
    sessions = _narrow(visible_sessions(), wanted)
    if wanted.searches:
        sessions = _search(sessions, wanted)
    shown, following = read_page(light(sessions), "created_at", cursor, limit)
    return PastPage([PastSession(each, outcome_line(each)) for each in shown], following)


def read_past(session_id: uuid.UUID) -> PastDetail | None:
    """One session with its stages and what failed in them; None when there is none."""
    rows = light(visible_sessions().filter(pk=session_id)).annotate(
        alert_start=Left("alert_data", SHOWN_ALERT),
        report_start=Left("final_analysis", SHOWN_REPORT),
    )
    session = rows.first()
    if session is None:
        return None
    failed = AgentExecution.objects.filter(session_id=session_id).exclude(error_message="")
    by_stage: dict[uuid.UUID, list[AgentExecution]] = {}
    for execution in failed.order_by("agent_index")[:_MOST_STAGES]:
        by_stage.setdefault(execution.stage_id, []).append(execution)
    stages = Stage.objects.filter(session_id=session_id).order_by("stage_index")[:_MOST_STAGES]
    return PastDetail(
        PastSession(session, outcome_line(session)),
        alert=session.alert_start,
        report=session.report_start,
        stages=[PastStage(stage, by_stage.get(stage.pk, ())) for stage in stages],
    )


def _narrow(sessions: QuerySet[AlertSession], wanted: PastFilter) -> QuerySet[AlertSession]:
    if wanted.statuses:
        sessions = sessions.filter(status__in=wanted.statuses)
    if wanted.alert_type:
        sessions = sessions.filter(alert_type=wanted.alert_type)
    if wanted.since:
        sessions = sessions.filter(created_at__gte=wanted.since)
    return sessions


def _search(sessions: QuerySet[AlertSession], wanted: PastFilter) -> QuerySet[AlertSession]:
    newest = sessions.order_by("-created_at", "-id").values("pk")[:SEARCHED_SESSIONS]
    found = AlertSession.objects.filter(pk__in=newest).annotate(
        alert_start=Left("alert_data", SEARCHED_CHARACTERS),
        report=Left("final_analysis", SEARCHED_CHARACTERS),
    )
    if wanted.text:
        found = found.filter(
            Q(title__icontains=wanted.text)
            | Q(alert_start__icontains=wanted.text)
            | Q(report__icontains=wanted.text)
        )
    if wanted.names:
        whole = rf"(^|[^\w-])({'|'.join(map(re.escape, wanted.names))})($|[^\w-])"
        found = found.filter(
            Q(title__iregex=whole) | Q(alert_start__iregex=whole) | Q(report__iregex=whole)
        )
    return found

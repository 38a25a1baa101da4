"""Sessions as lists and heads need them. Nobody here loads an alert's text into a list."""

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from django.db.models import Count, F, Q, QuerySet

from investigations.models import (
    AgentExecution,
    AlertSession,
    ChatUserMessage,
    Incident,
    MCPInteraction,
    Stage,
    TimelineEvent,
)
from investigations.models.sessions import DURATION
from investigations.selectors.costs import Costs, costs_by_session
from investigations.selectors.cursors import read_page
from investigations.selectors.distinct import values_by_column
from investigations.selectors.outcomes import with_outcome
from investigations.selectors.session_list.search import Search, matched_in_content, search_sessions
from tarsy.errors import NotFound

COUNT_LIMIT = 10_000
"""Lists count no further: an exact number costs a walk over all rows and helps nobody."""
COMMON_COUNT_LIMIT = 1_000
"""The same for a text that is in so many sessions that counting means reading them."""
MOST_OPTIONS = 500
"""Alert types or chains that a filter offers."""

Column = Literal["alert_type", "chain_id", "author", "source", "severity", "service", "cluster"]

LIST_FIELDS = (
    "id",
    "alert_type",
    "title",
    "chain_id",
    "status",
    "author",
    "created_at",
    "started_at",
    "completed_at",
    "error_message",
    "executive_summary",
    "total_stages",
    "current_stage_index",
    "current_stage_id",
)
SORTS = {
    "created_at": F("created_at"),
    "status": F("status"),
    "alert_type": F("alert_type"),
    "author": F("author"),
    "duration": DURATION,
    # Nobody has scored or rated anything yet, so these leave the newest first.
    "score": None,
    "quality_rating": None,
}


@dataclass(frozen=True)
class SessionFilter:
    """What a list of sessions is narrowed to; empty means all."""

    statuses: Sequence[str] = ()
    by_outcome: bool = False
    """Whether `statuses` are outcomes: what is not repaired is that, and then not `completed`."""
    by_incident: bool = False
    """Whether each incident is shown once, by its newest investigation."""
    severities: Sequence[str] = ()
    service: str = ""
    cluster: str = ""
    source: str = ""
    states: Sequence[str] = ()
    """Of the incidents whose alerts come and go: a plain alert is never told to be over."""
    alert_type: str = ""
    chain_id: str = ""
    author: str = ""
    search: str = ""
    start_date: datetime | None = None
    end_date: datetime | None = None
    none_can_match: bool = False
    """Asks for reviews or scores, which no session has."""


@dataclass(frozen=True)
class StageCounts:
    begun: int = 0
    completed: int = 0
    failed: int = 0
    parallel: int = 0
    action: int = 0
    actions_executed: int = 0

    @property
    def actions_were_executed(self) -> bool | None:
        """None where the chain has no action stage."""
        return self.actions_executed > 0 if self.action else None


@dataclass(frozen=True)
class SessionSummary:
    """A session with what its rows below add up to."""

    session: AlertSession
    costs: Costs = field(default_factory=Costs)
    stages: StageCounts = field(default_factory=StageCounts)
    mcp_interactions: int = 0
    sub_agents: int = 0
    chat_messages: int = 0
    provider_fallbacks: int = 0
    matched_in_content: bool = False

    @property
    def total_stages(self) -> int:
        """The stages there were, answers in the chat among them; before the end at least those that
        are planned."""
        if self.session.is_terminal:
            return self.stages.begun
        return max(self.stages.begun, self.session.total_stages)


@dataclass(frozen=True)
class SummaryPage:
    """One page of a list of sessions. `total_items` is counted up to `COUNT_LIMIT`."""

    summaries: list[SessionSummary]
    total_items: int
    next_cursor: str = ""
    """Where the page behind it begins; empty on the last one, and in any other order."""


def visible_sessions() -> QuerySet[AlertSession]:
    """Every session that was not deleted."""
    return AlertSession.objects.filter(deleted_at=None)


def get_session(session_id: uuid.UUID) -> AlertSession:
    """Raises NotFound, for deleted ones too."""
    session = visible_sessions().filter(pk=session_id).first()
    if session is None:
        raise NotFound("session not found")
    return session


@dataclass(frozen=True)
class ListQuery:
    """One page of a list: by its number, or behind the cursor `before`."""

    wanted: SessionFilter
    sort_by: str
    descending: bool
    page: int
    page_size: int
    before: str = ""


def list_sessions(query: ListQuery) -> SummaryPage:
    """One page, in a fixed number of queries.

    Numbers end where counting ends. Raises InvalidInput for a cursor that is none.
    """
    if query.wanted.none_can_match:
        return SummaryPage([], 0)
    found = narrow(visible_sessions(), query.wanted)
    total = count_up(found)
    sessions, start = found.sessions.only(*LIST_FIELDS), (query.page - 1) * query.page_size
    is_newest_first = query.sort_by == "created_at" and query.descending
    following = ""
    if is_newest_first and (query.before or query.page == 1):
        rows, following = read_page(sessions, "created_at", query.before, query.page_size)
    elif start < total:
        in_order = _sort(sessions, query.sort_by, query.descending)
        rows = list(in_order[start : start + query.page_size])
    else:
        rows = []
    return SummaryPage(summarize(rows, search=query.wanted.search), total, following)


def count_up(found: Search) -> int:
    """How many there are, as far as anybody should count."""
    limit = COMMON_COUNT_LIMIT if found.is_common else COUNT_LIMIT
    return found.sessions.order_by()[:limit].count()


@dataclass(frozen=True)
class FilterOptions:
    """Values that a list of sessions can be narrowed to."""

    alert_types: list[str]
    chain_ids: list[str]
    statuses: list[str]


def filter_options() -> FilterOptions:
    """The alert types and chains that sessions have, and every status there is."""
    alert_types, chain_ids = values_in_use("alert_type", "chain_id")
    return FilterOptions(
        alert_types=alert_types,
        chain_ids=chain_ids,
        statuses=list(AlertSession.Status.values),
    )


def values_in_use(*columns: Column) -> list[list[str]]:
    """What sessions have in each of the columns."""
    table = AlertSession._meta.db_table
    return values_by_column(table, columns, only="deleted_at IS NULL", most=MOST_OPTIONS)


def list_active() -> tuple[list[AlertSession], list[AlertSession]]:
    """Those that run, longest first, and those that wait, first in line first."""
    sessions = visible_sessions().only(*LIST_FIELDS)
    active = sessions.filter(status__in=AlertSession.ACTIVE).order_by("started_at", "id")
    queued = sessions.filter(status=AlertSession.Status.PENDING).order_by("created_at", "id")
    return list(active[:COUNT_LIMIT]), list(queued[:COUNT_LIMIT])


def count_active_and_queued() -> tuple[int, int]:
    """How many sessions run and how many wait."""
    sessions = visible_sessions()
    active = sessions.filter(status__in=AlertSession.ACTIVE).count()
    return active, sessions.filter(status=AlertSession.Status.PENDING).count()


def summarize(sessions: Sequence[AlertSession], *, search: str = "") -> list[SessionSummary]:
    """Add up what belongs to each session: one query per kind of row, however many sessions."""
    ids = [session.pk for session in sessions]
    costs = costs_by_session(ids)
    stages = _count_stages(ids)
    tools = _count(MCPInteraction.objects.filter(session_id__in=ids), "session_id")
    sub_agents = _count(
        AgentExecution.objects.filter(session_id__in=ids, parent_execution__isnull=False),
        "session_id",
    )
    chats = _count(ChatUserMessage.objects.filter(chat__session_id__in=ids), "chat__session_id")
    fallbacks = _count(
        TimelineEvent.objects.filter(
            session_id__in=ids, event_type=TimelineEvent.Type.PROVIDER_FALLBACK
        ),
        "session_id",
    )
    matched = matched_in_content(ids, search)
    return [
        SessionSummary(
            session=session,
            costs=costs.get(session.pk, Costs()),
            stages=stages.get(session.pk, StageCounts()),
            mcp_interactions=tools.get(session.pk, 0),
            sub_agents=sub_agents.get(session.pk, 0),
            chat_messages=chats.get(session.pk, 0),
            provider_fallbacks=fallbacks.get(session.pk, 0),
            matched_in_content=session.pk in matched,
        )
        for session in sessions
    ]


def summarize_session(session_id: uuid.UUID) -> SessionSummary:
    """What belongs to one session. Raises NotFound."""
    session = visible_sessions().only(*LIST_FIELDS).filter(pk=session_id).first()
    if session is None:
        raise NotFound("session not found")
    return summarize([session])[0]


def narrow(sessions: QuerySet[AlertSession], wanted: SessionFilter) -> Search:
    """Those that a filter keeps."""
    exact = {
        "status__in": () if wanted.by_outcome else wanted.statuses,
        "severity__in": wanted.severities,
        "service": wanted.service,
        "cluster": wanted.cluster,
        "source": wanted.source,
        "incident__state__in": wanted.states,
        "incident__kind__in": Incident.FOLLOWED if wanted.states else (),
        "alert_type": wanted.alert_type,
        "chain_id": wanted.chain_id,
        "author": wanted.author,
        "created_at__gte": wanted.start_date,
        "created_at__lt": wanted.end_date,
    }
    sessions = sessions.filter(**{lookup: value for lookup, value in exact.items() if value})
    if wanted.by_incident:
        sessions = sessions.filter(is_listed=True)
    if wanted.by_outcome:
        sessions = sessions.filter(with_outcome(wanted.statuses))
    if not wanted.search:
        return Search(sessions)
    return search_sessions(sessions, wanted.search, by_incident=wanted.by_incident)


def _sort(
    sessions: QuerySet[AlertSession], sort_by: str, descending: bool
) -> QuerySet[AlertSession]:
    key = SORTS[sort_by]
    if sort_by == "created_at" and not descending:
        return sessions.order_by("created_at", "id")
    newest_first = ("-created_at", "-id")
    if key is None or sort_by == "created_at":
        return sessions.order_by(*newest_first)
    # Only a duration may be missing. For the others saying so would keep the indexes out of use.
    last = True if key is DURATION else None
    order = key.desc(nulls_last=last) if descending else key.asc(nulls_last=last)
    return sessions.order_by(order, *newest_first)


def _count_stages(ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, StageCounts]:
    action = Q(stage_type=Stage.Type.ACTION)
    rows = (
        Stage.objects.filter(session_id__in=ids)
        .order_by()
        .values_list("session_id")
        .annotate(
            begun=Count("pk"),
            completed=Count("pk", filter=Q(status=Stage.Status.COMPLETED)),
            failed=Count("pk", filter=Q(status__in=[Stage.Status.FAILED, Stage.Status.TIMED_OUT])),
            parallel=Count("pk", filter=Q(parallel_type__isnull=False)),
            action=Count("pk", filter=action),
            executed=Count("pk", filter=action & Q(actions_executed=True)),
        )
    )
    return {session_id: StageCounts(*counts) for session_id, *counts in rows}


def _count(rows: QuerySet[object], key: str) -> dict[uuid.UUID, int]:  # type: ignore[type-var]
    return dict(rows.order_by().values_list(key).annotate(number=Count("pk")))

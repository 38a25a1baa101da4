"""What the trace page shows before anything is opened: every call, none of its bodies."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from itertools import groupby
from typing import Any, TypeVar

from django.db.models import Q
from django.db.models.functions import Left

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    AuditEvent,
    Stage,
    TimelineEvent,
)
from investigations.selectors.argument_lines import read_argument_lines
from investigations.selectors.costs import Costs
from investigations.selectors.offers import count_lists
from investigations.selectors.session_page.stage_titles import number_stages
from investigations.selectors.trace.calls import (
    ExecutionTrace,
    get_execution_trace,
    read_session_trace,
)
from investigations.selectors.trace.idle_times import find_idle
from investigations.selectors.trace.person_waits import waits_of
from investigations.selectors.trace.rows import (
    ActRow,
    Iteration,
    ModelRow,
    NoticeRow,
    RowFilter,
    ToolRow,
    TraceRow,
    WaitRow,
    count_rows,
    group_by_iteration,
    number_models,
    sum_costs,
)
from investigations.selectors.trace.scale import Span, TimeScale
from tarsy.errors import NotFound

Row = TypeVar("Row", ApprovalRequest, TimelineEvent)

EVERYTHING = RowFilter()
MANY = 12
"""Iterations of one agent that come whole; of more, those without an error come when opened."""
_NOTICE_CHARACTERS = 2000
_NOTICES = (TimelineEvent.Type.ERROR, TimelineEvent.Type.PROVIDER_FALLBACK)


@dataclass(frozen=True)
class Run:
    """Iterations next to each other that the page shows alike."""

    is_folded: bool
    iterations: Sequence[Iteration]


@dataclass(frozen=True)
class TracedExecution:
    """One agent's work; `iterations` are those the filter lets through."""

    execution: AgentExecution
    iterations: Sequence[Iteration]
    costs: Costs
    end: datetime
    sub_agents: Sequence["TracedExecution"]
    is_filtered: bool = False
    lists: Sequence[ToolRow] = ()
    """What its tool servers gave it, at its opening and whenever that changed."""

    @property
    def is_error(self) -> bool:
        return self.execution.status in _FAILED

    @property
    def is_opening(self) -> bool:
        """It has begun, and neither a tool server nor a model has answered it yet."""
        return not self.execution.is_terminal and not (self.iterations or self.lists)

    @property
    def is_shown(self) -> bool:
        return bool(self.iterations or self.lists or self.is_error) or any(
            e.is_shown for e in self.sub_agents
        )

    @property
    def family(self) -> list["TracedExecution"]:
        """It and its sub-agents, however deep."""
        return [self, *(each for child in self.sub_agents for each in child.family)]

    @property
    def has_many(self) -> bool:
        return len(self.iterations) > MANY

    @property
    def runs(self) -> list[Run]:
        """The calls of folded iterations come when these are opened."""
        may_fold = self.has_many and not self.is_filtered
        runs = groupby(self.iterations, lambda each: may_fold and not each.is_error)
        return [Run(is_folded, list(iterations)) for is_folded, iterations in runs]

    @property
    def start(self) -> datetime:
        first = self.iterations[0].start if self.iterations else self.end
        return self.execution.started_at or first

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True)
class TracedStage:
    stage: Stage
    executions: Sequence[TracedExecution]
    end: datetime
    number: int | None = None

    @property
    def is_shown(self) -> bool:
        return self.stage.status in _FAILED or any(each.is_shown for each in self.executions)

    @property
    def start(self) -> datetime:
        return self.stage.started_at or self.end

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()


@dataclass(frozen=True)
class TracePage:
    session: AlertSession
    stages: Sequence[TracedStage]
    counts: Mapping[str, int]
    costs: Costs
    row_filter: RowFilter
    read_at: datetime
    needs_person: bool = False
    """Whether a write waits for a decision."""

    idle: Sequence[Span] = ()
    """When it only waited for a person."""

    @cached_property
    def scale(self) -> TimeScale:
        return _scale_of(self.stages, self.idle, self.row_filter.stage)

    @property
    def shown(self) -> list[TracedStage]:
        return [
            each for each in _only(self.stages, self.row_filter.stage)
            if self.row_filter.is_open or each.is_shown
        ]  # fmt: skip

    @property
    def status(self) -> str:
        """The status to draw."""
        is_running = self.session.status == AlertSession.Status.IN_PROGRESS
        return "needs_approval" if is_running and self.needs_person else self.session.status

    @property
    def seconds(self) -> float | None:
        if self.session.started_at is None:
            return None
        end = self.session.completed_at or self.read_at
        return (end - self.session.started_at).total_seconds()


_FAILED = (AgentExecution.Status.FAILED, AgentExecution.Status.TIMED_OUT)


def _only(stages: Sequence[TracedStage], index: int | None) -> Sequence[TracedStage]:
    """The stage of that index; all of them where none is wanted, or none has it."""
    return [each for each in stages if each.stage.stage_index == index] or stages


def _scale_of(stages: Sequence[TracedStage], idle: Sequence[Span], index: int | None) -> TimeScale:
    """What bars are drawn to: the time of all stages, or of the one that somebody looks into."""
    return TimeScale(((each.start, each.end) for each in _only(stages, index)), idle)


def read_trace_page(session: AlertSession, row_filter: RowFilter = EVERYTHING) -> TracePage:
    """A session's trace, in a fixed number of queries."""
    trace = read_session_trace(session)
    reader = _Reader(session.pk, row_filter, datetime.now(UTC))
    numbers = number_stages(each.stage for each in trace.stages)
    stages = [
        TracedStage(
            each.stage,
            [reader.trace(execution) for execution in each.executions],
            each.stage.completed_at or reader.now,
            numbers.get(each.stage.pk),
        )
        for each in trace.stages
    ]
    return TracePage(
        session, stages, count_rows(reader.iterations), reader.costs, row_filter, reader.now,
        needs_person=reader.needs_person,
        idle=find_idle(_executions_of(stages), reader.approvals, reader.now),
    )  # fmt: skip


def read_iteration(
    session: AlertSession, execution_id: uuid.UUID, place: int, stage: int | None = None
) -> tuple[Iteration, TimeScale]:
    """One iteration of an agent or of a sub-agent, and what its bars are drawn to.

    Reads the calls of that agent only. Raises NotFound.
    """
    trace = get_execution_trace(session.pk, execution_id)
    reader = _Reader(session.pk, EVERYTHING, datetime.now(UTC), only=execution_id)
    iterations = reader.trace(trace).iterations
    found = next((each for each in iterations if each.place == place), None)
    if found is None:
        raise NotFound("iteration not found")
    stages = Stage.objects.filter(session=session).order_by("stage_index")
    spans = [TracedStage(each, (), each.completed_at or reader.now) for each in stages]
    idle = _read_idle(session.pk, reader.now)
    return found, _scale_of(spans, idle, stage)


def _executions_of(stages: Sequence[TracedStage]) -> list[AgentExecution]:
    every = [each for stage in stages for top in stage.executions for each in top.family]
    return [each.execution for each in every]


def _read_idle(session_id: uuid.UUID, now: datetime) -> list[Span]:
    approvals = _read_approvals(session_id, None)
    if not approvals:
        return []
    return find_idle(AgentExecution.objects.filter(session_id=session_id), approvals, now)


class _Reader:
    """Puts the rows of each execution together, and adds up what it has seen.

    With `only`, of one execution: nothing is read of the others.
    """

    def __init__(
        self,
        session_id: uuid.UUID,
        row_filter: RowFilter,
        now: datetime,
        *,
        only: uuid.UUID | None = None,
    ) -> None:
        self.now = now
        self.iterations: list[Iteration] = []
        self.costs = Costs()
        self._filter = row_filter
        self._approvals = _group_by_execution(_read_approvals(session_id, only))
        acts = _read_acts(session_id, [each.pk for each in self.approvals], only)
        self._acts = _group_acts(acts)
        self._decisions = _group_decisions(acts)
        self._lists = count_lists(session_id, only)
        self._lines = read_argument_lines(session_id, only)
        self._notices = _group_by_execution(_read_notices(session_id, only))

    @property
    def approvals(self) -> list[ApprovalRequest]:
        return [each for rows in self._approvals.values() for each in rows]

    @property
    def needs_person(self) -> bool:
        return any(each.is_pending for each in self.approvals)

    def trace(self, traced: ExecutionTrace) -> TracedExecution:
        execution = traced.execution
        costs = sum_costs(traced.llm_interactions)
        iterations = group_by_iteration(self._rows_of(traced))
        self.iterations += iterations
        self.costs += costs
        return TracedExecution(
            execution,
            self._filter.keep(iterations),
            costs,
            execution.completed_at or self.now,
            [self.trace(each) for each in traced.sub_agents],
            is_filtered=not self._filter.is_open,
            lists=list(filter(self._filter.lets_through, self._lists_of(traced))),
        )

    def _lists_of(self, traced: ExecutionTrace) -> list[ToolRow]:
        return [ToolRow(each, listed=self._lists.get(each.id)) for each in traced.tool_lists]

    def _rows_of(self, traced: ExecutionTrace) -> list[TraceRow]:
        key = traced.execution.pk
        written = str(key)
        models: list[ModelRow] = number_models(traced.llm_interactions)
        asked = waits_of(self._approvals.get(key, ()))
        tools = [
            ToolRow(
                call,
                self._acts.get((written, call.tool_number), ()),
                asked.get((key, call.tool_number)),
                asked=self._lines.get(call.id, ""),
            )
            for call in traced.tool_calls
        ]
        waits = [
            WaitRow(each, self._decisions.get(str(each.pk), ()), each.decided_at or self.now)
            for each in self._approvals.get(key, ())
        ]
        acts = [ActRow(act) for act in self._acts.get((written, None), ())]
        notices = [NoticeRow(event, event.preview) for event in self._notices.get(key, ())]
        return [*models, *tools, *waits, *acts, *notices]


def _read_approvals(session_id: uuid.UUID, only: uuid.UUID | None) -> list[ApprovalRequest]:
    fields = ("id", "execution_id", "tool_number", "server_name", "tool_name", "target", "status",
              "risk", "decided_by", "decision_reason", "created_at", "decided_at", "used_at",
              "argument_hash")  # fmt: skip
    approvals = ApprovalRequest.objects.filter(session_id=session_id).only(*fields)
    return list(approvals.filter(execution_id=only) if only else approvals)


def _read_acts(
    session_id: uuid.UUID, approvals: Sequence[uuid.UUID], only: uuid.UUID | None
) -> list[AuditEvent]:
    about = Q(target_type="session", target_id=str(session_id))
    if only:
        about &= Q(details__execution=str(only))
    if approvals:
        about |= Q(target_type="approval", target_id__in=[str(each) for each in approvals])
    return list(AuditEvent.objects.filter(about).order_by("id"))


def _read_notices(session_id: uuid.UUID, only: uuid.UUID | None) -> list[Any]:
    """Timeline events with a `preview`."""
    is_wait = Q(event_type=TimelineEvent.Type.NOTICE, metadata__about=TimelineEvent.ABOUT_WAIT)
    is_told = Q(event_type__in=_NOTICES) | is_wait
    events = TimelineEvent.objects.filter(is_told, session_id=session_id)
    if only:
        events = events.filter(execution_id=only)
    return list(
        events.defer("content", "content_html")
        .annotate(preview=Left("content", _NOTICE_CHARACTERS))
        .order_by("sequence_number")
    )


def _group_by_execution(rows: Sequence[Row]) -> dict[uuid.UUID | None, list[Row]]:
    groups: dict[uuid.UUID | None, list[Row]] = defaultdict(list)
    for row in rows:
        groups[row.execution_id].append(row)
    return groups


def _group_acts(acts: Sequence[AuditEvent]) -> dict[tuple[str, int | None], list[AuditEvent]]:
    """What the gate did, by execution and number of the tool call; None where there is none."""
    groups: dict[tuple[str, int | None], list[AuditEvent]] = defaultdict(list)
    for act in acts:
        execution, call = act.details.get("execution"), act.details.get("call")
        if act.target_type == "session" and execution:
            groups[str(execution), call if isinstance(call, int) else None].append(act)
    return groups


def _group_decisions(acts: Sequence[AuditEvent]) -> dict[str, list[AuditEvent]]:
    groups: dict[str, list[AuditEvent]] = defaultdict(list)
    for act in acts:
        if act.target_type == "approval":
            groups[act.target_id].append(act)
    return groups

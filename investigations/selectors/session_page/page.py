"""What the session page shows, read in a fixed number of queries."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.db.models.fields.json import KeyTextTransform

from config.providers import REHEARSAL
from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Stage,
    TimelineEvent,
)
from investigations.rendering.markdown import CitedTool
from investigations.selectors.approvals import approvals_of_session, executions_waiting
from investigations.selectors.costs import Costs, costs_by_execution, costs_of_session
from investigations.selectors.offers import KeptOffer, offers_by_execution
from investigations.selectors.session_page.conclusions import conclusion_of
from investigations.selectors.session_page.event_previews import views_of, with_previews
from investigations.selectors.session_page.event_view import EventView, place_summaries
from investigations.selectors.session_page.unsupported import (
    UnsupportedSpan,
    unsupported_of_session,
)
from investigations.selectors.sessions import visible_sessions

LATEST = 200
"""Events that a page carries; earlier ones are loaded when asked for."""
FEWEST = 10
"""Events that it carries of each execution, however many there are."""


@dataclass(frozen=True)
class AgentView:
    """One agent's column."""

    execution: AgentExecution
    events: Sequence[EventView]
    earlier: int
    """How many older events are not on the page."""
    tool_count: int
    costs: Costs
    needs_person: bool = False
    offers: Sequence[KeptOffer] = ()
    """What its tool servers give it."""

    @property
    def lacks(self) -> list[str]:
        """What it could not use, in words."""
        return [each.lacks for each in self.offers if each.lacks]

    @property
    def finding(self) -> EventView | None:
        """What a finished agent found; shown first, and not again in the feed."""
        if not self.execution.is_terminal:
            return None
        return next((e for e in reversed(self.events) if e.event.event_type in _FINDINGS), None)

    @property
    def feed(self) -> list[EventView]:
        finding, question = self.finding, self.question
        return place_summaries([e for e in self.events if e is not finding and e is not question])

    @property
    def oldest(self) -> int:
        shown = (event for event in self.events if event is not self.question)
        return next((event.event.sequence_number for event in shown), 0)

    @property
    def is_answer(self) -> bool:
        """It answers a question instead of investigating."""
        return bool(self.execution.stage.stage_type == Stage.Type.CHAT)

    @property
    def question(self) -> EventView | None:
        """What a person asked it."""
        asked = TimelineEvent.Type.USER_QUESTION
        return next((e for e in self.events if e.event.event_type == asked), None)

    @property
    def now(self) -> str:
        """What the agent does at this moment, in words."""
        execution = self.execution
        if execution.status == AgentExecution.Status.PENDING:
            return "Waiting for a worker"
        if execution.is_terminal:
            return _ENDED[execution.status]
        if self.needs_person:
            return "Waiting for a person to approve"
        last = self.events[-1] if self.events else None
        if last is None or not last.is_streaming:
            return "Waiting for the model"
        return _DOING.get(last.event.event_type, "Writing")

    @property
    def seconds(self) -> float | None:
        return _seconds(self.execution.started_at, self.execution.completed_at)


@dataclass(frozen=True)
class StageView:
    """One stage and its agents."""

    stage: Stage
    agents: Sequence[AgentView] = ()

    @property
    def status(self) -> str:
        """The status to draw."""
        if self.is_live and self.askers:
            return "needs_approval"
        return "waiting" if self.stage.status == Stage.Status.PENDING else self.stage.status

    @property
    def is_chat(self) -> bool:
        return self.stage.stage_type == Stage.Type.CHAT

    @property
    def asked_by(self) -> str:
        """Who asked the question that this stage answers."""
        question = self.agents[0].question if self.agents else None
        return str(question.event.metadata.get("author") or "") if question else ""

    @property
    def is_parallel(self) -> bool:
        return len(self.agents) > 1

    @property
    def is_crowded(self) -> bool:
        """Too many agents for columns: one is open at a time."""
        return len(self.agents) > 3

    @property
    def line(self) -> str:
        """What the stage found, in one line."""
        finding = self.agents[0].finding if self.agents else None
        return conclusion_of(finding.content) if finding else ""

    @property
    def is_live(self) -> bool:
        return self.stage.status == Stage.Status.ACTIVE

    @property
    def done_count(self) -> int:
        return sum(agent.execution.is_terminal for agent in self.agents)

    @property
    def open_agents(self) -> list[str]:
        return [a.execution.agent_name for a in self.agents if not a.execution.is_terminal]

    @property
    def askers(self) -> list[str]:
        """The agents that wait for a person."""
        return [a.execution.agent_name for a in self.agents if a.needs_person]

    @property
    def tool_count(self) -> int:
        return sum(agent.tool_count for agent in self.agents)

    @property
    def seconds(self) -> float | None:
        return _seconds(self.stage.started_at, self.stage.completed_at)

    @property
    def is_settled_solo(self) -> bool:
        """One agent, finished well: its result is told in one line, the rest is one click away."""
        return (
            len(self.agents) == 1
            and self.stage.status == Stage.Status.COMPLETED
            and self.agents[0].finding is not None
        )


@dataclass(frozen=True)
class SessionPage:
    """All that one session's page shows up to `session.last_seq`."""

    session: AlertSession
    stages: Sequence[StageView]
    costs: Costs
    tools: Mapping[int, CitedTool]
    approvals: Sequence[ApprovalRequest]
    unsupported: Sequence[UnsupportedSpan] = ()
    """The passages of the final analysis that nothing supports."""

    @property
    def needs_person(self) -> bool:
        """Whether a write waits for a decision."""
        return any(approval.is_pending for approval in self.approvals)

    @property
    def status(self) -> str:
        """The status to draw."""
        is_running = self.session.status == AlertSession.Status.IN_PROGRESS
        return "needs_approval" if is_running and self.needs_person else self.session.status

    @property
    def is_rehearsal(self) -> bool:
        return any(
            agent.execution.llm_provider == REHEARSAL
            for stage in self.stages
            for agent in stage.agents
        )

    @property
    def seconds(self) -> float | None:
        return _seconds(self.session.started_at, self.session.completed_at)

    @property
    def still_to_come(self) -> int:
        """Stages the chain will have that do not exist yet."""
        if self.session.is_terminal:
            return 0
        return max(0, self.session.total_stages - len(self.chain))

    @property
    def chain(self) -> list[StageView]:
        """The stages of the investigation itself."""
        return [stage for stage in self.stages if not stage.is_chat]

    @property
    def chats(self) -> list[StageView]:
        """A stage for each question, in the order they were asked."""
        return [stage for stage in self.stages if stage.is_chat]

    @property
    def current(self) -> StageView | None:
        return next((stage for stage in self.stages if stage.is_live), None)

    @property
    def last_finding(self) -> EventView | None:
        """The newest finding of any agent: what is left when a session fails."""
        findings = [
            agent.finding for stage in self.chain for agent in stage.agents if agent.finding
        ]
        return max(findings, key=lambda e: e.event.sequence_number, default=None)


_FINDINGS = (TimelineEvent.Type.FINAL_ANALYSIS, TimelineEvent.Type.EXECUTIVE_SUMMARY)
_DOING: dict[str, str] = {
    TimelineEvent.Type.LLM_THINKING: "Thinking",
    TimelineEvent.Type.LLM_TOOL_CALL: "Running a tool",
    TimelineEvent.Type.MCP_TOOL_SUMMARY: "Summarizing a result",
}
_ENDED: dict[str, str] = {
    AgentExecution.Status.COMPLETED: "Done",
    AgentExecution.Status.FAILED: "Failed",
    AgentExecution.Status.TIMED_OUT: "Timed out",
    AgentExecution.Status.CANCELLED: "Cancelled",
}


def find_session(session_id: uuid.UUID) -> AlertSession | None:
    return visible_sessions().filter(pk=session_id).first()


def read_session_page(session: AlertSession) -> SessionPage:
    stages = list(Stage.objects.filter(session=session).order_by("stage_index"))
    executions = list(
        AgentExecution.objects.filter(session=session)
        .select_related("stage")
        .order_by("stage_id", "agent_index")
    )
    return SessionPage(
        session=session,
        stages=_join(stages, _read_agents(executions)),
        costs=costs_of_session(session.pk),
        tools=read_cited_tools(session.pk),
        approvals=approvals_of_session(session.pk),
        unsupported=unsupported_of_session(session.pk, session.final_analysis),
    )


def read_stage(session_id: uuid.UUID, stage_id: uuid.UUID) -> StageView | None:
    stage = Stage.objects.filter(session_id=session_id, pk=stage_id).first()
    if stage is None:
        return None
    agents = AgentExecution.objects.filter(stage=stage).select_related("stage")
    executions = list(agents.order_by("agent_index"))
    return _join([stage], _read_agents(executions))[0]


def read_agent(session_id: uuid.UUID, execution_id: uuid.UUID) -> AgentView | None:
    found = AgentExecution.objects.filter(session_id=session_id, pk=execution_id)
    executions = list(found.select_related("stage"))
    return _read_agents(executions)[0] if executions else None


def read_event(session_id: uuid.UUID, event_id: uuid.UUID) -> EventView | None:
    row = with_previews(TimelineEvent.objects.filter(session_id=session_id, pk=event_id)).first()
    return views_of([row])[0] if row else None


def read_events(
    session_id: uuid.UUID, event_ids: Sequence[uuid.UUID]
) -> dict[uuid.UUID, EventView]:
    """Several at once; those that are not of the session are left out."""
    found = TimelineEvent.objects.filter(session_id=session_id, pk__in=event_ids)
    return {view.event.pk: view for view in views_of(list(with_previews(found)))}


def read_event_content(session_id: uuid.UUID, event_id: uuid.UUID) -> str | None:
    """The whole content of one event, as it is kept."""
    found = TimelineEvent.objects.filter(session_id=session_id, pk=event_id)
    return found.values_list("content", flat=True).first()


def read_cited_tools(session_id: uuid.UUID) -> dict[int, CitedTool]:
    """Every tool call of a session by its number."""
    rows = (
        TimelineEvent.objects.filter(
            session_id=session_id, event_type=TimelineEvent.Type.LLM_TOOL_CALL
        )
        # As texts: taking thousands of pieces of JSON apart takes longer than reading them.
        .annotate(
            number=KeyTextTransform("tool_number", "metadata"),
            tool=KeyTextTransform("tool_name", "metadata"),
            failed=KeyTextTransform("is_error", "metadata"),
        )
        .values_list("number", "tool", "failed", "status")
    )
    return {
        int(number): CitedTool(
            tool or "", failed == "true" or status == TimelineEvent.Status.FAILED
        )
        for number, tool, failed, status in rows
        if number and number.isdecimal()
    }


def _join(stages: Sequence[Stage], agents: Sequence[AgentView]) -> list[StageView]:
    by_stage: dict[uuid.UUID, list[AgentView]] = defaultdict(list)
    for agent in agents:
        by_stage[agent.execution.stage_id].append(agent)
    return [StageView(stage, by_stage[stage.pk]) for stage in stages]


def _read_agents(executions: Sequence[AgentExecution]) -> list[AgentView]:
    ids = [execution.pk for execution in executions]
    counts = _count_events(ids)
    cuts = _find_cuts(ids, _share_of_each([row["event_count"] for row in counts.values()]))
    events: dict[uuid.UUID, list[EventView]] = defaultdict(list)
    for view in views_of(list(_latest_events(executions, cuts))):
        if view.event.execution_id is not None:
            events[view.event.execution_id].append(view)
    costs = costs_by_execution(ids)
    waiting = executions_waiting(ids)
    offers = offers_by_execution(ids)
    nothing = {"tool_count": 0}
    return [
        AgentView(
            execution=execution,
            events=events[execution.pk],
            earlier=cuts[execution.pk].earlier,
            tool_count=counts.get(execution.pk, nothing)["tool_count"],
            costs=costs.get(execution.pk, Costs()),
            needs_person=execution.pk in waiting,
            offers=offers.get(execution.pk, ()),
        )
        for execution in executions
    ]


def _count_events(execution_ids: Sequence[uuid.UUID]) -> dict[uuid.UUID, dict[str, int]]:
    rows = (
        TimelineEvent.objects.filter(execution_id__in=execution_ids)
        .order_by()
        .values("execution_id")
        .annotate(
            event_count=Count("id"),
            tool_count=Count("id", filter=Q(event_type=TimelineEvent.Type.LLM_TOOL_CALL)),
        )
    )
    return {row.pop("execution_id"): row for row in rows}


def _share_of_each(counts: Sequence[int]) -> int:
    """How many events of each agent fit on a page; those with few leave their room to others."""
    left = LATEST
    for place, count in enumerate(sorted(counts)):
        share = left // (len(counts) - place)
        if count > share:
            return max(FEWEST, share)
        left -= count
    return LATEST


@dataclass(frozen=True)
class _Cut:
    """Where what a page carries of an execution begins."""

    behind: int = 0
    """The number of the newest event that it does not carry; 0 where it carries all."""
    earlier: int = 0
    """How many events there are up to that one. They are all there: what comes later has a higher
    number, so an event that is written while a page is read changes nothing of this."""


def _find_cuts(execution_ids: Sequence[uuid.UUID], share: int) -> dict[uuid.UUID, _Cut]:
    of_it = TimelineEvent.objects.filter(execution_id=OuterRef("pk"))
    beyond = of_it.order_by("-sequence_number").values("sequence_number")[share : share + 1]
    # What a person asked is shown above all others, wherever it stands.
    older = of_it.exclude(event_type=TimelineEvent.Type.USER_QUESTION).filter(
        sequence_number__lte=OuterRef("behind")
    )
    earlier = older.order_by().values("execution_id").annotate(number=Count("id")).values("number")
    rows = AgentExecution.objects.filter(pk__in=execution_ids).annotate(behind=Subquery(beyond))
    found = rows.values_list("pk", "behind", Subquery(earlier))
    cuts = {pk: _Cut(behind or 0, number or 0) for pk, behind, number in found}
    return {pk: cuts.get(pk, _Cut()) for pk in execution_ids}


def _latest_events(
    executions: Sequence[AgentExecution], cuts: Mapping[uuid.UUID, _Cut]
) -> QuerySet[TimelineEvent]:
    """The newest of each, and what a person asked it, which only a chat has."""
    shown = Q(
        execution_id__in=[
            each.pk for each in executions if each.stage.stage_type == Stage.Type.CHAT
        ],
        event_type=TimelineEvent.Type.USER_QUESTION,
    )
    for execution_id, cut in cuts.items():
        shown |= Q(execution_id=execution_id, sequence_number__gt=cut.behind)
    return with_previews(TimelineEvent.objects.filter(shown)).order_by("sequence_number")


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return ((end or datetime.now(UTC)) - start).total_seconds() if start else None

"""A session as its page shows it: stages, their agents, and what each of them does or found."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from config.providers import REHEARSAL
from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Stage,
    TimelineEvent,
)
from investigations.rendering.markdown import CitedTool
from investigations.selectors.claims import ReportClaims
from investigations.selectors.costs import Costs
from investigations.selectors.offers import KeptOffer
from investigations.selectors.open_writes import WritesToTell, state_of
from investigations.selectors.outcomes import still_fires, tell_alerts
from investigations.selectors.session_page.causal_chain import ChainLink
from investigations.selectors.session_page.conclusions import conclusion_of
from investigations.selectors.session_page.event_view import EventView, place_summaries


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
    def is_scripted(self) -> bool:
        """The rehearsal model stands in for one."""
        return self.execution.llm_provider == REHEARSAL

    @property
    def unpriced(self) -> int:
        """Its calls that cost something nobody knows."""
        return 0 if self.is_scripted else self.costs.unpriced

    @property
    def question(self) -> EventView | None:
        """What a person asked it."""
        asked = TimelineEvent.Type.USER_QUESTION
        return next((e for e in self.events if e.event.event_type == asked), None)

    @property
    def wait(self) -> EventView | None:
        """The wait for a model provider that it is in."""
        if self.execution.status != AgentExecution.Status.ACTIVE:
            return None
        return next((e for e in reversed(self.events) if e.wait_until), None)

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
        if self.wait is not None:
            return self.wait.wait_title
        if not self.events and not self.offers and not self.costs.calls:
            return "Getting its tools ready"
        last = self.events[-1] if self.events else None
        if last is None or not last.is_streaming:
            return "Waiting for the model"
        return _DOING.get(last.event.event_type, "Writing")

    @property
    def now_since(self) -> datetime | None:
        """Since when it does that; None where it does nothing, or is counted down elsewhere."""
        if self.execution.status != AgentExecution.Status.ACTIVE or self.wait is not None:
            return None
        last = self.events[-1] if self.events else None
        if last is None:
            return self.execution.started_at
        return last.doing_since if last.is_streaming else last.event.updated_at

    @property
    def seconds(self) -> float | None:
        return _seconds(self.execution.started_at, self.execution.completed_at)


@dataclass(frozen=True)
class StageView:
    """One stage and its agents."""

    stage: Stage
    agents: Sequence[AgentView] = ()
    number: int | None = None
    """Its place among the stages that look into something; None for one that sums up others."""

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
    def is_settled_group(self) -> bool:
        """Several agents, finished well: while others go on, theirs is told in one line as well."""
        return self.is_parallel and self.stage.status == Stage.Status.COMPLETED

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
    our_lines: Sequence[str]
    """What has to be said of the session whatever it found; empty where its report says it."""
    claims: ReportClaims
    """What the final analysis claims, and how far each claim is proved."""
    writes: WritesToTell = WritesToTell()  # noqa: RUF009 (frozen)
    """What a reader has to know of before anything that the final analysis says."""
    causal_chain: Sequence[ChainLink] = ()
    """From the cause to what the alert is about, where rules found it."""

    @property
    def needs_person(self) -> bool:
        """Whether a write waits for a decision."""
        return any(approval.is_pending for approval in self.approvals)

    @property
    def waiting(self) -> list[AgentView]:
        """The agents that wait for a model provider."""
        return [agent for stage in self.stages for agent in stage.agents if agent.wait]

    @property
    def status(self) -> str:
        """The status to draw."""
        if self.session.status == AlertSession.Status.IN_PROGRESS and self.needs_person:
            return "needs_approval"
        return state_of(self.session, self.writes)

    @property
    def alerts(self) -> str:
        """How the alerts are now; empty where nobody tells their end."""
        return tell_alerts(self.session)

    @property
    def alerts_words(self) -> str:
        """The same as a sentence."""
        return _ALERTS.get(self.alerts, "")

    @property
    def is_in_doubt(self) -> bool:
        """Whether its end is not told in green, although it is complete."""
        return still_fires(self.session) or bool(self.writes.denied_changes)

    @property
    def unpriced_models(self) -> list[str]:
        """The models of agents whose calls have no price."""
        every = (agent for stage in self.stages for agent in stage.agents if agent.unpriced)
        return list(dict.fromkeys(agent.execution.model_name for agent in every))

    @property
    def unpriced(self) -> int:
        """The calls that cost something nobody knows: scripted answers cost nothing."""
        scripted = (
            agent.costs.unpriced
            for stage in self.stages
            for agent in stage.agents
            if agent.is_scripted
        )
        return self.costs.unpriced - sum(scripted)

    @property
    def has_open_write(self) -> bool:
        """Whether something was changed, or may have been, that nothing has confirmed."""
        return self.writes.has_open_write

    @property
    def is_rehearsal(self) -> bool:
        """Whether the investigation is scripted; an answer to a question says so of itself."""
        return any(agent.is_scripted for stage in self.chain for agent in stage.agents)

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
_ALERTS = {
    "firing": "The alert still fires.",
    "reopened": "The alert fires again.",
    "recovered": "The alert is over.",
}
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


def _seconds(start: datetime | None, end: datetime | None) -> float | None:
    return ((end or datetime.now(UTC)) - start).total_seconds() if start else None

"""What stages and agents found, built from the timeline whenever somebody needs it."""

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON
from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent

_TOLD_TO_READERS = (
    TimelineEvent.Type.LLM_THINKING,
    TimelineEvent.Type.LLM_RESPONSE,
    TimelineEvent.Type.LLM_TOOL_CALL,
    TimelineEvent.Type.MCP_TOOL_SUMMARY,
    TimelineEvent.Type.GOOGLE_SEARCH_RESULT,
    TimelineEvent.Type.URL_CONTEXT_RESULT,
    TimelineEvent.Type.CODE_EXECUTION,
    TimelineEvent.Type.FINAL_ANALYSIS,
    TimelineEvent.Type.ERROR,
)


_DONE_FOR_ANSWERS = (
    TimelineEvent.Type.LLM_TOOL_CALL,
    TimelineEvent.Type.MCP_TOOL_SUMMARY,
    TimelineEvent.Type.GOOGLE_SEARCH_RESULT,
    TimelineEvent.Type.URL_CONTEXT_RESULT,
    TimelineEvent.Type.CODE_EXECUTION,
    TimelineEvent.Type.ERROR,
)


@dataclass(frozen=True)
class RulesFindings:
    """What rules found, as the report of their agent holds it: `agents.rules_found` reads it."""

    found: Mapping[str, JSON]


@dataclass(frozen=True)
class StageFindings:
    """A stage that went before, as the next one is told of it."""

    stage_name: str
    analysis: str
    by_rules: RulesFindings | None = None


@dataclass(frozen=True)
class AgentHistory:
    """One agent's work, whole, for the synthesis of its stage."""

    agent_name: str
    status: str
    llm_backend: str
    llm_provider: str
    model_name: str
    error: str
    events: tuple[TimelineEvent, ...]

    @property
    def _report(self) -> TimelineEvent | None:
        reports = [e for e in self.events if e.event_type == TimelineEvent.Type.FINAL_ANALYSIS]
        return reports[-1] if reports else None

    @property
    def analysis(self) -> str:
        """What the agent concluded; empty where it did not."""
        return self._report.content if self._report else ""

    @property
    def is_by_rules(self) -> bool:
        return self._report is not None and self._report.metadata.get("by_rules") is True

    @property
    def found(self) -> Mapping[str, JSON]:
        """What rules found, as data."""
        found = self._report.metadata.get("rules") if self._report is not None else None
        return found if isinstance(found, dict) else {}


def analysis_of_stage(stage: Stage) -> str:
    """What a finished stage concluded; empty when it concluded nothing.

    Of several agents only the synthesis that follows speaks for the stage.
    """
    report = _report_of_stage(stage)
    return report.content if report is not None else ""


def _report_of_stage(stage: Stage) -> TimelineEvent | None:
    if stage.expected_agent_count > 1:
        return None
    return (
        TimelineEvent.objects.filter(
            stage_id=stage.pk, event_type=TimelineEvent.Type.FINAL_ANALYSIS
        )
        .order_by("-sequence_number")
        .first()
    )


def reports_by_rules(session: AlertSession) -> tuple[int, int]:
    """How many reports of a session rules wrote, and how many reports there are in all."""
    reports = TimelineEvent.objects.filter(
        session_id=session.pk,
        event_type=TimelineEvent.Type.FINAL_ANALYSIS,
        stage__stage_type__in=Stage.FINDINGS,
    )
    return reports.filter(metadata__by_rules=True).count(), reports.count()


def findings_before(session: AlertSession, stage: Stage) -> list[StageFindings]:
    """What the completed stages before this one concluded, in order; synthesis in their place.

    A synthesis gets the stage it is about in full, so that one is not among them.
    """
    finished = Stage.objects.filter(
        session_id=session.pk,
        stage_type__in=Stage.FINDINGS,
        status=Stage.Status.COMPLETED,
        stage_index__lt=stage.stage_index,
    ).order_by("stage_index")
    synthesized = {each.referenced_stage_id for each in (*finished, stage)}
    return [_findings_of(each) for each in finished if each.pk not in synthesized]


def _findings_of(stage: Stage) -> StageFindings:
    report = _report_of_stage(stage)
    if report is None:
        return StageFindings(stage.stage_name, "")
    found = report.metadata.get("rules")
    by_rules = RulesFindings(found) if isinstance(found, dict) else None
    return StageFindings(stage.stage_name, report.content, by_rules)


def histories_of_stage(stage_id: uuid.UUID) -> list[AgentHistory]:
    executions = AgentExecution.objects.filter(
        stage_id=stage_id, parent_execution__isnull=True
    ).order_by("agent_index")
    return [_history_of(execution) for execution in executions]


@dataclass(frozen=True)
class StageHistory:
    """A stage of the investigation, whole, for whoever answers questions about it."""

    stage_name: str
    status: str
    agents: tuple[AgentHistory, ...]


@dataclass(frozen=True)
class ChatExchange:
    """A question, what was done about it and its answer; the answer is empty when none came."""

    author: str
    question: str
    answer: str
    events: tuple[TimelineEvent, ...] = ()


def investigation_of(session: AlertSession) -> list[StageHistory]:
    """Every stage but those of the chat, in order, summary and actions included."""
    stages = session.stages.exclude(stage_type=Stage.Type.CHAT).order_by("stage_index")
    return [
        StageHistory(stage.stage_name, stage.status, tuple(histories_of_stage(stage.pk)))
        for stage in stages
    ]


def exchanges_before(stage: Stage) -> list[ChatExchange]:
    """The questions asked before the one this stage answers."""
    earlier = list(
        Stage.objects.filter(chat=stage.chat, stage_index__lt=stage.stage_index)
        .select_related("chat_user_message")
        .order_by("stage_index")
    )
    events = _events_of_answers(earlier)
    return [
        ChatExchange(
            each.chat_user_message.author,
            each.chat_user_message.content,
            analysis_of_stage(each),
            tuple(events[each.pk]),
        )
        for each in earlier
    ]


def _events_of_answers(stages: Sequence[Stage]) -> dict[uuid.UUID, list[TimelineEvent]]:
    """What was done to answer each question, in order, in one query."""
    found: dict[uuid.UUID, list[TimelineEvent]] = {stage.pk: [] for stage in stages}
    events = TimelineEvent.objects.filter(
        stage__in=found, event_type__in=_DONE_FOR_ANSWERS
    ).order_by("sequence_number")
    for event in events:
        if event.stage_id is not None:
            found[event.stage_id].append(event)
    return found


def _history_of(execution: AgentExecution) -> AgentHistory:
    events = execution.timeline_events.filter(event_type__in=_TOLD_TO_READERS).order_by(
        "sequence_number"
    )
    return AgentHistory(
        agent_name=execution.agent_name,
        status=execution.status,
        llm_backend=execution.llm_backend,
        llm_provider=execution.llm_provider,
        model_name=execution.model_name,
        error=execution.error_message,
        events=tuple(events),
    )

"""One session with its stages, agents and what they cost."""

import uuid
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from agents.types import WriteStatus
from config import get_config
from investigations.models import AgentExecution, AlertSession, Chat, Stage, TimelineEvent
from investigations.selectors.changes import Change, changes_of_session
from investigations.selectors.claims import judge_report
from investigations.selectors.costs import Costs, costs_by_execution
from investigations.selectors.offers import KeptOffer, offers_of_session
from investigations.selectors.sessions import SessionSummary, get_session, summarize
from investigations.selectors.writes import unsettled_writes
from safety.grounding.claim_states import ClaimCounts


@dataclass(frozen=True)
class ExecutionDetail:
    execution: AgentExecution
    costs: Costs
    fallback: dict[str, object]
    """Why the provider was changed, as its timeline event says; empty when it was not."""
    sub_agents: list["ExecutionDetail"] = field(default_factory=list)
    offers: Sequence[KeptOffer] = ()
    """What its tool servers give it."""


@dataclass(frozen=True)
class StageDetail:
    stage: Stage
    executions: list[ExecutionDetail]


@dataclass(frozen=True)
class SessionDetail:
    summary: SessionSummary
    stages: list[StageDetail]
    chat_id: uuid.UUID | None
    chat_enabled: bool
    unverified: tuple[WriteStatus, ...]
    """The writes whose effect nothing has confirmed."""
    changes: tuple[Change, ...]
    """What TARSy changed, by the trail of its gate."""
    claims: ClaimCounts
    """How far the claims of its final analysis are proved."""
    unavailable: tuple[KeptOffer, ...] = ()
    """The tool servers that an agent worked without."""


def get_session_detail(session_id: uuid.UUID) -> SessionDetail:
    """Everything but the timeline, in a fixed number of queries. Raises NotFound."""
    session = get_session(session_id)
    offers = offers_of_session(session_id)
    return SessionDetail(
        summary=summarize([session])[0],
        stages=_stages_of(session, offers),
        chat_id=Chat.objects.filter(session=session).values_list("pk", flat=True).first(),
        chat_enabled=_has_chat(session),
        unverified=tuple(each.write for each in unsettled_writes(session_id)),
        changes=changes_of_session(session_id),
        claims=judge_report(session_id, session.final_analysis).counts,
        unavailable=tuple(each for each in offers if each.offer.is_away),
    )


def _has_chat(session: AlertSession) -> bool:
    chain = get_config().chains.get(session.chain_id)
    return chain is not None and chain.chat.enabled


def _stages_of(session: AlertSession, offers: Sequence[KeptOffer]) -> list[StageDetail]:
    stages = list(Stage.objects.filter(session=session).order_by("stage_index"))
    executions = list(AgentExecution.objects.filter(session=session).order_by("agent_index"))
    costs = costs_by_execution([execution.pk for execution in executions])
    fallbacks = _fallbacks_of(session)
    below: dict[uuid.UUID | None, list[ExecutionDetail]] = defaultdict(list)
    details = {
        execution.pk: ExecutionDetail(
            execution=execution,
            costs=costs.get(execution.pk, Costs()),
            fallback=fallbacks.get(execution.pk, {}),
            sub_agents=below[execution.pk],
            offers=[each for each in offers if each.execution_id == execution.pk],
        )
        for execution in executions
    }
    by_stage: dict[uuid.UUID, list[ExecutionDetail]] = defaultdict(list)
    for detail in details.values():
        parent = detail.execution.parent_execution_id
        siblings = below[parent] if parent else by_stage[detail.execution.stage_id]
        siblings.append(detail)
    return [StageDetail(stage, by_stage[stage.pk]) for stage in stages]


def _fallbacks_of(session: AlertSession) -> dict[uuid.UUID, dict[str, object]]:
    """The newest provider change of each execution."""
    events = TimelineEvent.objects.filter(
        session=session, event_type=TimelineEvent.Type.PROVIDER_FALLBACK
    ).order_by("sequence_number")
    return {
        event.execution_id: {"reason": event.content, **event.metadata}
        for event in events
        if event.execution_id
    }

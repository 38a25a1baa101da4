"""Everything one execution needs, gathered once from the rows and the configuration."""

from dataclasses import dataclass
from datetime import UTC, datetime

from agents.absent_llm import NO_MODEL, AbsentLLM
from agents.fallback import FallbackPlan
from agents.ports import LLM
from agents.rules_found import CertainFinding, join_same, read_certain
from agents.summaries import SummaryPlan
from agents.types import InteractionType, OpenWait, PastCall, ServerOffer
from config import get_config
from config.model import Config
from config.resolve import (
    ResolvedAgent,
    executions_of,
    resolve_agent,
    resolve_chat,
    resolve_executive_summary,
    resolve_synthesis,
)
from config.schema.chains import ChainConfig
from config.selection import ToolSelection, parse_selection
from investigations.engine.language_models import choose_models, plan_summaries
from investigations.maskers import ProductMasker, product_masker
from investigations.models import Stage
from investigations.runbooks.shelf import Runbook
from investigations.selectors.findings import (
    AgentHistory,
    ChatExchange,
    StageFindings,
    StageHistory,
    exchanges_before,
    findings_before,
    histories_of_stage,
    investigation_of,
    reports_by_rules,
)
from investigations.selectors.offers import offers_of_execution
from investigations.selectors.past_calls import past_calls
from investigations.selectors.provider_waits import open_waits_of_execution
from investigations.services.executions import Claim
from masking import Placeholders
from tarsy.errors import AgentError, InvalidInput


@dataclass(frozen=True)
class Briefing:
    """What an execution is, knows and may use."""

    claim: Claim
    config: Config
    agent: ResolvedAgent
    llm: LLM
    fallbacks: FallbackPlan
    summaries: SummaryPlan
    mask: ProductMasker
    placeholders: Placeholders
    """What `mask` calls the secrets it found; the tools' maskers call them the same."""
    previous: tuple[StageFindings, ...]
    histories: tuple[AgentHistory, ...]
    """For a synthesis: the work of the stage it is about."""
    investigation: tuple[StageHistory, ...]
    """For an answer in the chat: the investigation it is about."""
    exchanges: tuple[ChatExchange, ...]
    runbook: Runbook
    """What holds for every alert, until that of this alert was read."""
    now: datetime
    past: tuple[PastCall, ...] = ()
    """The tool calls made before an interruption."""
    known_offers: tuple[ServerOffer, ...] = ()
    """What its tool servers gave before an interruption."""
    open_waits: tuple[OpenWait, ...] = ()
    """The waits for a provider that an interruption left open."""
    has_rules_report: bool = False
    """For a summary: whether rules wrote any of the reports."""
    has_only_rules: bool = False
    """For a summary: whether rules wrote every report."""

    @property
    def needs_runbook(self) -> bool:
        """Whether a prompt is still to be written, and one that speaks of a runbook."""
        is_summary = self.claim.stage.stage_type == Stage.Type.EXEC_SUMMARY
        return not (is_summary or self.claim.messages or self.agent.controller == "rules")

    @property
    def interaction_type(self) -> InteractionType | None:
        return "chat_response" if self.claim.stage.stage_type == Stage.Type.CHAT else None

    @property
    def is_react(self) -> bool:
        """Whether tools are called by text and so have to stand in the prompt."""
        return self.agent.controller == "react"

    @property
    def may_recall(self) -> bool:
        """Whether it is an agent that calls tools, and so can call for earlier results."""
        return self.agent.controller in ("function_calling", "react")

    @property
    def recalls_session(self) -> bool:
        """Whether earlier results are of use from the start: for questions about them."""
        is_chat = self.claim.stage.stage_type == Stage.Type.CHAT
        return is_chat and self.may_recall and self.claim.session.last_tool_number > 0

    @property
    def certain_findings(self) -> tuple[CertainFinding, ...]:
        """What rules are certain of: before this stage, and beside what a synthesis joins. An
        answer in the chat is about its question and has to take up none."""
        if self.claim.stage.stage_type == Stage.Type.CHAT:
            return ()
        found = [each.by_rules.found for each in self.previous if each.by_rules is not None]
        found += [each.found for each in self.histories if each.found]
        return join_same(finding for each in found for finding in read_certain(each))


def brief(claim: Claim) -> Briefing:
    """Gather what an execution needs. Raises AgentError when the configuration has no place for it.

    Reads the database; to be called on a database thread.
    """
    config = get_config()
    agent = _resolve(config, claim)
    stage = claim.stage
    llm, fallbacks = _choose_models(agent, claim)
    is_chat = stage.stage_type == Stage.Type.CHAT
    subject = stage.referenced_stage_id if stage.stage_type == Stage.Type.SYNTHESIS else None
    placeholders = Placeholders()
    is_summary = stage.stage_type == Stage.Type.EXEC_SUMMARY
    by_rules, reports = reports_by_rules(claim.session) if is_summary else (0, 0)
    return Briefing(
        claim=claim,
        config=config,
        agent=agent,
        llm=llm,
        fallbacks=fallbacks,
        summaries=plan_summaries(agent),
        mask=product_masker(placeholders),
        placeholders=placeholders,
        previous=tuple(findings_before(claim.session, stage)),
        histories=tuple(histories_of_stage(subject)) if subject else (),
        investigation=tuple(investigation_of(claim.session)) if is_chat else (),
        exchanges=tuple(exchanges_before(stage)) if is_chat else (),
        runbook=Runbook(text=config.defaults.runbook),
        now=datetime.now(UTC),
        past=past_calls(claim.execution, claim.messages) if claim.messages else (),
        known_offers=offers_of_execution(claim.execution),
        open_waits=open_waits_of_execution(claim.execution) if claim.messages else (),
        has_rules_report=by_rules > 0,
        has_only_rules=0 < by_rules == reports,
    )


def _choose_models(agent: ResolvedAgent, claim: Claim) -> tuple[LLM, FallbackPlan]:
    """Rules need no model."""
    if agent.controller == "rules":
        return AbsentLLM(), FallbackPlan(NO_MODEL)
    return choose_models(agent, claim.execution)


def _resolve(config: Config, claim: Claim) -> ResolvedAgent:
    chain = config.chains.get(claim.session.chain_id)
    if chain is None:
        raise AgentError(f'the chain "{claim.session.chain_id}" is no longer configured')
    stage = claim.stage
    if stage.stage_type == Stage.Type.EXEC_SUMMARY:
        return resolve_executive_summary(config, chain)
    if stage.stage_type == Stage.Type.CHAT:
        return resolve_chat(config, chain, _selection(config, claim))
    position = stage.chain_position
    if position is None or position >= len(chain.stages):
        raise AgentError(f'the chain "{claim.session.chain_id}" has no such stage any more')
    if stage.stage_type == Stage.Type.SYNTHESIS:
        return resolve_synthesis(config, chain, chain.stages[position])
    return _resolve_stage_agent(config, chain, claim, position)


def _resolve_stage_agent(
    config: Config, chain: ChainConfig, claim: Claim, position: int
) -> ResolvedAgent:
    stage = chain.stages[position]
    agents = executions_of(stage)
    index = claim.execution.agent_index - 1
    if index >= len(agents):
        raise AgentError(f'the stage "{stage.name}" has no agent {index + 1} any more')
    return resolve_agent(
        config,
        chain=chain,
        stage=stage,
        stage_agent=agents[index],
        selection=_selection(config, claim),
    )


def _selection(config: Config, claim: Claim) -> ToolSelection | None:
    """What the alert chose, checked once more: the configuration may be another one by now."""
    selection = claim.session.mcp_selection
    if not selection:
        return None
    try:
        return parse_selection(selection, config)
    except InvalidInput as error:
        raise AgentError(
            f"what the alert chose can no longer be used: {error}. Send the alert again without "
            "it, or bring back what it names."
        ) from error

"""Everything one execution needs, gathered once from the rows and the configuration."""

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

from agents.absent_llm import NO_MODEL, AbsentLLM
from agents.fallback import FallbackPlan
from agents.ports import LLM, Toolbox
from agents.prompts import (
    AgentFindings,
    Alert,
    ChatInput,
    ChatStage,
    Exchange,
    ExecutiveSummaryInput,
    PromptInput,
    Skill,
    StageResult,
    SynthesisInput,
    build_chat,
    build_executive_summary,
    build_investigation,
    build_synthesis,
)
from agents.prompts.fitting import fit_chat, fit_investigation, fit_synthesis
from agents.recall import RECALL_SPEC
from agents.rules_found import CertainFinding, join_same, read_certain
from agents.summaries import SummaryPlan
from agents.task import AgentTask, Limits
from agents.types import (
    InteractionType,
    Message,
    OpenWait,
    PastCall,
    Role,
    ServerOffer,
    ToolCall,
    ToolSpec,
)
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
from investigations.engine.retelling import list_items, shorten_items
from investigations.maskers import ProductMasker, product_masker
from investigations.models import Message as StoredMessage
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
    def _interaction_type(self) -> InteractionType | None:
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
    def _certain_findings(self) -> tuple[CertainFinding, ...]:
        """What rules are certain of: before this stage, and beside what a synthesis joins. An
        answer in the chat is about its question and has to take up none."""
        if self.claim.stage.stage_type == Stage.Type.CHAT:
            return ()
        found = [each.by_rules.found for each in self.previous if each.by_rules is not None]
        found += [each.found for each in self.histories if each.found]
        return join_same(finding for each in found for finding in read_certain(each))

    def find_described_tools(self, toolbox: Toolbox) -> tuple[ToolSpec, ...]:
        """The tools that the prompt has to describe, because the model is given none."""
        if not self.is_react or not (toolbox.specs or self.recalls_session):
            return ()
        return (*toolbox.specs, RECALL_SPEC)

    def make_task(self, toolbox: Toolbox, *, ends_at: float) -> AgentTask:
        """What the agent is to do; `ends_at` is when it has to have ended, by the loop's clock."""
        iteration = self.config.defaults.iteration_timeout.total_seconds()
        return AgentTask(
            controller=self.agent.controller,
            agent_name=self.claim.execution.agent_name,
            opening=_open_conversation(self, toolbox),
            max_iterations=self.agent.max_iterations,
            limits=Limits(iteration, ends_at),
            interaction_type=self._interaction_type,
            recalls_session=self.recalls_session,
            history=tuple(to_agent_message(each) for each in self.claim.messages),
            open_numbers=self.claim.open_numbers,
            known_offers=self.known_offers,
            open_waits=self.open_waits,
            findings=self._certain_findings,
            has_stand_in=self.agent.falls_back_to_rules,
        )


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


# ---- The conversation's opening ------------------------------------------------------------------


def _open_conversation(briefing: Briefing, toolbox: Toolbox) -> tuple[Message, ...]:
    limit = briefing.llm.input_limit
    if briefing.claim.stage.stage_type == Stage.Type.EXEC_SUMMARY:
        return build_executive_summary(
            ExecutiveSummaryInput(
                agent_name=briefing.claim.execution.agent_name,
                final_analysis=briefing.claim.session.final_analysis,
            )
        )
    if briefing.claim.stage.stage_type == Stage.Type.SYNTHESIS:
        return build_synthesis(fit_synthesis(_synthesis_input(briefing), limit))
    if briefing.claim.stage.stage_type == Stage.Type.CHAT:
        return build_chat(fit_chat(_chat_input(briefing, toolbox), limit))
    return build_investigation(fit_investigation(_investigation_input(briefing, toolbox), limit))


def _investigation_input(briefing: Briefing, toolbox: Toolbox) -> PromptInput:
    return PromptInput(
        agent_name=briefing.claim.execution.agent_name,
        now=briefing.now,
        holidays=_holidays(briefing),
        alert=_alert(briefing.claim),
        runbook=briefing.runbook.text,
        runbook_problem=briefing.runbook.problem,
        server_instructions=toolbox.instructions,
        server_words=toolbox.server_words,
        unavailable=toolbox.unavailable,
        skills=_skills(briefing),
        agent_instructions=briefing.agent.custom_instructions,
        previous_stages=_previous(briefing),
        has_tools=bool(toolbox.specs),
        provider_tools=_provider_tools(briefing),
        is_react=briefing.is_react,
        tools=briefing.find_described_tools(toolbox),
    )


def _synthesis_input(briefing: Briefing) -> SynthesisInput:
    stage = briefing.claim.stage
    return SynthesisInput(
        agent_name=briefing.claim.execution.agent_name,
        now=briefing.now,
        holidays=_holidays(briefing),
        alert=_alert(briefing.claim),
        stage_name=stage.referenced_stage.stage_name if stage.referenced_stage else "",
        findings=tuple(_to_findings(history) for history in briefing.histories),
        runbook=briefing.runbook.text,
        runbook_problem=briefing.runbook.problem,
        skills=_skills(briefing),
        agent_instructions=briefing.agent.custom_instructions,
        previous_stages=_previous(briefing),
        provider_tools=_provider_tools(briefing),
    )


def _chat_input(briefing: Briefing, toolbox: Toolbox) -> ChatInput:
    question = briefing.claim.stage.chat_user_message
    return ChatInput(
        agent_name=briefing.claim.execution.agent_name,
        now=briefing.now,
        holidays=_holidays(briefing),
        alert=_alert(briefing.claim),
        stages=tuple(
            ChatStage(stage.stage_name, stage.status, tuple(map(_to_findings, stage.agents)))
            for stage in briefing.investigation
        ),
        author=question.author,
        question=question.content,
        exchanges=tuple(
            Exchange(
                each.author,
                each.question,
                each.answer,
                tuple(shorten_items(each.events, can_recall=briefing.recalls_session)),
            )
            for each in briefing.exchanges
        ),
        runbook=briefing.runbook.text,
        runbook_problem=briefing.runbook.problem,
        server_instructions=toolbox.instructions,
        server_words=toolbox.server_words,
        unavailable=toolbox.unavailable,
        skills=_skills(briefing),
        agent_instructions=briefing.agent.custom_instructions,
        provider_tools=_provider_tools(briefing),
        has_tools=bool(toolbox.specs),
        can_recall=briefing.recalls_session,
        is_react=briefing.is_react,
        tools=briefing.find_described_tools(toolbox),
    )


def _skills(briefing: Briefing) -> tuple[Skill, ...]:
    known = briefing.config.skills
    return tuple(Skill(name, known[name].body) for name in briefing.agent.required_skills)


def _provider_tools(briefing: Briefing) -> tuple[str, ...]:
    return tuple(sorted(briefing.fallbacks.native_tools))


def _holidays(briefing: Briefing) -> dict[str, str]:
    return {each.date: each.name for each in briefing.config.system.holidays}


def _alert(claim: Claim) -> Alert:
    metadata = {"Runbook": claim.session.runbook_url} if claim.session.runbook_url else {}
    return Alert(claim.session.alert_type, claim.session.alert_data, metadata)


def _previous(briefing: Briefing) -> tuple[StageResult, ...]:
    return tuple(
        StageResult(each.stage_name, each.analysis, is_by_rules=each.by_rules is not None)
        for each in briefing.previous
    )


def _to_findings(history: AgentHistory) -> AgentFindings:
    return AgentFindings(
        agent_name=history.agent_name,
        backend=history.llm_backend,
        model=history.model_name,
        status=history.status,
        # How it failed is told once, with its status.
        items=tuple(item for item in list_items(history.events) if item.text != history.error),
        error=history.error,
    )


def to_agent_message(stored: StoredMessage) -> Message:
    """A stored message as agents know it."""
    return Message(
        role=cast(Role, stored.role),
        content=stored.content,
        tool_calls=tuple(ToolCall(**call) for call in stored.tool_calls or ()),
        tool_call_id=stored.tool_call_id,
        tool_name=stored.tool_name,
        provider_fields=stored.provider_fields,
    )

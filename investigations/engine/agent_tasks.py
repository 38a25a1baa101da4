"""What an agent is to do, and the conversation that it begins with."""

from typing import cast

from agents.ports import Toolbox
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
from agents.task import AgentTask, Limits
from agents.types import Message, Role, ToolCall, ToolSpec
from investigations.engine.briefing import Briefing
from investigations.engine.retelling import list_items, shorten_items
from investigations.models import Message as StoredMessage
from investigations.models import Stage
from investigations.selectors.findings import AgentHistory
from investigations.services.executions import Claim


def make_task(briefing: Briefing, toolbox: Toolbox, *, ends_at: float) -> AgentTask:
    """What the agent is to do; `ends_at` is when it has to have ended, by the loop's clock."""
    iteration = briefing.config.defaults.iteration_timeout.total_seconds()
    return AgentTask(
        controller=briefing.agent.controller,
        agent_name=briefing.claim.execution.agent_name,
        opening=_open_conversation(briefing, toolbox),
        max_iterations=briefing.agent.max_iterations,
        limits=Limits(iteration, ends_at),
        interaction_type=briefing.interaction_type,
        recalls_session=briefing.recalls_session,
        history=tuple(to_agent_message(each) for each in briefing.claim.messages),
        open_numbers=briefing.claim.open_numbers,
        known_offers=briefing.known_offers,
        open_waits=briefing.open_waits,
        findings=briefing.certain_findings,
        has_stand_in=briefing.agent.falls_back_to_rules,
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
        tools=_find_described_tools(briefing, toolbox),
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
        tools=_find_described_tools(briefing, toolbox),
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


def _find_described_tools(briefing: Briefing, toolbox: Toolbox) -> tuple[ToolSpec, ...]:
    """The tools that the prompt has to describe, because the model is given none."""
    if not briefing.is_react or not (toolbox.specs or briefing.recalls_session):
        return ()
    return (*toolbox.specs, RECALL_SPEC)

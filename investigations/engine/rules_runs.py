"""Executions and texts that no model has a part in: agents of rules, and who stands in for a model
that could not be asked."""

import asyncio
from datetime import UTC, datetime
from typing import cast

from agents.our_lines import as_words
from agents.ports import EvidenceReader, Journal, Toolbox
from agents.types import JSON, WITHOUT_MODEL, AgentOutcome, Note
from agents.types import Message as AgentMessage
from config.providers import how_to_configure
from config.resolve import ResolvedAgent
from investigations.engine.agent_tasks import to_agent_message
from investigations.engine.briefing import Briefing
from investigations.models import Stage
from rules.answering import answer_by_code
from rules.merging import merge_reports, sum_up
from rules.run import OPENING, RulesTask, run_rules

MOST_CALLS_READ = 100
"""Of a session, for the answer to a question."""
NO_MODEL_CONFIGURED = (
    f"no model is configured, so nobody has interpreted the question. {how_to_configure()}"
)


def is_by_rules(briefing: Briefing) -> bool:
    """Whether rules do the work: the agent is one of rules, or they took over before."""
    messages = briefing.claim.messages
    return briefing.agent.controller == "rules" or any(
        message.role == "user" and message.content.startswith(OPENING) for message in messages
    )


async def run_by_rules(
    briefing: Briefing,
    toolbox: Toolbox,
    journal: Journal,
    results: EvidenceReader,
    *,
    failure: str = "",
) -> AgentOutcome:
    """Run the packs of an agent; `failure` says why no model could be asked to do the work."""
    lines = (_say_why(failure),) if failure else ()
    if failure:
        text = f"Every provider has failed, so rules take over. {failure}"
        await journal.record_note(Note("notice", text))
    return await run_rules(
        _make_task(briefing, lines), toolbox=toolbox, journal=journal, evidence=results,
        mask=briefing.mask,
    )  # fmt: skip


def _make_task(briefing: Briefing, lines: tuple[str, ...]) -> RulesTask:
    claim, agent = briefing.claim, briefing.agent
    packs = tuple(briefing.config.packs[name] for name in _packs_of(briefing, agent))
    named = ", ".join(pack.name for pack in packs)
    session = claim.session
    return RulesTask(
        packs=packs,
        alert={"alert_type": session.alert_type, "alert": cast(JSON, session.alert_data)},
        received=session.created_at,
        now=datetime.now(UTC),
        opening=(AgentMessage("user", f"{OPENING} Packs: {named}."),),
        known_noise=briefing.config.known_noise,
        history=tuple(map(to_agent_message, claim.messages)),
        open_numbers=claim.open_numbers,
        known_offers=briefing.known_offers,
        lines=lines,
        proposes=agent.proposes,
        earlier=_report_before(briefing),
    )


def _report_before(briefing: Briefing) -> str:
    """What rules reported in the stage before; empty where a model did, whose words are held
    against the results by other rules."""
    before = briefing.previous[-1] if briefing.previous else None
    return before.analysis if before is not None and before.by_rules is not None else ""


def _packs_of(briefing: Briefing, agent: ResolvedAgent) -> list[str]:
    return [name for name in agent.packs if name in briefing.config.packs]


def is_question(briefing: Briefing) -> bool:
    return bool(briefing.claim.stage.stage_type == Stage.Type.CHAT)


def may_stand_in(briefing: Briefing) -> bool:
    """Whether code may write what a model was to write: a text about reports of rules."""
    stage = briefing.claim.stage.stage_type
    if stage == Stage.Type.EXEC_SUMMARY:
        return briefing.has_rules_report
    return stage == Stage.Type.SYNTHESIS and any(each.is_by_rules for each in briefing.histories)


def needs_no_model(briefing: Briefing) -> bool:
    """Whether all that a text is about was found by rules, so that code can write it as well, or a
    question would be put to a script, which answers whatever it was."""
    stage = briefing.claim.stage.stage_type
    if stage == Stage.Type.EXEC_SUMMARY:
        return briefing.has_only_rules
    if is_question(briefing):
        return briefing.config.stands_in(briefing.fallbacks.current.provider_name)
    return stage == Stage.Type.SYNTHESIS and bool(briefing.histories) and all(
        each.is_by_rules for each in briefing.histories
    )  # fmt: skip


async def write_by_code(
    briefing: Briefing, journal: Journal, results: EvidenceReader, *, failure: str = ""
) -> AgentOutcome:
    """The executive summary or the synthesis of reports of rules, or the answer to a question."""
    if is_question(briefing):
        text = await _answer(briefing, results)
        text = text if failure else f"{WITHOUT_MODEL} {NO_MODEL_CONFIGURED}\n\n{text}"
    elif briefing.claim.stage.stage_type == Stage.Type.EXEC_SUMMARY:
        text = sum_up(briefing.claim.session.final_analysis)
    else:
        text = merge_reports(
            [(each.agent_name, each.analysis) for each in briefing.histories if each.analysis]
        )
    if failure:
        text = f"{_say_why(failure)}\n\n{text}"
    metadata: dict[str, JSON] = {"by_rules": True, "written_by_code": True}
    if is_question(briefing):
        metadata = {"searched": True}
    if briefing.claim.stage.stage_type == Stage.Type.SYNTHESIS:
        metadata |= _best_of(briefing)
    await journal.record_note(Note("final_analysis", text, metadata))
    return AgentOutcome("completed", final_analysis=text)


async def _answer(briefing: Briefing, results: EvidenceReader) -> str:
    """What the evidence has on the question, of the newest calls."""
    session = briefing.claim.session
    newest = session.last_tool_number
    numbers = range(max(1, newest - MOST_CALLS_READ + 1), newest + 1)
    calls = await results.read_evidence(numbers, numbers)
    question = briefing.claim.stage.chat_user_message
    return await asyncio.to_thread(answer_by_code, question.content, session.final_analysis, calls)


def _say_why(failure: str) -> str:
    """A line of ours: what a provider answered is text from outside, and no Markdown."""
    return f"{WITHOUT_MODEL} {as_words(failure)}."


def _best_of(briefing: Briefing) -> dict[str, JSON]:
    """What was found, of the first agent that found something."""
    found = [each.found for each in briefing.histories if each.found]
    return {"rules": cast(JSON, found[0])} if found else {}

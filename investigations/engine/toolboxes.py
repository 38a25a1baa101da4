"""The tools of one execution: its servers from the configuration, `ops` in this very process."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache

from agents.empty_toolbox import EmptyToolbox, ReviewAnswer
from agents.ports import ProposedAnswer, Review, Toolbox
from agents.types import JSON
from config.resolve import ResolvedAgent
from config.unclassed import explain_classing
from investigations.engine.approval_desk import MaskValues, PersistentDesk
from investigations.engine.briefing import Briefing
from investigations.engine.own_servers import own_servers
from investigations.engine.records import DatabaseRecords
from investigations.models import Stage
from investigations.selectors.settled_calls import read_settled_calls
from masking import build_server_masker
from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.wire.http import HttpClients
from safety.evidence import SettledCall
from safety.gate.answer_review import review_told
from safety.gate.events import SafetyEvents
from safety.gate.provenance import Block, Provenance, Source
from safety.gate.safety_gate import ReadEarlier, SafetyGate
from safety.gate.summary_review import review_summary
from tarsy.aio import WorkerLoop
from tarsy.errors import AgentError

_WITHOUT_TOOLS = ("synthesis", "single_call")


@asynccontextmanager
async def open_execution_toolbox(
    briefing: Briefing, loop: WorkerLoop, trail: SafetyEvents
) -> AsyncIterator[Toolbox]:
    """Connect the servers an execution may use; the dead ones are named in its prompt."""
    agent = briefing.agent
    if agent.controller in _WITHOUT_TOOLS or not agent.mcp_servers:
        yield EmptyToolbox(_reviewer_of(briefing, loop, trail))
        return
    configured = briefing.config.mcp_servers
    desk = PersistentDesk(briefing.claim.execution, loop, _masker_of(briefing))
    async with open_toolbox(
        {name: configured[name] for name in agent.mcp_servers if name in configured},
        selection={name: agent.tool_filter.get(name) for name in agent.mcp_servers},
        gate=SafetyGate(
            agent.control_level,
            desk=desk,
            events=trail,
            given=list_given(briefing),
            read_earlier=_earlier_of(briefing, loop) if _is_chat(briefing) else None,
        ),
        past=briefing.past,
        in_process=own_servers(DatabaseRecords(loop.db, briefing.claim.execution)),
        execution_id=str(briefing.claim.execution.pk),
        http_clients=_http_clients(),
        placeholders=briefing.placeholders,
    ) as toolbox:
        _refuse_empty_choice(agent, toolbox)
        yield toolbox


def _reviewer_of(briefing: Briefing, loop: WorkerLoop, trail: SafetyEvents) -> ReviewAnswer:
    """Holds a text against what it is about: a summary against its report, anything else against
    what the calls of the session returned."""
    read_earlier = _earlier_of(briefing, loop)

    async def review(answer: ProposedAnswer) -> Review:
        if briefing.claim.stage.stage_type == Stage.Type.EXEC_SUMMARY:
            return await review_summary(answer, trail)
        return await review_told(answer, await read_earlier(), trail)

    return review


def _earlier_of(briefing: Briefing, loop: WorkerLoop) -> ReadEarlier:
    execution = briefing.claim.execution

    async def read() -> Sequence[SettledCall]:
        return await loop.db(read_settled_calls, execution.session_id, execution.pk)

    return read


def _is_chat(briefing: Briefing) -> bool:
    return bool(briefing.claim.stage.stage_type == Stage.Type.CHAT)


def _masker_of(briefing: Briefing) -> MaskValues:
    """Masks a call the way its server's results are masked, with the same placeholders."""

    def mask(server: str, values: Mapping[str, JSON]) -> dict[str, JSON]:
        rules = briefing.config.mcp_servers[server].data_masking
        masked = build_server_masker(rules, briefing.placeholders).mask_json(dict(values))
        return masked if isinstance(masked, dict) else {"raw": masked}

    return mask


def list_given(briefing: Briefing) -> tuple[Block, ...]:
    """What an execution was told before it called a tool, each text with who wrote it.

    The alert says where a runbook comes from, so nobody trusted wrote that one.
    """
    session, agent = briefing.claim.session, briefing.agent
    servers = briefing.config.mcp_servers
    is_configured = briefing.runbook.text == briefing.config.defaults.runbook
    blocks = [
        Block(
            json.dumps(session.alert_data, ensure_ascii=False),
            Provenance("alert", session.alert_type),
        ),
        Block(agent.custom_instructions, Provenance("configuration", agent.agent_name)),
        Block(
            briefing.runbook.text,
            Provenance("configuration" if is_configured else "runbook", session.runbook_url),
        ),
        *(
            Block(servers[name].instructions, Provenance("configuration", name))
            for name in agent.mcp_servers
            if name in servers
        ),
    ]
    if briefing.claim.stage.stage_type == Stage.Type.CHAT:
        question = briefing.claim.stage.chat_user_message
        source: Source = "person" if question.may_decide else "question"
        blocks.append(Block(question.content, Provenance(source, question.author)))
    return tuple(block for block in blocks if block.text)


def _refuse_empty_choice(agent: ResolvedAgent, toolbox: Toolbox) -> None:
    """An alert that chose single tools would otherwise be investigated without any."""
    for offer in toolbox.offers:
        tools = agent.tool_filter.get(offer.server)
        if not tools or offer.is_away or offer.offered:
            continue
        chosen = ", ".join(tools)
        if any(tool.name in tools for tool in offer.hidden("unclassed")):
            raise AgentError(
                f'the alert chose tools of "{offer.server}" that nobody has classed, and nothing '
                f"may be written here: {chosen}. {explain_classing([offer.server])}"
            )
        if any(tool.name in tools for tool in offer.hidden("write")):
            raise AgentError(
                f'the alert chose tools of "{offer.server}" that write, and nothing may be written '
                f"here: {chosen}. Choose tools that read, or give the chain another control_level."
            )
        raise AgentError(
            f'the alert chose tools that "{offer.server}" does not offer: {chosen}. Its tool '
            "server may have changed; send the alert again with tools it has."
        )


@cache
def _http_clients() -> HttpClients:
    """Shared by every agent of the process: building one costs 30 ms."""
    return HttpClients()

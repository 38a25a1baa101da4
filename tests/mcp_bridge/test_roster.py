"""Which servers an execution has: those that were away join, those that went away are known."""

import contextlib
import socket

import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from mcp_bridge.roster import MOST_GONE
from mcp_bridge.toolbox import open_toolbox
from safety.gate.safety_gate import SafetyGate
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import quick, run, stdio
from tests.mcp_bridge.test_http_servers import serving
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_left_behind")]

SOON = {"rejoin_pause": 0.0, "rejoin_patience": 20.0}


def http_app(*tools: str, read_only: bool | None = None):
    server = MCPServer("remote", instructions="Ask me.")
    for name in tools:
        hints = ToolAnnotations(read_only_hint=read_only) if read_only is not None else None
        server.tool(name=name, description=f"Does {name}.", annotations=hints)(lambda: "fine")
    return server.streamable_http_app()


def remote(port: int, **fields) -> ServerPlan:
    return ServerPlan(TransportPlan("http", url=f"http://127.0.0.1:{port}/mcp"), **fields)


@pytest.fixture
def port() -> int:
    with contextlib.closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


READS = {"look": ClassRule("read")}


async def test_a_server_that_was_away_joins_before_the_next_question(port):
    plan = remote(port, tools=READS)
    async with open_toolbox({"late": plan}, deadlines=quick(**SOON)) as toolbox:
        (before,) = toolbox.offers
        await toolbox.refresh()
        (still,) = toolbox.offers
        with serving(http_app("look"), port):
            await toolbox.refresh()
            (after,) = toolbox.offers
            answer = await run(toolbox, "late__look")

            assert [spec.wire_name for spec in toolbox.specs] == ["late__look"]
            assert toolbox.server_words == {"late": "Ask me."}

    assert (before.is_away, still.is_away, after.is_away) == (True, True, False)
    assert [tool.name for tool in after.offered] == ["look"]
    assert toolbox.unavailable == {}
    assert answer.content == "fine"


async def test_a_server_that_went_away_is_known_and_comes_back(port):
    plan = remote(port, tools=READS)
    with serving(http_app("look"), port):
        manager = open_toolbox({"flaky": plan}, deadlines=quick(**SOON, restart=2.0))
        toolbox = await manager.__aenter__()
    try:
        lost = await run(toolbox, "flaky__look")
        await toolbox.refresh()
        (away,) = toolbox.offers
        offered_meanwhile = toolbox.specs
        with serving(http_app("look"), port):
            await toolbox.refresh()
            (back,) = toolbox.offers
            answer = await run(toolbox, "flaky__look")
    finally:
        await manager.__aexit__(None, None, None)

    assert lost.is_error
    assert (away.is_away, offered_meanwhile) == (True, ())
    assert (back.is_away, answer.content) == (False, "fine")


async def test_a_tool_that_comes_back_as_another_stays_disabled(port):
    plan = remote(port, tools=READS)
    with serving(http_app("look"), port):
        manager = open_toolbox({"flaky": plan}, deadlines=quick(**SOON, restart=2.0))
        toolbox = await manager.__aenter__()
    try:
        await run(toolbox, "flaky__look")
        await toolbox.refresh()
        with serving(http_app("look", read_only=False), port):
            await toolbox.refresh()
            (back,) = toolbox.offers
    finally:
        await manager.__aexit__(None, None, None)

    assert [(tool.name, tool.hidden) for tool in back.tools] == [("look", "changed")]
    assert toolbox.specs == ()


async def test_a_server_that_never_starts_costs_a_question_no_more_than_its_patience():
    deadlines = quick(start=0.5, restart=60.0, close=5.0, rejoin_pause=0.0, rejoin_patience=0.0)
    async with open_toolbox({"silent": stdio("hang")}, deadlines=deadlines) as toolbox:
        await toolbox.refresh()
        await toolbox.refresh()
        (silent,) = toolbox.offers

    # It may take a minute to start again, which no question has waited for.
    assert silent.is_away


async def test_what_nobody_classed_and_what_is_known_to_write_are_told_apart(port):
    plan = remote(port, tools={**READS, "scale": ClassRule("write")})
    with serving(http_app("look", "scale", "mystery"), port):
        async with open_toolbox({"remote": plan}, gate=SafetyGate(), deadlines=quick()) as toolbox:
            (offer,) = toolbox.offers
            known = await run(toolbox, "remote__scale")
            unclassed = await run(toolbox, "remote__mystery")

            assert [spec.wire_name for spec in toolbox.specs] == ["remote__look"]

    hidden = {tool.name: tool.hidden for tool in offer.tools}
    assert hidden == {"look": "", "mystery": "unclassed", "scale": "write"}
    assert "changes things, and this investigation is read-only" in known.content
    assert "nobody has classed" in unclassed.content


@pytest.mark.parametrize(
    ("trusts", "read_only", "hidden"),
    [
        (None, True, "unclassed"),
        (True, True, ""),
        (True, False, "write"),
        (True, None, "unclassed"),
        (False, True, "unclassed"),
    ],
)
async def test_a_servers_own_word_is_a_class_only_where_it_is_trusted(
    port, trusts, read_only, hidden
):
    plan = remote(port, trust_annotations=trusts)
    with serving(http_app("look", read_only=read_only), port):
        async with open_toolbox({"remote": plan}, gate=SafetyGate(), deadlines=quick()) as toolbox:
            (offer,) = toolbox.offers

    assert [tool.hidden for tool in offer.tools] == [hidden]


async def test_tools_that_the_alert_did_not_choose_are_hidden_for_that_reason(port):
    plan = remote(port, tools={**READS, "peek": ClassRule("read")})
    with serving(http_app("look", "peek"), port):
        chosen = {"remote": ["look"]}
        async with open_toolbox({"remote": plan}, selection=chosen, deadlines=quick()) as toolbox:
            (offer,) = toolbox.offers

    assert {tool.name: tool.hidden for tool in offer.tools} == {"look": "", "peek": "not_selected"}


async def test_where_writes_are_asked_about_nothing_is_hidden(port):
    with serving(http_app("mystery"), port):
        gate = SafetyGate("controlled")
        async with open_toolbox({"remote": remote(port)}, gate=gate, deadlines=quick()) as toolbox:
            (offer,) = toolbox.offers

    assert [tool.hidden for tool in offer.tools] == [""]


async def test_a_server_that_changes_its_tools_at_every_question_is_not_remembered_whole():
    async with open_toolbox({"churning": stdio("storm")}, deadlines=quick()) as toolbox:
        for _ in range(6):
            answer = await run(toolbox, "churning__look")
            await toolbox.refresh()
        (offer,) = toolbox.offers
        first, latest = "churning__tool_000_000", "churning__tool_006_000"
        now, newly_gone, long_gone = [
            await run(toolbox, name) for name in (latest, "churning__tool_005_998", first)
        ]

        assert len(toolbox.specs) == len(offer.offered) == 1_000

    assert not answer.is_error
    assert len(offer.tools) <= 1_000 + MOST_GONE
    assert len(offer.hidden("removed")) == MOST_GONE
    assert offer.gone == 6 * 999
    assert not now.is_error
    assert "its server no longer offers it" in newly_gone.content
    assert "There is no tool" in long_gone.content

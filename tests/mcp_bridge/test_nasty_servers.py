"""What a hostile or broken server may do to an investigation: cost it that server's answers."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import psutil
import pytest

from agents.types import ToolCall
from mcp_bridge.toolbox import open_toolbox
from mcp_bridge.wire.cutting import MAX_MESSAGE_BYTES
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import ReadsBut, quick, run
from tests.mcp_bridge.open_gate import OpenGate
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = [pytest.mark.usefixtures("nothing_left_behind"), pytest.mark.slow]

NASTY = Path(__file__).parent / "servers" / "nasty_server.py"
MEGABYTE = 1024 * 1024


def over_stdio(mode: str = "fair", **fields) -> ServerPlan:
    args = ("-u", str(NASTY), "stdio", mode)
    fields = {"tools": ReadsBut("ask"), **fields}
    return ServerPlan(TransportPlan("stdio", command=sys.executable, args=args), **fields)


@pytest.fixture
async def serve_http():
    """Start a nasty server over HTTP; every tool it has reads."""
    processes = []

    async def serve(mode: str = "fair", port: int = 0) -> ServerPlan:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-u", str(NASTY), "http", mode,
            stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip
        processes.append(process)
        port = int(await process.stdout.readline())
        return ServerPlan(
            TransportPlan("http", url=f"http://127.0.0.1:{port}/mcp"),
            tools=ReadsBut("ask"),
            trust_annotations=True,
        )

    yield serve
    for process in processes:
        process.stdin.close()
        await process.wait()


@pytest.fixture(params=["stdio", "http"])
async def fair(request, serve_http) -> ServerPlan:
    return over_stdio() if request.param == "stdio" else await serve_http()


async def ask(plan: ServerPlan, *tools: str, **deadlines) -> list:
    async with open_toolbox({"nasty": plan}, deadlines=quick(**deadlines)) as toolbox:
        return [await run(toolbox, f"nasty__{tool}") for tool in tools]


@pytest.mark.parametrize(
    ("tool", "answer"),
    [
        ("drip", "drop by drop"),
        ("trickle_noise", "after the noise"),
        ("twice", "first"),
        ("bad_utf8", "caf\ufffd ok"),
        ("surrogate", "half ? pair"),
        ("chatter", "done"),
    ],
)
async def test_answer_is_read_whatever_stands_around_it(fair, tool, answer):
    first, after = await ask(fair, tool, "echo")

    assert first.content == answer
    assert after.content == "echo"


@pytest.mark.parametrize(
    ("tool", "answer"),
    [("wrong_id", "for you"), ("garbage", "after the garbage"), ("null_result", "after nothing")],
)
async def test_lines_that_answer_nobody_are_passed_over(tool, answer):
    first, after = await ask(over_stdio(), tool, "echo")

    assert first.content == answer
    assert after.content == "echo"


async def test_answer_to_a_call_that_is_not_made_yet_is_not_kept_for_it(fair):
    first, after = await ask(fair, "early", "echo")

    assert (first.content, after.content) == ("now", "echo")


async def test_answer_to_another_call_is_not_taken_for_ones_own(fair):
    first, after = await ask(fair, "wrong_id", "echo")

    assert (first.content, after.content) == ("for you", "echo")


async def test_answer_that_is_no_message_is_an_error_and_costs_one_call(serve_http):
    broken, after = await ask(await serve_http(), "null_result", "echo")

    assert "no valid MCP message" in broken.content
    assert after.content == "echo"


async def test_late_answer_never_lands_on_another_call(fair):
    async with open_toolbox({"nasty": fair}, deadlines=quick(call=2.0)) as toolbox:
        late = await run(toolbox, "nasty__late")
        answers = [await run(toolbox, "nasty__echo", f'{{"text": "{n}"}}') for n in range(40)]

    assert late.is_error
    assert [answer.content for answer in answers] == [str(n) for n in range(40)]


async def test_blocks_of_unknown_kind_cost_nothing_but_themselves(fair):
    (result,) = await ask(fair, "odd_content")

    assert not result.is_error
    assert "still readable" in result.content
    assert "hologram" in result.content
    assert '{"wrong": true}' in result.content


async def test_flood_is_cut_as_it_comes_and_its_size_is_told(fair):
    async with open_toolbox({"nasty": fair}, deadlines=quick()) as toolbox:
        flood = await run(toolbox, "nasty__flood", '{"bytes": 8000000}')
        after = await run(toolbox, "nasty__echo")

    assert flood.content.startswith("flooding flooding")
    assert flood.size_bytes > 8_000_000
    assert flood.truncated
    assert after.content == "echo"


async def test_flood_without_end_ends_the_connection_and_not_the_investigation(fair):
    held = psutil.Process().memory_info().rss
    flood, after = await ask(fair, "flood", "echo")

    assert flood.is_error or flood.truncated
    assert after.content == "echo"
    assert psutil.Process().memory_info().rss - held < 50 * MEGABYTE


async def test_messages_without_end_end_the_connection_with_the_reason():
    gush, after = await ask(over_stdio(), "gush", "echo")

    assert gush.is_error
    assert "it sent more than" in gush.content
    assert after.content == "echo"


async def test_long_answer_with_its_id_at_the_end_is_still_an_answer(fair):
    (result,) = await ask(fair, "id_last")

    assert result.is_error
    assert "a line\na line\n" in result.content
    assert result.size_bytes > MAX_MESSAGE_BYTES


async def test_error_too_long_to_read_is_an_error_that_says_so(fair):
    (result,) = await ask(fair, "flood_error")

    assert result.is_error
    assert "too many to read" in result.content


@pytest.mark.parametrize("mode", ["noisy", "dripping", "old", "batch", "same-cursor"])
async def test_odd_servers_work(mode):
    (result,) = await ask(over_stdio(mode), "echo")

    assert result.content == "echo"


@pytest.mark.parametrize("mode", ["noisy", "old", "same-cursor"])
async def test_odd_servers_work_over_http(mode, serve_http):
    (result,) = await ask(await serve_http(mode), "echo")

    assert result.content == "echo"


@pytest.mark.parametrize(
    "mode", ["silent", "die-starting", "die-initialize", "die-initialized", "die-list"]
)
async def test_server_that_never_comes_up_is_named_and_nothing_hangs(mode):
    plans = {"nasty": over_stdio(mode), "well": over_stdio()}
    async with open_toolbox(plans, deadlines=quick(start=4.0)) as toolbox:
        result = await run(toolbox, "well__echo")

        assert set(toolbox.unavailable) == {"nasty"}
        assert toolbox.unavailable["nasty"]
        assert result.content == "echo"


@pytest.mark.parametrize("mode", ["endless-pages", "huge-page"])
async def test_listing_without_end_or_measure_is_bounded(mode):
    async with open_toolbox({"nasty": over_stdio(mode)}, deadlines=quick()) as toolbox:
        result = await run(toolbox, "nasty__echo")

        assert 20 < len(toolbox.specs) <= 1_000
        assert all(len(spec.description) < 5_000 for spec in toolbox.specs)
        assert result.content == "echo"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ("change_echo", "changed its definition"),
        ("remove_echo", "no longer offers it"),
    ],
)
async def test_tool_that_changes_in_an_investigation_is_disabled_and_reported(
    fair, change, reason, caplog
):
    before, changed, after, other = await ask(fair, "echo", change, "echo", "twice")

    assert before.content == "echo"
    assert changed.content == "changed"
    assert after.is_error
    assert reason in after.content
    assert "was not carried out" in after.content
    assert other.content == "first"
    assert "changed or removed its tool echo" in caplog.text


async def test_tool_that_is_new_in_an_investigation_is_offered_at_the_next_question(fair):
    async with open_toolbox({"nasty": fair}, deadlines=quick()) as toolbox:
        early = await run(toolbox, "nasty__grown")
        await run(toolbox, "nasty__grow")
        offered_before = [spec.wire_name for spec in toolbox.specs]
        await toolbox.refresh()
        late = await run(toolbox, "nasty__grown")
        offered = [spec.wire_name for spec in toolbox.specs]

    assert "There is no tool" in early.content
    assert late.content == "grown"
    assert [name for name in offered if name not in offered_before] == ["nasty__grown"]


@pytest.mark.parametrize(
    ("change", "why"), [("change_echo", "changed"), ("remove_echo", "removed")]
)
async def test_tool_that_changed_is_not_offered_any_more_and_the_record_says_why(fair, change, why):
    async with open_toolbox({"nasty": fair}, deadlines=quick()) as toolbox:
        await run(toolbox, f"nasty__{change}")
        await toolbox.refresh()
        (offer,) = toolbox.offers
        offered = [spec.wire_name for spec in toolbox.specs]

    assert "nasty__echo" not in offered
    hidden = {tool.name: tool.hidden for tool in offer.tools if tool.hidden}
    assert hidden == {"ask": "write", "echo": why}


async def test_tool_that_is_another_after_a_new_connection_is_disabled(serve_http):
    before, _, _, after = await ask(await serve_http(), "echo", "change_quietly", "forget", "echo")

    assert before.content == "echo"
    assert "changed its definition" in after.content


async def test_server_that_forgot_its_session_is_connected_to_anew(serve_http):
    _, after, again = await ask(await serve_http(), "forget", "echo", "echo")

    assert (after.content, again.content) == ("echo", "echo")


async def test_read_that_is_cut_off_is_repeated_once_and_the_server_stays_usable(serve_http):
    cut, after = await ask(await serve_http(), "cut", "echo")

    assert cut.is_error
    assert "connection" in cut.content
    assert after.content == "echo"


async def test_write_is_not_answered_for_and_a_read_gets_the_servers_defaults():
    reads = over_stdio(tools={"ask": ClassRule("read")})

    (read,) = await ask(reads, "ask")
    async with open_toolbox({"nasty": over_stdio()}, gate=OpenGate(), deadlines=quick()) as toolbox:
        write = await run(toolbox, "nasty__ask")

    assert read.content == "accept"
    assert write.content == "decline"


async def test_write_to_a_server_that_is_down_already_is_made_after_the_restart():
    writes = over_stdio(tools={"echo": ClassRule("write")})
    async with open_toolbox({"nasty": writes}, gate=OpenGate(), deadlines=quick()) as toolbox:
        died = await run(toolbox, "nasty__die")
        written = await run(toolbox, "nasty__echo")

    assert died.is_error
    assert written.content == "echo"


async def test_write_is_made_only_with_the_tool_that_was_judged_whatever_its_server_says():
    writes = over_stdio(tools={"echo": ClassRule("write")})
    async with open_toolbox({"nasty": writes}, gate=OpenGate(), deadlines=quick()) as toolbox:
        before = await run(toolbox, "nasty__echo")
        await run(toolbox, "nasty__change_quietly")
        after = await run(toolbox, "nasty__echo")

    assert before.content == "echo"
    assert "was not carried out: its server changed its definition" in after.content


SMALL = ("echo", "twice", "wrong_id", "garbage", "bad_utf8", "odd_content", "early", "chatter",
         "surrogate", "trickle_noise", "drip", "null_result")  # fmt: skip
LARGE = ("flood", "id_last")


def pick(number: int) -> str:
    """Every fiftieth answer is too large to hold."""
    if number % 50 == 49:
        return LARGE[number // 50 % len(LARGE)]
    return SMALL[number % len(SMALL)]


async def test_five_hundred_calls_leave_no_descriptors_children_or_memory(fair):
    me = psutil.Process()
    async with open_toolbox({"nasty": fair}, deadlines=quick()) as toolbox:
        for name in SMALL + LARGE:
            await run(toolbox, f"nasty__{name}", '{"bytes": 2000000}')
        before = me.num_fds(), len(me.children(recursive=True)), me.memory_info().rss

        for number in range(500):
            await run(toolbox, f"nasty__{pick(number)}", '{"bytes": 2000000}')

        after = me.num_fds(), len(me.children(recursive=True)), me.memory_info().rss

    assert after[0] <= before[0] + 5
    assert after[1] == before[1]
    assert after[2] - before[2] < 50 * MEGABYTE


ORPHAN = """
import asyncio, sys
from mcp_bridge.toolbox import open_toolbox
from tests.server_plans import ServerPlan, TransportPlan

async def main():
    plan = ServerPlan(TransportPlan("stdio", command="/bin/sh", args=("-c", sys.argv[1])))
    async with open_toolbox({"deaf": plan}):
        pass

asyncio.run(main())
"""


async def test_children_and_theirs_die_with_us_even_when_we_are_killed(tmp_path):
    named = tmp_path / "pids"
    script = f"sleep 600 & echo $! $$ > {named}; while :; do sleep 600; done"
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, script, env=dict(os.environ)
    )
    await until(lambda: named.exists() and len(named.read_text().split()) == 2)
    pids = [int(word) for word in named.read_text().split()]

    parent.kill()
    await parent.wait()

    await until(lambda: not any(is_alive(pid) for pid in pids))


async def test_a_server_dies_with_us_even_when_we_are_killed_while_it_starts(tmp_path):
    named = tmp_path / "pid"
    script = f"echo $$ > {named}; kill -9 $PPID; while :; do sleep 600; done"
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", ORPHAN, script, env=dict(os.environ)
    )

    assert await parent.wait() == -signal.SIGKILL
    server = int(named.read_text())
    await until(lambda: not is_alive(server))


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


async def until(condition) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.02)


async def test_progress_of_a_call_is_told(fair):
    heard: list[str] = []
    async with open_toolbox({"nasty": fair}, deadlines=quick()) as toolbox:
        await toolbox.execute(ToolCall("1", "nasty__chatter", "{}"), report_progress=heard.append)

    assert heard
    assert heard[0] == "step (0)"

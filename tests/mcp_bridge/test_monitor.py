"""The watch over tool servers, with real ones that fail, hang and come back."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import psutil
import pytest
from mcp.server.mcpserver import MCPServer
from mcp_types import ToolAnnotations

from investigations.engine.own_servers import own_servers
from mcp_bridge.monitor import Pace, watch_servers
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_status import ServerStatus
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import STDIO_SERVER, stdio, tool_servers
from tests.mcp_bridge.test_http_servers import serving
from tests.processes import find_free_port
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("nothing_left_behind")]

PACE = Pace(between_checks=0.05, ping=1.0, start=20.0, restart=5.0, longest_pause=0.1)


class Watched:
    """What a running watch has seen so far."""

    def __init__(self) -> None:
        self.seen: list[ServerStatus] = []
        self._news = asyncio.Event()

    def note(self, status: ServerStatus) -> None:
        self.seen.append(status)
        self._news.set()

    async def wait_for(
        self, wanted: Callable[[ServerStatus], bool], *, times: int = 1
    ) -> ServerStatus:
        """The last of so many statuses of this kind from now on."""
        begin = len(self.seen)
        async with asyncio.timeout(60):
            while len(found := [each for each in self.seen[begin:] if wanted(each)]) < times:
                self._news.clear()
                await self._news.wait()
        return found[times - 1]


@contextlib.asynccontextmanager
async def watching(pace: Pace = PACE, **servers: ServerConfig) -> AsyncIterator[Watched]:
    watched = Watched()
    task = asyncio.create_task(
        watch_servers(servers, watched.note, in_process=own_servers(), pace=pace)
    )
    try:
        yield watched
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def is_well(status: ServerStatus) -> bool:
    return not status.error


def is_ill(status: ServerStatus) -> bool:
    return bool(status.error)


def behind(flag: Path) -> ServerPlan:
    """A server that starts only while a file is there."""
    script = f"test -e {flag} || exit 3; exec {sys.executable} -u {STDIO_SERVER} normal"
    return ServerPlan(TransportPlan("stdio", command="/bin/sh", args=("-c", script)))


def end_children() -> None:
    for child in psutil.Process().children(recursive=True):
        child.kill()


def owners() -> list[asyncio.Task]:
    return [task for task in asyncio.all_tasks() if task.get_name().startswith("tool server")]


async def test_tools_are_told_once_and_then_only_that_the_server_answers():
    rules = {"echo": ClassRule("read"), "flood": ClassRule("write", "mode", {"peek": "read"})}

    async with watching(tools=stdio("normal", tools=rules)) as watched:
        first = await watched.wait_for(is_well)
        later = await watched.wait_for(is_well)

    assert (first.error, later.tools) == ("", None)
    tools = {tool.name: tool for tool in first.tools or ()}
    assert tools["echo"].classes == {"": "read"}
    assert tools["flood"].classes == {"": "write", "peek": "read"}
    assert tools["delete"].classes == {"": "write"}
    assert tools["echo"].schema_hash == tools["delete"].schema_hash != tools["lines"].schema_hash
    assert first.latency_ms is not None
    assert later.latency_ms is not None


async def test_what_a_server_says_of_its_tools_is_cleaned():
    async with watching(odd=stdio("odd")) as watched:
        status = await watched.wait_for(is_well)

    names = [tool.name for tool in status.tools or ()]
    assert names == ["bad name", "dotted.name", "n" * 100, "odd"]
    assert (status.tools or ())[-1].description == "odd one"


async def test_a_connection_is_kept_between_checks():
    async with watching(tools=stdio("normal")) as watched:
        await watched.wait_for(is_well)
        (child,) = tool_servers()
        await watched.wait_for(is_well, times=3)

        assert [each.pid for each in tool_servers()] == [child.pid]


async def test_a_server_that_died_and_starts_again_was_never_away(tmp_path: Path):
    async with watching(tools=stdio("normal")) as watched:
        await watched.wait_for(is_well)
        end_children()
        again = await watched.wait_for(lambda status: status.tools is not None)

    assert again.error == ""
    assert not any(map(is_ill, watched.seen))


async def test_a_server_that_died_is_away_until_it_can_start(tmp_path: Path):
    flag = tmp_path / "flag"
    flag.touch()

    async with watching(tools=behind(flag)) as watched:
        await watched.wait_for(is_well)
        flag.unlink()
        end_children()
        await watched.wait_for(is_ill, times=2)
        flag.touch()
        back = await watched.wait_for(is_well)

    assert back.tools, "the tools are listed anew after a recovery"


async def test_an_http_server_goes_away_and_comes_back():
    port = find_free_port()
    plan = ServerPlan(TransportPlan("http", url=f"http://127.0.0.1:{port}/mcp"))

    def build():
        server = MCPServer("remote")

        @server.tool(annotations=ToolAnnotations(read_only_hint=True))
        def look() -> str:
            """Look around."""
            return "nothing"

        return server.streamable_http_app()

    async with watching(remote=plan) as watched:
        away = await watched.wait_for(is_ill)
        with serving(build(), port):
            here = await watched.wait_for(is_well, times=2)
        await watched.wait_for(is_ill)
        with serving(build(), port):
            back = await watched.wait_for(is_well)

    assert away.error == "nothing answers at its address: connection refused"
    assert here.error == ""
    assert [tool.name for tool in back.tools or ()] == ["look"]


async def test_a_silent_server_keeps_nobody_waiting():
    slow = Pace(**{**vars(PACE), "start": 3.0})

    async with watching(slow, silent=stdio("hang"), tools=stdio("normal")) as watched:
        await watched.wait_for(lambda each: each.server_id == "tools", times=3)
        before = {each.server_id for each in watched.seen}
        silent = await watched.wait_for(lambda each: each.server_id == "silent")

    assert before == {"tools"}
    assert "did not start within 3 s" in silent.error


async def test_a_server_that_falls_silent_is_ended_and_started_again():
    impatient = Pace(**{**vars(PACE), "ping": 0.5})

    async with watching(impatient, tools=stdio("normal")) as watched:
        await watched.wait_for(is_well)
        (child,) = tool_servers()
        child.suspend()
        again = await watched.wait_for(lambda status: status.tools is not None)
        async with asyncio.timeout(20):
            while child.is_running() or len(owners()) > 1:
                await asyncio.sleep(0.01)

    assert again.error == ""


async def test_why_a_server_does_not_start_is_told_without_its_secrets():
    async with watching(tools=stdio("exit")) as watched:
        status = await watched.wait_for(is_ill)

    assert "cannot start" in status.error
    assert "abcd1234efgh5678ijkl" not in status.error


async def test_the_products_own_server_is_well_and_never_asked_again():
    plan = ServerPlan(TransportPlan("in_process"))

    async with watching(ops=plan) as watched:
        first = await watched.wait_for(is_well)
        later = await watched.wait_for(is_well)

    assert {tool.name for tool in first.tools or ()} >= {"query", "metrics"}
    assert later.latency_ms is None


async def test_an_end_in_the_middle_of_a_start_leaves_nothing():
    hasty = Pace(**{**vars(PACE), "close": 0.5})

    async with watching(hasty, silent=stdio("hang")):
        async with asyncio.timeout(20):
            while not psutil.Process().children():
                await asyncio.sleep(0.01)


async def test_a_watch_over_no_server_goes_on_until_it_is_ended():
    task = asyncio.create_task(watch_servers({}, lambda _: None, in_process=own_servers()))

    done, _ = await asyncio.wait({task}, timeout=0.05)

    assert not done
    task.cancel()
    await asyncio.wait({task})

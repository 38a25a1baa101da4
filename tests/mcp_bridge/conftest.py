"""Tool servers for the bridge's tests, and proof that none of them outlives its toolbox."""

import asyncio
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import psutil
import pytest

from agents.types import ToolCall, ToolResult
from mcp_bridge.connection import Deadlines
from mcp_bridge.toolbox import OpenToolbox
from safety.tool_rules import ClassRule
from tests.server_plans import ServerPlan, TransportPlan

STDIO_SERVER = Path(__file__).parent / "servers" / "stdio_server.py"


class ReadsBut(Mapping[str, ClassRule]):
    """The operator's word that every tool of a server reads, but for these: nobody classed them.

    Their names and descriptions are of no sort by which a server's own hint would be believed.
    """

    def __init__(self, *unclassed: str) -> None:
        self._unclassed = unclassed

    def __getitem__(self, name: str) -> ClassRule:
        if name in self._unclassed:
            raise KeyError(name)
        return ClassRule("read")

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def stdio(mode: str, **fields) -> ServerPlan:
    args = ("-u", str(STDIO_SERVER), mode)
    fields = {"tools": ReadsBut("delete", "job_restart"), **fields}
    return ServerPlan(TransportPlan("stdio", command=sys.executable, args=args), **fields)


def quick(**fields) -> Deadlines:
    """Deadlines for servers that answer; the pause before a restart is not what is tested."""
    return Deadlines(**{"start": 20.0, "call": 20.0, "restart_pause": (0.0, 0.01), **fields})


async def run(toolbox: OpenToolbox, name: str, arguments: str = "{}") -> ToolResult:
    call = ToolCall(id="call-1", name=name, arguments=arguments)
    return await toolbox.execute(call, report_progress=lambda text: None)


def tool_servers() -> list[psutil.Process]:
    """The servers of this module's that run now; not those who watch over them."""
    return [child for child in psutil.Process().children() if str(STDIO_SERVER) in _command(child)]


def _command(process: psutil.Process) -> list[str]:
    """What a process was started as, nothing for one that has just ended."""
    try:
        return process.cmdline()
    except (psutil.NoSuchProcess, psutil.ZombieProcess):
        return []


@pytest.fixture
async def nothing_left_behind():
    """Fails when a test leaves a child process or a task."""
    before_tasks = asyncio.all_tasks()
    before_children = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    tasks = asyncio.all_tasks() - before_tasks - {asyncio.current_task()}
    if tasks:
        # Finished ones may still have to be told so by the loop.
        _, left = await asyncio.wait(tasks, timeout=0.1)
        assert not left, f"tasks left running: {left}"
    children = psutil.Process().children(recursive=True)
    assert {child.pid for child in children} <= before_children

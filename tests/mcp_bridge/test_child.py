"""How a tool server that is a child process ends, and what nobody is told of it."""

import asyncio
import gc
import os
import subprocess
from types import SimpleNamespace

import pytest

from mcp_bridge.wire import child
from mcp_bridge.wire.child import close_input, open_child
from mcp_bridge.wire.taming import Wire

pytestmark = pytest.mark.usefixtures("nothing_left_behind")
STUBBORN = "trap '' TERM; while :; do sleep 0.02; done"


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="this system has no handles on processes")
async def test_one_that_has_to_be_killed_keeps_its_exit_code_for_the_loop(monkeypatch):
    looked: list[int] = []
    poll = subprocess.Popen.poll
    monkeypatch.setattr(child, "END_GRACE", 0.1)
    monkeypatch.setattr(
        subprocess.Popen, "poll", lambda popen: looked.append(popen.pid) or poll(popen)
    )

    async with open_child("/bin/sh", ("-c", STUBBORN), {"PATH": os.environ["PATH"]}, Wire()):
        pass

    assert looked == []


class BrokenPipe:
    """An input whose other end is closed by the time ours is."""

    def __init__(self) -> None:
        self._closed = asyncio.get_running_loop().create_future()

    def close(self) -> None:
        self._closed.set_exception(BrokenPipeError())

    async def wait_closed(self) -> None:
        await self._closed


async def test_that_one_reads_no_more_is_logged_by_nobody():
    told: list[dict[str, object]] = []
    asyncio.get_running_loop().set_exception_handler(lambda _loop, context: told.append(context))

    close_input(SimpleNamespace(stdin=BrokenPipe()))
    await asyncio.sleep(0)
    gc.collect()

    assert told == []

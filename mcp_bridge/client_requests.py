"""What is asked of an open client: the tools of its server, a sign of life, one call."""

import asyncio
import time
from collections.abc import Callable, Mapping

from mcp import Client, MCPError
from mcp_types import CONNECTION_CLOSED, CallToolResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agents.types import JSON
from mcp_bridge.call_failures import CallTimes
from mcp_bridge.wire.attempts import Attempt
from mcp_bridge.wire.tool_repairs import MAX_TOOLS

MAX_PAGES = 100
# Seconds between two reports of one call; a person reads no faster, and each is masked.
PROGRESS_INTERVAL = 0.1


async def list_every_tool(client: Client) -> tuple[Tool, ...]:
    """Every tool on every page, as long as the pages end."""
    tools: list[Tool] = []
    seen: set[str] = set()
    cursor: str | None = None
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        tools.extend(page.tools)
        cursor = page.next_cursor
        if not cursor or cursor in seen or len(tools) >= MAX_TOOLS:
            break
        seen.add(cursor)
    return tuple(tools)


async def answers_ping(client: Client) -> bool:
    """False where a server has another answer to a ping than the one that is due.

    From 2026 on the protocol has none. Raises `MCPError` where the connection is gone.
    """
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return False
    try:
        await client.session.send_ping()
    except MCPError as error:
        if error.code == CONNECTION_CLOSED:
            raise
        return False
    except ValidationError:
        return False
    return True


async def call_tool(
    client: Client,
    tool: str,
    arguments: Mapping[str, JSON],
    report_progress: Callable[[str], None],
    times: CallTimes,
    attempt: Attempt,
) -> CallToolResult:
    """Call a tool. The time that it may stay silent begins anew with each report of progress.

    Raises `TimeoutError`, or what the server answered. `attempt` may end the wait before that.
    """
    told_at = -PROGRESS_INTERVAL
    loop_time = asyncio.get_running_loop().time
    ends_at = loop_time() + times.whole
    clock = asyncio.timeout(times.silence)
    is_over = False

    async def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal told_at
        attempt.shows_progress = True
        if is_over or clock.expired():
            return
        silent_until = loop_time() + times.silence
        attempt.is_at_limit = silent_until >= ends_at
        clock.reschedule(min(silent_until, ends_at))
        now = time.monotonic()
        if now - told_at >= PROGRESS_INTERVAL:
            told_at = now
            report_progress(_describe_progress(progress, total, message))

    def interrupt() -> None:
        if not clock.expired():
            clock.reschedule(loop_time())

    attempt.interrupt = interrupt
    try:
        async with clock:
            return await client.call_tool(tool, dict(arguments), progress_callback=report)
    finally:
        is_over = True


def _describe_progress(progress: float, total: float | None, message: str | None) -> str:
    share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
    return f"{message} ({share})" if message else share

"""What is asked of an open client: the tools of its server, a sign of life, one call."""

import asyncio
import time
from collections.abc import Callable, Mapping

from mcp import Client, MCPError
from mcp_types import METHOD_NOT_FOUND, CallToolResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agents.types import JSON

MAX_PAGES = 100
MAX_TOOLS = 1_000
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


async def ping(client: Client) -> None:
    """Have the server answer something."""
    if not await _answers_ping(client):
        await client.list_tools()


async def call_tool(
    client: Client,
    tool: str,
    arguments: Mapping[str, JSON],
    report_progress: Callable[[str], None],
    seconds: float,
) -> CallToolResult:
    """Call a tool, which may stay silent for so many seconds: each report of progress begins anew.

    Raises `TimeoutError`, or what the server answered.
    """
    told_at = -PROGRESS_INTERVAL
    clock = asyncio.timeout(seconds)
    is_over = False

    async def report(progress: float, total: float | None, message: str | None) -> None:
        nonlocal told_at
        if is_over or clock.expired():
            return
        clock.reschedule(asyncio.get_running_loop().time() + seconds)
        now = time.monotonic()
        if now - told_at >= PROGRESS_INTERVAL:
            told_at = now
            report_progress(_describe_progress(progress, total, message))

    try:
        async with clock:
            return await client.call_tool(tool, dict(arguments), progress_callback=report)
    finally:
        is_over = True


async def _answers_ping(client: Client) -> bool:
    """False where the server does not know pings; from 2026 on the protocol has none."""
    if client.protocol_version in MODERN_PROTOCOL_VERSIONS:
        return False
    try:
        await client.session.send_ping()
    except MCPError as error:
        if error.code != METHOD_NOT_FOUND:
            raise
        return False
    return True


def _describe_progress(progress: float, total: float | None, message: str | None) -> str:
    share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
    return f"{message} ({share})" if message else share

"""One tool server, held open by a task of its own.

anyio's scopes must be left in the task that entered them. So one task, the owner, opens the
client, keeps it and closes it; everybody else calls through the open client and asks the owner
to stop. Closing never depends on who asks, and nothing leaks when an agent is cancelled.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from mcp import Client, MCPError
from mcp_types import METHOD_NOT_FOUND, CallToolResult, Tool
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from agents.types import JSON
from masking.visible_text import clean_line
from mcp_bridge.failures import (
    SERVER_FAILURES,
    CallNotSent,
    ConnectionLost,
    ServerUnavailable,
    describe_failure,
    is_connection_lost,
    is_timeout,
)
from mcp_bridge.pins import Fault, Pins
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.wire.stderr import StderrTail
from mcp_bridge.wire.taming import Wire

logger = logging.getLogger(__name__)

MAX_PAGES = 100
MAX_TOOLS = 1_000
START_GRACE = 0.1
LOGGED_REASON = 600
# Seconds between two reports of one call; a person reads no faster, and each is masked.
PROGRESS_INTERVAL = 0.1


class OpenClient(Protocol):
    """How a connection opens its client; entered and left by the owner alone."""

    def __call__(self, *, wire: Wire) -> AbstractAsyncContextManager[Client]: ...


@dataclass(frozen=True)
class Deadlines:
    """Seconds a server may take. `close` is what we wait before we stop waiting.

    `call` runs anew with each report of progress.
    """

    start: float = 30.0
    restart: float = 10.0
    call: float = 90.0
    close: float = 10.0
    relist: float = 5.0
    """For tools that a server says have changed, before the next question."""
    restart_pause: tuple[float, float] = (0.25, 0.75)
    rejoin_pause: float = 2.0
    """Between two attempts to bring back a server that is away."""
    rejoin_patience: float = 3.0
    """What a question waits for such an attempt; it goes on behind it."""

    def of(self, server: ServerConfig) -> "Deadlines":
        """These, with what the configuration of one server says."""
        call = server.tool_call_timeout
        return self if call is None else replace(self, call=call.total_seconds())


class ServerConnection:
    """A tool server for as long as one agent needs it."""

    def __init__(self, server_id: str, open_client: OpenClient, deadlines: Deadlines) -> None:
        self.server_id = server_id
        self._open_client = open_client
        self._deadlines = deadlines
        self._client: Client | None = None
        self._wire = Wire()
        self._owner: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._restart_lock = asyncio.Lock()
        self._listing_lock = asyncio.Lock()
        self._pins = Pins(server_id)
        self._why_down = "it is not connected"
        self._is_closed = False
        self.listed: tuple[Tool, ...] = ()
        """What it listed last."""

    @property
    def is_down(self) -> bool:
        return self._client is None or self._wire.is_ended

    @property
    def why_down(self) -> str:
        if self._client is None:
            return self._why_down
        return self._wire.end_reason or "its connection ended"

    @property
    def has_changed(self) -> bool:
        """Whether it said that its tools are others now, and nobody has looked since."""
        return self._wire.tools_changed

    def find_fault(self, tool: str) -> Fault | None:
        """Why one of its tools is disabled."""
        return self._pins.find_fault(tool)

    @property
    def gone(self) -> int:
        """How many tools it listed before and does not list now."""
        return self._pins.gone

    @property
    def instructions(self) -> str:
        """What the server says about itself."""
        return (self._client.instructions or "") if self._client else ""

    @property
    def call_deadline(self) -> float:
        """Seconds that a tool may stay silent."""
        return self._deadlines.call

    @property
    def protocol_version(self) -> str:
        """The revision of MCP that was agreed on; empty without a connection."""
        return self._client.protocol_version if self._client else ""

    async def start(self, deadline: float | None = None) -> None:
        """Open the server or raise `ServerUnavailable` once the deadline is over."""
        seconds = self._deadlines.start if deadline is None else deadline
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._wire = Wire()
        self._owner = asyncio.create_task(
            self._own(ready, self._stop, seconds, self._wire), name=f"tool server {self.server_id}"
        )
        # The owner may need seconds more to end a child that does not answer; nobody waits for it.
        await asyncio.wait({ready}, timeout=seconds + START_GRACE)
        if not ready.done():
            raise ServerUnavailable(f"it did not start within {seconds:g} s")
        self._client = ready.result()

    async def reopen(self) -> None:
        """Bring it back: open it where it is down, and list its tools, or raise
        `ServerUnavailable`."""
        if self.is_down:
            await self._restart(after=self._client)
        if self.is_down:
            raise ServerUnavailable(self.why_down)
        await self.list_tools()

    async def list_tools(self, deadline: float | None = None) -> tuple[Tool, ...]:
        """Every tool on every page, as long as the pages end. Each is pinned as it is first seen.

        Raises `ServerUnavailable`.
        """
        client = self._require_client()
        self._wire.tools_changed = False
        tools: list[Tool] = []
        seen: set[str] = set()
        cursor: str | None = None
        try:
            async with asyncio.timeout(self._deadlines.start if deadline is None else deadline):
                for _ in range(MAX_PAGES):
                    page = await client.list_tools(cursor=cursor)
                    tools.extend(page.tools)
                    cursor = page.next_cursor
                    if not cursor or cursor in seen or len(tools) >= MAX_TOOLS:
                        break
                    seen.add(cursor)
        except SERVER_FAILURES as error:
            # Nobody knows what its tools are now: ask again before the next call.
            self._wire.tools_changed = True
            raise ServerUnavailable(
                f"listing its tools failed: {describe_failure(error)}"
            ) from None
        self._pins.compare(tools)
        self.listed = tuple(tools[:MAX_TOOLS])
        return self.listed

    async def ping(self, seconds: float) -> None:
        """Have the server answer something, or raise `ServerUnavailable`."""
        client = self._require_client()
        try:
            async with asyncio.timeout(seconds):
                if not await _answers_ping(client):
                    await client.list_tools()
        except SERVER_FAILURES as error:
            if is_timeout(error):
                raise ServerUnavailable(f"it did not answer within {seconds:g} s") from None
            raise ServerUnavailable(describe_failure(error)) from None

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, JSON],
        *,
        report_progress: Callable[[str], None],
        may_repeat: bool,
    ) -> CallToolResult:
        """Call a tool within the deadline.

        Raises `CallNotSent` when the call never left, `TimeoutError`, `ConnectionLost` or what the
        server answered. When the connection broke, it is opened again, and the call sent a second
        time only if `may_repeat`.
        """
        if self.is_down:
            await self._restart(after=self._client)
        if not may_repeat:
            # A person may have thought about it for minutes: what runs is the tool that was judged.
            self._wire.tools_changed = True
        client = await self._prepare(tool)
        try:
            with self._noting(is_write=not may_repeat):
                return await self._call_once(client, tool, arguments, report_progress)
        except SERVER_FAILURES as error:
            if not is_connection_lost(error):
                raise
            lost = ConnectionLost(self._wire.end_reason or describe_failure(error))
        await self._restart(after=client)
        if not may_repeat:
            raise lost
        if self._client is None:
            raise ConnectionLost(f"{lost}; starting it again failed: {self._why_down}")
        again = await self._prepare(tool)
        try:
            return await self._call_once(again, tool, arguments, report_progress)
        except SERVER_FAILURES as error:
            if not is_connection_lost(error):
                raise
            raise ConnectionLost(self._wire.end_reason or describe_failure(error)) from None

    async def close(self) -> None:
        """Close the server. Its process is gone when this returns, unless it cannot be killed."""
        self._is_closed = True
        await self._close_owner()

    async def _prepare(self, tool: str) -> Client:
        """The open client, once it is certain that the tool is still what it was."""
        if self._client is None:
            raise CallNotSent(f"it is not reachable: {self._why_down}")
        async with self._listing_lock:
            if self._wire.tools_changed and self._client is not None:
                try:
                    await self.list_tools()
                except ServerUnavailable as error:
                    raise CallNotSent(str(error)) from None
        if reason := self._pins.explain(tool):
            raise CallNotSent(reason)
        if self._client is None:
            raise CallNotSent(f"it is not reachable: {self._why_down}")
        return self._client

    @contextmanager
    def _noting(self, *, is_write: bool) -> Iterator[None]:
        """Let the wire know while a call is under way that may change something."""
        wire = self._wire
        wire.writes_under_way += is_write
        try:
            yield
        finally:
            wire.writes_under_way -= is_write

    async def _call_once(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, JSON],
        report_progress: Callable[[str], None],
    ) -> CallToolResult:
        told_at = -PROGRESS_INTERVAL
        clock = asyncio.timeout(self._deadlines.call)
        is_over = False

        async def report(progress: float, total: float | None, message: str | None) -> None:
            nonlocal told_at
            if is_over or clock.expired():
                return
            clock.reschedule(asyncio.get_running_loop().time() + self._deadlines.call)
            now = time.monotonic()
            if now - told_at >= PROGRESS_INTERVAL:
                told_at = now
                report_progress(_describe_progress(progress, total, message))

        try:
            async with clock:
                return await client.call_tool(tool, dict(arguments), progress_callback=report)
        finally:
            is_over = True

    async def _restart(self, *, after: Client | None) -> None:
        """Open the server again, once for all calls that lost the same connection."""
        async with self._restart_lock:
            if self._is_closed or self._client is not after:
                return
            await self._close_owner()
            await asyncio.sleep(random.uniform(*self._deadlines.restart_pause))
            try:
                await self.start(self._deadlines.restart)
            except ServerUnavailable as error:
                self._why_down = str(error)
                return
            # It may have come back as another.
            self._wire.tools_changed = True

    async def _own(
        self, ready: asyncio.Future[Client], stop: asyncio.Event, seconds: float, wire: Wire
    ) -> None:
        """Open, serve and close the client, all in this task."""
        stderr = wire.stderr
        try:
            async with (
                asyncio.timeout(seconds) as clock,
                self._open_client(wire=wire) as client,
            ):
                clock.reschedule(None)
                ready.set_result(client)
                await stop.wait()
        except asyncio.CancelledError:
            _refuse(ready, ServerUnavailable("starting it was cancelled"))
            raise
        except TimeoutError:
            reason = f"it did not start within {seconds:g} s"
            _refuse(ready, ServerUnavailable(_with_stderr(reason, stderr)))
        except (ServerUnavailable, BaseExceptionGroup, *SERVER_FAILURES) as error:
            reason = describe_failure(error)
            if not _refuse(ready, ServerUnavailable(_with_stderr(reason, stderr))):
                told = clean_line(reason, LOGGED_REASON)
                logger.info("tool server %s ended badly: %s", self.server_id, told)
        except Exception as error:
            # A defect of an in-process server or of the SDK must not hang whoever waits for it.
            logger.exception("tool server %s failed", self.server_id)
            _refuse(ready, ServerUnavailable(describe_failure(error)))
        finally:
            wire.is_ended = True

    async def _close_owner(self) -> None:
        owner, self._owner, self._client = self._owner, None, None
        if owner is None:
            return
        self._stop.set()
        done, _ = await asyncio.wait({owner}, timeout=self._deadlines.close)
        if not done:
            owner.cancel()
            await asyncio.wait({owner}, timeout=self._deadlines.close)

    def _require_client(self) -> Client:
        if self._client is None:
            raise ServerUnavailable("it is not connected")
        return self._client


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


def _refuse(ready: asyncio.Future[Client], error: Exception) -> bool:
    """Tell who waits for the start, if anybody still does."""
    if ready.done():
        return False
    ready.set_exception(error)
    # Whoever asked may have been cancelled; the exception is then nobody's to read.
    ready.exception()
    return True


def _with_stderr(reason: str, stderr: StderrTail) -> str:
    return f"{reason}; it said: {stderr.text}" if stderr.text else reason


def _describe_progress(progress: float, total: float | None, message: str | None) -> str:
    share = f"{progress:g}/{total:g}" if total else f"{progress:g}"
    return f"{message} ({share})" if message else share

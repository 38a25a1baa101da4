"""One tool server of one agent: what it lists, what it is called for, and that it comes back."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from mcp import Client
from mcp_types import CallToolResult, Tool

from agents.types import JSON
from mcp_bridge import client_requests
from mcp_bridge.client_owner import ClientOwner, OpenClient
from mcp_bridge.definition_pins import DefinitionPins, Fault
from mcp_bridge.failures import (
    SERVER_FAILURES,
    CallNotSent,
    ConnectionLost,
    ServerUnavailable,
    describe_failure,
    is_connection_lost,
    is_timeout,
)
from mcp_bridge.server_config import ServerConfig


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
        self._deadlines = deadlines
        self._owner = ClientOwner(server_id, open_client, deadlines.close)
        self._listing_lock = asyncio.Lock()
        self._pins = DefinitionPins(server_id)
        self.listed: tuple[Tool, ...] = ()
        """What it listed last."""

    @property
    def is_down(self) -> bool:
        return self._owner.is_down

    @property
    def why_down(self) -> str:
        return self._owner.why_down

    @property
    def has_changed(self) -> bool:
        """Whether it said that its tools are others now, and nobody has looked since."""
        return self._owner.wire.tools_changed

    @property
    def gone(self) -> int:
        """How many tools it listed before and does not list now."""
        return self._pins.gone

    @property
    def instructions(self) -> str:
        """What the server says about itself."""
        client = self._owner.client
        return (client.instructions or "") if client else ""

    @property
    def call_deadline(self) -> float:
        """Seconds that a tool may stay silent."""
        return self._deadlines.call

    @property
    def protocol_version(self) -> str:
        """The revision of MCP that was agreed on; empty without a connection."""
        client = self._owner.client
        return client.protocol_version if client else ""

    def find_fault(self, tool: str) -> Fault | None:
        """Why one of its tools is disabled."""
        return self._pins.find_fault(tool)

    async def start(self, deadline: float | None = None) -> None:
        """Open the server or raise `ServerUnavailable` once the deadline is over."""
        await self._owner.start(self._deadlines.start if deadline is None else deadline)

    async def reopen(self) -> None:
        """Bring it back: open it where it is down, and list its tools, or raise
        `ServerUnavailable`."""
        if self.is_down:
            await self._restart(after=self._owner.client)
        if self.is_down:
            raise ServerUnavailable(self.why_down)
        await self.list_tools()

    async def list_tools(self, deadline: float | None = None) -> tuple[Tool, ...]:
        """Every tool on every page, as long as the pages end. Each is pinned as it is first seen.

        Raises `ServerUnavailable`.
        """
        client = self._require_client()
        self._owner.wire.tools_changed = False
        try:
            async with asyncio.timeout(self._deadlines.start if deadline is None else deadline):
                tools = await client_requests.list_every_tool(client)
        except SERVER_FAILURES as error:
            # Nobody knows what its tools are now: ask again before the next call.
            self._owner.wire.tools_changed = True
            raise ServerUnavailable(
                f"listing its tools failed: {describe_failure(error)}"
            ) from None
        self._pins.compare(tools)
        self.listed = tools[: client_requests.MAX_TOOLS]
        return self.listed

    async def ping(self, seconds: float) -> None:
        """Have the server answer something, or raise `ServerUnavailable`."""
        client = self._require_client()
        try:
            async with asyncio.timeout(seconds):
                await client_requests.ping(client)
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
            await self._restart(after=self._owner.client)
        if not may_repeat:
            # A person may have thought about it for minutes: what runs is the tool that was judged.
            self._owner.wire.tools_changed = True
        client = await self._prepare(tool)
        try:
            return await self._send(client, tool, arguments, report_progress, not may_repeat)
        except ConnectionLost as error:
            lost = error
        await self._restart(after=client)
        if not may_repeat:
            raise lost
        if self._owner.client is None:
            raise ConnectionLost(f"{lost}; starting it again failed: {self.why_down}")
        again = await self._prepare(tool)
        return await self._send(again, tool, arguments, report_progress, False)

    async def close(self) -> None:
        """Close the server. Its process is gone when this returns, unless it cannot be killed."""
        await self._owner.close()

    async def _prepare(self, tool: str) -> Client:
        """The open client, once it is certain that the tool is still what it was."""
        self._require_reachable()
        async with self._listing_lock:
            if self._owner.wire.tools_changed and self._owner.client is not None:
                try:
                    await self.list_tools()
                except ServerUnavailable as error:
                    raise CallNotSent(str(error)) from None
        if reason := self._pins.explain(tool):
            raise CallNotSent(reason)
        return self._require_reachable()

    async def _send(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, JSON],
        report_progress: Callable[[str], None],
        is_write: bool,
    ) -> CallToolResult:
        """One attempt. The wire knows while one is under way that may change something."""
        wire = self._owner.wire
        wire.writes_under_way += is_write
        try:
            return await client_requests.call_tool(
                client, tool, arguments, report_progress, self._deadlines.call
            )
        except SERVER_FAILURES as error:
            if not is_connection_lost(error):
                raise
            raise ConnectionLost(wire.end_reason or describe_failure(error)) from None
        finally:
            wire.writes_under_way -= is_write

    async def _restart(self, *, after: Client | None) -> None:
        await self._owner.restart(
            after=after, seconds=self._deadlines.restart, pause=self._deadlines.restart_pause
        )

    def _require_reachable(self) -> Client:
        if self._owner.client is None:
            raise CallNotSent(f"it is not reachable: {self.why_down}")
        return self._owner.client

    def _require_client(self) -> Client:
        if self._owner.client is None:
            raise ServerUnavailable("it is not connected")
        return self._owner.client

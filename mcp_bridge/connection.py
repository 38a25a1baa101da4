"""One tool server of one agent: what it lists, what it is called for, and that it comes back."""

import asyncio
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from mcp import Client
from mcp_types import CallToolResult, Tool

from agents.types import JSON
from masking import Masker
from mcp_bridge import client_requests
from mcp_bridge.call_failures import CallFailed, CallTimes, judge_failure
from mcp_bridge.client_owner import ClientOwner, OpenClient
from mcp_bridge.definition_pins import DefinitionPins, Fault
from mcp_bridge.failures import (
    SERVER_FAILURES,
    ServerUnavailable,
    describe_failure,
    describe_status,
    is_timeout,
)
from mcp_bridge.names import explain_unusable
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_words import show_last_lines
from mcp_bridge.wire.attempts import Attempt, attempting
from mcp_bridge.wire.tool_repairs import MAX_TOOLS

logger = logging.getLogger(__name__)

SHOWN_LEFT_OUT = 5
MOST_REPEATS = 2
"""Times that a call is sent again because its server asked for patience."""


@dataclass(frozen=True)
class Deadlines:
    """Seconds a server may take. `close` is what we wait before we stop waiting.

    `call` runs anew with each report of progress, `whole_call` does not. `calls` are those of
    single tools.
    """

    start: float = 30.0
    restart: float = 10.0
    call: float = 90.0
    calls: Mapping[str, float] = field(default_factory=dict)
    whole_call: float = 300.0
    close: float = 10.0
    relist: float = 5.0
    """For tools that a server says have changed, before the next question."""
    restart_pause: tuple[float, float] = (0.25, 0.75)
    rejoin_pause: float = 2.0
    """Between two attempts to bring back a server that is away."""
    silence: float = 4.0
    """For any sign of life, after a call that was not answered in time."""
    busy_pause: float = 1.0
    """Before a call is sent again to a server that does not say when."""
    longest_wait: float = 30.0
    """For all pauses of one call that its server asks for."""
    rejoin_patience: float = 3.0
    """What a question waits for such an attempt; it goes on behind it."""

    def of(self, server: ServerConfig) -> "Deadlines":
        """These, with what the configuration of one server says."""
        call, whole = server.tool_call_timeout, server.tool_call_limit
        return replace(
            self,
            call=self.call if call is None else call.total_seconds(),
            calls={name: time.total_seconds() for name, time in server.tool_call_timeouts.items()},
            whole_call=self.whole_call if whole is None else whole.total_seconds(),
        )

    def find_call_times(self, tool: str) -> CallTimes:
        """For one call of a tool."""
        silence = self.calls.get(tool, self.call)
        return CallTimes(silence, max(silence, self.whole_call))


class ServerConnection:
    """A tool server for as long as one agent needs it."""

    def __init__(
        self, server_id: str, open_client: OpenClient, deadlines: Deadlines, masker: Masker
    ) -> None:
        self.server_id = server_id
        self._masker = masker
        self._deadlines = deadlines
        self._owner = ClientOwner(server_id, open_client, deadlines.close)
        self._listing_lock = asyncio.Lock()
        self._pins = DefinitionPins(server_id)
        self._silence_lock = asyncio.Lock()
        self._is_silent = False
        """It did not answer a call in time, and nobody has looked since."""
        self._under_way = 0
        self._ignores_pings = False
        self.listed: tuple[Tool, ...] = ()
        """What it listed last."""
        self.left_out: tuple[str, ...] = ()
        """What of that list cannot be offered, or not as it was meant, in clauses for people."""

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
    def protocol_version(self) -> str:
        """The revision of MCP that was agreed on; empty without a connection."""
        client = self._owner.client
        return client.protocol_version if client else ""

    @property
    def identity(self) -> tuple[str, str]:
        """The name and the version by which the server calls itself; empty where it does not."""
        client = self._owner.client
        info = client.server_info if client is not None else None
        return (info.name, info.version) if info is not None else ("", "")

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
        wire = self._owner.wire
        wire.tools_changed = False
        wire.left_out.clear()
        attempt = Attempt(method="tools/list")
        try:
            async with asyncio.timeout(self._deadlines.start if deadline is None else deadline):
                with attempting(attempt):
                    tools = await client_requests.list_every_tool(client)
        except SERVER_FAILURES as error:
            # Nobody knows what its tools are now: ask again before the next call.
            self._owner.wire.tools_changed = True
            status = attempt.status
            why = describe_status(status, attempt.reason) if status else describe_failure(error)
            raise ServerUnavailable(f"listing its tools failed: {why}") from None
        self._pins.compare(tools)
        told = [*wire.left_out, *explain_unusable(self.server_id, tools)]
        if len(tools) > MAX_TOOLS:
            told.append(f"tools beyond the first {MAX_TOOLS} are left out")
        self._note_left_out(told)
        self.listed = tools[:MAX_TOOLS]
        return self.listed

    def _note_left_out(self, told: list[str]) -> None:
        """Keep what a listing lost, and log it once."""
        new = [each for each in told if each not in self.left_out]
        self.left_out = tuple(told)
        if new:
            shown, rest = "; ".join(new[:SHOWN_LEFT_OUT]), len(new) - SHOWN_LEFT_OUT
            more = f"; and {rest} more" if rest > 0 else ""
            logger.warning("tool server %s: %s%s", self.server_id, shown, more)

    async def ping(self, seconds: float) -> None:
        """Have the server answer something, or raise `ServerUnavailable`."""
        client = self._require_client()
        try:
            if not self._ignores_pings and await self._ping(client, seconds / 2):
                return
            async with asyncio.timeout(seconds):
                await client.list_tools()
        except SERVER_FAILURES as error:
            if is_timeout(error):
                raise ServerUnavailable(f"it did not answer within {seconds:g} s") from None
            raise ServerUnavailable(describe_failure(error)) from None

    async def _ping(self, client: Client, seconds: float) -> bool:
        """Whether it answered a ping. One that never does is not asked again."""
        try:
            async with asyncio.timeout(seconds):
                return await client_requests.answers_ping(client)
        except TimeoutError:
            self._ignores_pings = True
            return False

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, JSON],
        *,
        report_progress: Callable[[str], None],
        may_repeat: bool,
    ) -> CallToolResult:
        """Call a tool within the deadline, or raise `CallFailed`.

        When the connection broke, it is opened again. The call is sent once more where it was not
        carried out for want of a connection, a session or a free moment; one that `may_repeat` also
        where nothing came back. What a server asks to wait is waited, as far as that is bearable.
        """
        waited, number = 0.0, 0
        while True:
            number += 1
            try:
                return await self._attempt(tool, arguments, report_progress, not may_repeat)
            except CallFailed as failed:
                pause = self._pause_before_repeat(failed, number, may_repeat)
                if pause is None or waited + pause > self._deadlines.longest_wait:
                    raise
            if pause:
                report_progress(f"waits {pause:g} s before it asks again")
            waited += pause
            await asyncio.sleep(pause)

    async def close(self) -> None:
        """Close the server. Its process is gone when this returns, unless it cannot be killed."""
        await self._owner.close()

    async def _attempt(
        self,
        tool: str,
        arguments: Mapping[str, JSON],
        report_progress: Callable[[str], None],
        is_write: bool,
    ) -> CallToolResult:
        """One attempt, on a connection that is open; where it breaks, it is opened again."""
        if self.is_down:
            await self._restart(after=self._owner.client)
        await self._look_after_silence()
        if is_write:
            # A person may have thought about it for minutes: what runs is the tool that was judged.
            self._owner.wire.tools_changed = True
        client, wire = await self._prepare(tool), self._owner.wire
        try:
            return await self._send(client, tool, arguments, report_progress, is_write)
        except CallFailed as failed:
            self._is_silent = self._is_silent or failed.is_silence
            if not failed.breaks_connection:
                raise
            lost = failed
        await self._restart(after=client)
        said = show_last_lines(self._masker, wire.stderr.text)
        said = f"; it said: {said}" if said else ""
        gone = f"; starting it again failed: {self.why_down}" if self._owner.client is None else ""
        raise lost.add(f"{said}{gone}")

    def _pause_before_repeat(
        self, failed: CallFailed, number: int, may_repeat: bool
    ) -> float | None:
        """Seconds after which a call is sent again; None where it is not."""
        if self.is_down or not failed.may_repeat(is_write=not may_repeat):
            return None
        if number > (1 if failed.breaks_connection else MOST_REPEATS):
            return None
        if failed.retry_after is not None:
            return failed.retry_after
        if failed.breaks_connection and failed.cause != "busy":
            return 0.0
        return self._deadlines.busy_pause * number if failed.status else None

    async def _look_after_silence(self) -> None:
        """Start a server anew that did not answer the last call in time and answers nothing now.

        One that other calls still wait for is left alone.
        """
        async with self._silence_lock:
            if not self._is_silent or self._under_way:
                return
            self._is_silent = False
            client = self._owner.client
            try:
                await self.ping(self._deadlines.silence)
            except ServerUnavailable:
                await self._restart(after=client)

    async def _prepare(self, tool: str) -> Client:
        """The open client, once it is certain that the tool is still what it was."""
        self._require_reachable()
        async with self._listing_lock:
            if self._owner.wire.tools_changed and self._owner.client is not None:
                try:
                    await self.list_tools()
                except ServerUnavailable as error:
                    raise CallFailed(str(error), "not carried out", "away") from None
        if reason := self._pins.explain(tool):
            raise CallFailed(reason, "not carried out", "tool")
        return self._require_reachable()

    async def _send(
        self,
        client: Client,
        tool: str,
        arguments: Mapping[str, JSON],
        report_progress: Callable[[str], None],
        is_write: bool,
    ) -> CallToolResult:
        """Send it once. The wire knows while a call is under way that may change something."""
        wire, times = self._owner.wire, self._deadlines.find_call_times(tool)
        wire.writes_under_way += is_write
        self._under_way += 1
        try:
            with attempting(Attempt(has_left=not wire.is_noted)) as attempt:
                return await client_requests.call_tool(
                    client, tool, arguments, report_progress, times, attempt
                )
        except SERVER_FAILURES as error:
            failed = judge_failure(
                error, attempt, is_write=is_write, times=times, end_reason=wire.end_reason
            )
            raise failed from None
        finally:
            wire.writes_under_way -= is_write
            self._under_way -= 1

    async def _restart(self, *, after: Client | None) -> None:
        await self._owner.restart(
            after=after, seconds=self._deadlines.restart, pause=self._deadlines.restart_pause
        )

    def _require_reachable(self) -> Client:
        if self._owner.client is None:
            reason = f"it is not reachable: {self.why_down}"
            raise CallFailed(reason, "not carried out", "away")
        return self._owner.client

    def _require_client(self) -> Client:
        if self._owner.client is None:
            raise ServerUnavailable("it is not connected")
        return self._owner.client

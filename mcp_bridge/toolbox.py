"""Opens the tool servers of one execution and closes them, whatever happens in between."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

from mcp import Client

from agents.ports import ProposedAnswer, ReportProgress, Review
from agents.types import (
    PastCall,
    ServerOffer,
    ToolCall,
    ToolCheck,
    ToolResult,
    ToolSpec,
    ToolTarget,
)
from masking import Placeholders, build_masker, build_server_masker
from mcp_bridge.catalogue import Catalogue, ConnectedServer
from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.executor import ToolExecutor
from mcp_bridge.past_calls import settle_past_calls
from mcp_bridge.results import Limits
from mcp_bridge.roster import Roster
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_words import show_text
from mcp_bridge.transports import InProcessFactories, open_client
from mcp_bridge.wire.cleanup import clean_up_session
from mcp_bridge.wire.http import HttpClients
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import Gate

logger = logging.getLogger(__name__)

MAX_INSTRUCTIONS = 8_000

ToolSelection = Mapping[str, Sequence[str] | None]
"""Servers to use, each with the tools to use of it; None means all of them."""


class OpenToolbox:
    """The tools of one execution while its servers are open. Implements `agents.ports.Toolbox`."""

    def __init__(
        self, executor: ToolExecutor, gate: Gate, catalogue: Catalogue, roster: Roster
    ) -> None:
        self._executor = executor
        self._gate = gate
        self._catalogue = catalogue
        self._roster = roster

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._catalogue.specs

    @property
    def instructions(self) -> Mapping[str, str]:
        return {
            server.server_id: text
            for server in self._roster.present
            if (text := server.config.instructions.strip())
        }

    @property
    def server_words(self) -> Mapping[str, str]:
        return {
            server.server_id: text
            for server in self._roster.present
            if (text := _show_words(server))
        }

    @property
    def unavailable(self) -> Mapping[str, str]:
        return {offer.server: offer.error for offer in self.offers if offer.is_away}

    @property
    def offers(self) -> tuple[ServerOffer, ...]:
        return self._roster.offers

    async def refresh(self) -> None:
        await self._roster.refresh()

    def identify(self, call: ToolCall) -> ToolTarget:
        return self._executor.identify(call)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        return await self._executor.execute(call, report_progress=report_progress)

    async def check_write(self, write: ToolCall) -> ToolCheck | None:
        """See `ToolExecutor.check_write`."""
        return await self._executor.check_write(write)

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        return await self._gate.review_answer(answer)


@asynccontextmanager
async def open_toolbox(
    servers: Mapping[str, ServerConfig],
    *,
    selection: ToolSelection | None = None,
    gate: Gate | None = None,
    past: Sequence[PastCall] = (),
    in_process: InProcessFactories | None = None,
    http_clients: HttpClients | None = None,
    execution_id: str = "",
    deadlines: Deadlines = Deadlines(),  # noqa: B008 (frozen)
    limits: Limits = Limits(),  # noqa: B008 (frozen)
    placeholders: Placeholders | None = None,
) -> AsyncIterator[OpenToolbox]:
    """Start the servers at once, each with a deadline, and yield the tools of those that came up.
    Those that did not are tried again before each question (`OpenToolbox.refresh`).

    `selection` narrows servers and tools; a server it names that is not configured is reported
    unavailable. No server's failure is the toolbox's. `past` are the calls of an execution that
    goes on after an interruption. `http_clients` is closed by whoever made it. Who shares
    `placeholders` gets the same name for the same secret. `execution_id` goes into headers that ask
    for it, and to each `session_cleanup_url` at the end.
    """
    chosen = {name: None for name in servers} if selection is None else selection
    gate, placeholders = gate or SafetyGate(), placeholders or Placeholders()
    masker = build_masker(placeholders=placeholders)
    async with AsyncExitStack() as stack:
        if http_clients is None:
            http_clients = await stack.enter_async_context(HttpClients())
        open_one = partial(open_client, http_clients=http_clients, in_process=in_process or {})
        wanted = {name: servers[name] for name in chosen if name in servers}
        connected = _connect(wanted, open_one, execution_id, deadlines, placeholders)
        stack.push_async_callback(_close_all, connected, execution_id)
        catalogue = Catalogue(offers_writes=gate.offers_writes)
        roster = Roster(connected, chosen, catalogue, masker=masker, deadlines=deadlines)
        stack.push_async_callback(roster.close)
        await roster.open()
        if past:
            gate.recall(*settle_past_calls(past, catalogue, may_have_written=gate.offers_writes))
        executor = ToolExecutor(catalogue, gate=gate, masker=masker, limits=limits)
        yield OpenToolbox(executor, gate, catalogue, roster)


async def _close_all(connected: Mapping[str, ConnectedServer], execution_id: str) -> None:
    async def close(server: ConnectedServer) -> None:
        await server.connection.close()
        await clean_up_session(server.server_id, server.config.transport, execution_id)

    await asyncio.gather(*map(close, connected.values()))


def _connect(
    servers: Mapping[str, ServerConfig],
    open_one: Callable[..., AbstractAsyncContextManager[Client]],
    execution_id: str,
    deadlines: Deadlines,
    placeholders: Placeholders,
) -> dict[str, ConnectedServer]:
    def connect(name: str, config: ServerConfig) -> ConnectedServer:
        opener = partial(open_one, name, config, execution_id=execution_id)
        masker = build_server_masker(config.data_masking, placeholders)
        connection = ServerConnection(name, opener, deadlines.of(config), masker)
        return ConnectedServer(name, config, connection, masker)

    return {name: connect(name, config) for name, config in servers.items()}


def _show_words(server: ConnectedServer) -> str:
    """What a server says of itself, masked like everything it says."""
    return show_text(server.masker, server.connection.instructions, MAX_INSTRUCTIONS)

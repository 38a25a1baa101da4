"""Opens the tool servers of one execution and closes them, whatever happens in between."""

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import cast

from mcp_types import Tool

from agents.ports import ProposedAnswer, ReportProgress, Review
from agents.types import JSON, PastCall, ToolCall, ToolResult, ToolSpec, ToolTarget
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.catalogue import Catalogue, ConnectedServer, KnownTool
from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.executor import Limits, ToolExecutor
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.gate import Gate
from mcp_bridge.masking import Placeholders, build_masker, build_server_masker
from mcp_bridge.names import ToolName, is_usable
from mcp_bridge.replay import read_past
from mcp_bridge.safety.safety_gate import SafetyGate
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_words import show_line, show_text
from mcp_bridge.transports import InProcessFactories, open_client
from mcp_bridge.wire.cleanup import clean_up_session
from mcp_bridge.wire.http import HttpClients

logger = logging.getLogger(__name__)

MAX_INSTRUCTIONS = 8_000
MAX_REASON = 600

ToolSelection = Mapping[str, Sequence[str] | None]
"""Servers to use, each with the tools to use of it; None means all of them."""


class OpenToolbox:
    """The tools of one execution while its servers are open. Implements `agents.ports.Toolbox`."""

    def __init__(
        self,
        executor: ToolExecutor,
        gate: Gate,
        specs: tuple[ToolSpec, ...],
        instructions: Mapping[str, str],
        server_words: Mapping[str, str],
        unavailable: Mapping[str, str],
    ) -> None:
        self._executor = executor
        self._gate = gate
        self._specs = specs
        self._instructions = instructions
        self._server_words = server_words
        self._unavailable = unavailable

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

    @property
    def instructions(self) -> Mapping[str, str]:
        return self._instructions

    @property
    def server_words(self) -> Mapping[str, str]:
        return self._server_words

    @property
    def unavailable(self) -> Mapping[str, str]:
        return self._unavailable

    def identify(self, call: ToolCall) -> ToolTarget:
        return self._executor.identify(call)

    async def execute(self, call: ToolCall, *, report_progress: ReportProgress) -> ToolResult:
        return await self._executor.execute(call, report_progress=report_progress)

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

    `selection` narrows servers and tools; a server it names that is not configured is reported
    unavailable. No server's failure is the toolbox's. `past` are the calls of an execution that
    goes on after an interruption. `http_clients` is closed by whoever made it.
    Who shares `placeholders` gets the same name for the same secret.
    `execution_id` goes into headers that ask for it, and to each `session_cleanup_url` at the end.
    """
    chosen = {name: None for name in servers} if selection is None else selection
    placeholders = placeholders or Placeholders()
    async with AsyncExitStack() as stack:
        if http_clients is None:
            http_clients = await stack.enter_async_context(HttpClients())
        openers = partial(
            open_client, http_clients=http_clients, in_process=in_process or {},
            execution_id=execution_id,
        )  # fmt: skip
        connections = {
            name: ServerConnection(
                name, partial(openers, name, servers[name]), deadlines.of(servers[name])
            )
            for name in chosen
            if name in servers
        }
        stack.push_async_callback(_close_all, connections, servers, execution_id)
        started = await _start_all(connections)
        masker = build_masker(placeholders=placeholders)
        connected = [
            _connect(name, servers[name], connections[name], placeholders)
            for name, outcome in started.items()
            if not isinstance(outcome, str)
        ]
        gate = gate or SafetyGate()
        catalogue = _build_catalogue(connected, started, chosen, offers_writes=gate.offers_writes)
        if past:
            gate.recall(*read_past(past, catalogue, may_have_written=gate.offers_writes))
        executor = ToolExecutor(
            catalogue,
            gate=gate,
            masker=masker,
            limits=limits,
        )
        yield OpenToolbox(
            executor,
            gate,
            catalogue.specs,
            {
                server.server_id: text
                for server in connected
                if (text := server.config.instructions.strip())
            },
            {server.server_id: text for server in connected if (text := _show_words(server))},
            {
                name: show_line(masker, outcome, MAX_REASON)
                for name in chosen
                if isinstance(outcome := started.get(name, "it is not configured"), str)
            },
        )


async def _start_all(
    connections: Mapping[str, ServerConnection],
) -> dict[str, tuple[Tool, ...] | str]:
    """Each server's tools, or the reason why it has none."""
    outcomes = await asyncio.gather(*(_start(c) for c in connections.values()))
    return dict(zip(connections, outcomes, strict=True))


async def _start(connection: ServerConnection) -> tuple[Tool, ...] | str:
    try:
        await connection.start()
        return await connection.list_tools()
    except ServerUnavailable as error:
        logger.warning("tool server %s is unavailable", connection.server_id)
        return str(error)


async def _close_all(
    connections: Mapping[str, ServerConnection],
    servers: Mapping[str, ServerConfig],
    execution_id: str,
) -> None:
    async def close(name: str, connection: ServerConnection) -> None:
        await connection.close()
        await clean_up_session(name, servers[name].transport, execution_id)

    await asyncio.gather(*(close(name, connection) for name, connection in connections.items()))


def _connect(
    name: str, config: ServerConfig, connection: ServerConnection, placeholders: Placeholders
) -> ConnectedServer:
    return ConnectedServer(
        name, config, connection, build_server_masker(config.data_masking, placeholders)
    )


def _build_catalogue(
    connected: Sequence[ConnectedServer],
    started: Mapping[str, tuple[Tool, ...] | str],
    chosen: ToolSelection,
    *,
    offers_writes: bool,
) -> Catalogue:
    tools: list[KnownTool] = []
    for server in connected:
        listed = started[server.server_id]
        if not isinstance(listed, str):
            tools.extend(_know_tools(server, listed, chosen[server.server_id]))
    return Catalogue(tools, offers_writes=offers_writes)


def _know_tools(
    server: ConnectedServer, tools: Sequence[Tool], selected: Sequence[str] | None
) -> list[KnownTool]:
    known: dict[ToolName, KnownTool] = {}
    for tool in tools:
        name = ToolName(server.server_id, tool.name)
        # The first of two tools with one name stays: a later page must not replace it.
        if not is_usable(name) or name in known:
            logger.warning("a tool of %s has no usable name", server.server_id)
            continue
        known[name] = KnownTool(
            name=name,
            server=server,
            tool=tool,
            check=ArgumentCheck(cast(dict[str, JSON], tool.input_schema)),
            is_selected=selected is None or tool.name in selected,
        )
    return list(known.values())


def _show_words(server: ConnectedServer) -> str:
    """What a server says of itself, masked like everything it says."""
    return show_text(server.masker, server.connection.instructions, MAX_INSTRUCTIONS)

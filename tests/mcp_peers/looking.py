"""Opens every server of other people once, lists its tools, and asks each one thing."""

import asyncio
import json
import os
import socket
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from agents.types import ToolCall, ToolResult, ToolSpec
from masking import build_masker, build_server_masker
from mcp_bridge.catalogue import Catalogue, ConnectedServer
from mcp_bridge.connection import Deadlines
from mcp_bridge.executor import ToolExecutor
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.known_servers import find_known_rules
from mcp_bridge.roster import Roster
from mcp_bridge.server_status import ServerStatus, ask_status, connect
from mcp_bridge.wire.http import HttpClients
from safety.gate.safety_gate import SafetyGate
from safety.tool_rules import ToolClass
from tests.mcp_peers.peers import PEERS, TOKEN, Peer, Place, Program
from tests.server_plans import ServerPlan, TransportPlan

DEADLINES = Deadlines(start=90.0, call=30.0)


@dataclass(frozen=True)
class Seen:
    """What came of one server over one transport."""

    peer: Peer
    transport: str
    status: ServerStatus
    identity: tuple[str, str]
    parameters: Mapping[str, frozenset[str]]
    """Of each tool."""
    known: frozenset[str]
    """The tools that the reviewed table classes."""
    specs: tuple[ToolSpec, ...]
    """As models get them where writes are offered."""
    answer: ToolResult | None = None

    @property
    def classes(self) -> dict[str, Mapping[str, ToolClass]]:
        return {tool.name: tool.classes for tool in self.status.tools or ()}


async def look_over_stdio(place: Place) -> tuple[Seen, ...]:
    return await _look(place, {(peer, "stdio"): peer.plan(place) for peer in PEERS})


async def look_over_http(place: Place) -> tuple[Seen, ...]:
    async with AsyncExitStack() as stack:
        plans: dict[tuple[Peer, str], ServerPlan] = {}
        for peer in PEERS:
            for transport, serve in peer.serve.items():
                port = find_port()
                program = serve(place, port)
                await stack.enter_async_context(running(program, port))
                plans[peer, transport] = reach(peer, transport, program, port)
        for plan in plans.values():
            await wait_for_port(str(plan.transport.url))
        return await _look(place, plans)


def reach(peer: Peer, transport: str, program: Program, port: int) -> ServerPlan:
    url = f"http://127.0.0.1:{port}{program.path}"
    return ServerPlan(
        TransportPlan("http" if transport == "http" else "sse", url=url, bearer_token=TOKEN),
        tools=peer.named_tools,
        trust_annotations=True,
    )


@asynccontextmanager
async def running(program: Program, port: int) -> AsyncIterator[None]:
    """The program in a process of its own; whoever connects waits until it answers."""
    process = await asyncio.create_subprocess_exec(
        program.command, *program.args, env={**os.environ, **program.env},
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        yield
    finally:
        process.kill()
        await process.wait()


def find_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


async def wait_for_port(url: str) -> None:
    port = int(url.removeprefix("http://127.0.0.1:").partition("/")[0])
    async with asyncio.timeout(DEADLINES.start):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", port)
            except OSError:
                await asyncio.sleep(0.1)
                continue
            writer.close()
            return


async def _look(place: Place, plans: Mapping[tuple[Peer, str], ServerPlan]) -> tuple[Seen, ...]:
    async with HttpClients() as clients:
        servers: dict[str, ConnectedServer] = {}
        for (peer, transport), plan in plans.items():
            name = f"{peer.id}-{transport}"
            connection = connect(name, plan, DEADLINES, http_clients=clients, in_process={})
            servers[name] = ConnectedServer(name, plan, connection, build_server_masker(None))
        gate = SafetyGate("controlled")
        catalogue, masker = Catalogue(offers_writes=gate.offers_writes), build_masker()
        roster = Roster(
            servers, dict.fromkeys(servers), catalogue, masker=masker, deadlines=DEADLINES
        )
        try:
            await roster.open()
            executor = ToolExecutor(catalogue, gate=gate, masker=masker)
            return tuple([
                await _ask(place, peer, transport, server, catalogue, executor)
                for (peer, transport), server in zip(plans, servers.values(), strict=True)
            ])  # fmt: skip
        finally:
            await roster.close()
            await asyncio.gather(*(server.connection.close() for server in servers.values()))


async def _ask(
    place: Place,
    peer: Peer,
    transport: str,
    server: ConnectedServer,
    catalogue: Catalogue,
    executor: ToolExecutor,
) -> Seen:
    started = time.monotonic()
    try:
        status, listed = await ask_status(
            server.server_id, server.config, server.connection, started
        )
    except ServerUnavailable as away:
        missing = ServerStatus(server.server_id, str(away))
        return Seen(peer, transport, missing, ("", ""), {}, frozenset(), ())
    identity = server.connection.identity
    arguments = json.dumps(dict(peer.read.arguments(place)))
    call = ToolCall("1", f"{server.server_id}__{peer.read.tool}", arguments)
    return Seen(
        peer, transport, status, identity,
        parameters={tool.name: frozenset(tool.input_schema.get("properties", ()))
                    for tool in listed},
        known=frozenset(find_known_rules(*identity, listed)),
        specs=tuple(each for each in catalogue.specs
                    if each.name.startswith(f"{server.server_id}.")),
        answer=await executor.execute(call, report_progress=lambda text: None),
    )  # fmt: skip

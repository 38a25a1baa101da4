"""Tool servers that are functions: what they answer to a request, by the letter or not at all.

Between them and the toolbox lies the wire of the product and the client of the SDK.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCRequest

from masking import build_masker
from mcp_bridge.catalogue import Catalogue, ConnectedServer
from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.executor import ToolExecutor
from mcp_bridge.roster import Roster
from mcp_bridge.toolbox import OpenToolbox, open_toolbox
from mcp_bridge.transports import _tamed
from mcp_bridge.wire.child import parse_messages
from mcp_bridge.wire.cutting import LineCutter, read_line
from mcp_bridge.wire.http import HttpClients, build_http_client
from mcp_bridge.wire.taming import Wire
from tests.mcp_bridge.conftest import quick
from tests.mcp_bridge.open_gate import OpenGate
from tests.server_plans import ServerPlan, TransportPlan

PLAN = ServerPlan(TransportPlan("stdio"))
OPENING = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "scripted", "version": "1"},
}
NO_METHOD = {"error": {"code": -32601, "message": "Method not found"}}
Answer = dict[str, Any] | None
Script = Callable[[str, dict[str, Any]], Answer]
"""From a method and its parameters to what stands beside the id of the answer; None: no answer."""


def plain(name: str) -> dict[str, Any]:
    return {"name": name, "description": f"Shows the {name}", "inputSchema": {"type": "object"}}


def serving(tools: Any = None, result: Any = None, answer: Answer = None) -> Script:
    """A server that lists these tools, `first` unless given, and answers each call with this
    result, or this answer."""
    listed = [plain("first")] if tools is None else tools

    def script(method: str, params: dict[str, Any]) -> Answer:
        match method:
            case "initialize":
                return {"result": OPENING}
            case "tools/list":
                return {"result": {"tools": list(listed)}}
            case "tools/call":
                return answer if answer is not None else {"result": result}
        return NO_METHOD

    return script


@asynccontextmanager
async def memory_wire(script: Script, wire: Wire) -> AsyncIterator[Any]:
    """The streams of a server in this process, whose answers are read as lines of a child are."""
    to_us, ours = anyio.create_memory_object_stream[SessionMessage | Exception](100)
    to_it, its = anyio.create_memory_object_stream[SessionMessage](100)

    async def serve() -> None:
        async for item in its:
            if isinstance(item.message, JSONRPCRequest):
                said = script(item.message.method, item.message.params or {})
                if said is None:
                    continue
                sent = json.dumps({"jsonrpc": "2.0", "id": item.message.id, **said}) + "\n"
                for line in LineCutter().feed(sent.encode()):
                    for message in parse_messages(read_line(line), wire.asked):
                        await to_us.send(message)

    async with to_us, ours, to_it, its, anyio.create_task_group() as group:
        group.start_soon(serve)
        yield ours, to_it
        group.cancel_scope.cancel()


@asynccontextmanager
async def open_client(script: Script, *, wire: Wire) -> AsyncIterator[Client]:
    async with Client(_tamed(memory_wire(script, wire), wire), cache=None) as client:
        yield client


@asynccontextmanager
async def open_scripted(
    script: Script, plan: ServerPlan = PLAN, deadlines: Deadlines | None = None, gate: Any = None
) -> AsyncIterator[tuple[OpenToolbox, ServerConnection]]:
    """The toolbox of one server, `x`, and the connection to it."""
    deadlines, gate = deadlines or quick(), gate or OpenGate()
    masker = build_masker()
    connection = ServerConnection("x", partial(open_client, script), deadlines, masker)
    server = ConnectedServer("x", plan, connection, masker)
    catalogue = Catalogue(offers_writes=gate.offers_writes)
    roster = Roster({"x": server}, {"x": None}, catalogue, masker=masker, deadlines=deadlines)
    await roster.open()
    try:
        executor = ToolExecutor(catalogue, gate=gate, masker=masker)
        yield OpenToolbox(executor, gate, catalogue, roster), connection
    finally:
        await roster.close()
        await connection.close()


# ---- HTTP without sockets ------------------------------------------------------------------------

Respond = Callable[[httpx2.Request], httpx2.Response | Awaitable[httpx2.Response]]


class ScriptedClients(HttpClients):
    """Clients that ask a function in the place of a host."""

    def __init__(self, respond: Respond) -> None:
        super().__init__()
        self._respond = respond
        self.made: list[httpx2.AsyncClient] = []

    def get(self, transport: Any, longest_silence: float = 300.0) -> httpx2.AsyncClient:
        headers = {"Authorization": f"Bearer {transport.bearer_token}"}
        client = build_http_client(transport, headers, longest_silence)
        client._transport = httpx2.MockTransport(self._respond)
        self.made.append(client)
        return client


def web_server(
    respond_to_call: Respond, script: Script | None = None, *, session: str = ""
) -> Respond:
    """A server over HTTP that answers calls in its own way, and all else as it should."""
    script = script or serving()

    async def respond(request: httpx2.Request) -> httpx2.Response:
        if request.method != "POST":
            return httpx2.Response(405)
        message = json.loads(request.content)
        if "id" not in message:
            return httpx2.Response(202)
        if message["method"] == "tools/call":
            said = respond_to_call(request)
            return said if isinstance(said, httpx2.Response) else await said
        if message["method"] == "server/discover":
            return httpx2.Response(400)
        answer = script(message["method"], message.get("params") or {})
        headers = {"mcp-session-id": session} if session else {}
        body = {"jsonrpc": "2.0", "id": message["id"], **(answer or {})}
        return httpx2.Response(200, json=body, headers=headers)

    return respond


@asynccontextmanager
async def open_over_http(
    respond: Respond, plan: ServerPlan, deadlines: Deadlines | None = None
) -> AsyncIterator[OpenToolbox]:
    clients = ScriptedClients(respond)
    async with open_toolbox(
        {"x": plan}, gate=OpenGate(), http_clients=clients, deadlines=deadlines or quick()
    ) as toolbox:
        yield toolbox
    for client in clients.made:
        await client.aclose()

"""Opens the wire to a tool server: a child process, HTTP, SSE or this very process."""

import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client._transport import TransportStreams
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import Implementation

from config.programs import is_installed
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.server_config import ServerConfig, TransportConfig
from mcp_bridge.wire.child import open_child
from mcp_bridge.wire.http import (
    DEFAULT_HTTP_TIMEOUT,
    HttpClients,
    build_http_client,
    http_headers,
    longest_silence,
    names_execution,
)
from mcp_bridge.wire.listening import listening
from mcp_bridge.wire.questions import Answerer
from mcp_bridge.wire.taming import NotedStream, TamedStream, Wire
from tarsy.errors import ConfigError

InProcessServer = MCPServer | Server[Any]
InProcessFactories = Mapping[str, Callable[[], InProcessServer]]

# A child gets these of our environment, and what its configuration names. Never the rest: it holds
# model keys and database passwords.
INHERITED_VARIABLES = (
    "HOME", "LANG", "LC_ALL", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "XDG_CACHE_HOME", "XDG_CONFIG_HOME",
)  # fmt: skip

CLIENT = Implementation(name="tarsy", version="0.1.0")


@asynccontextmanager
async def open_client(
    server_id: str,
    server: ServerConfig,
    *,
    http_clients: HttpClients,
    in_process: InProcessFactories,
    execution_id: str,
    wire: Wire,
) -> AsyncIterator[Client]:
    """Open a server and speak MCP with it. To be entered and left in one and the same task."""
    transport = server.transport
    async with contextlib.AsyncExitStack() as stack:
        if transport.type == "in_process":
            target: Any = _build_in_process(transport.command or server_id, in_process)
        elif transport.type == "stdio":
            environment = child_environment(transport)
            _refuse_missing(transport.command, environment)
            child = open_child(transport.command, transport.args, environment, wire)
            target = _tamed(child, wire)
        elif transport.type == "sse":
            events = sse_client(
                _url_of(transport),
                timeout=transport.timeout or DEFAULT_HTTP_TIMEOUT,
                sse_read_timeout=longest_silence(server),
                httpx_client_factory=_sse_client_factory(server, execution_id),
            )
            target = _tamed(events, wire)
        else:
            http_client = await stack.enter_async_context(
                _http_client(server, http_clients, execution_id)
            )
            streamable = streamable_http_client(_url_of(transport), http_client=http_client)
            target = _tamed(streamable, wire)
        connected = Client(
            target, client_info=CLIENT, cache=None, elicitation_callback=Answerer(wire)
        )
        client = await stack.enter_async_context(connected)
        if transport.type != "in_process":
            await stack.enter_async_context(listening(client, wire))
        yield client


def _refuse_missing(program: str, environment: Mapping[str, str]) -> None:
    """A path that leads nowhere is told by the attempt to start it."""
    if "/" not in program and not is_installed(program, environment.get("PATH", os.defpath)):
        raise ServerUnavailable(f"{program} is not installed here")


def child_environment(transport: TransportConfig) -> dict[str, str]:
    """All a child gets to see: what is listed of ours, and what its configuration names."""
    inherited = {
        name: value
        for name in INHERITED_VARIABLES
        if (value := os.environ.get(name)) is not None and not value.startswith("()")
    }
    return {**inherited, **transport.env}


@asynccontextmanager
async def _tamed(
    transport: AbstractAsyncContextManager[TransportStreams], wire: Wire
) -> AsyncIterator[TransportStreams]:
    async with transport as (read_stream, write_stream):
        yield TamedStream(read_stream, wire), NotedStream(write_stream, wire)


@asynccontextmanager
async def _http_client(
    server: ServerConfig, http_clients: HttpClients, execution_id: str
) -> AsyncIterator[httpx2.AsyncClient]:
    """The shared client, or one of this execution's own where the server is told its id."""
    transport, silence = server.transport, longest_silence(server)
    if not names_execution(transport):
        yield http_clients.get(transport, silence)
        return
    headers = http_headers(transport, execution_id)
    async with build_http_client(transport, headers, silence) as client:
        yield client


def _sse_client_factory(
    server: ServerConfig, execution_id: str
) -> Callable[..., httpx2.AsyncClient]:
    # The SDK closes what its SSE transport was given, so this one cannot be shared.
    def build(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        headers = {**http_headers(server.transport, execution_id), **(headers or {})}
        return build_http_client(server.transport, headers, longest_silence(server))

    return build


def _url_of(transport: TransportConfig) -> str:
    if not transport.url or not re.match(r"https?://", transport.url):
        raise ServerUnavailable("its url is missing or does not begin with http:// or https://")
    return transport.url


def _build_in_process(name: str, factories: InProcessFactories) -> InProcessServer:
    factory = factories.get(name)
    if factory is None:
        raise ServerUnavailable(f"no server named {name!r} is part of this product")
    try:
        return factory()
    except ConfigError as error:
        raise ServerUnavailable(str(error)) from error

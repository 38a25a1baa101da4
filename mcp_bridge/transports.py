"""Opens the wire to a tool server: a child process, HTTP, SSE or this very process."""

import asyncio
import contextlib
import os
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp.server import Server
from mcp.server.mcpserver import MCPServer
from mcp_types import Implementation
from typing_extensions import override

from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.server_config import ServerConfig, TransportConfig
from mcp_bridge.visible_text import clean_line

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
STDERR_TAIL_BYTES = 4096
DEFAULT_HTTP_TIMEOUT = 30.0
STREAM_READ_TIMEOUT = 300.0


class HttpClients:
    """One HTTP client per set of credentials, shared by every agent of an event loop.

    Building a client costs some 30 ms of CPU for its TLS context; a worker keeps one of these
    for its life.
    """

    def __init__(self) -> None:
        self._clients: dict[tuple[object, ...], httpx2.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    def get(self, transport: TransportConfig) -> httpx2.AsyncClient:
        headers = http_headers(transport)
        key = (
            transport.url,
            tuple(sorted(headers.items())),
            transport.verify_ssl,
            transport.timeout,
        )
        client = self._clients.get(key)
        if client is None or client.is_closed:
            client = self._clients[key] = build_http_client(transport, headers)
        return client

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()


class StderrTail:
    """The last lines a child wrote to its error stream: they often say why it did not start."""

    def __init__(self) -> None:
        self._tail = b""
        self._transport: asyncio.ReadTransport | None = None

    @property
    def text(self) -> str:
        return clean_line(self._tail.decode("utf-8", "replace"), 300)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        """Yield the descriptor a child may write to."""
        reading, writing = os.pipe()
        try:
            loop = asyncio.get_running_loop()
            pipe = os.fdopen(reading, "rb", buffering=0)
            self._transport, _ = await loop.connect_read_pipe(lambda: _TailReader(self), pipe)
            yield writing
        finally:
            os.close(writing)
            if self._transport is not None:
                self._transport.close()

    def add(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]


class _TailReader(asyncio.Protocol):
    def __init__(self, tail: StderrTail) -> None:
        self._tail = tail

    @override
    def data_received(self, data: bytes) -> None:
        self._tail.add(data)


@asynccontextmanager
async def open_client(
    server_id: str,
    server: ServerConfig,
    *,
    http_clients: HttpClients,
    in_process: InProcessFactories,
    stderr: StderrTail,
) -> AsyncIterator[Client]:
    """Open a server and speak MCP with it. To be entered and left in one and the same task."""
    transport = server.transport
    async with contextlib.AsyncExitStack() as stack:
        if transport.type == "in_process":
            target: Any = _build_in_process(transport.command or server_id, in_process)
        elif transport.type == "stdio":
            descriptor = await stack.enter_async_context(stderr.open())
            log = stack.enter_context(os.fdopen(os.dup(descriptor), "w"))
            target = stdio_client(stdio_parameters(transport), errlog=log)
        elif transport.type == "sse":
            target = sse_client(
                _url_of(transport),
                timeout=transport.timeout or DEFAULT_HTTP_TIMEOUT,
                sse_read_timeout=STREAM_READ_TIMEOUT,
                httpx_client_factory=_sse_client_factory(transport),
            )
        else:
            shared = http_clients.get(transport)
            target = streamable_http_client(_url_of(transport), http_client=shared)
        yield await stack.enter_async_context(Client(target, client_info=CLIENT, cache=None))


def stdio_parameters(transport: TransportConfig) -> StdioServerParameters:
    """The child's command with exactly the environment it may see."""
    inherited = {
        name: value
        for name in INHERITED_VARIABLES
        if (value := os.environ.get(name)) is not None and not value.startswith("()")
    }
    return StdioServerParameters(
        command=transport.command,
        args=list(transport.args),
        env={**inherited, **transport.env},
        encoding_error_handler="replace",
    )


def http_headers(transport: TransportConfig) -> dict[str, str]:
    headers = dict(transport.custom_headers)
    if transport.bearer_token:
        headers["Authorization"] = f"Bearer {transport.bearer_token}"
    return headers


def build_http_client(transport: TransportConfig, headers: dict[str, str]) -> httpx2.AsyncClient:
    seconds = float(transport.timeout or DEFAULT_HTTP_TIMEOUT)
    return httpx2.AsyncClient(
        headers=headers,
        verify=transport.verify_ssl,
        timeout=httpx2.Timeout(seconds, read=max(seconds, STREAM_READ_TIMEOUT)),
        limits=httpx2.Limits(max_connections=256, max_keepalive_connections=32),
    )


def _sse_client_factory(transport: TransportConfig) -> Callable[..., httpx2.AsyncClient]:
    # The SDK closes what its SSE transport was given, so this one cannot be shared.
    def build(
        headers: dict[str, str] | None = None,
        timeout: httpx2.Timeout | None = None,
        auth: httpx2.Auth | None = None,
    ) -> httpx2.AsyncClient:
        return build_http_client(transport, {**http_headers(transport), **(headers or {})})

    return build


def _url_of(transport: TransportConfig) -> str:
    if not transport.url or not re.match(r"https?://", transport.url):
        raise ServerUnavailable("its url is missing or does not begin with http:// or https://")
    return transport.url


def _build_in_process(name: str, factories: InProcessFactories) -> InProcessServer:
    factory = factories.get(name)
    if factory is None:
        raise ServerUnavailable(f"no server named {name!r} is part of this product")
    return factory()

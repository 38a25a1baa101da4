"""Opens one allowed address and reads what it answers, within limits of size and time.

A name is resolved once for each request, all of its addresses are judged, and the connection goes
to one of those very addresses, so a second answer of the name server changes nothing. TLS still
speaks of the name. Each redirect is a new request that passes all checks again.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import httpcore
import httpx
from typing_extensions import override

from investigations.runbooks.addresses import (
    Address,
    Unavailable,
    check_host,
    is_public,
    read_next_address,
)

PORT = 443
CONNECT_SECONDS = 5.0
MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)
_MOST_ADDRESSES = 16
_TRIED_ADDRESSES = 3

Resolve = Callable[[str], Awaitable[Sequence[str]]]
Connect = Callable[[str], Awaitable[httpcore.AsyncNetworkStream]]


@dataclass(frozen=True)
class Network:
    """The way out: names to addresses, and addresses to connections."""

    resolve: Resolve
    connect: Connect


@dataclass(frozen=True)
class Request:
    """What to fetch and how far to go for it.

    `headers_for` gives the headers for each host on the way; credentials belong there.
    """

    address: Address
    allowed_domains: Sequence[str]
    headers_for: Callable[[str], Mapping[str, str]] = field(default=lambda host: {})
    max_bytes: int = 512 * 1024
    seconds: float = 30.0


async def resolve_name(host: str) -> Sequence[str]:
    """Every address that the system's resolver knows for `host`."""
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(host, PORT, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


async def connect_to(address: str) -> httpcore.AsyncNetworkStream:
    """A connection to an IP address, before TLS."""
    return await httpcore.AnyIOBackend().connect_tcp(address, PORT, timeout=CONNECT_SECONDS)


def public_network() -> Network:
    return Network(resolve_name, connect_to)


async def fetch(request: Request, network: Network) -> bytes:
    """The body that the address answers with. Raises Unavailable with the reason."""
    try:
        async with asyncio.timeout(request.seconds):
            return await _follow(request, network)
    except TimeoutError as error:
        raise Unavailable(f"did not answer within {request.seconds:g} s") from error


async def _follow(request: Request, network: Network) -> bytes:
    address = request.address
    check_host(address, request.allowed_domains)
    for _ in range(MAX_REDIRECTS + 1):
        answer = await _ask(address, request, network)
        if isinstance(answer, bytes):
            return answer
        address = _next_address(address, answer.location, request.allowed_domains)
    raise Unavailable(f"leads from one address to the next more than {MAX_REDIRECTS} times")


@dataclass(frozen=True)
class _Redirect:
    location: str


def _next_address(current: Address, location: str, allowed_domains: Sequence[str]) -> Address:
    try:
        address = read_next_address(current, location)
        check_host(address, allowed_domains)
    except Unavailable as error:
        raise Unavailable(f"leads on to an address that is not opened: it {error}") from error
    return address


async def _ask(address: Address, request: Request, network: Network) -> "bytes | _Redirect":
    pinned = await _resolve_all(address.host, network.resolve)
    try:
        async with _send(address, request, _Pinned(pinned, network.connect)) as response:
            if response.status in _REDIRECTS:
                return _Redirect(_header(response, b"location"))
            if response.status != 200:
                raise Unavailable(f"answered with status {response.status}")
            return await _read_body(response, request.max_bytes)
    except httpcore.TimeoutException as error:
        raise Unavailable("could not be reached in time") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError) as error:
        raise Unavailable(f"could not be read ({type(error).__name__})") from error


async def _resolve_all(host: str, resolve: Resolve) -> Sequence[str]:
    try:
        addresses = await resolve(host)
    except (OSError, UnicodeError) as error:
        raise Unavailable(f'has the host "{host}", which cannot be resolved') from error
    if not addresses:
        raise Unavailable(f'has the host "{host}", which cannot be resolved')
    # One wrong address is enough: which one is taken must not be a matter of luck.
    if len(addresses) > _MOST_ADDRESSES or not all(map(is_public, addresses)):
        raise Unavailable(f'has the host "{host}", which does not lead to public addresses only')
    return addresses


class _Pinned(httpcore.AsyncNetworkBackend):
    """Connects to addresses that were judged before, whatever the name would answer now."""

    def __init__(self, addresses: Sequence[str], connect: Connect) -> None:
        self._addresses = addresses[:_TRIED_ADDRESSES]
        self._connect = connect

    @override
    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Any = None,
    ) -> httpcore.AsyncNetworkStream:
        for address in self._addresses[:-1]:
            try:
                return await self._connect(address)
            except (httpcore.NetworkError, httpcore.TimeoutException, OSError):
                continue
        return await self._connect(self._addresses[-1])


@asynccontextmanager
async def _send(
    address: Address, request: Request, backend: _Pinned
) -> AsyncIterator[httpcore.Response]:
    # Compressed answers could grow beyond the limit after they were counted.
    headers = {"Accept-Encoding": "identity", "User-Agent": "tarsy"}
    headers.update(request.headers_for(address.host))
    pool = httpcore.AsyncConnectionPool(ssl_context=_ssl_context(), network_backend=backend)
    waits = dict.fromkeys(("connect", "read", "write", "pool"), request.seconds)
    async with (
        pool,
        pool.stream(
            "GET", str(address), headers=list(headers.items()), extensions={"timeout": waits}
        ) as answer,
    ):
        yield answer


async def _read_body(response: httpcore.Response, max_bytes: int) -> bytes:
    if _header(response, b"content-encoding").lower() not in ("", "identity"):
        raise Unavailable("answered with a compressed text, which was not asked for")
    body = bytearray()
    async for chunk in response.aiter_stream():
        body += chunk
        if len(body) > max_bytes:
            raise Unavailable(f"holds more than {max_bytes // 1024:,} kB")
    return bytes(body)


def _header(response: httpcore.Response, name: bytes) -> str:
    values = [value for key, value in response.headers if key.lower() == name]
    return values[0].decode("latin-1").strip() if values else ""


@cache
def _ssl_context() -> ssl.SSLContext:
    """Reading the certificates costs 20 ms, so they are read once."""
    return httpx.create_ssl_context()

"""One HTTP client for each event loop, and what goes wrong with a request as our exceptions.

Reading a token through the SDK of OpenAI and its HTTP library takes three times as long as all we
do with it. aiohttp reads chunks in C.
"""

import asyncio
import atexit
import json
import ssl
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from concurrent.futures import TimeoutError as FutureTimeoutError
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from agents.llm.bodies import BodyReader
from agents.llm.error_bodies import is_error

if TYPE_CHECKING:
    import aiohttp

CONNECT_TIMEOUT = 10.0
LONGEST_REFUSAL = 64 * 1024
REFUSAL_WITHIN = 2.0
LAST_BYTES_WITHIN = 0.5

# Connections belong to an event loop; the worker has one that lives as long as it does.
_sessions: "WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession]" = (
    WeakKeyDictionary()
)


@dataclass(frozen=True)
class _Head:
    headers: Mapping[str, str]


class Refused(Exception):
    """The server answered with a status that is no success, or reported an error in its stream."""

    def __init__(
        self, text: str, *, status: int | None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(text)
        self.status_code = status
        self.response = _Head(headers or {})
        self.body = _read_object(text)


class RefusedInStream(Refused):
    """An error where an answer had begun."""


@dataclass(frozen=True)
class Packet:
    """The events that came together; `is_end` when the server says that this is all."""

    events: list[dict[str, Any]]
    is_end: bool


@asynccontextmanager
async def post_for_events(
    url: str,
    *,
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    before_request: Callable[[], Awaitable[None]],
    beat: Callable[[], None],
) -> AsyncGenerator[AsyncIterator[Packet], None]:
    """Post JSON and read the events of the answer, those of one network packet together.

    An answer in one piece is one event. `before_request` is awaited once there is a connection;
    what it raises keeps the request from leaving. `beat` is told of each packet, also of one
    without an event. Leaving it before the end hangs up. Raises Refused, ForeignText,
    ConnectionError, TimeoutError, and ValueError for an answer that is no JSON.
    """
    import aiohttp

    try:
        sending = _find_session().post(
            url,
            # As a file: aiohttp would write bytes in one piece, and warns of many.
            data=BytesIO(json.dumps(body).encode()),
            headers={"Content-Type": "application/json", **headers},
            trace_request_ctx=before_request,
        )
        async with sending as response:
            if response.status >= 300:
                text = await _read_refusal(response)
                raise Refused(text, status=response.status, headers=response.headers)
            try:
                yield _read_events(response, beat)
            finally:
                if not response.content.at_eof():
                    response.close()
    except aiohttp.ServerTimeoutError:
        raise
    except aiohttp.ClientError as error:
        raise ConnectionError(str(error)) from error


async def _read_refusal(response: "aiohttp.ClientResponse") -> str:
    """What a refusal says, in however many packets; where it breaks off or does not end, what had
    come of it."""
    import aiohttp

    said = bytearray()
    with suppress(TimeoutError, aiohttp.ClientError):
        async with asyncio.timeout(REFUSAL_WITHIN):
            async for part in response.content.iter_any():
                said += part[: LONGEST_REFUSAL - len(said)]
                if len(said) >= LONGEST_REFUSAL:
                    break
    return said.decode(errors="replace")


async def _read_events(
    response: "aiohttp.ClientResponse", beat: Callable[[], None]
) -> AsyncIterator[Packet]:
    reader = BodyReader()
    async for part in response.content.iter_any():
        beat()
        events = reader.feed(part)
        if events or reader.has_ended:
            _raise_reported_error(events)
            yield Packet(events, reader.has_ended)
        if reader.has_ended:
            await _drain(response)
            return
    events = reader.finish()
    _raise_reported_error(events)
    yield Packet(events, reader.has_ended)


def _raise_reported_error(events: list[dict[str, Any]]) -> None:
    for event in events:
        if is_error(event):
            raise RefusedInStream(json.dumps(event), status=None)


async def _drain(response: "aiohttp.ClientResponse") -> None:
    """Read what follows the last event, so that the connection can be used again."""
    with suppress(TimeoutError):
        async with asyncio.timeout(LAST_BYTES_WITHIN):
            async for _ in response.content.iter_any():
                pass


def _read_object(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def load_http() -> None:
    """Import now, and read the certificates, what the first request would wait for."""
    import aiohttp  # noqa: F401

    _trust_authorities()


@cache
def _close_at_exit() -> None:
    """aiohttp complains in the log of a process that ends with open connections."""

    def close() -> None:
        for loop, session in list(_sessions.items()):
            if loop.is_running():
                closing = asyncio.run_coroutine_threadsafe(session.close(), loop)
                with suppress(FutureTimeoutError):
                    closing.result(LAST_BYTES_WITHIN)

    atexit.register(close)


async def close_sessions() -> None:
    """Close the connections of the running event loop."""
    session = _sessions.pop(asyncio.get_running_loop(), None)
    if session is not None:
        await session.close()


def _find_session() -> "aiohttp.ClientSession":
    import aiohttp

    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        _close_at_exit()
        # How long an answer may take is decided by our own deadlines.
        timeout = aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_TIMEOUT)
        _sessions[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, ssl=_trust_authorities()),
            timeout=timeout,
            trust_env=True,
            read_bufsize=256 * 1024,
            trace_configs=[_ask_before_requests()],
        )
    return _sessions[loop]


def _ask_before_requests() -> "aiohttp.TraceConfig":
    """Have each request's `before_request` asked when its connection is there, new or used again.

    Nothing is awaited between these two signals and the writing of the request.
    """
    import aiohttp

    async def ask(_: object, context: SimpleNamespace, __: object) -> None:
        await context.trace_request_ctx()

    tracing = aiohttp.TraceConfig()
    tracing.on_connection_create_end.append(ask)
    tracing.on_connection_reuseconn.append(ask)
    return tracing


@cache
def _trust_authorities() -> ssl.SSLContext:
    """Those of this machine, and the usual ones for machines that have none."""
    import certifi

    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context

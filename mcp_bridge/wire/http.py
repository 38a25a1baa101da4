"""HTTP towards tool servers: whose headers go where, and how much of an answer is held."""

import json
import logging
import ssl
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Self

import httpx2
from typing_extensions import override

from agents.types import JSON
from mcp_bridge.server_config import ServerConfig, TransportConfig
from mcp_bridge.wire.cutting import MAX_MESSAGE_BYTES, Line, LineCutter, read_line
from mcp_bridge.wire.message_repairs import repair_message
from mcp_bridge.wire.refusals import CallingClient, Refusals

logger = logging.getLogger(__name__)

DEFAULT_HTTP_TIMEOUT = 30.0
STREAM_READ_TIMEOUT = 300.0
STREAM_GRACE = 30.0
# One answer, or one stream of them, before we stop listening to it.
MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_STREAM_BYTES = 64 * 1024 * 1024
# The SDK refuses events of 1 MiB; what we add to a shortened one must fit as well.
MAX_EVENT_BYTES = MAX_MESSAGE_BYTES - 16 * 1024
MAX_EVENT_LINES = 1_000
# Longer answers are not read twice.
MAX_JUDGED_CHARACTERS = 65_536
SESSION_ID = "{{.SESSION_ID}}"
"""Stands in custom headers for the id of the execution the calls belong to."""


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

    def get(
        self, transport: TransportConfig, longest_silence: float = STREAM_READ_TIMEOUT
    ) -> httpx2.AsyncClient:
        headers = http_headers(transport)
        key = (
            transport.url,
            tuple(sorted(headers.items())),
            transport.verify_ssl,
            transport.timeout,
            longest_silence,
        )
        client = self._clients.get(key)
        if client is None or client.is_closed:
            client = self._clients[key] = build_http_client(transport, headers, longest_silence)
        return client

    async def aclose(self) -> None:
        clients = list(self._clients.values())
        self._clients.clear()
        for client in clients:
            await client.aclose()


def names_execution(transport: TransportConfig) -> bool:
    """Whether the server is told which execution calls it, so that no client may be shared."""
    return any(SESSION_ID in value for value in transport.custom_headers.values())


def http_headers(transport: TransportConfig, execution_id: str = "") -> dict[str, str]:
    """The configured headers, without those that would name an execution where there is none."""
    headers = {
        name: text
        for name, value in transport.custom_headers.items()
        if (text := value.replace(SESSION_ID, execution_id).strip())
    }
    if transport.bearer_token:
        headers["Authorization"] = f"Bearer {transport.bearer_token}"
    return headers


def longest_silence(server: ServerConfig) -> float:
    """Seconds without a byte after which a stream is given up: never before the call on it is."""
    said = (server.tool_call_timeout, *server.tool_call_timeouts.values())
    longest = max((call.total_seconds() + STREAM_GRACE for call in said if call), default=0.0)
    return max(STREAM_READ_TIMEOUT, longest)


def build_http_client(
    transport: TransportConfig,
    headers: Mapping[str, str],
    longest_silence: float = STREAM_READ_TIMEOUT,
) -> httpx2.AsyncClient:
    """A client that sends `headers` with every request; the caller sees to it that those stay
    within the configured origin, as the SDK's transports do, and closes it."""
    seconds = float(transport.timeout or DEFAULT_HTTP_TIMEOUT)
    return CallingClient(
        # Compressed, a small answer may become any size.
        headers={"Accept-Encoding": "identity", **headers},
        verify=_tls_context() if transport.verify_ssl else False,
        timeout=httpx2.Timeout(seconds, read=max(seconds, longest_silence)),
        limits=httpx2.Limits(max_connections=256, max_keepalive_connections=32),
        event_hooks={"response": [_bound_response, Refusals(headers)]},
    )


@lru_cache(maxsize=1)
def _tls_context() -> ssl.SSLContext:
    return httpx2.create_ssl_context()


async def _bound_response(response: httpx2.Response) -> None:
    """Put a limit between a server's answer and our memory."""
    if response.headers.get("content-encoding", "identity") != "identity":
        raise httpx2.DecodingError("it compressed its answer though it was asked not to")
    inner = response.stream
    if not isinstance(inner, httpx2.AsyncByteStream):
        return
    # What comes with a refusal is read as it is: it need not be a message.
    asked = _asked_by(response.request) if response.is_success else _Asked()
    kind = response.headers.get("content-type", "").lower()
    if kind.startswith("text/event-stream"):
        response.stream = _EventLines(inner, asked)
    else:
        response.stream = _WholeBody(inner, asked)


@dataclass(frozen=True)
class _Asked:
    """The request that is answered; empty where it is none of JSON-RPC."""

    identity: JSON = None
    method: str = ""


def _asked_by(request: httpx2.Request) -> _Asked:
    try:
        message = json.loads(request.content)
    except (ValueError, httpx2.RequestNotRead):
        return _Asked()
    if not isinstance(message, dict):
        return _Asked()
    return _Asked(message.get("id"), str(message.get("method") or ""))


class _WholeBody(httpx2.AsyncByteStream):
    """An answer in one piece, shortened where it is too long to hold."""

    def __init__(self, inner: httpx2.AsyncByteStream, asked: _Asked) -> None:
        self._inner = inner
        self._asked = asked

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = LineCutter(MAX_MESSAGE_BYTES)
        taken = 0
        # A message may be spread over lines here: only the end of the body ends it.
        async for data in self._inner:
            for _ in lines.feed(data.replace(b"\n", b" ")):
                pass
            taken += len(data)
            if taken > MAX_BODY_BYTES:
                break
        line = lines.finish()
        if line is None:
            return
        if line.is_whole and not line.head.lstrip().startswith((b"{", b"[")):
            yield line.head
            return
        text = read_line(line, self._asked.identity) or ""
        yield _make_readable(text, self._asked).encode("utf-8", "replace")

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


class _EventLines(httpx2.AsyncByteStream):
    """A stream of events, bounded, without those that are no messages."""

    def __init__(self, inner: httpx2.AsyncByteStream, asked: _Asked) -> None:
        self._inner = inner
        self._asked = asked

    @override
    async def __aiter__(self) -> AsyncIterator[bytes]:
        lines = LineCutter(MAX_EVENT_BYTES)
        event: list[Line] = []
        taken = 0
        async for data in self._inner:
            taken += len(data)
            if taken > MAX_STREAM_BYTES:
                raise httpx2.ReadError(f"the server sent more than {MAX_STREAM_BYTES} bytes")
            for line in lines.feed(data):
                if line.total > 1 and len(event) < MAX_EVENT_LINES:
                    event.append(line)
                    continue
                yield write_event([*event, line], self._asked)
                event.clear()
        if (rest := lines.finish()) is not None:
            event.append(rest)
        if event:
            yield write_event(event, self._asked)

    @override
    async def aclose(self) -> None:
        await self._inner.aclose()


def write_event(lines: Sequence[Line], asked: _Asked) -> bytes:
    """The lines of one event again, its message bounded; a message that is none is left out."""
    fields = [line.head.partition(b":")[0] for line in lines]
    is_message = b"event" not in fields or any(
        line.head.partition(b":")[2].strip() == b"message"
        for line, field in zip(lines, fields, strict=True)
        if field == b"event"
    )
    # The text of a message stands on one line; of several, the SDK makes what it can.
    is_judged = is_message and fields.count(b"data") == 1
    written = [
        _write_data(line, asked) if is_judged and field == b"data" else line.head
        for line, field in zip(lines, fields, strict=True)
        if line.is_whole or is_judged
    ]
    return b"".join(text + b"\n" for text in written)


def _write_data(line: Line, asked: _Asked) -> bytes:
    value = line.head.partition(b":")[2]
    if not value.strip() and line.is_whole:
        return line.head  # An empty message primes the stream: its id is what counts.
    taken = len(line.head) - len(value)
    text = read_line(Line(value, line.tail, line.total - taken), asked.identity)
    if text is None or _answers_another(text, asked.identity):
        return b": left out"
    return b"data: " + _make_readable(text, asked).encode("utf-8", "replace")


def _make_readable(text: str, asked: _Asked) -> str:
    """A message in the place of one that is odd around its result; a long one is not read twice."""
    return repair_message(text, asked.method) if len(text) <= MAX_JUDGED_CHARACTERS else text


def _answers_another(text: str, identity: JSON) -> bool:
    """Whether a message on the stream of one request is the answer to another one."""
    if identity is None or len(text) > MAX_JUDGED_CHARACTERS:
        return False
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not isinstance(message, dict) or "method" in message:
        return False
    answered = message.get("id")
    if answered is None:
        return "result" in message  # Only an error may answer something that could not be read.
    return str(answered) != str(identity)

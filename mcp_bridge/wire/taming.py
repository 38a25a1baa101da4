"""Makes of what servers really send what the SDK can read, and notices what it does not tell.

The SDK gives up a whole listing for one odd tool, and a whole result for one odd block. An
investigation is better served by the rest.
"""

from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from anyio import BrokenResourceError, ClosedResourceError
from mcp.client._transport import ReadStream, WriteStream
from mcp.shared.message import SessionMessage
from mcp_types import (
    CONNECTION_CLOSED,
    REQUEST_TIMEOUT,
    JSONRPCError,
    JSONRPCNotification,
    JSONRPCRequest,
    JSONRPCResponse,
)
from mcp_types.version import (
    KNOWN_PROTOCOL_VERSIONS,
    LATEST_HANDSHAKE_VERSION,
    LATEST_MODERN_VERSION,
)

from agents.types import JSON
from mcp_bridge.wire.attempts import current_attempt
from mcp_bridge.wire.opening_repairs import repair_opening
from mcp_bridge.wire.result_repairs import repair_call_result
from mcp_bridge.wire.stderr import StderrTail
from mcp_bridge.wire.tool_repairs import repair_listing

_TOOLS_CHANGED = "notifications/tools/list_changed"
_OF_THE_SDK = (CONNECTION_CLOSED, REQUEST_TIMEOUT)
"""Codes by which the SDK tells of a connection, and servers of whatever they like."""
_SAID_BY_SDK = "SSE stream "
_ERROR_OF_A_SERVER = -32010
_MOST_TOLD = 100
_MOST_ASKED = 1_000
"""Requests that are remembered until they are answered; some never are."""


@dataclass
class Wire:
    """What is known of one connection to a server beyond what it answers."""

    stderr: StderrTail = field(default_factory=StderrTail)
    end_reason: str = ""
    """Why we ended it, where it was us."""
    is_ended: bool = False
    tools_changed: bool = False
    """It said that its tools are others now, and nobody has looked since."""
    writes_under_way: int = 0
    """Calls that may change something and have not been answered."""
    protocol_version: str = LATEST_HANDSHAKE_VERSION
    """The revision of MCP by which the SDK reads what comes."""
    asked: dict[str, str] = field(default_factory=dict)
    """The methods of requests that are not answered yet, by their ids."""
    is_noted: bool = False
    """Whether a call tells its attempt that it has left."""
    left_out: list[str] = field(default_factory=list)
    """What of its listings could not be read, in clauses for people; whoever lists takes them."""

    def note_request(self, message: JSONRPCRequest) -> None:
        self.asked[str(message.id)] = message.method
        if len(self.asked) > _MOST_ASKED:
            del self.asked[next(iter(self.asked))]


class TamedStream:
    """A transport's messages, repaired; wraps what the SDK would read directly."""

    def __init__(self, inner: ReadStream[SessionMessage | Exception], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire

    @property
    def last_context(self) -> object:
        """The sender's context, which the SDK asks for where a stream carries it."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return self._tame(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return self._tame(await self._inner.__anext__())
        except StopAsyncIteration:
            self._wire.is_ended = True
            raise

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        self._wire.is_ended = True
        return await self._inner.__aexit__(kind, error, trace)

    def _tame(self, item: SessionMessage | Exception) -> SessionMessage | Exception:
        if isinstance(item, Exception):
            return item
        message = item.message
        if isinstance(message, JSONRPCNotification) and message.method == _TOOLS_CHANGED:
            self._wire.tools_changed = True
        if isinstance(message, JSONRPCError):
            self._wire.asked.pop(str(message.id), "")
            if message.error.code in _OF_THE_SDK:
                _tell_apart(message)
        if isinstance(message, JSONRPCResponse):
            self._repair(self._wire.asked.pop(str(message.id), ""), message.result)
        return item

    def _repair(self, method: str, result: dict[str, JSON]) -> None:
        wire = self._wire
        match method:
            case "initialize":
                repair_opening(result)
                agreed = result.get("protocolVersion")
                if isinstance(agreed, str) and agreed in KNOWN_PROTOCOL_VERSIONS:
                    wire.protocol_version = agreed
            case "server/discover":
                wire.protocol_version = LATEST_MODERN_VERSION
            case "tools/list":
                wire.left_out += repair_listing(result, wire.protocol_version)
                del wire.left_out[:-_MOST_TOLD]
            case "tools/call":
                repair_call_result(result, wire.protocol_version)


def _tell_apart(message: JSONRPCError) -> None:
    """Give an error of a server another code than that of a connection that broke."""
    if not message.error.message.startswith(_SAID_BY_SDK):
        message.error.code = _ERROR_OF_A_SERVER


class NotedStream:
    """What is sent to a server; the wire remembers what was asked, and a call whether it left."""

    def __init__(self, inner: WriteStream[SessionMessage], wire: Wire) -> None:
        self._inner = inner
        self._wire = wire
        wire.is_noted = True

    async def send(self, item: SessionMessage, /) -> None:
        if not isinstance(item.message, JSONRPCRequest):
            await self._inner.send(item)
            return
        self._wire.note_request(item.message)
        attempt = current_attempt() if item.message.method == "tools/call" else None
        if attempt is None:
            await self._inner.send(item)
            return
        # Cut short in between, it may have been handed over.
        attempt.has_left = True
        attempt.rounds += 1
        try:
            await self._inner.send(item)
        except (BrokenResourceError, ClosedResourceError):
            attempt.has_left = attempt.rounds > 1
            raise

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        return await self._inner.__aexit__(kind, error, trace)

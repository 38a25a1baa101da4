"""One place that turns whatever a tool server's connection raises into a sentence."""

from collections.abc import Iterator

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT
from pydantic import ValidationError

from mcp_bridge.wire.reasons import spell_data
from mcp_bridge.wire.refusals import HTTPRefusal, find_system_reason

# The SDK raises RuntimeError for results that contradict a tool's output schema, and ValueError
# for parameters that cannot start a process.
SERVER_FAILURES = (
    MCPError,
    ValidationError,
    httpx2.HTTPError,
    OSError,
    RuntimeError,
    ValueError,
    TimeoutError,
    # Not its base: a group that holds a cancellation must go on cancelling.
    ExceptionGroup,
)


class ServerUnavailable(Exception):
    """A tool server could not be started or reached. The text says why."""


def flatten(error: BaseException) -> Iterator[BaseException]:
    """The leaves of an exception, whatever groups it arrived in."""
    if isinstance(error, BaseExceptionGroup):
        for inner in error.exceptions:
            yield from flatten(inner)
        return
    yield error


def describe_failure(error: BaseException) -> str:
    """Say in one sentence what went wrong, without the type's inner name where a text exists.

    It is as long as what a server says: whoever shows it masks it first and cuts it then.
    """
    sentences: list[str] = []
    for leaf in flatten(error):
        sentence = _describe_leaf(leaf)
        if sentence not in sentences:
            sentences.append(sentence)
    return "; ".join(sentences)


def is_connection_lost(error: BaseException) -> bool:
    """Whether the connection, rather than the call, is what failed."""
    return any(_breaks_connection(leaf) for leaf in flatten(error))


def is_timeout(error: BaseException) -> bool:
    """Whether time ran out rather than something breaking."""
    return any(
        isinstance(leaf, TimeoutError | httpx2.TimeoutException)
        or (isinstance(leaf, MCPError) and leaf.code == REQUEST_TIMEOUT)
        for leaf in flatten(error)
    )


def describe_status(status: int, reason: str) -> str:
    """An HTTP status, and what the server said with it."""
    told = f"the server answered with HTTP status {status}"
    return f"{told}: {reason}" if reason else told


def is_unreadable(error: MCPError) -> bool:
    """Whether the SDK could not read an answer: a server cannot say that of its own."""
    return error.code == PARSE_ERROR and error.message.startswith("Failed to parse")


def _describe_leaf(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no program or file {str(error.filename)!r}"
    if isinstance(error, PermissionError) and error.filename:
        return f"{str(error.filename)!r} may not be used: permission denied"
    if isinstance(error, ValidationError):
        return f"the server answered with something that is no valid MCP result ({error.title})"
    if isinstance(error, httpx2.HTTPStatusError):
        reason = error.reason if isinstance(error, HTTPRefusal) else ""
        return describe_status(error.response.status_code, reason)
    if isinstance(error, httpx2.ConnectError):
        return f"nothing answers at its address{find_system_reason(error)}"
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return "it did not answer in time"
    if isinstance(error, MCPError):
        return _describe_mcp_error(error)
    text = str(error).strip()
    return text or type(error).__name__


def _describe_mcp_error(error: MCPError) -> str:
    if error.code == CONNECTION_CLOSED:
        return "it closed the connection"
    if is_unreadable(error):
        return "the server answered with something that is no valid MCP message"
    return spell_data(error.message, error.data) or f"error {error.code}"


def _breaks_connection(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return error.code == CONNECTION_CLOSED
    if isinstance(error, TimeoutError):
        return False
    return isinstance(error, httpx2.TransportError | ConnectionError | EOFError)

"""One place that turns whatever a tool server's connection raises into a sentence."""

from collections.abc import Iterator

import httpx2
from mcp import MCPError
from mcp_types import CONNECTION_CLOSED, PARSE_ERROR, REQUEST_TIMEOUT
from pydantic import ValidationError

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


class CallNotSent(Exception):
    """A call was not made, so it had no effect. The text says why."""


class ConnectionLost(Exception):
    """The connection broke while a call was under way or before it was sent."""


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


def _describe_leaf(error: BaseException) -> str:
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no program or file {str(error.filename)!r}"
    if isinstance(error, PermissionError) and error.filename:
        return f"{str(error.filename)!r} may not be used: permission denied"
    if isinstance(error, ValidationError):
        return f"the server answered with something that is no valid MCP result ({error.title})"
    if isinstance(error, httpx2.HTTPStatusError):
        return f"the server answered with HTTP status {error.response.status_code}"
    if isinstance(error, httpx2.ConnectError):
        return "nothing answers at its address"
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return "it did not answer in time"
    if isinstance(error, MCPError) and error.code == CONNECTION_CLOSED:
        return "it closed the connection"
    if isinstance(error, MCPError) and error.code == PARSE_ERROR:
        return "the server answered with something that is no valid MCP message"
    text = str(error).strip()
    return text or type(error).__name__


def _breaks_connection(error: BaseException) -> bool:
    if isinstance(error, MCPError):
        return error.code == CONNECTION_CLOSED
    if isinstance(error, TimeoutError):
        return False
    return isinstance(error, ConnectionLost | httpx2.TransportError | ConnectionError | EOFError)


def is_timeout(error: BaseException) -> bool:
    """Whether time ran out rather than something breaking."""
    return any(
        isinstance(leaf, TimeoutError | httpx2.TimeoutException)
        or (isinstance(leaf, MCPError) and leaf.code == REQUEST_TIMEOUT)
        for leaf in flatten(error)
    )

"""Speaks with a tool server that is a child process, over its standard input and output.

The child is in a process group of its own. It ends with us however we end: closing the toolbox ends
the whole group, and a watchman, a shell that leads the group and waits for our death, does so if we
are killed, even while the child is being started.
"""

import asyncio
import contextlib
import json
import logging
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client._transport import TransportStreams
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from mcp_bridge.wire.cutting import MAX_UNASKED_BYTES, LineCutter, read_line
from mcp_bridge.wire.message_repairs import is_message, repair_message
from mcp_bridge.wire.taming import Wire

logger = logging.getLogger(__name__)

READ_BYTES = 65_536
END_GRACE = 2.0
POLL_INTERVAL = 0.01
FLUSH_GRACE = 0.5
# Its input closed means that we are gone. What ends the server politely is not meant for it.
_WATCH = "trap '' HUP INT TERM; read -r _ || kill -9 0"

_Incoming = MemoryObjectSendStream[SessionMessage | Exception]
_Outgoing = MemoryObjectReceiveStream[SessionMessage]


@asynccontextmanager
async def open_child(
    command: str, arguments: Sequence[str], environment: Mapping[str, str], wire: Wire
) -> AsyncIterator[TransportStreams]:
    """Start a server and yield its messages, both ways. It and its children are gone afterwards.

    Raises OSError when it cannot be started, ValueError when its command line is none.
    """
    async with wire.stderr.open() as stderr, _watched_group() as group:
        process = await asyncio.create_subprocess_exec(
            command, *arguments, env=dict(environment), stdin=PIPE, stdout=PIPE, stderr=stderr,
            process_group=group, limit=READ_BYTES,
        )  # fmt: skip
        with _handle_of(process.pid) as handle:
            child = _Child(process, group or process.pid, handle)
            try:
                async with _messages(child, wire) as streams:
                    yield streams
            finally:
                child.signal(signal.SIGKILL)
                with anyio.CancelScope(shield=True):
                    await _has_ended(process)
                _let_go(process)


@dataclass(frozen=True)
class _Child:
    process: Process
    group: int
    handle: int | None

    def signal(self, number: signal.Signals) -> None:
        """To the server and all that it started and that did not leave its group."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.group, number)
        with contextlib.suppress(ProcessLookupError, PermissionError):  # to one that left the group
            if self.handle is not None:
                signal.pidfd_send_signal(self.handle, number)
            else:
                self.process.send_signal(number)


@contextlib.contextmanager
def _handle_of(pid: int) -> Iterator[int | None]:
    """What a signal is sent by that no other process can get; None where the system has no such.

    `Process.send_signal` looks first whether the process has ended and so takes the exit code away
    from the loop, which logs then that it does not know this child.
    """
    try:
        handle = os.pidfd_open(pid)
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield handle
    finally:
        os.close(handle)


@asynccontextmanager
async def _messages(child: _Child, wire: Wire) -> AsyncIterator[TransportStreams]:
    incoming, read_stream = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    write_stream, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    allowance = _Allowance(wire)
    async with anyio.create_task_group() as group:
        written = anyio.Event()
        group.start_soon(_read, child, incoming, allowance, wire.asked)
        group.start_soon(_write, child.process, outgoing, incoming, allowance, written)
        try:
            yield read_stream, write_stream
        finally:
            with anyio.CancelScope(shield=True):
                read_stream.close()
                write_stream.close()
                with anyio.move_on_after(FLUSH_GRACE):
                    await written.wait()
                await _end(child)
            group.cancel_scope.cancel()
    for stream in (incoming, read_stream, write_stream, outgoing):
        stream.close()


class _Allowance:
    """How much a server may still say. Every request we send gives it the full amount again."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._left = MAX_UNASKED_BYTES

    def renew(self) -> None:
        self._left = MAX_UNASKED_BYTES

    def spend(self, count: int) -> bool:
        """Whether it may go on."""
        self._left -= count
        if self._left > 0:
            return True
        self._wire.end_reason = f"it sent more than {MAX_UNASKED_BYTES} bytes at one request"
        return False


async def _read(
    child: _Child, incoming: _Incoming, allowance: _Allowance, asked: Mapping[str, str]
) -> None:
    """Hand on the server's messages until it ends, says too much, or nobody listens."""
    process = child.process
    assert process.stdout is not None
    lines = LineCutter()
    with contextlib.suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
        async with incoming:
            while data := await process.stdout.read(READ_BYTES):
                for line in lines.feed(data):
                    for message in parse_messages(read_line(line), asked):
                        await incoming.send(message)
                if not allowance.spend(len(data)):
                    child.signal(signal.SIGKILL)
    # A server that still writes must be able to finish, or it could not read that it should end.
    while process.returncode is None and await process.stdout.read(READ_BYTES):
        pass


def parse_messages(text: str | None, asked: Mapping[str, str]) -> Iterator[SessionMessage]:
    """The messages on a line: one, several in a batch, or none at all.

    Servers print banners and logs where only messages belong. `asked` are the methods of the
    requests that wait for an answer, by their ids.
    """
    if text is None:
        return
    try:
        items = [json.dumps(item) for item in json.loads(text)] if text[0] == "[" else [text]
    except (ValueError, RecursionError):
        return
    for item in items:
        item = item if is_message(item) else repair_message(item, asked.get(_find_id(item), ""))
        try:
            yield SessionMessage(jsonrpc_message_adapter.validate_json(item, by_name=False))
        except (ValueError, RecursionError):
            logger.debug("a line of a tool server is no message")


def _find_id(text: str) -> str:
    try:
        message = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(message.get("id", "")) if isinstance(message, dict) else ""


async def _write(
    process: Process,
    outgoing: _Outgoing,
    incoming: _Incoming,
    allowance: _Allowance,
    written: anyio.Event,
) -> None:
    assert process.stdin is not None
    try:
        async with outgoing:
            async for item in outgoing:
                text = item.message.model_dump_json(by_alias=True, exclude_unset=True)
                allowance.renew()
                process.stdin.write(text.encode("utf-8", "replace") + b"\n")
                await process.stdin.drain()
    except OSError:
        # It reads no more; whoever waits for an answer must hear of it.
        await incoming.aclose()
    finally:
        written.set()


async def _end(child: _Child) -> None:
    """Ask the server to end by closing its input, then by signal, then make it."""
    process = child.process
    close_input(process)
    if await _has_ended(process):
        return
    child.signal(signal.SIGTERM)
    if await _has_ended(process):
        return
    child.signal(signal.SIGKILL)
    if not await _has_ended(process):
        logger.warning("a tool server cannot be killed; its process is %d", process.pid)


async def _has_ended(process: Process) -> bool:
    # Not `wait`: that waits for its pipes too, which a grandchild may hold open.
    deadline = anyio.current_time() + END_GRACE
    while process.returncode is None:
        if anyio.current_time() >= deadline:
            return False
        await anyio.sleep(POLL_INTERVAL)
    return True


def _let_go(process: Process) -> None:
    # A grandchild that left the group may hold the pipes open for ever; nothing public closes them.
    transport = getattr(process, "_transport", None)
    if transport is not None:
        with contextlib.suppress(PermissionError):
            transport.close()


@asynccontextmanager
async def _watched_group() -> AsyncIterator[int]:
    """A process group that is killed if we die while this is open.

    It is there before the child is, so no moment is left in which nobody watches. 0, which asks
    for a new group, where there is no shell to watch.
    """
    try:
        watchman = await asyncio.create_subprocess_exec(
            "/bin/sh", "-c", _WATCH,
            stdin=PIPE, stdout=DEVNULL, stderr=DEVNULL, env={}, process_group=0,
        )  # fmt: skip
    except OSError:
        logger.warning("no shell to watch over a tool server: it may outlive this process")
        yield 0
        return
    try:
        yield watchman.pid
    finally:
        with anyio.CancelScope(shield=True):
            assert watchman.stdin is not None
            with contextlib.suppress(OSError):
                watchman.stdin.write(b"\n")
            close_input(watchman)
            await watchman.wait()


def close_input(process: Process) -> None:
    """Close what we write to. That nobody reads there any more is no news to anybody, and some
    versions of Python log it with a traceback unless somebody has asked."""
    assert process.stdin is not None
    process.stdin.close()
    asyncio.ensure_future(process.stdin.wait_closed()).add_done_callback(_note_closed)


def _note_closed(closed: asyncio.Future[None]) -> None:
    if not closed.cancelled():
        closed.exception()

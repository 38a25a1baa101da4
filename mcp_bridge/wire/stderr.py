"""Keeps the last lines a child wrote to its error stream: they often say why it did not start."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from typing_extensions import override

from mcp_bridge.visible_text import clean_line

STDERR_TAIL_BYTES = 4096


class StderrTail:
    def __init__(self) -> None:
        self._tail = b""

    @property
    def text(self) -> str:
        return clean_line(self._tail.decode("utf-8", "replace"), 300)

    @asynccontextmanager
    async def open(self) -> AsyncIterator[int]:
        """Yield the descriptor a child may write to."""
        reading, writing = os.pipe()
        transport: asyncio.ReadTransport | None = None
        try:
            pipe = os.fdopen(reading, "rb", buffering=0)
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: _TailReader(self), pipe
            )
            yield writing
        finally:
            os.close(writing)
            if transport is not None:
                transport.close()

    def add(self, data: bytes) -> None:
        self._tail = (self._tail + data)[-STDERR_TAIL_BYTES:]


class _TailReader(asyncio.Protocol):
    def __init__(self, tail: StderrTail) -> None:
        self._tail = tail

    @override
    def data_received(self, data: bytes) -> None:
        self._tail.add(data)

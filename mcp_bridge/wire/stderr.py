"""Keeps the last lines a child wrote to its error stream: they often say why it did not start."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from typing_extensions import override

from masking.visible_text import clean_text

STDERR_TAIL_BYTES = 4096


class StderrTail:
    def __init__(self) -> None:
        self._tail = b""
        self._is_cut = False

    @property
    def text(self) -> str:
        """The last lines, whole: the rest of one that was cut may be the half of a secret."""
        tail = self._tail
        if self._is_cut:
            tail = tail.partition(b"\n")[2]
        return clean_text(tail.decode("utf-8", "replace")).strip()

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
        said = self._tail + data
        self._is_cut = self._is_cut or len(said) > STDERR_TAIL_BYTES
        self._tail = said[-STDERR_TAIL_BYTES:]


class _TailReader(asyncio.Protocol):
    def __init__(self, tail: StderrTail) -> None:
        self._tail = tail

    @override
    def data_received(self, data: bytes) -> None:
        self._tail.add(data)

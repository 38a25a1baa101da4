"""Shows an answer while it streams: blocks opened when their text begins, deltas coalesced."""

import asyncio
from collections.abc import Callable
from typing import Literal, Protocol

from agents.ports import Journal
from agents.records import ClosedBlock
from agents.types import BlockKind

PUBLISH_EVERY = 0.1
"""Seconds between two deltas of one block; faster than eyes follow, slow enough for a browser."""

BlockStatus = Literal["completed", "failed", "cancelled", "timed_out"]
ShowDelta = Callable[[int, str], None]


class Coalescer:
    """Joins the deltas of one block so that at most one is shown per 100 ms.

    The first is shown at once. Offsets count characters (code points).
    """

    def __init__(self, show: ShowDelta, *, interval: float = PUBLISH_EVERY) -> None:
        self._show = show
        self._interval = interval
        self._waiting: list[str] = []
        self._shown = 0
        self._timer: asyncio.TimerHandle | None = None
        self._next_at = 0.0
        self._error: Exception | None = None

    def add(self, text: str) -> None:
        self._raise_error()
        self._waiting.append(text)
        if self._timer is not None:
            return
        loop = asyncio.get_running_loop()
        if loop.time() >= self._next_at:
            self._flush(loop)
            return
        self._timer = loop.call_at(self._next_at, self._flush_from_timer, loop)

    def finish(self) -> None:
        """Show what is left; nothing may be added after."""
        self.discard()
        self._raise_error()
        if self._waiting:
            self._flush(asyncio.get_running_loop())

    def discard(self) -> None:
        """Stop showing."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _flush_from_timer(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        try:
            self._flush(loop)
        except Exception as error:
            # A timer has no caller; whoever adds next gets the error.
            self._error = error

    def _flush(self, loop: asyncio.AbstractEventLoop) -> None:
        delta = "".join(self._waiting)
        self._waiting.clear()
        offset = self._shown
        self._shown += len(delta)
        self._next_at = loop.time() + self._interval
        self._show(offset, delta)

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error


class Blocks(Protocol):
    """Where the text of a model call is shown."""

    async def add(self, kind: BlockKind, text: str) -> None: ...

    def finish(self) -> None: ...

    def discard(self) -> None: ...

    def close(
        self, response: str, thinking: str, *, status: BlockStatus, is_final: bool
    ) -> tuple[ClosedBlock, ...]: ...


class _StreamedBlock:
    def __init__(self, block_id: str, journal: Journal) -> None:
        self.block_id = block_id
        self._journal = journal
        self._coalescer = Coalescer(
            lambda offset, delta: journal.extend_block(block_id, offset, delta)
        )

    def add(self, text: str) -> None:
        self._coalescer.add(text)

    def finish(self) -> None:
        self._coalescer.finish()

    def end(self) -> None:
        """Nothing follows: what is held back until more comes can be shown."""
        self._coalescer.finish()
        self._journal.end_block(self.block_id)

    def discard(self) -> None:
        self._coalescer.discard()


class AnswerBlocks:
    """The blocks of one model call: at most one of thinking and one of response."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._blocks: dict[BlockKind, _StreamedBlock] = {}
        self._blank: dict[BlockKind, str] = {}

    async def add(self, kind: BlockKind, text: str) -> None:
        """Show more text. Blank text opens no block: models like to put some before calls."""
        block = self._blocks.get(kind)
        if block is None:
            text = self._blank.pop(kind, "") + text
            if not text.strip():
                self._blank[kind] = text
                return
            if (thinking := self._blocks.get("llm_thinking")) is not None:
                thinking.end()
            block = _StreamedBlock(await self._journal.open_block(kind), self._journal)
            self._blocks[kind] = block
        block.add(text)

    def finish(self) -> None:
        for block in self._blocks.values():
            block.finish()

    def discard(self) -> None:
        for block in self._blocks.values():
            block.discard()

    def close(
        self, response: str, thinking: str, *, status: BlockStatus, is_final: bool
    ) -> tuple[ClosedBlock, ...]:
        """The blocks that were opened, with the texts that stand in the end."""
        return tuple(
            ClosedBlock(
                block_id=block.block_id,
                kind=kind,
                content=response if kind == "llm_response" else thinking,
                status=status,
                is_final=is_final and kind == "llm_response",
            )
            for kind, block in self._blocks.items()
        )


class SummaryBlock:
    """The block of one summary, open already. What the model thinks meanwhile is not shown."""

    def __init__(self, block_id: str, journal: Journal) -> None:
        self._block = _StreamedBlock(block_id, journal)

    async def add(self, kind: BlockKind, text: str) -> None:
        if kind == "llm_response":
            self._block.add(text)

    def finish(self) -> None:
        self._block.finish()

    def discard(self) -> None:
        self._block.discard()

    def close(
        self, response: str, thinking: str, *, status: BlockStatus, is_final: bool
    ) -> tuple[ClosedBlock, ...]:
        """Nothing: who opened the summary closes it."""
        return ()

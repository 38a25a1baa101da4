"""Texts that are being written, rendered as they grow: once in a process, for all its sockets."""

import asyncio
import logging
import uuid
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from investigations.rendering.written_blocks import LONGEST_OPEN, WrittenBlock, render_blocks
from investigations.stream.stored_reads import in_thread
from investigations.stream_messages import Payload

logger = logging.getLogger(__name__)

DRAW_EVERY = 0.25
"""Seconds between two renderings of one text. What comes between them is shown as it is."""
_MOST_TEXTS = 300
_MOST_DRAWN = 600

ReadText = Callable[[uuid.UUID], str | None]
"""What of a text was written so far; None where it is no Markdown."""


@dataclass
class _Text:
    """`tail` is what is still open, behind `before` characters and `closed` blocks."""

    tail: str
    before: int = 0
    closed: int = 0
    drawn_at: float = 0.0
    is_being_drawn: bool = False

    def extend(self, offset: int, delta: str) -> bool:
        """Whether the piece goes on where the text ends, or repeats some of it."""
        end = self.before + len(self.tail)
        if offset > end:
            return False
        self.tail += delta[max(0, end - offset) :]
        return True

    def close(self, blocks: list[WrittenBlock]) -> Payload | None:
        """Take in the blocks of the tail, which may have grown since."""
        if not blocks:
            return None
        drawn: Payload = {"first": self.closed, "html": [block.html for block in blocks]}
        still_open = max((at for at, block in enumerate(blocks) if block.is_begun), default=0)
        self.before += blocks[still_open].start
        self.tail = self.tail[blocks[still_open].start :]
        self.closed += still_open
        return drawn


class WrittenTexts:
    """What of each text is to be drawn anew."""

    def __init__(self, read: ReadText) -> None:
        self._read = read
        self._texts: OrderedDict[str, asyncio.Future[_Text | None]] = OrderedDict()
        self._drawn: OrderedDict[tuple[str, int], asyncio.Future[Payload | None]] = OrderedDict()

    async def draw(self, chunk: Payload) -> Payload | None:
        """`{"first": 3, "html": [...]}`: the blocks from the fourth on, with this chunk and all
        before it; None where that is not rendered now."""
        key = chunk["event_id"], chunk["offset"]
        if key not in self._drawn:
            self._drawn[key] = asyncio.ensure_future(self._draw(chunk))
            while len(self._drawn) > _MOST_DRAWN:
                self._drawn.popitem(last=False)
        # Whoever asked first may leave; the others still wait.
        return await asyncio.shield(self._drawn[key])

    async def _draw(self, chunk: Payload) -> Payload | None:
        try:
            text = await self._text_of(chunk["event_id"])
            if text is None:
                return None
            if not text.extend(chunk["offset"], chunk["delta"]):
                self._texts.pop(chunk["event_id"], None)
                return None
            now = asyncio.get_running_loop().time()
            is_early = text.is_being_drawn or now - text.drawn_at < DRAW_EVERY
            if is_early or len(text.tail) > LONGEST_OPEN:
                return None
            text.drawn_at, text.is_being_drawn = now, True
            try:
                # As it is now: what comes meanwhile belongs to the next drawing.
                return text.close(await asyncio.to_thread(render_blocks, text.tail))
            finally:
                text.is_being_drawn = False
        except Exception:
            # The words themselves come all the same.
            logger.exception("A text that is being written is not rendered")
            return None

    async def _text_of(self, event_id: str) -> _Text | None:
        if event_id not in self._texts:
            self._texts[event_id] = asyncio.ensure_future(self._begin(event_id))
            while len(self._texts) > _MOST_TEXTS:
                self._texts.popitem(last=False)
        try:
            return await asyncio.shield(self._texts[event_id])
        except Exception:
            # The next chunk asks again.
            self._texts.pop(event_id, None)
            raise

    async def _begin(self, event_id: str) -> _Text | None:
        text = await in_thread(self._read, uuid.UUID(event_id))
        return None if text is None else _Text(text)

"""The blocks of an execution that stream, and what was shown of each."""

import uuid
from dataclasses import dataclass, field

from investigations.models import TimelineEvent
from investigations.services.broken_off import ShownText
from masking import StreamMasker


@dataclass
class OpenBlock:
    """A block that streams. `length` counts the characters that were shown of it."""

    event: TimelineEvent
    masker: StreamMasker
    length: int = 0
    pieces: list[str] = field(default_factory=list)

    def add(self, delta: str) -> tuple[int, str]:
        """What can be shown now, and how many characters were shown before it.

        Masked text has other offsets than the model's own. What is held back at the end of a block
        comes with the finished one.
        """
        return self._show(self.masker.add(delta))

    def end(self) -> tuple[int, str]:
        """The rest, where nothing follows."""
        return self._show(self.masker.finish())

    def _show(self, shown: str) -> tuple[int, str]:
        offset = self.length
        if shown:
            self.pieces.append(shown)
            self.length += len(shown)
        return offset, shown


class OpenBlocks:
    """Those of one execution. Its worker asks what was shown when it ends before they do."""

    def __init__(self) -> None:
        self._blocks: dict[str, OpenBlock] = {}

    def open(self, event: TimelineEvent, masker: StreamMasker) -> str:
        block_id = str(event.pk)
        self._blocks[block_id] = OpenBlock(event, masker)
        return block_id

    def __getitem__(self, block_id: str) -> OpenBlock:
        return self._blocks[block_id]

    def close(self, block_id: str) -> None:
        self._blocks.pop(block_id, None)

    def list_shown(self) -> tuple[ShownText, ...]:
        return tuple(
            ShownText(uuid.UUID(block_id), block.event.event_type, "".join(block.pieces))
            for block_id, block in self._blocks.items()
        )

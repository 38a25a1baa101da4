"""Shows a text that is still being written, masked: soon, and never more than the masked whole."""

import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

import re2

from masking.columns import COLUMN_HEAD
from masking.compiled_rules import to_bytes
from masking.covers import Cover
from masking.foreign_words import in_latin
from masking.pending import find_pending, last_paragraph
from masking.secret_names import NAME_ENDINGS
from masking.sieve import options
from masking.sql_rows import heads_rows
from masking.values_below import prints_secret

logger = logging.getLogger(__name__)

MAX_HELD = 80
"""Characters that wait for what comes behind them: about half a second of a model."""
MAX_WORD = 160
"""Characters of a word that has no end yet."""
MAX_BLOCK = 16_384
"""Characters that are looked at together. What a longer block goes on with is not shown."""
NOT_YET = "[…]"
"""Stands for what may still turn out to be secret."""

# The end of a word: a blank that no backslash continues, and any ideograph or its comma and stop.
_WORD_END = re.compile(
    r"(?<!\\)\s|(?<=\\)[^\S\n]|[\u3000-\u30ff\u3400-\u9fff\uff01-\uff0f\uff1a-\uff20]"
)
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_PEM_EDGE = re.compile(r"----(?:-| )(BEGIN|END) ")
_MAY_BE_KEY = re.compile(r"[A-Za-z0-9+/=]{16}")
MAX_BESIDE_KEY = 3
"""Lines in a row that are none of a key: by then it was only spoken of."""
# A name at the end of a line, with its value below.
_OPENS_BLOCK = re.compile(
    r"(?:[^\s\\]\\|[:|>=(][+-]?[0-9]?|<<[-~]?[ \t]*['\"]?\w+['\"]?|name=\"[^\"\n]*\"|"
    rf"\A[\w.\-]*(?i:{NAME_ENDINGS})|[0-9]\)\s+\"[\w.\-]*(?i:{NAME_ENDINGS})\"|"
    r"(?i:passw\w{0,5}|passphrase|token|secret|key)\s?\?|(?i:authorization\S{0,3}\s(?:bearer|basic|token))|\s--?[\w-]+[\"']?)"
    r"[ \t\r]*\n\Z"
)
_IS_TABLE_HEAD = re2.compile(COLUMN_HEAD.encode(), options())


def opens_block(line: str) -> bool:
    """Whether what a line announces may stand on the lines below."""
    return (
        _OPENS_BLOCK.search(line) is not None
        or _IS_TABLE_HEAD.search(to_bytes(line)) is not None
        or prints_secret(line)
        or heads_rows(line)
    )


class StreamMasker:
    """Takes pieces of a text and gives back what may be shown of it, masked.

    Whole words are shown as they come. They are masked together with all that stands before them in
    their block, which ends at a blank line outside fences and keys, as if the text ended here; so a
    secret whose name came first is known at once. What may become secret by what follows waits: for
    the end of its line or block, at most for `MAX_HELD` characters. Then `NOT_YET` stands in its
    place, and what comes behind it is shown. The finished text, which replaces this one, has all of
    it. Once masking fails, nothing more is shown.
    """

    def __init__(self, cover: Callable[[str], Sequence[Cover]]) -> None:
        self._cover = cover
        self._waiting: list[str] = []
        """What is no whole word yet."""
        self._waiting_size = 0
        self._block = ""
        """The words since the block began."""
        self._line = 0
        """Where its last line begins."""
        self._shown = 0
        """How much of the block was shown, or covered."""
        self._is_marked = False
        """Whether the last that was shown is `NOT_YET`."""
        self._is_in_key = False
        self._beside_key = 0
        self._fences = 0
        self._has_opened = False
        """Whether the line before opened a block: a blank one behind it does not end it."""
        self._is_cut = False
        """Whether the word that has no end yet is too long to wait for."""
        self._is_too_long = False
        """Whether the block is."""
        self._is_over = False

    def add(self, piece: str) -> str:
        """What can be shown now: often less than came, sometimes more."""
        return self._try(lambda: self._add(piece))

    def finish(self) -> str:
        """The rest, now that nothing follows. What is added behind it is not shown."""
        shown = self._try(self._finish)
        self._is_over = True
        return shown

    def _try(self, step: Callable[[], str]) -> str:
        if self._is_over:
            return ""
        try:
            return step()
        except Exception:
            logger.exception("masking a stream failed; the rest of it is not shown")
            self._is_over = True
            return ""

    def _finish(self) -> str:
        if self._is_cut:
            return ""
        shown = "".join(map(self._take, _LINE.findall("".join(self._waiting))))
        self._waiting = []
        return shown + self._show(is_end=True)

    def _add(self, piece: str) -> str:
        # What waits is not read again for every piece of a word that has no end.
        before = self._waiting[-1][-1:] if self._waiting else ""
        found = _WORD_END.finditer(before + piece, len(before))
        ends = [match.end() - len(before) for match in found]
        if not ends:
            return self._wait(piece)
        shown = ""
        if self._is_cut:
            self._block += "".join(self._waiting)
            self._shown = len(self._block)
            text = piece[ends[0] - 1 : ends[-1]]
        else:
            text = "".join((*self._waiting, piece[: ends[-1]]))
        self._waiting, self._waiting_size = [piece[ends[-1] :]], len(piece) - ends[-1]
        self._is_cut = False
        for line in _LINE.findall(text):
            shown += self._take(line)
        return shown + self._show()

    def _wait(self, piece: str) -> str:
        self._waiting_size += len(piece)
        if self._is_cut or self._waiting_size <= MAX_WORD:
            if not self._is_cut:
                self._waiting.append(piece)
            return ""
        self._waiting = ["".join((*self._waiting, piece))[:MAX_WORD]]
        self._is_cut = True
        self._shown = len(self._block)
        return self._mark()

    def _take(self, line: str) -> str:
        """A line, or the beginning of the last one. What can be shown if the block ends here."""
        self._is_too_long = self._is_too_long or len(self._block) + len(line) > MAX_BLOCK
        if self._is_too_long:
            self._block = self._block[self._line :][-MAX_WORD:]
            self._line = 0
        self._block += line
        if not line.endswith("\n"):
            return ""
        has_ended = self._end_line(self._block[self._line :])
        self._line = len(self._block)
        if not has_ended:
            return ""
        shown = self._show(is_end=True)
        self._block, self._line, self._shown = "", 0, 0
        self._is_too_long = False
        return shown

    def _end_line(self, line: str) -> bool:
        """Whether the block ends with this line. Each line is read once, however long the block."""
        if edges := _PEM_EDGE.findall(line):
            self._is_in_key, self._beside_key = edges[-1] == "BEGIN", 0
        elif line.strip():
            self._beside_key = 0 if _MAY_BE_KEY.search(line) else self._beside_key + 1
            self._is_in_key = self._is_in_key and self._beside_key < MAX_BESIDE_KEY
        is_fence = _FENCE.match(line) is not None
        self._fences += is_fence
        has_opened, self._has_opened = self._has_opened, opens_block(line)
        if self._is_in_key or self._fences % 2 == 1:
            return False
        return is_fence or (not line.strip() and not has_opened)

    def _show(self, *, is_end: bool = False) -> str:
        """What of the block can be shown now, and was not."""
        block = self._block
        if self._is_too_long:
            self._shown = len(block)
            return self._mark() + ("\n" if is_end else "")
        covers = self._cover_block()
        pending = [] if is_end else find_pending(in_latin(block), self._line)
        pieces: list[str] = []
        edges = sorted(
            [(cover.start, cover.end, cover.wording) for cover in covers]
            + [(start, end, "") for start, end in pending],
        )
        for start, end, wording in edges:
            if end <= self._shown:
                continue
            pieces.append(self._reveal(start))
            if wording:
                pieces.append(wording if start >= self._shown else "")
                self._is_marked = False
            elif len(block) - start <= MAX_HELD and not self._is_in_key:
                return "".join(pieces)
            else:
                pieces.append(self._mark())
            self._shown = max(self._shown, end)
        pieces.append(self._reveal(len(block)))
        return "".join(pieces)

    def _cover_block(self) -> list[Cover]:
        """What the block and its last paragraph, which may be a document of its own, say."""
        start = last_paragraph(self._block)
        covers = list(self._cover(self._block))
        if start > 1:
            covers += (
                replace(cover, start=cover.start + start, end=cover.end + start)
                for cover in self._cover(self._block[start:])
            )
        return covers

    def _reveal(self, end: int) -> str:
        if end <= self._shown:
            return ""
        text = self._block[self._shown : end]
        self._shown = end
        self._is_marked = self._is_marked and not text.strip()
        return text

    def _mark(self) -> str:
        if self._is_marked:
            return ""
        self._is_marked = True
        return NOT_YET

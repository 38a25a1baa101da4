"""JSON laid out for reading: the same characters with other blanks between them, so that a place of
the text is a place of what is shown."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from investigations.models.foreign_json import MAX_INDENTED, read_json

MOST_LAID_OUT = 256 * 1024
"""Characters of a text that is laid out; a longer one is shown as it is."""
_STEP = "  "
_IN_LINE = 72
"""Characters of an object or a list of nothing but single values that stands in one line."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', re.DOTALL)
_OPENING, _CLOSING = frozenset("{["), frozenset("}]")


@dataclass(frozen=True)
class LaidOut:
    """`starts` are where the tokens begin in the text, `places` where they do here."""

    text: str
    starts: Sequence[int]
    places: Sequence[int]

    def find(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of the text stands here, without the blanks around it."""
        return self._place(start), max(self._place(start), self._place(end - 1) + 1)

    def _place(self, position: int) -> int:
        number = max(0, bisect_right(self.starts, position) - 1)
        following = self.places[number + 1] if number + 1 < len(self.places) else len(self.text)
        return min(self.places[number] + max(0, position - self.starts[number]), following - 1)


def lay_out(text: str) -> LaidOut | None:
    """None for what is no object or list of JSON, cannot be shown as one, or grows too long."""
    if len(text) > MOST_LAID_OUT or text.lstrip()[:1] not in _OPENING:
        return None
    try:
        read_json(text)
    except ValueError:
        return None
    tokens = [(found.start(), found[0]) for found in _TOKEN.finditer(text)]
    pieces: list[str] = []
    places: list[int] = []
    length = 0
    for blank, (_, token) in zip(_blanks(tokens), tokens, strict=True):
        pieces += (blank, token)
        places.append(length + len(blank))
        length += len(blank) + len(token)
        if length > MAX_INDENTED:
            return None
    return LaidOut("".join(pieces), [start for start, _ in tokens], places)


def _blanks(tokens: Sequence[tuple[int, str]]) -> Iterator[str]:
    """What stands before each token."""
    flat = _find_flat(tokens)
    open_ones: list[bool] = []  # whether each stands in one line
    before = ""
    for number, (_, token) in enumerate(tokens):
        is_flat = bool(open_ones) and open_ones[-1]
        if token in _CLOSING:
            open_ones.pop()
        line = f"\n{_STEP * len(open_ones)}"
        if before == ":":
            yield " "
        elif token in _CLOSING:
            yield "" if before in _OPENING or is_flat else line
        elif before == ",":
            yield " " if is_flat else line
        elif before in _OPENING and not is_flat:
            yield line
        else:
            yield ""
        if token in _OPENING:
            open_ones.append(number in flat)
        before = token


def _find_flat(tokens: Sequence[tuple[int, str]]) -> frozenset[int]:
    """The brackets that open what stands in one line."""
    flat: set[int] = set()
    opened = -1
    width = 0
    for number, (_, token) in enumerate(tokens):
        if token in _OPENING:
            opened, width = number, 0
        elif token in _CLOSING:
            if opened >= 0 and width <= _IN_LINE:
                flat.add(opened)
            opened = -1
        width += len(token) + (token in (",", ":"))
    return frozenset(flat)

"""Two texts side by side, line by line, as a person reads a change."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from difflib import SequenceMatcher
from typing import Literal

from agents.types import JSON

CONTEXT = 3
MAX_ROWS = 5_000
_MAX_PRODUCT = 1_000_000
"""Of lines before and after. Finding what moved among more of them takes too long."""
NO_NEWLINE = "no newline at the end"

RowKind = Literal["same", "del", "add", "gap"]


@dataclass(frozen=True)
class Row:
    """One line. `old` and `new` are its numbers, None where it is not. `note` is our own word."""

    kind: RowKind
    text: str
    old: int | None = None
    new: int | None = None
    note: str = ""

    def to_json(self) -> dict[str, JSON]:
        return asdict(self)


@dataclass(frozen=True)
class Diff:
    """`left_out` lines of the change are in no row; `added` and `removed` count all of them."""

    rows: tuple[Row, ...]
    added: int
    removed: int
    left_out: int = 0

    def to_json(self) -> dict[str, JSON]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "added": self.added,
            "removed": self.removed,
            "left_out": self.left_out,
        }


def diff_texts(before: str, after: str, first_line: int = 1) -> Diff:
    """What changes, with a few lines around it. Only a line feed ends a line; whatever else there
    is at the end of one is part of it."""
    old, new = _lines(before), _lines(after)
    rows = list(_rows(old, new, first_line))
    return Diff(
        rows=tuple(rows[:MAX_ROWS]),
        added=sum(row.kind == "add" for row in rows),
        removed=sum(row.kind == "del" for row in rows),
        left_out=sum(row.kind in ("add", "del") for row in rows[MAX_ROWS:]),
    )


def _lines(text: str) -> list[str]:
    """Each with its line feed."""
    parts = text.split("\n")
    whole = [f"{part}\n" for part in parts[:-1]]
    return [*whole, parts[-1]] if parts[-1] else whole


def _rows(old: Sequence[str], new: Sequence[str], first: int) -> Iterator[Row]:
    changes = [each for each in _opcodes(old, new) if each[0] != "equal"]
    at_old = at_new = 0
    for position, (_, old_start, old_end, new_start, new_end) in enumerate(changes):
        if old_start - at_old > (2 * CONTEXT if position else CONTEXT):
            yield from _same(old, at_old, at_old + (CONTEXT if position else 0), at_new, first)
            yield Row("gap", "")
            at_old, at_new = old_start - CONTEXT, new_start - CONTEXT
        yield from _same(old, at_old, old_start, at_new, first)
        for number in range(old_start, old_end):
            yield _row("del", old[number], old=first + number)
        for number in range(new_start, new_end):
            yield _row("add", new[number], new=first + number)
        at_old, at_new = old_end, new_end
    if changes:
        yield from _same(old, at_old, min(len(old), at_old + CONTEXT), at_new, first)
        if at_old + CONTEXT < len(old):
            yield Row("gap", "")


def _same(old: Sequence[str], start: int, end: int, new_start: int, first: int) -> Iterator[Row]:
    for number in range(start, end):
        yield _row("same", old[number], old=first + number, new=first + new_start + number - start)


def _row(kind: RowKind, line: str, *, old: int | None = None, new: int | None = None) -> Row:
    text = line.removesuffix("\n")
    return Row(kind, text, old, new, note="" if text != line else NO_NEWLINE)


def _opcodes(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """How one becomes the other. What they begin and end with alike is not searched."""
    head = _count_common(old, new)
    tail = _count_common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    middle_old, middle_new = old[head:old_end], new[head:new_end]
    if len(middle_old) * len(middle_new) > _MAX_PRODUCT:
        yield "replace", head, old_end, head, new_end
        return
    matcher = SequenceMatcher(None, middle_old, middle_new)
    for tag, a, b, c, d in matcher.get_opcodes():
        yield tag, a + head, b + head, c + head, d + head


def _count_common(one: Sequence[str], other: Sequence[str]) -> int:
    pairs = zip(one, other, strict=False)
    return next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(one), len(other)))

"""Tables as kubectl and its like print them: a head in capitals, columns below it."""

import re
from collections.abc import Iterator, Mapping

_WORD = re.compile(r"\S+(?: \S+)*")
_TITLE = r"[A-Z%][A-Z0-9%./_-]*(?:\([A-Za-z]{1,12}\))?%?"
_HEAD = re.compile(rf"{_TITLE}(?:[ \t]+{_TITLE})*\s*")
_NOTHING = frozenset({"<none>", "<unknown>", "<unset>", "-"})
_CUT = re.compile(
    r"\s*[\[(]?(?:\.{3}|…|\[)\s?.{0,80}(?:truncated|omitted|left out|more)\b.{0,80}", re.IGNORECASE
)
"""What stands at the end of a table that was cut."""
MOST_COLUMNS = 60
LONGEST_LINE = 20_000


def read_table(text: str, columns: Mapping[str, str]) -> Iterator[tuple[dict[str, str], str]]:
    """The rows of a table with the wanted fields, each with the line it stands on.

    `columns` gives the head of each field's column. A table without the first of them is not
    read; another head below begins another table.
    """
    first = next(iter(columns.values()), "")
    starts: dict[str, tuple[int, int | None]] = {}
    for line in text.splitlines():
        if len(line) > LONGEST_LINE:
            continue
        if _HEAD.fullmatch(line) and len(line.split()) > 1:
            head = _read_head(line)
            starts = head if first in head else {}
            continue
        if not starts or not line.strip() or _CUT.fullmatch(line):
            continue
        row = {name: _cut(line, *starts[head]) for name, head in columns.items() if head in starts}
        if any(row.values()):
            yield row, line.strip()


def _read_head(line: str) -> dict[str, tuple[int, int | None]]:
    """Where each column begins and ends. Heads are parted by two blanks, or by one where the
    columns are narrow."""
    found = [(each[0], each.start()) for each in _WORD.finditer(line)][:MOST_COLUMNS]
    ends: list[int | None] = [start for _, start in found[1:]]
    ends.append(None)
    return {
        name: (start, end) for (name, start), end in zip(found, ends, strict=True)
    }  # fmt: skip


def _cut(line: str, start: int, end: int | None) -> str:
    """What stands in a column; a value that begins before its head or ends behind the next one is
    taken whole."""
    if start >= len(line):
        return ""
    while start > 0 and line[start - 1] != " " and line[start] != " ":
        start -= 1
    if end is not None and end < len(line):
        while end > start and line[end - 1] != " ":
            end -= 1
    value = line[start:end].strip()
    return "" if value in _NOTHING else value

"""Finds values that stand in the column of a table whose head says that they are secret."""

import re
from collections.abc import Generator, Iterable, Iterator

from masking.budget import Budget
from masking.detached_values import Named
from masking.secret_names import NAME_ENDINGS, STRONG_ENDINGS
from masking.spans import Span

_HEAD = (
    rf"[\"']?[A-Z0-9_.\-]*(?:{STRONG_ENDINGS}|token|secret|(?:api|access|secret)[_ \-]?key)[\"']?"
)
COLUMN_HEAD = (
    rf"(?i)(?:[|,\t]|  |\\t)[ ]*{_HEAD}[ ]*(?:[|,\t\\]|  |\r?$)"
    rf"|(?:^|\\n){_HEAD}(?:[,\t]|\\t|  )"
)
"""An RE2 pattern for the head of such a column with another one beside it."""
_NAME = re.compile(rf"(?i)[A-Z0-9_.\-]*(?:{NAME_ENDINGS}|(?:api|access|secret) key)$")
_RULE = re.compile(r"[\s|+:=\-]+$")
_WORD = re.compile(r"\S+")
_CELL = re.compile(r"\S+(?: \S+)*")
_TITLE = re.compile(r"[\w .\-#()/]{0,40}$")
_QUOTES = " \t\r\"'`"
MAX_COLUMNS = 40
MAX_ROWS = 500
MAX_LINE = 2_000

Cell = tuple[int, int]


def find_in_columns(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """The values below these heads, row by row, as long as the rows are shaped as the head is."""
    read_to = 0
    for start in lines:
        end = text.find("\n", start, start + MAX_LINE)
        if end < 0 or start < read_to:
            continue
        head = text[start:end]
        mark = next((mark for mark in "|\t," if mark in head), "")
        if mark and head.count(mark) > MAX_COLUMNS:
            continue
        titles = _split(head, mark)
        if not 2 <= len(titles) <= MAX_COLUMNS or not all(
            _TITLE.match(_text_of(head, cell)) for cell in titles
        ):
            continue
        if mark == "," and not all(_text_of(head, cell) for cell in titles):
            continue  # Arguments of a call, one on a line.
        named = [
            (number, name)
            for number, cell in enumerate(titles)
            if _NAME.match(name := _text_of(head, cell))
        ]
        if named:
            read_to = yield from _read_rows(text, end + 1, mark, titles, named, budget)


def _read_rows(
    text: str,
    position: int,
    mark: str,
    titles: list[Cell],
    named: list[tuple[int, str]],
    budget: Budget,
) -> Generator[Named, None, int]:
    """Returns where the table ends."""
    for _ in range(MAX_ROWS):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        row = text[position : min(end, position + MAX_LINE)]
        budget.spend_lines()
        if not row.strip():
            return position
        if not _RULE.match(row):
            if mark and row.count(mark) != len(titles) - 1:
                return position
            cells = _split(row, mark) if mark else []
            for number, name in named:
                cell = cells[number] if mark else _word_at(row, titles[number][0])
                if cell is not None and (said := _inside(row, cell)) is not None:
                    yield name, Span(position + said[0], position + said[1], "")
        position = end + 1
        if position >= len(text):
            break
    return position


def _split(line: str, mark: str) -> list[Cell]:
    if not mark:
        return [match.span() for match in _CELL.finditer(line)]
    cells: list[Cell] = []
    start = 0
    for piece in line.split(mark):
        cells.append((start, start + len(piece)))
        start += len(piece) + 1
    return cells


def _word_at(row: str, column: int) -> Cell | None:
    """The word that begins where the title does."""
    if column and row[column - 1 : column] != " ":
        return None
    word = _WORD.match(row, column)
    return word.span() if word else None


def _text_of(line: str, cell: Cell) -> str:
    return line[slice(*cell)].strip(_QUOTES)


def _inside(row: str, cell: Cell) -> Cell | None:
    said = _text_of(row, cell)
    start = row.find(said, cell[0])
    return (start, start + len(said)) if said else None

"""Finds values in the rows of dumps of databases, below the columns that a statement names."""

import re
from collections.abc import Iterable, Iterator

from masking.budget import Budget
from masking.detached_values import Named
from masking.secret_names import NAME_ENDINGS, may_announce
from masking.spans import Span

SQL_ROWS = (
    r"(?i)\b(?:COPY|INTO)\s+[^\s()]+\s*\([^()\n]*"
    rf"(?:{NAME_ENDINGS})[^()\n]*\)\s*(?:FROM\s+stdin|VALUES)"
)
"""An RE2 pattern for the statement that names such columns."""
_HEAD = re.compile(
    r"(?i)\b(?:COPY|INTO)\s+[^\s()]{1,200}\s*\(([^()\n]{1,4000})\)\s*(?:(FROM\s+stdin)[^\n]*\n|VALUES)"
)
_HEAD_OF_LINE = re.compile(SQL_ROWS + r"[^\n]*\n?\Z")
# A text, with what a dump writes before it, or what is computed, calls included.
_CALL = r"\([^()']*+(?:(?:'[^']*+'|\([^()]*+\))[^()']*+)*\)"
_VALUE = re.compile(
    r"\s*+(?:(?:_?[A-Za-z][A-Za-z0-9]{0,20}[ ]?)?'([^'\\]*+(?:(?:\\.|'')[^'\\]*+)*)'"
    rf"|([^,()'\n]*+(?:{_CALL}[^,()'\n]*+)*))\s*+([,)]|\Z)"
)
_NEXT_ROW = re.compile(r"\s*+,?\s*+\(")
_QUOTES = " \t\r\n\"'`[]"
MAX_HEAD = 8_000
MAX_VALUE = 20_000
"""Characters. What is longer ends the rows, and costs as much as so many lines."""
MAX_GAP = 100
"""Characters between the names of the columns and what follows on the next line."""


def heads_rows(line: str) -> bool:
    """Whether the rows of a dump may stand on the lines below."""
    return len(line) <= MAX_HEAD and _HEAD_OF_LINE.search(line) is not None


def find_in_rows(text: str, lines: Iterable[int], budget: Budget) -> Iterator[Named]:
    """The values of columns that may hold secrets, row by row."""
    position = 0
    for line in lines:
        end = text.find("\n", line)
        end = (end if end >= 0 else len(text)) + MAX_GAP
        budget.spend_lines(1 + (end - line) // MAX_HEAD)
        position = max(position, line)
        while head := _HEAD.search(text, position, end):
            budget.spend_lines()
            position = head.end()
            columns = [name.strip(_QUOTES) for name in head[1].split(",")]
            named = {number: name for number, name in enumerate(columns) if may_announce(name)}
            yield from (_copied if head[2] else _inserted)(text, head.end(), named, budget)


def _copied(text: str, position: int, named: dict[int, str], budget: Budget) -> Iterator[Named]:
    """Lines with tabs between their values, up to `\\.`."""
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        row = text[position:end]
        if not row.strip() or row.startswith("\\."):
            return
        budget.spend_lines()
        start = position
        for number, value in enumerate(row.split("\t")):
            if number in named:
                yield named[number], Span(start, start + len(value.rstrip("\r")), "")
            start += len(value) + 1
        position = end + 1


def _inserted(text: str, position: int, named: dict[int, str], budget: Budget) -> Iterator[Named]:
    """`(1, 'a', NULL), (2, 'b', NULL)`, on one line or several."""
    while row := _NEXT_ROW.match(text, position, position + MAX_GAP):
        budget.spend_lines()
        position = row.end()
        for number in range(max(named, default=0) + 100):
            value = _VALUE.match(text, position, position + MAX_VALUE)
            if value is None:
                budget.spend_lines(MAX_VALUE // MAX_GAP)
                return
            if number in named and value[1]:
                yield named[number], Span(*value.span(1), "")
            position = value.end()
            if value[3] != ",":
                break

"""Finds the values of Kubernetes Secrets and of named variables in YAML, line by line.

No parser: manifests come cut off, inside logs, in diffs and several at once, and one that is
broken must not hide the next.
"""

import re
from bisect import bisect_right
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

from typing_extensions import override

from masking.budget import Budget
from masking.secret_names import is_named_by_group, singular
from masking.spans import Span

_KEY_LINE = re.compile(
    r"""(?P<lead>[ \t+>|-]*?(?:[ ]*-[ ]+)*)(?P<quote>["']?)"""
    r"""(?P<key>[A-Za-z0-9_./-]+|(?<=["'])[^"'\n]*)(?P=quote):"""
    r"""(?:[ \t]+(?P<value>\S.*?))?[ \t\r]*$"""
)
_SECRET_KIND = re.compile(r"""["']?Secret(?:List)?["']?(?:\s+#.*)?$""")
_BLOCK = re.compile(r"[|>][+-]?[0-9]?(?:\s+#.*)?$")
_FLOW_VALUE = re.compile(r"""[\w.-]+["']?\s*:\s*["']?([^,}"']+)""")
COMMENT = re.compile(r"(?<!\s)\s++#.*$")
"""Behind a value; each run of blanks is read once."""
_KIND = "kubernetes_secret"
_DATA_KEYS = ("data", "stringData")
_VALUE_KEYS = ("value", "default")
_NAME_KEYS = {"name": "value", "key": "value", "ParameterKey": "ParameterValue"}
_PEM_MARK = re.compile(r"[ \t]*-----(?:BEGIN|END) [A-Z ]+-----[ \t\r]*$")
_SECRET_WITHIN = re.compile(r"""(?<=[^A-Za-z0-9_.-])["']?kind["']?:[ \t]+["']?Secret(?:List)?\b""")
REACH = 1_000_000
MAX_REGION = 20_000
MAX_PREFIXED = 400
MAX_BLOCK = 200


@dataclass(frozen=True)
class Line:
    start: int
    text: str
    indent: int
    """Column of the first character that is neither blank nor a list, diff or quote mark."""
    key: str
    value: str
    value_start: int
    """Where the value begins in the whole text."""
    begins_item: bool


class Lines(Sequence[Line]):
    """The lines of a text, each read when it is first asked for."""

    def __init__(self, text: str, first: int, last: int, budget: Budget) -> None:
        """The lines around `text[first:last]`, as far as a manifest may reach."""
        begin = text.rfind("\n", 0, max(0, first - REACH)) + 1
        end = text.find("\n", min(len(text), last + REACH))
        self._texts = text[begin : end if end >= 0 else len(text)].split("\n")
        self._starts = list(accumulate((len(line) + 1 for line in self._texts), initial=begin))
        self._read: dict[int, Line] = {}
        self._budget = budget

    @override
    def __len__(self) -> int:
        return len(self._texts)

    @overload
    def __getitem__(self, number: int) -> Line: ...
    @overload
    def __getitem__(self, number: slice) -> "Sequence[Line]": ...
    @override
    def __getitem__(self, number: int | slice) -> "Line | Sequence[Line]":
        if isinstance(number, slice):
            return [self[index] for index in range(*number.indices(len(self)))]
        line = self._read.get(number)
        if line is None:
            self._budget.spend_lines()
            line = self._read[number] = read_line(self._texts[number], self._starts[number])
        return line

    def numbers_at(self, positions: Iterable[int]) -> list[int]:
        """The numbers of the lines where these positions are, in order and once each."""
        return sorted({bisect_right(self._starts, position) - 1 for position in positions})

    def without_prefix(self, number: int, width: int) -> Sequence[Line]:
        """The lines from `number` on, without what a log puts before each of them.

        What comes before the `width`th character there is such a prefix where the lines around
        have it too, digits aside; else it stands before this line alone.
        """
        prefix = _shape(self._texts[number][:width])
        width = len(prefix.rstrip()) + 1
        first = last = number
        while first > 0 and number - first < MAX_PREFIXED and self._has_prefix(first - 1, prefix):
            first -= 1
        while last + 1 < len(self) and last - number < MAX_PREFIXED:
            if not self._has_prefix(last + 1, prefix):
                break
            last += 1
        if first == last:
            head = read_line(self._texts[number][width - 1 :], self._starts[number] + width - 1)
            return [head, *self[number + 1 : number + MAX_PREFIXED]]
        self._budget.spend_lines(last - first)
        return [
            read_line(self._texts[n][width:], self._starts[n] + min(width, len(self._texts[n])))
            for n in range(first, last + 1)
        ]

    def _has_prefix(self, number: int, prefix: str) -> bool:
        wanted = prefix.rstrip()
        return bool(wanted) and _shape(self._texts[number][: len(wanted)]) == wanted


_DIGITS = re.compile(r"[0-9]")


def _shape(prefix: str) -> str:
    return _DIGITS.sub("0", prefix)


def find_secret_values(lines: Sequence[Line], numbers: Iterable[int]) -> Iterator[Span]:
    """The values below data and stringData of what says `kind: Secret` on these lines."""
    for number in numbers:
        line = lines[number]
        if line.key == "kind" and _SECRET_KIND.match(line.value):
            yield from _find_in_mapping(lines, number)
            if "List" in line.value:
                yield from _find_in_items(lines, number)
        elif isinstance(lines, Lines) and (where := _SECRET_WITHIN.search(line.text)):
            stripped = lines.without_prefix(number, where.start())
            again = [n for n, other in enumerate(stripped) if other.key == "kind"]
            yield from find_secret_values(stripped, again)


def find_named_variables(lines: Lines, numbers: Iterable[int]) -> Iterator[tuple[str, Span]]:
    """Pairs of lines `name: X` and `value: Y` of one mapping, in either order."""
    for number in numbers:
        line = lines[number]
        if line.key not in _NAME_KEYS:
            continue
        after = lines[number + 1] if number + 1 < len(lines) else None
        before = lines[number - 1] if number > 0 else None
        if after and not after.begins_item and _is_beside(line, after):
            yield from _pair(line, after)
        if before and not line.begins_item and _is_beside(line, before):
            yield from _pair(line, before)


def _is_beside(line: Line, other: Line) -> bool:
    """One mapping's keys stand in one column, or nearly so where blanks were joined."""
    return abs(line.indent - other.indent) <= 1


def _pair(name: Line, value: Line) -> Iterator[tuple[str, Span]]:
    if value.key == _NAME_KEYS[name.key] and (span := _value_span(value, "")):
        yield name.value.strip("\"'"), span


def find_blocks(lines: Lines, numbers: Iterable[int]) -> Iterator[tuple[str, Span]]:
    """Lines of `password: |`, `passwords:` and the like: the name and what each line or item below
    says."""
    for number in numbers:
        head = lines[number]
        is_block = _BLOCK.match(head.value) is not None
        if not head.key or (head.value and not is_block):
            continue
        for below in range(number + 1, min(number + MAX_BLOCK, len(lines))):
            line = lines[below]
            body = line.text.strip()
            if not body or line.indent <= head.indent:
                break
            if line.key and not is_block:
                # `DB_PASSWORD:` with `value: ...` below, among what else is said of it.
                if line.indent > lines[number + 1].indent:
                    continue
                if line.key in _VALUE_KEYS and (span := _value_span(line, "")):
                    yield head.key, span
                elif is_named_by_group(head.key, line.key) and (span := _value_span(line, "")):
                    yield singular(head.key), span
                continue
            start = line.start + line.indent
            if not line.text[line.indent :].strip():
                continue  # A mark of a list alone: its item was cut off.
            if not is_block and line.text[: line.indent].rstrip().endswith("-"):
                yield singular(head.key), _scalar_span(line.text[line.indent :].rstrip(), start, "")
                continue
            yield head.key, Span(start, line.start + len(line.text.rstrip()), "")
            if not is_block:
                break


def read_line(raw: str, start: int) -> Line:
    body = raw.lstrip(" \t+->|")
    indent = len(raw) - len(body)
    match = _KEY_LINE.match(raw)
    if match is None:
        return Line(start, raw, indent, "", "", start + indent, raw.lstrip().startswith("- "))
    value = match["value"] or ""
    value_start = start + (match.start("value") if value else len(raw))
    begins_item = "- " in match["lead"].lstrip("+>|")
    indent = match.start("quote")
    return Line(start, raw, indent, match["key"], value, value_start, begins_item)


def _find_in_mapping(lines: Sequence[Line], number: int) -> Iterator[Span]:
    column = lines[number].indent
    first = number
    while first > 0 and number - first < MAX_REGION:
        if lines[first].begins_item and lines[first].indent <= column:
            break  # Deeper, it is an item of a list within, or a line that a diff takes away.
        above = lines[first - 1]
        if _ends_document(above) or (above.text.strip() and above.indent < column):
            break
        if above.key == "kind" and above.indent == column:
            break  # Another manifest: one mapping has one kind.
        first -= 1
    if first == 0 and lines[0].indent > column and lines[0].text.strip():
        # The head was cut off: what is deeper than `kind` stood below its `data`.
        yield from _find_below(lines, 0, column)
    position = first
    while position < len(lines) and position - number < MAX_REGION:
        line = lines[position]
        if position > number and _leaves(line, column):
            return
        if position > number and line.key == "kind" and line.indent == column:
            return
        position += 1
        if line.indent == column and line.key in _DATA_KEYS:
            if line.value.startswith("{"):
                yield from _flow_spans(line)
            position = yield from _find_below(lines, position, column)


def _find_in_items(lines: Sequence[Line], number: int) -> Iterator[Span]:
    """The items of a SecretList, which need not say what they are."""
    position = number + 1
    while position < min(len(lines), number + MAX_REGION):
        line = lines[position]
        if _leaves(line, lines[number].indent):
            return
        position += 1
        if line.key in _DATA_KEYS and line.indent > lines[number].indent:
            position = yield from _find_below(lines, position, line.indent)


def _find_below(lines: Sequence[Line], position: int, column: int) -> Generator[Span, None, int]:
    """Values of the lines indented deeper than `data:`; returns the first line that is not."""
    block: int | None = None
    while position < len(lines):
        line = lines[position]
        if line.text.strip() and (line.indent <= column or _ends_document(line)):
            break
        position += 1
        if not line.text.strip():
            continue
        if block is not None and _PEM_MARK.match(line.text):
            continue
        if block is not None and line.indent > block:
            yield Span(line.start + line.indent, line.start + len(line.text.rstrip()), _KIND)
            continue
        block = None
        if line.key and (not line.value or _BLOCK.match(line.value)):
            block = line.indent
        elif span := _value_span(line, _KIND):
            yield span
    return position


def _leaves(line: Line, column: int) -> bool:
    if not line.text.strip():
        return False
    starts_item = line.begins_item and line.indent == column
    return _ends_document(line) or line.indent < column or starts_item


def _ends_document(line: Line) -> bool:
    return line.text.startswith(("---", "...", "```"))


def _value_span(line: Line, kind: str) -> Span | None:
    """The value of a `key: value` line, or the whole of a line that continues one."""
    if not line.key:
        start, end = line.start + line.indent, line.start + len(line.text.rstrip())
        return Span(start, end, kind) if start < end else None
    value = line.value
    if not value or value in ("{}", "[]", '""', "''", "null", "~"):
        return None
    return _scalar_span(value, line.value_start, kind)


def _scalar_span(value: str, start: int, kind: str) -> Span:
    quote = value[0]
    if quote in ("'", '"'):
        closing = value.rfind(quote)
        length = closing if closing > 0 else len(value)
        return Span(start + 1, start + length, kind)
    bare = COMMENT.sub("", value)
    return Span(start, start + len(bare), kind, is_bare=True)


def _flow_spans(line: Line) -> Iterator[Span]:
    for match in _FLOW_VALUE.finditer(line.value):
        start, end = match.span(1)
        end -= len(match[1]) - len(match[1].rstrip())
        yield Span(line.value_start + start, line.value_start + end, _KIND)

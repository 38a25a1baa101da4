"""Finds the values of Kubernetes Secrets and of named variables in YAML, line by line.

No parser: manifests come cut off, inside logs, in diffs and several at once, and one that is
broken must not hide the next.
"""

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass

from mcp_bridge.masking.spans import Span

_KEY_LINE = re.compile(
    r"""(?P<lead>[ \t+>|-]*?(?:[ ]*-[ ]+)*)(?P<quote>["']?)(?P<key>[A-Za-z0-9_./-]+)(?P=quote):"""
    r"""(?:[ \t]+(?P<value>\S.*?))?[ \t\r]*$"""
)
_SECRET_KIND = re.compile(r"""["']?Secret(?:List)?["']?(?:\s+#.*)?$""")
_BLOCK = re.compile(r"[|>][+-]?[0-9]?(?:\s+#.*)?$")
_FLOW_VALUE = re.compile(r"""[\w.-]+["']?\s*:\s*["']?([^,}"']+)""")
_COMMENT = re.compile(r"\s+#.*$")
_KIND = "kubernetes_secret"
_DATA_KEYS = ("data", "stringData")
MAX_REGION = 20_000


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


def read_lines(text: str) -> list[Line]:
    lines: list[Line] = []
    position = 0
    for raw in text.split("\n"):
        lines.append(_read_line(raw, position))
        position += len(raw) + 1
    return lines


def find_secret_values(lines: list[Line]) -> Iterator[Span]:
    """The values below data and stringData of everything that says `kind: Secret`."""
    for number, line in enumerate(lines):
        if line.key == "kind" and _SECRET_KIND.match(line.value):
            yield from _find_in_mapping(lines, number)


def find_named_variables(lines: list[Line]) -> Iterator[tuple[str, Span]]:
    """Pairs of lines `name: X` and `value: Y` of one mapping, in either order."""
    for number, line in enumerate(lines[:-1]):
        after = lines[number + 1]
        if after.indent != line.indent or after.begins_item:
            continue
        names = {"name": line, "value": after} if line.key == "name" else {}
        if line.key == "value" and after.key == "name":
            names = {"name": after, "value": line}
        if names and names["value"].key == "value" and (span := _value_span(names["value"], "")):
            yield names["name"].value.strip("\"'"), span


def _read_line(raw: str, start: int) -> Line:
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


def _find_in_mapping(lines: list[Line], number: int) -> Iterator[Span]:
    column = lines[number].indent
    first = number
    while first > 0 and number - first < MAX_REGION and not lines[first].begins_item:
        above = lines[first - 1]
        if _ends_document(above) or (above.text.strip() and above.indent < column):
            break
        if above.key == "kind" and above.indent == column:
            break  # Another manifest: one mapping has one kind.
        first -= 1
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


def _find_below(lines: list[Line], position: int, column: int) -> Generator[Span, None, int]:
    """Values of the lines indented deeper than `data:`; returns the first line that is not."""
    block: int | None = None
    while position < len(lines):
        line = lines[position]
        if line.text.strip() and (line.indent <= column or _ends_document(line)):
            break
        position += 1
        if not line.text.strip():
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
    quote = value[0]
    if quote in ("'", '"'):
        closing = value.rfind(quote)
        length = closing if closing > 0 else len(value)
        return Span(line.value_start + 1, line.value_start + length, kind)
    bare = _COMMENT.sub("", value)
    return Span(line.value_start, line.value_start + len(bare), kind, is_bare=True)


def _flow_spans(line: Line) -> Iterator[Span]:
    for match in _FLOW_VALUE.finditer(line.value):
        start, end = match.span(1)
        end -= len(match[1]) - len(match[1].rstrip())
        yield Span(line.value_start + start, line.value_start + end, _KIND)

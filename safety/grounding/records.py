"""A result as records: what it tells of one thing each, figure by figure, under a key.

Forms are told apart by their bytes: structures by their braces, tables by their lines. What has no
such form is one record.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from safety.grounding.quantities import Quantity, find_numbers

MAX_READ = 200_000
"""Characters of a result in which records are looked for."""
MAX_RECORDS = 2_000
MAX_SAMPLES = 2_000
"""Values of one series that are read."""
MAX_GROUPS, MAX_GROUP = 400, 40
MAX_WHOLE = 10
"""Figures of a result that belong together whatever its form is."""
_SCALES = (1.0, 1024.0, 1024.0**2, 1e6)
TOKEN = re.compile(r"[A-Za-z][\w.@/:-]*[\w@/]|[A-Za-z]|/[\w./-]+")
_KEY_BEFORE = re.compile(r"([A-Za-z][\w.%-]*)(?:\{[^{}]{0,200}\})?[\"']?\s*[:=]?\s*[\"']?[-+]?$")
_SPELLED_AS_NAME = re.compile(r"\d|\w[-_./:@]\w|^/")
_JOINT = re.compile(r"[:/@]")
_CELLS = re.compile(r"\s*\|\s*|\t|\s{2,}|[;,](?=\S)")
_RULE = re.compile(r"[\s|+=:_-]*[-=_]{2}[\s|+=:_-]*")
_FOOTER = re.compile(r"\s*\(?\d{1,9} rows?(?: in set)?[^\w\n]{0,4}[^\n]{0,20}")
_FIGURE_OR_KEY = re.compile(r"(?<![\w.-])\d|[:=](?:\s|$)")


@dataclass
class Record:
    """The words that stand in it, and its figures, each with its key."""

    words: set[str] = field(default_factory=set)
    figures: list[tuple[str, Quantity]] = field(default_factory=list)


@dataclass(frozen=True)
class Total:
    """What the figures under a key add up to, and how far rounding may have led that astray."""

    family: str
    value: float
    doubt: float
    count: int


def find_totals(records: list[Record]) -> list[Total]:
    """Of each key that several records have; of bare sizes also as if they had a unit."""
    columns = by_key(records).values()
    return [total for column in columns if len(column) > 1 for total in _add_up(column)]


def find_groups(records: list[Record]) -> list[tuple[Quantity, ...]]:
    """The figures of each record, and those under each key, as far as they are few enough.

    Of more figures than these every sum and ratio could be made; they are no evidence then.
    """
    rows = [[each for _, each in record.figures] for record in records[:MAX_GROUPS]]
    groups = [*list(by_key(records).values())[:MAX_GROUPS], *rows]
    whole = [figure for row in rows for figure in row]
    if len(whole) <= MAX_WHOLE:
        groups.append(whole)
    return [tuple(group) for group in groups if 1 < len(group) <= MAX_GROUP]


def by_key(records: Iterable[Record]) -> dict[str, list[Quantity]]:
    columns: dict[str, list[Quantity]] = {}
    for record in records:
        for key, quantity in record.figures:
            columns.setdefault(key, []).append(quantity)
    return columns


def _add_up(column: list[Quantity]) -> Iterator[Total]:
    for family in {each.family for each in column} - {"percent"}:
        alike = [each for each in column if each.family == family]
        for place in range(min(len(each.scales) for each in alike)):
            value = sum(each.number * each.scales[place] for each in alike)
            doubt = sum(each.step * abs(each.scales[place]) for each in alike if not each.is_whole)
            told = Total(family, value, doubt, len(alike))
            yield told
            if not family:
                for scale in _SCALES:
                    yield Total("bytes", value * scale, doubt * scale, len(alike))


def find_records(text: str) -> list[Record]:
    if len(text) > MAX_READ:
        return []
    parsed = _parse(text)
    if parsed is None:
        return list(_of_lines(text))[:MAX_RECORDS]
    records: list[Record] = []
    _of_structure(parsed, frozenset(), records)
    return records[:MAX_RECORDS]


def is_name(token: str) -> bool:
    """Whether it is spelled as machines are named, and not as a word is."""
    return _SPELLED_AS_NAME.search(token) is not None


def find_tokens(text: str) -> set[str]:
    """The words of a text, those that a colon or a slash joins also one by one."""
    tokens = {found.rstrip(".:/").casefold() for found in TOKEN.findall(text)}
    return tokens | {part for token in tokens for part in _JOINT.split(token) if part}


# Structures


def _parse(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_structure(value: object, words: frozenset[str], records: list[Record]) -> None:
    """Lists of objects and objects by name are records; what stands around them is one as well."""
    waiting: list[tuple[object, frozenset[str]]] = [(value, words)]
    while waiting and len(records) < MAX_RECORDS:
        inner, known = waiting.pop()
        record = Record(set(known))
        nested: list[tuple[str, object]] = []
        parts: list[tuple[str, object]] = [("", inner)]
        while parts:
            path, each = parts.pop()
            children = _children(path, each)
            if children is None:
                _take(record, path, each)
            elif _are_records(each):
                nested += (
                    children if isinstance(each, dict) else [("", part) for _, part in children]
                )
            else:
                parts += children
        # What stands around things is said of each of them.
        waiting += [(part, frozenset(record.words | find_tokens(name))) for name, part in nested]
        if record.figures:
            if isinstance(inner, dict):
                _name_samples(record, inner)
            records.append(record)


def _name_samples(record: Record, told: dict[str, object]) -> None:
    """A sample's value goes by the name of its metric, which stands beside it. Each is a moment
    and a value."""
    metric = told.get("metric")
    name = metric.get("__name__") if isinstance(metric, dict) else None
    samples = [told.get("value"), *_as_list(told.get("values"))]
    values = [each[1] for each in samples if isinstance(each, list) and len(each) == 2]
    if not isinstance(metric, dict) or not values:
        return
    key = name if isinstance(name, str) else "value"
    record.words -= find_tokens(key)
    record.figures = [
        (key.casefold(), each)
        for value in values[:MAX_SAMPLES] if isinstance(value, str | int | float)
        for each in find_numbers(f"{key}: {value}")
    ]  # fmt: skip


def _as_list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _children(path: str, value: object) -> list[tuple[str, object]] | None:
    if isinstance(value, dict):
        return [(str(key), child) for key, child in value.items()]
    if isinstance(value, list):
        return [(path, child) for child in value]
    return None


def _are_records(value: object) -> bool:
    children = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(children, list) or len(children) < 2:
        return False
    return all(isinstance(child, dict) for child in children)


def _take(record: Record, key: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return
    if isinstance(value, str):
        record.words |= find_tokens(value[:200])
    told = str(value)[:200]
    record.figures += [(key.casefold(), each) for each in find_numbers(f"{key}: {told}")]


# Lines


def _of_lines(text: str) -> Iterator[Record]:
    lines = [line for line in text.splitlines()[: 2 * MAX_RECORDS] if not _RULE.fullmatch(line)]
    table = _find_table(lines)
    told = [_read_line(line, table) for line in lines]
    if table is not None or not _is_in_blocks(told):
        yield from (record for record in told if record.figures)
        return
    block = Record()
    for record in told:
        if not record.figures and block.figures:
            yield block
            block = Record()
        block.words |= record.words
        block.figures += record.figures
    if block.figures:
        yield block


def _is_in_blocks(told: list[Record]) -> bool:
    """Whether a thing has many lines, each with one figure, and a line without any before them."""
    with_figures = [record for record in told if record.figures]
    without = sum(1 for record in told if record.words and not record.figures)
    single = sum(1 for record in with_figures if len(record.figures) == 1)
    return without > 0 and single >= 0.8 * len(with_figures)


@dataclass(frozen=True)
class _Table:
    """The columns of a table, and how its lines are split into cells."""

    heads: tuple[str, ...]
    split: Callable[[str], list[str]]


def _find_table(lines: list[str]) -> _Table | None:
    """A table whose first line names its columns, where most lines have as many cells."""
    if len(lines) < 2 or _FIGURE_OR_KEY.search(lines[0]):
        return None
    rows = [line for line in lines[1:] if line.strip() and not _FOOTER.fullmatch(line)]
    for split in _find_splits(lines[0]):
        heads = split(lines[0])
        counts = [len(split(row)) for row in rows]
        width = max(set(counts), key=counts.count) if counts else 0
        # The head of the last column may be of two words: "Mounted on".
        is_loose = split is str.split
        fits = width == len(heads) or (is_loose and width == len(heads) - 1)
        if width > 1 + is_loose and fits and counts.count(width) >= 0.6 * len(rows):
            return _Table(tuple(head.casefold() for head in heads[:width]), split)
    return None


def _find_splits(head: str) -> Iterator[Callable[[str], list[str]]]:
    if "|" in head:
        yield _split_framed if head.lstrip().startswith("|") else _split_by_bars
        return
    yield _split_cells
    yield str.split


def _split_cells(line: str) -> list[str]:
    return [cell.strip() for cell in _CELLS.split(line) if cell.strip()]


def _split_by_bars(line: str) -> list[str]:
    """Cells may be empty."""
    return [cell.strip() for cell in line.split("|")]


def _split_framed(line: str) -> list[str]:
    return _split_by_bars(line.strip().removeprefix("|").removesuffix("|"))


def _read_line(line: str, table: _Table | None) -> Record:
    record = Record(find_tokens(line))
    cells = table.split(line) if table is not None else []
    if table is not None and len(cells) == len(table.heads):
        for head, cell in zip(table.heads, cells, strict=True):
            found = find_numbers(f"{head}: {cell}") if cell[:1].isdigit() else find_numbers(cell)
            record.figures += [(head, each) for each in found]
        return record
    if table is not None and _FOOTER.fullmatch(line):
        return record
    for each in find_numbers(line):
        found_key = _KEY_BEFORE.search(line[max(0, each.start - 80) : each.start])
        record.figures.append((found_key[1].casefold() if found_key else "", each))
    # A key says what is measured, and not of what.
    record.words -= {token for key, _ in record.figures for token in find_tokens(key)}
    return record

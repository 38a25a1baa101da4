"""A result as records: what it tells of one thing each, figure by figure, under a key.

Forms are told apart by their bytes: structures by their braces, tables by their lines. What has no
such form is one record.
"""

import json
import re
from collections.abc import Iterable, Iterator
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
_TOKEN = re.compile(r"[A-Za-z][\w.@/:-]*[\w@/]|[A-Za-z]|/[\w./-]+")
_KEY_BEFORE = re.compile(r"([A-Za-z][\w.%-]*)(?:\{[^{}]{0,200}\})?[\"']?\s*[:=]?\s*[\"']?[-+]?$")
_SPELLED_AS_NAME = re.compile(r"\d|\w[-_./:@]\w|^/")
_JOINT = re.compile(r"[:/@]")
_CELLS = re.compile(r"\s*\|\s*|\t|\s{2,}|[;,](?=\S)")
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
    tokens = {found.rstrip(".:/").casefold() for found in _TOKEN.findall(text)}
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
    lines = text.splitlines()[: 2 * MAX_RECORDS]
    heads = _find_heads(lines)
    told = [_read_line(line, heads) for line in lines]
    if heads or not _is_in_blocks(told):
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


def _find_heads(lines: list[str]) -> list[tuple[str, int, int]]:
    """The columns of a table by its first line: each with where it begins and ends."""
    if len(lines) < 2 or _FIGURE_OR_KEY.search(lines[0]):
        return []
    cells = [cell for cell in _CELLS.split(lines[0]) if cell.strip()]
    rows = [
        [cell for cell in _CELLS.split(line) if cell.strip()] for line in lines[1:] if line.strip()
    ]
    alike = sum(1 for row in rows if len(row) == len(cells))
    if len(cells) < 2 or alike < 0.6 * len(rows):
        return []
    heads, begun = [], 0
    for cell in cells:
        begun = lines[0].index(cell, begun)
        heads.append((cell.strip().casefold(), begun, begun + len(cell)))
        begun += len(cell)
    return heads


def _read_line(line: str, heads: list[tuple[str, int, int]]) -> Record:
    record = Record(find_tokens(line))
    cells = [cell for cell in _CELLS.split(line) if cell.strip()] if heads else []
    if heads and len(cells) == len(heads):
        for (head, _, _), cell in zip(heads, cells, strict=True):
            found = find_numbers(f"{head}: {cell}") if cell[:1].isdigit() else find_numbers(cell)
            record.figures += [(head, each) for each in found]
        return record
    for each in find_numbers(line):
        found_key = _KEY_BEFORE.search(line[max(0, each.start - 80) : each.start])
        record.figures.append((found_key[1].casefold() if found_key else "", each))
    # A key says what is measured, and not of what.
    record.words -= {token for key, _ in record.figures for token in find_tokens(key)}
    return record

"""Which figures of a result belong together: those of a row, and those of a column.

Only these are added, compared and divided. Of all figures of a result together nearly every other
one could be made.
"""

import json
import re
from collections.abc import Iterator

from safety.grounding.quantities import Quantity, find_numbers

MAX_GROUP = 40
"""Of more figures than this every sum and ratio could be made; they are no evidence then."""
MAX_READ = 200_000
"""Characters of a result in which rows are looked for."""
MAX_GROUPS = 400
MAX_LINES = 2_000

Group = tuple[Quantity, ...]
_INDEX = re.compile(r"\[\]")


def find_groups(text: str) -> list[Group]:
    """Rows and columns of a result with at least two figures each."""
    parsed = _parse(text[:MAX_READ])
    groups = _of_structure(parsed) if parsed is not None else _of_lines(text[:MAX_READ])
    kept = []
    for group in groups:
        figures = tuple(dict.fromkeys(_plain(each) for each in group))
        if 1 < len(figures) <= MAX_GROUP:
            kept.append(tuple(_plain(each) for each in group)[: 2 * MAX_GROUP])
        if len(kept) >= MAX_GROUPS:
            break
    return kept


def _plain(quantity: Quantity) -> Quantity:
    return Quantity(
        quantity.number, quantity.decimals, quantity.family, quantity.scales,
        others=tuple(Quantity(o.number, o.decimals, o.family, o.scales) for o in quantity.others),
    )  # fmt: skip


def _parse(text: str) -> object:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        parsed: object = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return parsed


def _of_lines(text: str) -> Iterator[list[Quantity]]:
    columns: dict[tuple[int, int], list[Quantity]] = {}
    lines = text.splitlines()[:MAX_LINES]
    rows = [list(find_numbers(line)) for line in lines]
    for row in rows:
        for place, quantity in enumerate(row):
            columns.setdefault((len(row), place), []).append(quantity)
    yield from columns.values()
    yield from rows
    if sum(len(row) for row in rows) <= MAX_GROUP:
        yield [quantity for row in rows for quantity in row]


def _of_structure(parsed: object) -> Iterator[list[Quantity]]:
    columns: dict[str, list[Quantity]] = {}
    rows: list[list[Quantity]] = []
    waiting: list[tuple[str, object]] = [("", parsed)]
    seen = 0
    while waiting and seen < 20_000:
        path, value = waiting.pop()
        seen += 1
        items = _items(path, value)
        row: list[Quantity] = []
        for inner, child in items:
            if isinstance(child, dict | list):
                waiting.append((inner, child))
                continue
            found = _figures(inner, child)
            row += found
            columns.setdefault(inner, []).extend(found)
        rows.append(row)
    yield from columns.values()
    yield from rows
    if sum(len(row) for row in rows) <= MAX_GROUP:
        yield [quantity for row in rows for quantity in row]


def _items(path: str, value: object) -> list[tuple[str, object]]:
    if isinstance(value, dict):
        return [(f"{path}.{key}", child) for key, child in value.items()]
    if isinstance(value, list):
        return [(f"{path}[]", child) for child in value]
    return [(path, value)]


def _figures(path: str, value: object) -> list[Quantity]:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return []
    key = _INDEX.sub("", path).rpartition(".")[2]
    return list(find_numbers(f"{key}: {str(value)[:200]}"))

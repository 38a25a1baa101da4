"""Series of values over time in the result of a tool, whatever shape its server gives them.

A series is a list of at least three points, each a time and a number: pairs in either order, as
Prometheus and Graphite write them, or objects that have the same fields.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice, pairwise

from investigations.models.foreign_json import JSON, read_json

FEWEST = 3
MOST_SERIES = 6
MOST_POINTS = 20_000
"""Of one series; what has more is no series for people."""
MOST_VISITED = 20_000
"""Values of a result that are looked at."""
_LONGEST_NAME = 100
_FIRST, _LAST = 1e8, 1e11
"""Seconds since 1970 from 1973 on; what is larger is read as milliseconds."""

_TIME = re.compile(r"(?<![\d.])1\d{9}(?:\d{3})?(?![\d])|\d{4}-\d\d-\d\d[T ]\d\d:\d\d")
"""What may be one: seconds or milliseconds of this century, or written out."""

Point = tuple[float, float]
"""Seconds since 1970, and a value."""


@dataclass(frozen=True)
class Series:
    """A name that tells it from the others, and its points in the order of time."""

    name: str
    points: Sequence[Point]

    @property
    def low(self) -> float:
        return min(value for _, value in self.points)

    @property
    def high(self) -> float:
        return max(value for _, value in self.points)

    @property
    def last(self) -> float:
        return self.points[-1][1]


def find_series(text: str) -> tuple[Series, ...]:
    """Every series of a result that is JSON, in its order; none where it is something else."""
    if text.lstrip()[:1] not in ("{", "["):
        return ()
    try:
        value = read_json(text)
    except ValueError:
        return ()
    return tuple(_Search().walk(value, ""))


def may_begin_series(beginning: str) -> bool:
    """Whether a result of which only this is at hand has several times near each other."""
    is_json = beginning.lstrip()[:1] in ("{", "[")
    return is_json and len(list(islice(_TIME.finditer(beginning), FEWEST))) == FEWEST


class _Search:
    def __init__(self) -> None:
        self._left = MOST_VISITED

    def walk(self, value: JSON, name: str) -> Iterator[Series]:
        self._left -= 1
        if self._left < 0:
            return
        if isinstance(value, list):
            found = list(_read_points(value, name))
            yield from found
            for number, each in enumerate(() if found else value, start=1):
                yield from self.walk(each, f"{name} {number}".strip())
        elif isinstance(value, dict):
            for key, each in value.items():
                if isinstance(each, dict | list):
                    yield from self.walk(each, _name_of(value, key) or name or key)


def _name_of(owner: Mapping[str, JSON], but: str) -> str:
    """What stands beside the points: the labels of a metric, or its name."""
    words = []
    for key, value in owner.items():
        if key == but:
            continue
        if isinstance(value, dict):
            words += [f"{name}={each}" for name, each in value.items() if _is_label(each)]
        elif isinstance(value, str):
            words.append(value)
    return ", ".join(words)[:_LONGEST_NAME]


def _is_label(value: JSON) -> bool:
    return isinstance(value, str | int | float)


def _read_points(items: list[JSON], name: str) -> Iterator[Series]:
    if not FEWEST <= len(items) <= MOST_POINTS:
        return
    rows: list[list[JSON]] = []
    keys: list[str] = []
    for item in items:
        if isinstance(item, dict):
            keys = keys or list(item)
            if list(item) != keys:
                return
            rows.append(list(item.values()))
        elif isinstance(item, list) and len(item) == 2 and not keys:
            rows.append(item)
        else:
            return
    yield from _read_columns(list(zip(*rows, strict=False)), keys, name)


def _read_columns(
    columns: Sequence[Sequence[JSON]], keys: Sequence[str], name: str
) -> Iterator[Series]:
    """One series for each column of numbers beside the first that holds times."""
    times: list[float] | None = None
    at = -1
    for place, column in enumerate(columns):
        times = _all_times(column)
        if times is not None:
            at = place
            break
    if times is None:
        return
    for place, column in enumerate(columns):
        values = None if place == at else _all_values(column)
        if values is None:
            continue
        points = sorted(
            (when, value)
            for when, value in zip(times, values, strict=True)
            if not math.isnan(value)
        )
        if len(points) >= FEWEST:
            own = keys[place] if keys else ""
            yield Series(", ".join(filter(None, (name, own)))[:_LONGEST_NAME], points)


def _all_times(column: Sequence[JSON]) -> list[float] | None:
    """Times that go one way: numbers that do not are something else."""
    found: list[float] = []
    for each in column:
        when = _read_time(each)
        if when is None:
            return None
        found.append(when)
    steps = {(after > before) - (after < before) for before, after in pairwise(found)}
    return found if steps in ({1}, {-1}) else None


def _read_time(value: JSON) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        seconds = float(value) / 1000 if value >= _LAST else float(value)
    else:
        seconds = _read_written_time(value)
    # Years before 1 and after 9999, which some time zones bring about, could not be shown.
    return seconds if _FIRST <= seconds < _LAST else None


def _read_written_time(value: JSON) -> float:
    if not isinstance(value, str) or not 10 <= len(value) <= 40:
        return math.nan
    try:
        when = datetime.fromisoformat(value)
    except ValueError:
        return math.nan
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def _all_values(column: Sequence[JSON]) -> list[float] | None:
    """Numbers, also as texts, as Prometheus writes them; what is missing is not a number."""
    found = [math.nan if each is None else _read_value(each) for each in column]
    return None if None in found else [each for each in found if each is not None]


def _read_value(value: JSON) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else math.nan

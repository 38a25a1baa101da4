"""A small chart of series: lines in a box, and the same in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from investigations.rendering.series import MOST_SERIES, Point, Series

WIDTH, HEIGHT = 600, 120
_COLUMNS = 150
"""Of a longer series the lowest and the highest value of each column are drawn."""


@dataclass(frozen=True)
class Line:
    """A series as it is drawn: places as SVG reads them, and its figures for people."""

    name: str
    places: str
    low: str
    high: str
    last: str


@dataclass(frozen=True)
class Chart:
    """Lines in one box: `low` to `high` from its lower to its upper edge."""

    lines: Sequence[Line]
    left_out: int
    start: datetime
    end: datetime
    low: str
    high: str
    width: int = WIDTH
    height: int = HEIGHT

    @property
    def about(self) -> str:
        names = f"{len(self.lines)} lines" if len(self.lines) > 1 else "One line"
        return f"{names} between {self.low} and {self.high}; the figures stand below"


def draw_chart(series: Sequence[Series]) -> Chart | None:
    """The first series in one box; None where there is none."""
    shown = series[:MOST_SERIES]
    if not shown:
        return None
    start, end = min(each.points[0][0] for each in shown), max(each.points[-1][0] for each in shown)
    low, high = min(each.low for each in shown), max(each.high for each in shown)

    def place(point: Point) -> str:
        x = WIDTH * (point[0] - start) / ((end - start) or 1)
        y = HEIGHT * (1 - (point[1] / 2 - low / 2) / ((high / 2 - low / 2) or 1))
        return f"{x:.1f},{y:.1f}"

    lines = [
        Line(
            each.name or "value",
            " ".join(map(place, _thin_out(each.points))),
            *map(write_number, (each.low, each.high, each.last)),
        )
        for each in shown
    ]
    return Chart(
        lines, len(series) - len(shown), datetime.fromtimestamp(start, UTC),
        datetime.fromtimestamp(end, UTC), write_number(low), write_number(high),
    )  # fmt: skip


def write_number(value: float) -> str:
    """As short as it can be read: 1,234.5 or 6.25e+07."""
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:,.4g}" if 1e-3 <= abs(value) < 1e9 else f"{value:.4g}"


def _thin_out(points: Sequence[Point]) -> Iterator[Point]:
    if len(points) <= 2 * _COLUMNS:
        yield from points
        return
    size = -(-len(points) // _COLUMNS)
    for begin in range(0, len(points), size):
        piece = points[begin : begin + size]
        yield from sorted({min(piece, key=lambda each: each[1]), max(piece, key=lambda e: e[1])})

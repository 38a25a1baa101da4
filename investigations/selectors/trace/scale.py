"""Where a bar stands on the trace: time in which nothing of a session ran takes no room."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import accumulate
from typing import NamedTuple

NARROWEST = 0.6
"""Per cent: a bar of a few milliseconds stays visible."""
_TICKS = 4

Span = tuple[datetime, datetime]


class Bar(NamedTuple):
    """Start and width in per cent of the scale."""

    start: float
    width: float


class TimeScale:
    """The times when stages ran, one behind the other; hours between two questions are left out."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = _merge(spans)
        seconds = [(end - start).total_seconds() for start, end in self._spans]
        self._before = [0.0, *accumulate(seconds)]

    @property
    def seconds(self) -> float:
        return self._before[-1]

    @property
    def has_gaps(self) -> bool:
        return len(self._spans) > 1

    @property
    def ticks(self) -> list[float]:
        """Seconds for the labels of the axis."""
        return [self.seconds * n / _TICKS for n in range(_TICKS + 1)] if self.seconds else []

    def bar(self, start: datetime, end: datetime) -> Bar:
        if not self.seconds:
            return Bar(0, 100)
        left = min(100 * self._offset(start) / self.seconds, 100 - NARROWEST)
        width = max(NARROWEST, 100 * self._offset(end) / self.seconds - left)
        return Bar(round(left, 2), round(width, 2))

    def _offset(self, moment: datetime) -> float:
        """Working seconds from the beginning until a moment."""
        for (start, end), before in zip(self._spans, self._before, strict=False):
            if moment <= start:
                return before
            if moment <= end:
                return before + (moment - start).total_seconds()
        return self.seconds


def _merge(spans: Iterable[Span]) -> Sequence[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, max(start, end)))
    return merged

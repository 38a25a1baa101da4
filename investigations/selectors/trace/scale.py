"""Where a bar stands on the trace: time in which nothing of a session ran takes no room, and that
in which it only waited for a person takes little."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

NARROWEST = 0.6
"""Per cent: a bar of a few milliseconds stays visible."""
_TICKS = 4
_MOST_IDLE = 0.25
"""Of the time in which something went on, what waiting takes on the scale."""

Span = tuple[datetime, datetime]


class Bar(NamedTuple):
    """Start and width in per cent of the scale."""

    start: float
    width: float


class _Piece(NamedTuple):
    """A time that is drawn `factor` times as long as it was, and what comes before it."""

    start: datetime
    end: datetime
    factor: float
    seconds_before: float
    drawn_before: float

    @property
    def seconds(self) -> float:
        return (self.end - self.start).total_seconds()


class TimeScale:
    """The times when stages ran, one behind the other; hours between two questions are left out.

    `idle` are those in which nothing went on: together they take no more room than a fourth of what
    the work takes, so that a person who takes an hour does not make the work a line.
    """

    def __init__(self, spans: Iterable[Span], idle: Iterable[Span] = ()) -> None:
        self._spans = merge(spans)
        self._pieces = _lay_out(self._spans, merge(idle))

    @property
    def seconds(self) -> float:
        last = self._pieces[-1] if self._pieces else None
        return last.seconds_before + last.seconds if last else 0.0

    @property
    def has_gaps(self) -> bool:
        return len(self._spans) > 1

    @property
    def has_short_waits(self) -> bool:
        """Whether waiting is drawn shorter than it was."""
        return any(piece.factor < 1 for piece in self._pieces)

    @property
    def ticks(self) -> list[float]:
        """Seconds for the labels of the axis, which stand at equal distances."""
        if not self.seconds:
            return []
        return [self._seconds_at(self._drawn * n / _TICKS) for n in range(_TICKS + 1)]

    def bar(self, start: datetime, end: datetime) -> Bar:
        if not self._drawn:
            return Bar(0, 100)
        left = min(100 * self._offset(start) / self._drawn, 100 - NARROWEST)
        width = max(NARROWEST, 100 * self._offset(end) / self._drawn - left)
        return Bar(round(left, 2), round(width, 2))

    @property
    def _drawn(self) -> float:
        last = self._pieces[-1] if self._pieces else None
        return last.drawn_before + last.seconds * last.factor if last else 0.0

    def _offset(self, moment: datetime) -> float:
        """How far from the beginning a moment is drawn."""
        for piece in self._pieces:
            if moment <= piece.start:
                return piece.drawn_before
            if moment <= piece.end:
                passed = (moment - piece.start).total_seconds()
                return piece.drawn_before + passed * piece.factor
        return self._drawn

    def _seconds_at(self, drawn: float) -> float:
        """The seconds that have passed where this much has been drawn."""
        piece = next(
            (each for each in reversed(self._pieces) if each.drawn_before <= drawn), self._pieces[0]
        )
        passed = (drawn - piece.drawn_before) / piece.factor if piece.factor else 0.0
        return min(piece.seconds_before + passed, self.seconds)


def merge(spans: Iterable[Span]) -> list[Span]:
    """In order, and none of them touches another."""
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, max(start, end)))
    return merged


def subtract(spans: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """What of the spans lies in none of the holes."""
    left: list[Span] = []
    cuts = merge(holes)
    for start, end in spans:
        at = start
        for hole_start, hole_end in cuts:
            if at < hole_start < end:
                left.append((at, hole_start))
            if hole_start < end:
                at = max(at, hole_end)
        if at < end:
            left.append((at, end))
    return left


def _lay_out(spans: Sequence[Span], idle: Sequence[Span]) -> list[_Piece]:
    worked = subtract(spans, idle)
    waited = subtract(spans, worked)
    share = _share_of_waits(_total(worked), _total(waited))
    parts = [(span, 1.0) for span in worked] + [(span, share) for span in waited]
    pieces: list[_Piece] = []
    seconds = drawn = 0.0
    for (start, end), factor in sorted(parts):
        piece = _Piece(start, end, factor, seconds, drawn)
        pieces.append(piece)
        seconds += piece.seconds
        drawn += piece.seconds * piece.factor
    return pieces


def _share_of_waits(worked: float, waited: float) -> float:
    """How long each second of waiting is drawn. Where nobody worked, waiting is all there is."""
    if not worked or not waited:
        return 1.0
    return min(1.0, worked * _MOST_IDLE / waited)


def _total(spans: Iterable[Span]) -> float:
    return sum((end - start).total_seconds() for start, end in spans)

"""Every moment that results and what was given tell of, and the times between them."""

from collections.abc import Sequence
from datetime import date
from functools import cached_property
from itertools import combinations, islice, pairwise

from safety.grounding.moments import (
    DAY,
    Moment,
    date_of_stamp,
    find_dates,
    find_moments,
    find_short_dates,
    find_times,
)

MAX_STAMPS = 20_000
MAX_MOMENTS = 12
"""Of more moments than this nearly every time lies between two of them."""
MAX_QUOTED = 20


class Chronology:
    """`whole` is all there is to rest on; `results` is what each call returned."""

    def __init__(self, whole: str, results: Sequence[str]) -> None:
        self._whole = whole
        self._results = results

    @cached_property
    def _moments(self) -> list[Moment]:
        return list(islice(find_moments(self._whole), MAX_STAMPS))

    @cached_property
    def times(self) -> list[float]:
        """Times of day in seconds, in order."""
        stamps = {
            float(int(each) % DAY)
            for moment in self._moments
            for each in (moment.seconds, moment.local)
        }
        told = {float(each.seconds) for each in islice(find_times(self._whole), MAX_STAMPS)}
        return sorted(stamps | told)

    @cached_property
    def dates(self) -> frozenset[date]:
        """With a year; those that tell none have that of `NO_YEAR`."""
        stamps = {
            date_of_stamp(each)
            for moment in self._moments
            for each in (moment.seconds, moment.local)
        }
        told = {day for day, _, _ in islice(find_dates(self._whole), MAX_STAMPS)}
        short = {day for day, _, _ in islice(find_short_dates(self._whole), MAX_STAMPS)}
        return frozenset(stamps | told | short)

    @cached_property
    def days_of_year(self) -> frozenset[tuple[int, int]]:
        return frozenset((day.month, day.day) for day in self.dates)

    @cached_property
    def spans(self) -> list[float]:
        """The seconds between moments, in order: any two of a few, else neighbours and the ends."""
        found = _pair(sorted({moment.seconds for moment in self._moments}))
        times = _pair(self.times)
        days = sorted(float(day.toordinal() * DAY) for day in self.dates)
        return sorted(found | times | {DAY - each for each in times} | _pair(days))

    def find_spans(self, quoted: Sequence[str]) -> list[float] | None:
        """The seconds between lines that have these words; None where fewer than two do."""
        moments = [self._find_moments_of(words) for words in quoted]
        if sum(1 for each in moments if each) < 2:
            return None
        return sorted(
            abs(later - earlier)
            for first, second in combinations(moments, 2)
            for earlier in first
            for later in second
        )

    def _find_moments_of(self, words: str) -> set[float]:
        lines = (
            line
            for result in self._results if words in result
            for line in result.splitlines() if words in line
        )  # fmt: skip
        return {
            moment.seconds for line in islice(lines, MAX_QUOTED) for moment in find_moments(line)
        }


def _pair(moments: Sequence[float]) -> set[float]:
    if len(moments) <= MAX_MOMENTS:
        return {later - earlier for earlier, later in combinations(moments, 2)}
    ends = {abs(each - end) for each in moments for end in (moments[0], moments[-1])}
    return ends | {later - earlier for earlier, later in pairwise(moments)}

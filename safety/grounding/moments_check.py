"""Times and dates of an answer, held against those of the results."""

from collections.abc import Iterator

from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts
from safety.grounding.moments import (
    DAY,
    NO_YEAR,
    TimeOfDay,
    find_dates,
    find_short_dates,
    find_times,
)
from safety.grounding.pools import is_near
from safety.grounding.unsupported import Unsupported

_QUARTER = 15 * 60
"""No zone is apart from UTC by anything but quarters of an hour."""


def check_moments(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every time and date that no result gives."""
    if not facts.is_read_whole:
        return
    for time in find_times(clause.text):
        if not _is_time_given(time, facts):
            yield _moment(clause, time.start, time.end)
    days = {(start, end) for day, start, end in find_dates(clause.text)}
    given = {
        (start, end)
        for day, start, end in find_dates(clause.text)
        if day in facts.chronology.dates or day.replace(year=NO_YEAR) in facts.chronology.dates
    }
    for start, end in sorted(days - given):
        yield _moment(clause, start, end)
    for day, start, end in find_short_dates(clause.text):
        is_part = any(begun <= start and end <= ended + 1 for begun, ended in days)
        if not is_part and (day.month, day.day) not in facts.chronology.days_of_year:
            yield _moment(clause, start, end)


def _is_time_given(time: TimeOfDay, facts: Facts) -> bool:
    tolerance = 0 if time.has_seconds else 59
    known = facts.chronology.times
    # Midnight lies between the last times of a day and the first ones of the next.
    around = (seconds + turn for seconds in time.in_utc for turn in (-DAY, 0, DAY))
    if any(is_near(known, seconds, tolerance) for seconds in around):
        return True
    if not time.offsets.is_unknown:
        return False
    apart = ((time.seconds - each) % _QUARTER for each in known)
    return any(min(each, _QUARTER - each) <= tolerance for each in apart)


def _moment(clause: Clause, start: int, end: int) -> Unsupported:
    said = clause.text[start:end]
    return Unsupported(clause.start + start, clause.start + end, "time", f"no result gives {said}")

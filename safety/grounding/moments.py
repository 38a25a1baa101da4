"""Times of day and dates, as answers and tools write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from safety.word_lists import word_list

_TIME = re.compile(
    r"(?<![\d:.])(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?(?![\d:])"
)
_ZONE = re.compile(
    r"^(?:\.\d+)?\s*\(?(?P<name>CEST|CET|EEST|EET|BST|IST|JST|EDT|EST|CDT|CST|MDT|MST|PDT|PST)\b"
)
_ZONES = {
    "CEST": 120, "CET": 60, "EEST": 180, "EET": 120, "BST": 60, "IST": 330, "JST": 540,
    "EDT": -240, "EST": -300, "CDT": -300, "CST": -360, "MDT": -360, "MST": -420, "PDT": -420,
    "PST": -480,
}  # fmt: skip
_MONTHS = {
    name: number
    for number, name in enumerate(
        word_list("""
    jan feb mar apr may jun jul aug sep oct nov dec
    """),
        start=1,
    )
}
_MONTH = (
    "(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DATES = (
    re.compile(r"(?<![\d-])(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})(?!\d)"),
    re.compile(rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)? {_MONTH}\.?,? (?P<year>\d{{4}})", re.I),
    re.compile(rf"\b{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})", re.I),
)
_STAMP = re.compile(
    r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})[T ](?P<hour>\d{2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2}))?"
)
_EPOCH = re.compile(r"(?<![\w.])(?P<seconds>1[0-9]{9})(?:\d{3})?(?:\.\d+)?(?!\w)")
DAY = 86400


@dataclass(frozen=True)
class TimeOfDay:
    """A time as it was written: seconds of the day, in UTC where it names a zone we know."""

    seconds: int
    has_seconds: bool
    start: int
    end: int


def find_times(text: str) -> Iterator[TimeOfDay]:
    for found in _TIME.finditer(text):
        seconds = _seconds(found)
        zone = _ZONE.match(text[found.end() : found.end() + 16])
        if zone is not None:
            seconds -= _ZONES[zone["name"]] * 60
        yield TimeOfDay(seconds % DAY, found["second"] is not None, *found.span())


def find_dates(text: str) -> Iterator[tuple[date, int, int]]:
    for pattern in _DATES:
        for found in pattern.finditer(text):
            month = found["month"]
            number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
            try:
                day = date(int(found["year"]), number, int(found["day"]))
            except ValueError:
                continue
            yield day, found.start(), found.end()


def find_stamps(text: str) -> Iterator[float]:
    """Moments with their date, as seconds since 1970; those given in seconds as well."""
    for found in _STAMP.finditer(text):
        try:
            day = date(int(found["year"]), int(found["month"]), int(found["day"]))
        except ValueError:
            continue
        yield _day_seconds(day) + _seconds(found)
    for found in _EPOCH.finditer(text):
        yield float(found["seconds"])


def time_of_stamp(stamp: float) -> int:
    return int(stamp) % DAY


def date_of_stamp(stamp: float) -> date:
    return datetime.fromtimestamp(stamp, UTC).date()


def day_difference(first: date, second: date) -> int:
    return abs((first - second).days)


def _day_seconds(day: date) -> float:
    return float((day - date(1970, 1, 1)).days * DAY)


def _seconds(found: re.Match[str]) -> int:
    second = found["second"]
    return int(found["hour"]) * 3600 + int(found["minute"]) * 60 + int(second or 0)

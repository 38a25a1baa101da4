"""Times of day and dates, as answers and tools write them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime

from safety.grounding.zones import Offsets, find_offsets
from safety.word_lists import word_list

DAY = 86400
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
    "(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|"
    "Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_DAY = r"(?P<day>[0-3]?\d)(?:st|nd|rd|th)?"
_CLOCK = r"(?P<hour>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::(?P<second>[0-5]\d))?"
_TIME = re.compile(
    rf"(?<![\d:.\w+]){_CLOCK}(?:[.,]\d{{1,9}})?(?:\s?(?P<half>[ap])\.?m\b\.?)?(?!\d|:\d)",
    re.IGNORECASE,
)
_HOUR = re.compile(r"(?<![\d:.\w])(?P<hour>1[0-2]|[1-9])\s?(?P<half>[ap])\.?m\b\.?", re.IGNORECASE)
_DATES = (
    re.compile(r"(?<![\d-])(?P<year>\d{4})[-/](?P<month>\d{2})[-/](?P<day>\d{2})(?!\d)"),
    re.compile(
        rf"(?<![\d.]){_DAY}(?:\s(?:of\s)?|[-/]){_MONTH}\.?(?:,?\s|[-/])(?P<year>\d{{4}})\b", re.I
    ),
    re.compile(
        rf"\b{_MONTH}\.?\s+{_DAY},?\s+(?:\d\d:\d\d:\d\d(?:\.\d+)?\s+)?(?P<year>\d{{4}})(?!\d|:\d)",
        re.I,
    ),
    re.compile(r"(?<![\d.])(?P<day>[0-3]?\d)\.(?P<month>[01]?\d)\.(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<![\d/])(?P<day>[0-3]?\d)/(?P<month>[01]?\d)/(?P<year>\d{4})(?!\d)"),
    re.compile(r"(?<![\d/])(?P<month>[01]?\d)/(?P<day>[0-3]?\d)/(?P<year>\d{4})(?!\d)"),
)
_SHORT_DATES = (
    re.compile(rf"(?<![\d.:]){_DAY}\s(?:of\s)?{_MONTH}\b\.?"),
    re.compile(rf"\b{_MONTH}\b\.?\s+{_DAY}(?![\d:%]|\.\d|\s?%)"),
)
_STAMP = re.compile(
    r"(?P<year>\d{4})[-/](?P<month>\d{2})[-/](?P<day>\d{2})[T _](?P<hour>\d{2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2}))?(?:[.,]\d{1,9})?(?:\s?(?P<sign>[+-])(?P<off>\d{2}):?(?P<offmin>\d{2})(?!\d))?"
)
_WRITTEN_STAMP = re.compile(
    rf"(?<!\d){_DAY}[ /-]{_MONTH}[ /-](?P<year>\d{{4}})[ :,T]\s?"
    r"(?P<hour>\d{2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2}))?(?:\s?(?P<sign>[+-])(?P<off>\d{2}):?(?P<offmin>\d{2})(?!\d))?"
)
_UNIX_STAMP = re.compile(
    rf"\b{_MONTH}\s+{_DAY}\s+(?P<hour>\d{{2}}):(?P<minute>\d{{2}}):(?P<second>\d{{2}})(?:\.\d+)?"
    r"(?:\s+[A-Z]{3,4})?(?:\s+(?P<year>\d{4}))?(?!\d)"
)
_EPOCH = re.compile(r"(?<![\w.])(?P<seconds>1[0-9]{9})(?:\d{3})?(?:\.\d+)?(?!\w)")
NO_YEAR = 1972
"""A leap year, for dates that tell none."""


@dataclass(frozen=True)
class TimeOfDay:
    """A time as it was written, in seconds of the day, and how far its zone may be from UTC."""

    seconds: int
    has_seconds: bool
    start: int
    end: int
    offsets: Offsets

    @property
    def in_utc(self) -> tuple[int, ...]:
        return tuple((self.seconds - each * 60) % DAY for each in (0, *self.offsets.minutes))


@dataclass(frozen=True)
class Moment:
    """A moment with its date. `seconds` since 1970, as written and, where told, in UTC."""

    seconds: float
    local: float
    start: int
    end: int


def find_times(text: str) -> Iterator[TimeOfDay]:
    """Every time of day. A zone that the same text names anywhere may be its own."""
    offsets: Offsets | None = None
    for pattern in (_TIME, _HOUR):
        for found in pattern.finditer(text):
            seconds = _seconds(found)
            if found["half"]:
                seconds = _of_half(seconds, found["half"])
            offsets = find_offsets(text) if offsets is None else offsets
            has_seconds = found.groupdict().get("second") is not None
            yield TimeOfDay(seconds % DAY, has_seconds, *found.span(), offsets)


def _of_half(seconds: int, half: str) -> int:
    return seconds % (DAY // 2) + (DAY // 2 if half in "pP" else 0)


def find_dates(text: str) -> Iterator[tuple[date, int, int]]:
    """Dates with their year. Where day and month may be either, both."""
    for pattern in _DATES:
        for found in pattern.finditer(text):
            day = _read_date(found)
            if day is not None:
                yield day, found.start(), found.end()


def find_short_dates(text: str) -> Iterator[tuple[date, int, int]]:
    """Dates that tell no year."""
    for pattern in _SHORT_DATES:
        for found in pattern.finditer(text):
            day = _read_date(found)
            if day is not None:
                yield day, found.start(), found.end()


def find_moments(text: str) -> Iterator[Moment]:
    """Moments with their date, those given as seconds since 1970 included."""
    for pattern in (_STAMP, _WRITTEN_STAMP, _UNIX_STAMP):
        for found in pattern.finditer(text):
            day = _read_date(found)
            if day is None:
                continue
            local = _day_seconds(day) + _seconds(found)
            yield Moment(local - _offset(found), local, *found.span())
    for found in _EPOCH.finditer(text):
        seconds = float(found["seconds"])
        yield Moment(seconds, seconds, *found.span())


def blank_moments(text: str) -> str:
    """The text without its times and dates, each as many blanks."""
    spans = [(each.start, each.end) for each in find_times(text)]
    spans += [(start, end) for _, start, end in (*find_dates(text), *find_short_dates(text))]
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def blank_stamps(text: str) -> str:
    """A result without what tells a moment, each as many blanks; far quicker than one by one."""
    for pattern in (_STAMP, _WRITTEN_STAMP, _UNIX_STAMP, *_DATES[:2], _LONE_TIME):
        text = pattern.sub(_blank, text)
    return _SAMPLED.sub(lambda found: f"[0{' ' * (len(found[0]) - 2)}", text)


_SAMPLED = re.compile(r"\[\s*1\d{9}(?:\.\d{1,6})?(?=\s*,)")
"""The moment of a sample, which stands before its value."""
_LONE_TIME = re.compile(r"(?<![\d:.\w])(?:[01]?\d|2[0-3]):[0-5]\d:[0-5]\d(?:[.,]\d{1,9})?(?![\d:])")


def _blank(found: re.Match[str]) -> str:
    return " " * (found.end() - found.start())


def date_of_stamp(stamp: float) -> date:
    return datetime.fromtimestamp(stamp, UTC).date()


def _read_date(found: re.Match[str]) -> date | None:
    month = found["month"]
    number = int(month) if month.isdigit() else _MONTHS[month[:3].lower()]
    year = found.groupdict().get("year")
    try:
        return date(int(year) if year else NO_YEAR, number, int(found["day"]))
    except ValueError:
        return None


def _day_seconds(day: date) -> float:
    return float((day - date(1970, 1, 1)).days * DAY)


def _seconds(found: re.Match[str]) -> int:
    groups = found.groupdict()
    second, minute = groups.get("second"), groups.get("minute")
    return int(found["hour"]) * 3600 + int(minute or 0) * 60 + int(second or 0)


def _offset(found: re.Match[str]) -> int:
    groups = found.groupdict()
    if not groups.get("sign"):
        return 0
    offset = int(groups["off"]) * 3600 + int(groups["offmin"]) * 60
    return -offset if groups["sign"] == "-" else offset

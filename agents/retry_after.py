"""How long an answer asks us to wait: `Retry-After`, and what vendors say in headers of their own.

What cannot be meant says nothing: a time below zero or beyond a year, a moment that is over.
Moments are read by the clock of whoever names them, where the answer shows it in its `Date`.
"""

import re
import time
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

LONGEST = 366 * 86_400.0
"""Seconds. Nobody asks for more, and nobody would wait for it."""
_LONGEST_VALUE = 100
_NUMBER = re.compile(r"([0-9]{1,13}(?:\.[0-9]{1,12})?)\s*(?:,|$)")
_TWO_PARTS = re.compile(r"[^,]*,[^,]*|[^,]*")
"""A date has one comma; another one begins a second value."""
_DURATION = re.compile(
    r"(?:([0-9.]{1,16})d)?(?:([0-9.]{1,16})h)?(?:([0-9.]{1,16})m(?!s))?(?:([0-9.]{1,16})s)?"
    r"(?:([0-9.]{1,16})ms)?"
)
_UNITS = (86_400.0, 3600.0, 60.0, 1.0, 0.001)
_RESET = re.compile(r"(?:x-|anthropic-)?ratelimit-(?:(.{1,40})-)?reset(?:-(.{1,40}))?")
_EPOCH_FROM, _EPOCH_MS_FROM = 1e9, 1e12
"""A number so large is no time to wait but a moment, in seconds or milliseconds since 1970."""


def read_retry_after(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """The seconds that `Retry-After`, or its form in milliseconds, asks for; None where it does
    not."""
    said = _fold(headers)
    milliseconds = _read_number(said.get("retry-after-ms", ""))
    if milliseconds is not None:
        return believe(milliseconds / 1000)
    value = said.get("retry-after", "")
    seconds = _read_number(value)
    if seconds is None:
        seconds = read_duration(value)
    if seconds is None and (moment := _read_date(value)) is not None:
        return _believe_later(moment - _their_now(said, now))
    return believe(seconds)


def read_reset(headers: Mapping[str, str], *, now: float | None = None) -> float | None:
    """The seconds until every limit that is used up holds anew; None where no header tells.

    It is the longest that one may have to wait, so whatever says more counts before it.
    """
    said = _fold(headers)
    clock = _their_now(said, now)
    resets = list(_list_resets(said, clock))
    used_up = [wait for wait, left in resets if left == 0]
    untold = [wait for wait, left in resets if left is None]
    counted = used_up or (untold if len(untold) == len(resets) else [])
    return max(counted, default=None)


def read_duration(text: str) -> float | None:
    """The seconds of a duration as Go and protobuf write it: `6m0s`, `120ms`, `45.837906927s`."""
    value = text.strip()
    found = _DURATION.fullmatch(value) if 0 < len(value) <= _LONGEST_VALUE else None
    if found is None:
        return None
    try:
        amounts = [float(amount) if amount else 0.0 for amount in found.groups()]
    except ValueError:
        return None
    return sum(amount * unit for amount, unit in zip(amounts, _UNITS, strict=True))


def believe(seconds: float | None) -> float | None:
    """A time to wait that can be meant."""
    return seconds if seconds is not None and 0 <= seconds <= LONGEST else None


def spell_seconds(seconds: float) -> str:
    """A time to wait, for people: `1.2 s`, `90 s`, `25 min`, `2 h 24 min`."""
    if seconds < 10:
        return f"{seconds:.2g} s"
    if seconds < 600:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    if minutes < 120:
        return f"{minutes} min"
    return f"{minutes // 60:,} h {minutes % 60} min" if minutes % 60 else f"{minutes // 60:,} h"


def _fold(headers: Mapping[str, str]) -> dict[str, str]:
    """By name in small letters; of a header that came twice the first."""
    said: dict[str, str] = {}
    for name, value in headers.items():
        if isinstance(name, str) and isinstance(value, str):
            said.setdefault(name.lower(), value)
    return said


def _read_number(text: str) -> float | None:
    """Of a list of them the first."""
    found = _NUMBER.match(text.strip()) if len(text) <= _LONGEST_VALUE else None
    return float(found[1]) if found else None


def _read_date(text: str) -> float | None:
    """A date as HTTP writes it, in seconds since 1970."""
    first = _TWO_PARTS.match(text[:_LONGEST_VALUE])
    try:
        moment = parsedate_to_datetime(first[0].strip() if first else "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _their_now(said: Mapping[str, str], now: float | None) -> float:
    shown = _read_date(said["date"]) if "date" in said else None
    if shown is not None:
        return shown
    return time.time() if now is None else now


def _believe_later(seconds: float) -> float | None:
    """What is over says nothing of how long to wait: most likely a clock is wrong."""
    return believe(seconds) if seconds > 0 else None


def _list_resets(said: Mapping[str, str], clock: float) -> Iterator[tuple[float, float | None]]:
    """For each limit the seconds until it holds anew, and what is left of it where that is told."""
    for name, value in said.items():
        if _RESET.fullmatch(name) is None:
            continue
        wait = _read_moment_or_wait(value, clock)
        if wait is not None:
            yield wait, _read_left(said.get(name.replace("reset", "remaining"), ""))


def _read_left(text: str) -> float | None:
    """What is left of a limit; below zero it is not known."""
    return -1.0 if text.strip().startswith("-") else _read_number(text)


def _read_moment_or_wait(text: str, clock: float) -> float | None:
    number = _read_number(text)
    if number is not None:
        at = number / 1000 if number >= _EPOCH_MS_FROM else number
        return _believe_later(at - clock if number >= _EPOCH_FROM else number)
    wait = read_duration(text)
    if wait is not None:
        return _believe_later(wait)
    try:
        moment = datetime.fromisoformat(text.strip())
        at = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
    return _believe_later(at - clock)

"""Time zones that a passage names: by abbreviation, by offset, by city."""

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo, available_timezones

_ABBREVIATION = re.compile(r"\b[A-Z]{2,4}T\b")
_OF_UTC = frozenset({"GMT", "UT"})
_OFFSET = re.compile(
    r"\b(?:UTC|GMT)\s?(?P<sign>[+\u2212-])\s?(?P<hours>\d{1,2})(?::?(?P<minutes>[0-5]\d))?\b|"
    r"(?<=\d)\s?(?P<sign2>[+\u2212-])(?P<hours2>[01]\d):?(?P<minutes2>[0-5]\d)\b"
)
_LOCAL = re.compile(r"\blocal(?: time)?\b", re.IGNORECASE)
_WORD = re.compile(r"\b[A-Z][a-z]+(?:[ _][A-Z][a-z]+)?")
_YEAR = 2026
"""Of any year: rules change seldom, and both halves of it are looked at."""


@dataclass(frozen=True)
class Offsets:
    """Minutes that local time may be ahead of UTC; `is_unknown`: a zone is named, and not known."""

    minutes: tuple[int, ...] = ()
    is_unknown: bool = False


def find_offsets(text: str) -> Offsets:
    minutes: set[int] = set()
    is_unknown = _LOCAL.search(text) is not None
    for found in _ABBREVIATION.finditer(text):
        known = _abbreviations().get(found[0])
        if known is not None:
            minutes |= known
        elif found[0] not in _OF_UTC:
            is_unknown = True
    minutes |= {_read_offset(found) for found in _OFFSET.finditer(text)}
    for found in _WORD.finditer(text):
        for name in {found[0], *found[0].split(" ")}:
            minutes |= _cities().get(name.replace(" ", "_"), frozenset())
    return Offsets(tuple(sorted(minutes)), is_unknown)


def _read_offset(found: re.Match[str]) -> int:
    sign = found["sign"] or found["sign2"]
    hours, rest = found["hours"] or found["hours2"], found["minutes"] or found["minutes2"] or 0
    minutes = int(hours) * 60 + int(rest)
    return minutes if sign == "+" else -minutes


@cache
def _zones() -> tuple[tuple[str, frozenset[tuple[str, int]]], ...]:
    """Each zone of the library with its abbreviations and minutes, in winter and in summer."""
    halves = [datetime(_YEAR, month, 15, 12) for month in (1, 7)]  # noqa: DTZ001
    return tuple((name, _read_zone(name, halves)) for name in sorted(available_timezones()))


def _read_zone(name: str, halves: list[datetime]) -> frozenset[tuple[str, int]]:
    zone = ZoneInfo(name)
    told = [half.replace(tzinfo=zone) for half in halves]
    return frozenset(
        (each.tzname() or "", int((each.utcoffset() or timedelta()).total_seconds() // 60))
        for each in told
    )


@cache
def _abbreviations() -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for _, told in _zones():
        for name, minutes in told:
            table.setdefault(name, set()).add(minutes)
    return {name: frozenset(minutes) for name, minutes in table.items()}


@cache
def _cities() -> dict[str, frozenset[int]]:
    table: dict[str, set[int]] = {}
    for name, told in _zones():
        if "/" in name and not name.startswith(("Etc/", "SystemV/")):
            table.setdefault(name.rpartition("/")[2], set()).update(each for _, each in told)
    return {name: frozenset(minutes) for name, minutes in table.items()}

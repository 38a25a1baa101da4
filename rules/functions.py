"""What expressions of packs may call beside CEL's own functions.

None of them raises: what cannot be read is an empty text, or -1 where a number is wanted.
"""

import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, timezone
from functools import cache, lru_cache
from zoneinfo import ZoneInfo, available_timezones

from config.schema.expressions import MATCHES, compile_pattern

UNKNOWN = -1.0
_NUMBER = re.compile(r"\s*([-+]?\d{1,30}(?:[.,]\d{1,20})?)")
_QUANTITY = re.compile(r"\s*([-+]?\d{1,20}(?:\.\d{1,12})?)\s*([A-Za-zµ]{0,3})", re.ASCII)
_UNITS = {
    "": 1.0, "n": 1e-9, "u": 1e-6, "m": 1e-3, "k": 1e3, "K": 1024.0, "M": 1e6, "G": 1e9, "T": 1e12,
    "P": 1e15, "Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50,
    "kB": 1e3, "KB": 1024.0, "MB": 1e6, "GB": 1e9, "TB": 1e12, "B": 1.0, "KiB": 2.0**10,
    "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
_AGE_PART = re.compile(r"(\d{1,12}(?:\.\d{1,9})?)\s?(ms|us|µs|ns|min|y|w|d|h|m|s)(?![a-z])")
_AGE_UNITS = {
    "y": 31_536_000.0, "w": 604_800.0, "d": 86_400.0, "h": 3_600.0, "m": 60.0, "min": 60.0,
    "s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9,
}  # fmt: skip
# Kubernetes writes what it makes up without vowels, so that it comes out as no word.
_HASH = "(?:[0-9a-f]{6,10}|[bcdfghjklmnpqrstvwxz2456789]{6,10})"
_GENERATED = (
    re.compile(rf"(.+)-{_HASH}-[a-z0-9]{{5}}"),
    re.compile(r"(.+)-(?:\d{8,10})-[a-z0-9]{5}"),
    re.compile(r"(.+)-\d{8,10}"),
    re.compile(r"(.+)-[bcdfghjklmnpqrstvwxz2456789]{5}"),
    re.compile(r"(.+)-\d{1,4}"),
)
_OF_A_REPLICA_SET = re.compile(rf"(.+)-{_HASH}")
_CLOCK = re.compile(r"\d:\d{1,2}:\d")
_ZONE_NAME = re.compile(r" ([A-Z]{3,5})(?=$| \d{4}$)")
_FORMATS = ("%a %Y-%m-%d %H:%M:%S", "%a %b %d %H:%M:%S %Y", "%b %d %H:%M:%S %Y",
            "%a, %d %b %Y %H:%M:%S %z", "%Y/%m/%d %H:%M:%S", "%d %b %Y %H:%M:%S",
            "%d/%b/%Y:%H:%M:%S %z")  # fmt: skip


def number(value: object) -> float:
    """The first number in a text; -1 where there is none."""
    if isinstance(value, bool):
        return float(value)
    if isinstance(value, int | float):
        return float(value) if math.isfinite(value) else UNKNOWN
    found = _NUMBER.match(str(value)) if value is not None else None
    return float(found[1].replace(",", ".")) if found else UNKNOWN


def amount(value: object) -> float:
    """A quantity with its unit, such as `512Mi`, `250m` or `1.5G`; -1 where it is none."""
    found = _QUANTITY.fullmatch(str(value)) if value is not None else None
    unit = _UNITS.get(found[2]) if found else None
    return float(found[1]) * unit if found and unit is not None else UNKNOWN


def age(value: object) -> float:
    """Seconds of a duration such as `3d4h`, `5m` or `2m10s (x4 over 9m)`; -1 where it is none."""
    text = str(value).strip().split(" (")[0].split(" ago")[0] if value is not None else ""
    parts = _AGE_PART.findall(text[:80])
    return sum(float(figure) * _AGE_UNITS[unit] for figure, unit in parts) if parts else UNKNOWN


def read_moment(value: object) -> datetime | None:
    """A moment as the usual programs write it; one without a zone is taken for UTC, and one with a
    name that several zones have is none."""
    if isinstance(value, datetime):
        return value if value.tzinfo else value.replace(tzinfo=UTC)
    text = " ".join(str(value).split())[:60] if value is not None else ""
    try:
        iso = datetime.fromisoformat(text.replace(",", "."))
        return iso if iso.tzinfo else iso.replace(tzinfo=UTC)
    except ValueError:
        pass
    named = _ZONE_NAME.search(text)
    found = _read_form(_ZONE_NAME.sub("", text))
    if found is None or found.tzinfo:
        return found
    offset = _offset_of(named[1], found.date()) if named else timedelta()
    return found.replace(tzinfo=timezone(offset)) if offset is not None else None


def _read_form(text: str) -> datetime | None:
    # Every form has the time of day, and trying them all costs a hundred times what looking does.
    if not _CLOCK.search(text):
        return None
    for form in _FORMATS:
        try:
            return datetime.strptime(text, form)  # noqa: DTZ007  # what has no zone may name one
        except ValueError:
            continue
    return None


@lru_cache(1024)
def _offset_of(name: str, day: date) -> timedelta | None:
    """What a zone's short name means on a day; None where zones that share it mean several things
    (`IST` in India and in Israel), or nobody is known to use it."""
    noon = datetime.combine(day, time(12))
    meant = {
        there.utcoffset()
        for there in (noon.replace(tzinfo=zone) for zone in _zones())
        if there.tzname() == name
    }
    return meant.pop() if len(meant) == 1 else None


@cache
def _zones() -> Sequence[ZoneInfo]:
    return [ZoneInfo(key) for key in sorted(available_timezones())]


def moment(value: object) -> float:
    """Seconds since 1970 of a moment; -1 where it is none."""
    found = read_moment(value)
    return found.timestamp() if found is not None else UNKNOWN


def first(values: object) -> object:
    return values[0] if isinstance(values, list) and values else ""


def last(values: object) -> object:
    return values[-1] if isinstance(values, list) and values else ""


def unique(values: object) -> list[object]:
    """Each value once, in order; empty ones are left out."""
    kept: list[object] = []
    for value in values if isinstance(values, list) else ():
        if value not in kept and value not in ("", None):
            kept.append(value)
    return kept


def total(values: object) -> float:
    """The sum of numbers; what is none counts for nothing."""
    listed = values if isinstance(values, list) else []
    return sum(max(0.0, number(each)) for each in listed)


def join(values: object, between: object = ", ") -> str:
    listed = values if isinstance(values, list) else [values]
    return str(between).join(str(each) for each in listed)


def lower(value: object) -> str:
    return str(value).lower() if value is not None else ""


def pick(pattern: object, text: object) -> str:
    """What the first group of an RE2 expression finds in a text, or all that it finds."""
    try:
        found = compile_pattern(str(pattern)).search(str(text) if text is not None else "")
    except ValueError:
        return ""
    if found is None:
        return ""
    groups = [group for group in found.groups() if group is not None]
    return str(groups[0] if groups else found.group(0))


def matches(text: object, pattern: object) -> object:
    """Whether an RE2 expression finds anything in a text; nothing that is true or false where one
    of them is no text."""
    if not isinstance(text, str) or not isinstance(pattern, str):
        return ""
    return compile_pattern(pattern).search(text) is not None


def pairs(value: object) -> str:
    """An object of JSON as `name=value,name=value`; empty where it is none."""
    try:
        found = json.loads(str(value))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(found, dict):
        return ""
    return ",".join(f"{name}={each}" for name, each in found.items() if isinstance(each, str))


def workload(owner: object, name: object) -> str:
    """The name of what a pod belongs to: by its owner where that is known, else by how names of
    pods are made."""
    kind, _, owned_by = str(owner or "").rpartition("/")
    if owned_by and owned_by != "None":
        if kind == "ReplicaSet" and (found := _OF_A_REPLICA_SET.fullmatch(owned_by)):
            return found[1]
        return owned_by
    text = str(name or "")
    for pattern in _GENERATED:
        if found := pattern.fullmatch(text):
            return found[1]
    return text


def near(one: object, other: object, seconds: object) -> bool:
    """Whether two moments lie within so many seconds of each other."""
    first_at, second_at = moment(one), moment(other)
    return UNKNOWN not in (first_at, second_at) and abs(first_at - second_at) <= number(seconds)


def make_functions(now: datetime) -> dict[str, Callable[..., object]]:
    """The functions by the names that expressions call them by; `since` counts from `now`."""

    def since(value: object) -> float:
        """Seconds from a moment, or of an age, until now; -1 where it is neither."""
        found = read_moment(value)
        return (now - found).total_seconds() if found is not None else age(value)

    own: Mapping[str, Callable[..., object]] = {
        "age": age, "amount": amount, "first": first, "join": join, "last": last, "lower": lower,
        "moment": moment, "near": near, "number": number,
        "pairs": pairs, "pick": pick, "since": since, "total": total,
        "unique": unique, "workload": workload, MATCHES: matches,
    }  # fmt: skip
    return {name: _never_raise(function) for name, function in own.items()}


def _never_raise(function: Callable[..., object]) -> Callable[..., object]:
    # The library writes a line to the process's own output for each exception of a function.
    def call(*args: object) -> object:
        try:
            return function(*args)
        except Exception:
            return ""

    return call


def show(value: object) -> str:
    """A value as it stands in a sentence: whole numbers without a point, lists by comma."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.0f}" if value == round(value) else f"{value:.1f}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    if isinstance(value, Sequence):
        return ", ".join(map(show, value))
    return "" if value is None else str(value)

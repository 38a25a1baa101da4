"""Messages that are objects of JSON, or pairs of words: where these have what."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON
from rules.log_words import ERROR, FATAL, MILD, WARNS, read_level

_LEVEL_KEYS = (
    "level", "severity", "lvl", "log.level", "levelname", "loglevel", "@level", "@l",
    "severitytext", "severity_text", "severitynumber", "severity_number", "s",
)  # fmt: skip
_SAID_KEYS = (
    "msg", "message", "@message", "@m", "@mt", "body", "event", "short_message", "text", "log",
)  # fmt: skip
_WHY_KEYS = (
    "err", "error", "errors", "reason", "cause", "exception", "errmsg", "error.message",
    "exc_info", "exception.message", "exception.stacktrace", "detail", "details", "stderr", "@x",
    "stack", "stack_trace", "stacktrace",
)  # fmt: skip
_AT_KEYS = ("ts", "time", "t", "timestamp", "@timestamp", "datetime", "@t")
_OUTER = ("attr", "attributes", "log", "fields", "exception", "error")
_INNER = ("message", "msg", "reason", "errmsg", "stringvalue")
_OF_SYSLOG = (FATAL, FATAL, FATAL, ERROR, WARNS, MILD, MILD, MILD)
_HOLE = re.compile(r"\{[@$]?(\w{1,40})(?:[,:][^{}]{0,40})?\}")
"""Where a template of a message has a value."""


@dataclass(frozen=True)
class Taken:
    """What a message of fields says."""

    said: str
    why: Sequence[str]
    """What further fields say of the reason."""
    level: int
    has_level: bool
    at: str


def read_object(text: str) -> Mapping[str, JSON]:
    """The fields of an object by their names in small letters, those of objects within it too."""
    try:
        found, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    flat = {name.lower(): value for name, value in found.items()}
    for outer in _OUTER:
        if isinstance(inner := flat.get(outer), dict):
            for name, value in inner.items():
                flat.setdefault(f"{outer}.{name}".lower(), value)
                if outer != "error":
                    flat.setdefault(name.lower(), value)
    return flat


def take_fields(fields: Mapping[str, JSON]) -> Taken:
    key = next((key for key in _LEVEL_KEYS if fields.get(key) not in (None, "")), "")
    said = next((_as_text(fields[key]) for key in _SAID_KEYS if fields.get(key)), "")
    at = (fields[key] for key in _AT_KEYS if isinstance(fields.get(key), str))
    return Taken(
        said=_HOLE.sub(lambda hole: _fill(hole, fields), said) if "@mt" in fields else said,
        why=[why for key in _WHY_KEYS if (why := _as_text(fields.get(key)))],
        level=_rank(key, fields.get(key)),
        has_level=bool(key),
        at=str(next(at, "")),
    )


def _fill(hole: re.Match[str], fields: Mapping[str, JSON]) -> str:
    return _as_text(fields.get(hole[1].lower())) or hole[0]


def _rank(key: str, value: JSON) -> int:
    """The rank of a level, by its name or by a number of syslog, of OpenTelemetry, or in tens."""
    text = str(value)
    if not text.isdecimal() or len(text) > 3:
        return read_level(text)
    number = int(text)
    if key.startswith("severity") and key.endswith("number"):
        return _by_steps(number, (13, 17, 21))
    return _OF_SYSLOG[number] if number < len(_OF_SYSLOG) else _by_steps(number, (40, 50, 60))


def _by_steps(number: int, steps: tuple[int, int, int]) -> int:
    return (MILD, WARNS, ERROR, FATAL)[sum(number >= step for step in steps)]


def _as_text(value: JSON) -> str:
    if isinstance(value, dict):
        small = {name.lower(): each for name, each in value.items()}
        inner = next((small[key] for key in _INNER if small.get(key)), None)
        return _as_text(inner) if inner is not None else json.dumps(value)[:400]
    if isinstance(value, list):
        return "; ".join(map(_as_text, value[:3]))
    return "" if value in (None, False) else str(value)

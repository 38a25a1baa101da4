"""JSON that stands as a text within JSON, as in an SNS envelope."""

import json
import math
import re
from itertools import accumulate
from typing import cast

from investigations.sources.reading import JSON

MOST_LEVELS = 100
MOST_CHARACTERS = 4 * 1024 * 1024
_MOST_DIGITS = 300

_NO_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^\[\]{}"]++', re.DOTALL)
_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}


def read_inner(text: str) -> dict[str, JSON] | list[JSON] | None:
    """The object or list that a text is; None for any other text, and for one that is too deep,
    too long or holds what no row can keep."""
    text = text.strip()
    if text[:1] not in ("{", "[") or len(text) > MOST_CHARACTERS:
        return None
    if _depth_of(text) > MOST_LEVELS:
        return None
    try:
        value = json.loads(
            text, parse_constant=_refuse, parse_int=_read_integer, parse_float=_read_float
        )
        json.dumps(value, ensure_ascii=False).encode()
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, JSON] | list[JSON]", value)


def _depth_of(text: str) -> int:
    if text.count("[") + text.count("{") <= MOST_LEVELS:
        return 0
    return max(accumulate(map(_STEPS.__getitem__, _NO_BRACKETS.sub("", text))), default=0)


def _read_integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= _MOST_DIGITS else digits


def _read_float(digits: str) -> float | str:
    return number if math.isfinite(number := float(digits)) else digits


def _refuse(name: str) -> None:
    raise ValueError(f"{name} is no JSON")

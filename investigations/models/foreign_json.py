"""JSON from outside, for people to see: read and written within bounds, whatever it holds.

What is nested deeper than a page can draw, larger than it should carry, or holds what no page can
say is refused by one error, `ValueError`, and whoever asked shows the text as it is. A column of
the database has no text to fall back on: there, what stands too deep is given as its own text.
"""

import json
import math
import re
from itertools import accumulate
from typing import NoReturn, cast

JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

MAX_DEPTH = 100
"""Levels. The interpreter allows about 1,000 calls in all, and whatever walks a value needs one or
two for each level, below those of the page or the task itself."""
MAX_CHARACTERS = 4 * 1024 * 1024
"""Of a text that is read."""
MAX_INDENTED = 512 * 1024
"""Characters of a text that is written with indents."""
MAX_DIGITS = 300
"""Of an integer; a longer one fits no float, so nothing can be reckoned with it."""

_STEPS = {"[": 1, "{": 1, "]": -1, "}": -1}
_NO_BRACKETS = re.compile(r'"(?:[^"\\]++|\\.)*+"?|[^\[\]{}"]++', re.DOTALL)
_UP_TO_BRACKET = re.compile(r'(?:"(?:[^"\\]++|\\.)*+"?|[^\[\]{}"]++)*+([\[\]{}])', re.DOTALL)
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def read_json(text: str) -> JSON:
    """What a text says. Raises `ValueError` for one that is no JSON, or none that can be shown:
    too long, nested too deep, or with half a surrogate pair in it."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"it is longer than {MAX_CHARACTERS:,} characters")
    if depth_of(text) > MAX_DEPTH:
        raise ValueError(f"it is nested deeper than {MAX_DEPTH} levels")
    value = _load(text)
    if _SURROGATE.search(text):
        # Half a pair has no encoding; UnicodeEncodeError is a ValueError.
        json.dumps(value, ensure_ascii=False).encode()
    return value


def read_column(text: str) -> JSON:
    """What a column holds; a value nested too deep stands in it as its text."""
    return _load(_fold(text) if depth_of(text) > MAX_DEPTH else text)


def depth_of(text: str) -> int:
    """How many brackets are open at once at most; the same for what is no JSON."""
    if text.count("[") + text.count("{") <= MAX_DEPTH:
        return 0 if text[:1] not in _STEPS else 1
    brackets = _NO_BRACKETS.sub("", text)
    return max(accumulate(map(_STEPS.__getitem__, brackets)), default=0)


def write_json(value: object, *, indent: int | None = None) -> str:
    """A value that was read here, as text; in one line where indents would blow it up."""
    if indent is None:
        return json.dumps(value, ensure_ascii=False)
    pieces: list[str] = []
    size = 0
    for piece in json.JSONEncoder(ensure_ascii=False, indent=indent).iterencode(value):
        pieces.append(piece)
        size += len(piece)
        if size > MAX_INDENTED:
            return write_json(value)
    return "".join(pieces)


def write_value(value: object, *, indent: int | None = None) -> str:
    """A text as it is, anything else as JSON."""
    return value if isinstance(value, str) else write_json(value, indent=indent)


def _load(text: str) -> JSON:
    try:
        return cast(
            JSON,
            json.loads(
                text,
                parse_int=_read_integer,
                parse_float=_read_float,
                parse_constant=_refuse_constant,
            ),
        )
    except RecursionError as error:
        raise ValueError("it is nested too deep for what is left of the stack") from error


def _read_integer(digits: str) -> int | str:
    return int(digits) if len(digits) <= MAX_DIGITS else digits


def _read_float(digits: str) -> float | str:
    number = float(digits)
    return number if math.isfinite(number) else digits


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _fold(text: str) -> str:
    """The same document with everything below the deepest level as a text."""
    pieces: list[str] = []
    depth = began = kept = 0
    for found in _UP_TO_BRACKET.finditer(text):
        step = _STEPS[found[1]]
        if step > 0 and depth == MAX_DEPTH:
            began = found.start(1)
        depth += step
        if step < 0 and depth == MAX_DEPTH:
            pieces += [text[kept:began], json.dumps(text[began : found.end()])]
            kept = found.end()
    return "".join([*pieces, text[kept:]])

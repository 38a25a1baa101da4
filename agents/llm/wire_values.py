"""Looks into what came from a network: members that may be missing, characters nobody can store."""

import json
import re
from collections.abc import Mapping
from typing import Any, NoReturn

from agents.types import JSON

DEEPEST = 100
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def look(value: Any, name: str) -> Any:
    """A member of an object; None when it is not there. Raises TypeError for what has none."""
    if type(value) is dict:
        return value.get(name)
    if value is None or isinstance(value, str | bytes | int | float | list):
        raise TypeError(f"an object expected, {type(value).__name__} found")
    return getattr(value, name, None)


def as_text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"text expected, {type(value).__name__} found")
    return value


def as_list(value: object) -> list[Any]:
    """The things that a list holds; nothing where null or no list at all stands."""
    return [item for item in value if item is not None] if isinstance(value, list) else []


def as_dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant), dict)
    except (ValueError, RecursionError):
        return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def clean_characters(text: str) -> str:
    """The text with what neither PostgreSQL nor a wire takes replaced: NUL, half of a pair."""
    if _UNSTORABLE.search(text) is None:
        return text
    text = _PAIR.sub(lambda pair: pair[0].encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _HALF.sub("\ufffd", text).replace("\x00", "\ufffd")


def clean_fields(fields: Mapping[str, JSON]) -> dict[str, JSON]:
    """The same for each text in an object, and for the names in it. Raises ValueError for what is
    nested deeper than anything that is meant."""
    return _clean_members(fields, 0)


def _clean_members(fields: Mapping[str, JSON], depth: int) -> dict[str, JSON]:
    return {clean_characters(name): _clean_value(item, depth) for name, item in fields.items()}


def _clean_value(value: JSON, depth: int) -> JSON:
    if depth > DEEPEST:
        raise ValueError("nested too deep")
    if isinstance(value, str):
        return clean_characters(value)
    if isinstance(value, list):
        return [_clean_value(item, depth + 1) for item in value]
    return _clean_members(value, depth + 1) if isinstance(value, dict) else value

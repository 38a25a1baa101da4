"""Reads a call's arguments however a model chose to write them.

A cascade, most certain form first: a JSON object, any other JSON, YAML with nested structure,
`key: value` or `key=value` pairs, and at last the text itself. It never fails: whether the result
suits the tool is decided by the tool's schema.
"""

import json
import math
import re
from dataclasses import dataclass
from typing import Literal, NoReturn

import yaml

from agents.types import JSON

ArgumentForm = Literal["object", "json", "yaml", "pairs", "raw"]

# PyYAML reads about 200 kB a second in C; what is longer and no JSON is text.
MAX_LOOSE_CHARACTERS = 100_000
MAX_DEPTH = 64
WRAPPING_KEY = "input"

_KEY = re.compile(r"\s*([\w.-]+)\s*(?:=|:(?=\s|$))\s*")
_PART_END = re.compile(r"[,\n]")
_QUOTES = frozenset("'\"")
_SEPARATOR = re.compile(r"[ \t\r]*(?:[,\n]|$)")
_INTEGER = re.compile(r"[+-]?[0-9]+", re.ASCII)
_FLOAT = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?", re.ASCII)
_SURROGATE = re.compile("[\ud800-\udfff]")
_INT64 = 2**63


@dataclass(frozen=True)
class ParsedArguments:
    values: dict[str, JSON]
    form: ArgumentForm


def parse_arguments(text: str) -> ParsedArguments:
    """Turn what a model wrote into arguments; numbers and text keep their exact value."""
    stripped = _SURROGATE.sub("\ufffd", text).strip()
    if not stripped:
        return ParsedArguments({}, "object")
    if (parsed := _read_json(stripped)) is not None:
        return parsed
    if len(stripped) <= MAX_LOOSE_CHARACTERS:
        if (nested := _read_nested_yaml(stripped)) is not None:
            return ParsedArguments(nested, "yaml")
        if (pairs := _read_pairs(stripped)) is not None:
            return ParsedArguments(pairs, "pairs")
    return ParsedArguments({WRAPPING_KEY: stripped}, "raw")


def _read_json(text: str) -> ParsedArguments | None:
    try:
        value = json.loads(
            text, parse_constant=_refuse_constant, parse_float=_read_float, parse_int=_read_integer
        )
        # "\ud800" in JSON is a lone surrogate that no database and no wire takes.
        value = _repair(value, 0)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        return ParsedArguments(value, "object")
    return ParsedArguments({WRAPPING_KEY: value}, "json")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _read_float(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _read_integer(text: str) -> int | str:
    # Python refuses to read integers of more than 4,300 digits; no tool means them either.
    return int(text) if len(text) <= 400 else text


def _repair(value: JSON, depth: int) -> JSON:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_repair(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {_SURROGATE.sub("\ufffd", k): _repair(v, depth + 1) for k, v in value.items()}
    return value


def _read_nested_yaml(text: str) -> dict[str, JSON] | None:
    """A YAML mapping that holds a list or a mapping; flat ones are left to the pairs."""
    try:
        root = yaml.compose(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        if not isinstance(root, yaml.MappingNode):
            return None
        value = _read_node(root, 0, set())
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if isinstance(value, dict) and any(isinstance(item, dict | list) for item in value.values()):
        return value
    return None


def _read_node(node: yaml.Node, depth: int, seen: set[int]) -> JSON:
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if id(node) in seen:
        raise ValueError("aliases are not read")
    seen.add(id(node))
    if isinstance(node, yaml.ScalarNode):
        return str(node.value) if node.style else coerce(node.value)
    if node.tag.startswith("!") or "python" in node.tag:
        raise ValueError("tags are not read")
    if isinstance(node, yaml.SequenceNode):
        return [_read_node(item, depth + 1, seen) for item in node.value]
    pairs: dict[str, JSON] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise ValueError("a key is no text")
        pairs[str(key.value)] = _read_node(value, depth + 1, seen)
    return pairs


def coerce(text: str) -> JSON:
    """The value a bare word stands for: true, false, null, a base-10 number, or itself."""
    lowered = text.lower()
    if lowered in ("true", "false"):
        return lowered == "true"
    if lowered in ("null", "none", ""):
        return None
    if _INTEGER.fullmatch(text) and len(text) <= 400:
        number = int(text)
        return number if -_INT64 <= number < _INT64 else _finite(text)
    if _FLOAT.fullmatch(text):
        return _finite(text)
    return text


def _finite(text: str) -> float | str:
    number = float(text)
    return number if math.isfinite(number) else text


def _read_pairs(text: str) -> dict[str, JSON] | None:
    """Pairs parted by commas or lines. One part that is no pair makes the whole text raw."""
    pairs: dict[str, JSON] = {}
    position = 0
    never_closed: set[str] = set()
    while position < len(text):
        mark = _PART_END.search(text, position)
        end = mark.start() if mark else len(text)
        if not text[position:end].strip():
            position = end + 1
            continue
        key = _KEY.match(text, position, end)
        if key is None:
            return None
        quote = text[key.end() : key.end() + 1]
        if quote in _QUOTES and quote not in never_closed:
            if quoted := _read_quoted(text, key.end()):
                pairs[key[1]], position = quoted
                continue
            # None closes here, so none closes further on: looking again would be quadratic.
            never_closed.add(quote)
        pairs[key[1]] = coerce(text[key.end() : end].strip())
        position = end + 1
    return pairs or None


def _read_quoted(text: str, start: int) -> tuple[str, int] | None:
    """A value that quotes enclose up to the next separator, and where the next part begins."""
    quote = text[start]
    closing = text.find(quote, start + 1)
    while closing > 0:
        if rest := _SEPARATOR.match(text, closing + 1):
            return text[start + 1 : closing], rest.end()
        closing = text.find(quote, closing + 1)
    return None

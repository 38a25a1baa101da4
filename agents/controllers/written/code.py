"""Reads a call that is written as one of a programming language: `tool(name="value")`."""

import ast
import re
from collections.abc import Mapping

from agents.types import JSON

LONGEST = 20_000
_BARE_NAME = re.compile(r"([{,]\s{0,20})([A-Za-z_]\w{0,60})\s{0,5}:")
_COMMENT_LINE = re.compile(r"^[ \t]*//[^\n]*\n", re.MULTILINE)
_TYPESET = re.compile(r"[{\[\s]{1,20}[“”]")
"""How an object begins all of whose quotation marks somebody has made fit for print."""
_STRAIGHT = str.maketrans({"“": '"', "”": '"'})
_PAIRS = {"(": ")", "[": "]", "{": "}"}
_NAMED_VALUES: Mapping[str, JSON] = {
    "true": True, "false": False, "null": None, "none": None,
}  # fmt: skip


def find_end(text: str, start: int) -> int | None:
    """Where the bracket that opens at `start` is closed, behind it; texts in quotes are skipped."""
    closing: list[str] = []
    quote = ""
    position = start
    while position < min(len(text), start + LONGEST):
        sign = text[position]
        if quote:
            position += sign == "\\"
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in _PAIRS:
            closing.append(_PAIRS[sign])
        elif closing and sign == closing[-1]:
            closing.pop()
            if not closing:
                return position + 1
        position += 1
    return None


def read_keywords(inside: str) -> Mapping[str, JSON] | None:
    """The arguments between the brackets of a call; None unless all are named and plain values."""
    if inside.strip().startswith("{"):
        return _read_only(inside)
    try:
        tree = ast.parse(f"call({inside.strip()})", mode="eval").body
        if not isinstance(tree, ast.Call):
            return None
        if tree.args or any(word.arg is None for word in tree.keywords):
            return None
        return {str(word.arg): _read_value(word.value) for word in tree.keywords}
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None


def _read_only(inside: str) -> Mapping[str, JSON] | None:
    """All arguments in one object."""
    try:
        value = read_loosely(inside)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def read_loosely(text: str) -> JSON:
    """An object or a list as Python, JavaScript or YAML would have it: other quotes, names without
    any, a comma too many, comments. Raises ValueError where it is none of these."""
    bare = _COMMENT_LINE.sub("", text)
    if _TYPESET.match(bare):
        bare = bare.translate(_STRAIGHT)
    for written in (bare, _BARE_NAME.sub(r'\1"\2":', bare)):
        try:
            return _read_value(ast.parse(written.strip(), mode="eval").body)
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            continue
    raise ValueError("no value")


def _read_value(node: ast.expr) -> JSON:
    match node:
        case ast.Name(name) if name in _NAMED_VALUES:
            return _NAMED_VALUES[name]
        case ast.List(items) | ast.Tuple(items):
            return [_read_value(item) for item in items]
        case ast.Dict(keys, values):
            return {
                _read_key(key): _read_value(each) for key, each in zip(keys, values, strict=True)
            }
    value = ast.literal_eval(node)
    if value is not None and not isinstance(value, bool | int | float | str):
        raise ValueError("no value of JSON")
    return value


def _read_key(key: ast.expr | None) -> str:
    if not isinstance(key, ast.Constant) or not isinstance(key.value, str):
        raise ValueError("no name of a member")
    return key.value

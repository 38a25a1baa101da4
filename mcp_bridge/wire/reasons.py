"""What a server says of a failure, out of whatever it says it in: JSON, plain text, a page."""

import json
import re
from collections.abc import Iterator, Mapping

from agents.types import JSON
from masking.visible_text import clean_line

LONGEST_REASON = 1_000
_READ = 20_000
_MOST_TEXTS = 50
_DEEPEST = 4
_MOST = 4
# In the order in which they are told. What explains itself stands behind what names it.
_TELLING = (
    "error", "errors", "code", "title", "message", "msg", "error_description", "detail", "details",
    "description", "reason", "cause", "data",
)  # fmt: skip
_TITLE = re.compile(r"<(title|h1)\b[^>]*>(.{1,300}?)</\1>", re.IGNORECASE | re.DOTALL)
_TAG = re.compile(r"<[^>]{0,300}>")
_CHALLENGE = re.compile(r'\berror_description="((?:[^"\\]|\\.){1,300})"', re.IGNORECASE)


def read_reason(body: bytes, headers: Mapping[str, str]) -> str:
    """One line of what the answer to a refused request says; empty where it says nothing."""
    text = body[:_READ].decode("utf-8", "replace").strip()
    said = _read_body(text)
    if not said and (found := _CHALLENGE.search(headers.get("www-authenticate", ""))):
        said = found[1]
    return clean_line(said, LONGEST_REASON)


def spell_data(message: str, data: JSON) -> str:
    """What an error of JSON-RPC says, with what stands in its `data`."""
    said = [message.strip()] if message.strip() else []
    return clean_line(_join([*said, *_read_value(data)]), LONGEST_REASON)


def _read_body(text: str) -> str:
    if text.startswith("<"):
        # A page of something in between. Its title says what the rest of it decorates.
        found = _TITLE.search(text)
        return _TAG.sub(" ", found[2]) if found else ""
    try:
        value: JSON = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return _join(_read_value(value))


def _read_value(value: JSON, depth: int = 0) -> Iterator[str]:
    """The texts in a value that explain it."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif isinstance(value, bool | int | float) and depth:
        yield str(value)
    elif isinstance(value, list) and depth < _DEEPEST:
        for each in value[:_MOST]:
            yield from _read_value(each, depth + 1)
    elif isinstance(value, dict) and depth < _DEEPEST:
        yield from _read_fields(value, depth)


def _read_fields(fields: Mapping[str, JSON], depth: int) -> Iterator[str]:
    if "jsonrpc" in fields:
        fields = {"error": fields.get("error")}
    # A number alone explains nothing.
    known = [name for name in _TELLING if isinstance(fields.get(name), str | list | dict)]
    told = [each for name in known for each in _read_value(fields[name], depth + 1)]
    if told:
        yield from told
        return
    for name, each in list(fields.items())[:_MOST]:
        if said := _join(_read_value(each, depth + 1)):
            yield f"{name}: {said}"


def _join(texts: Iterator[str] | list[str]) -> str:
    """Each text once, and none that stands in a longer one; of very many, the first ones."""
    told: list[str] = []
    size = 0
    for number, whole in enumerate(texts):
        if number >= _MOST_TEXTS or size >= _READ:
            break
        text = whole[:_READ]
        size += len(text)
        if not any(text in each for each in told):
            told = [each for each in told if each not in text] + [text]
    return ": ".join(told)

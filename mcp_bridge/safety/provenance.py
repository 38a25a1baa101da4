"""Where text came from, and which arguments may follow it without a person."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.types import JSON
from mcp_bridge.safety.evidence import match_whole
from mcp_bridge.word_list import word_list

Source = Literal["configuration", "person", "alert", "tool"]


@dataclass(frozen=True)
class Provenance:
    """Who wrote a text: `name` is the person, the alert's type, or `server.tool`."""

    source: Source
    name: str = ""
    call_id: str = ""

    @property
    def is_trusted(self) -> bool:
        """Whether the text may say what is to be done. Evidence may not."""
        return self.source in ("configuration", "person")


@dataclass(frozen=True)
class Block:
    """A text and where it came from."""

    text: str
    provenance: Provenance


_FREE = frozenset(
    word_list("""
    args body code command cmd content contents data endpoint env expr expression
    file_content host_url input manifest message patch payload query script sql statement
    stdin template text uri url values webhook yaml
    """)
)
"""Arguments that carry what is executed, written or visited."""
_SHORT = re.compile(r"[\w][\w.@-]{0,62}", re.ASCII)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def find_doubts(
    arguments: Mapping[str, JSON],
    schema: Mapping[str, JSON],
    given: Sequence[Block],
    is_resolved: Callable[[str], bool],
) -> tuple[str, ...]:
    """Why a write cannot pass without a person: each argument nobody trusted has given.

    An argument passes as a value the schema lists, as an identifier that was resolved, or when
    configuration or a person wrote it. What only the alert says passes as a short name, never as
    a command, content, address or any longer text.
    """
    properties = schema.get("properties")
    known = properties if isinstance(properties, dict) else {}
    doubts: list[str] = []
    for name, value in arguments.items():
        described = known.get(name)
        doubts += _doubt(name, value, described if isinstance(described, dict) else {}, given,
                         is_resolved)  # fmt: skip
    return tuple(doubts)


def _doubt(
    name: str,
    value: JSON,
    schema: Mapping[str, JSON],
    given: Sequence[Block],
    is_resolved: Callable[[str], bool],
) -> list[str]:
    if value is None or _is_listed(value, schema):
        return []
    if isinstance(value, dict):
        inner = schema.get("properties")
        known = inner if isinstance(inner, dict) else {}
        return [
            doubt
            for key, each in value.items()
            for doubt in _doubt(key, each, _as_schema(known.get(key)), given, is_resolved)
        ]
    if isinstance(value, list):
        items = _as_schema(schema.get("items"))
        return [doubt for each in value for doubt in _doubt(name, each, items, given, is_resolved)]
    text = str(value)
    if not _is_free(name) and isinstance(value, str) and is_resolved(text):
        return []
    if _is_given(text, given, may_be_alert=not _is_free(name)):
        return []
    return [f"{name}: {_origin(text, given)}"]


def _is_listed(value: JSON, schema: Mapping[str, JSON]) -> bool:
    """Whether the schema itself names the value: an enum, a constant, or one of true and false."""
    listed = schema.get("enum")
    if isinstance(listed, list) and any(value == each for each in listed):
        return True
    if isinstance(value, bool):
        return schema.get("type") == "boolean"
    return "const" in schema and schema["const"] == value


def _is_given(text: str, given: Sequence[Block], *, may_be_alert: bool) -> bool:
    whole = match_whole(text)
    for block in given:
        source = block.provenance.source
        is_short = source == "alert" and may_be_alert and bool(_SHORT.fullmatch(text))
        if (block.provenance.is_trusted or is_short) and whole.search(block.text):
            return True
    return False


def _origin(text: str, given: Sequence[Block]) -> str:
    """Where a value was seen, for the person who is asked."""
    whole = match_whole(text)
    for block in given:
        if whole.search(block.text):
            by = block.provenance
            call = f" in call {by.call_id}" if by.call_id else ""
            return f"came from {by.source} {by.name}".rstrip() + call
    return "was written by the model"


def _is_free(name: str) -> bool:
    snake = _HUMP.sub("_", name).replace("-", "_").lower()
    return snake in _FREE or snake.endswith(("_command", "_content", "_url", "_script", "_query"))


def _as_schema(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}

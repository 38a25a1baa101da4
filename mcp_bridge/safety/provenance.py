"""Where text came from, and which arguments may follow it without a person."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.types import JSON
from mcp_bridge.safety.destinations import find_destinations
from mcp_bridge.safety.evidence import match_whole
from mcp_bridge.word_list import word_list

Source = Literal["configuration", "person", "alert", "runbook", "tool"]


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
_SHORT = re.compile(r"(?=.*[A-Za-z])\w[\w.-]{1,62}", re.ASCII)
"""A name as an alert may give it. A bare number says nothing by standing in one."""
_IDENTIFIER = re.compile(r"[!-~]{1,253}")
"""What a resolved name may look like: one word that shows all of itself."""
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
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
    a command, content, address, number or any longer text. The name of an argument that the schema
    does not know is text like any other where it could say something.
    """
    return tuple(_doubt_object(arguments, schema, given, is_resolved))


def _doubt_object(
    values: Mapping[str, JSON],
    schema: Mapping[str, JSON],
    given: Sequence[Block],
    is_resolved: Callable[[str], bool],
) -> list[str]:
    known = _as_schema(schema.get("properties"))
    doubts: list[str] = []
    for name, value in values.items():
        if name not in known and (value in (None, [], {}) or not _NAME.fullmatch(name)):
            doubts.append(f"the name {name[:80]}: {_origin(name, given)}")
        doubts += _doubt(name, value, _as_schema(known.get(name)), given, is_resolved)
    return doubts


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
        return _doubt_object(value, schema, given, is_resolved)
    if isinstance(value, list):
        items = _as_schema(schema.get("items"))
        return [doubt for each in value for doubt in _doubt(name, each, items, given, is_resolved)]
    text = value if isinstance(value, str) else json.dumps(value)
    is_free = _is_free(name) or bool(find_destinations(text))
    is_name = not is_free and isinstance(value, str)
    if is_name and _IDENTIFIER.fullmatch(text) and is_resolved(text):
        return []
    if _is_given(text, given, may_be_alert=is_name):
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
    if not text.strip():
        return False
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
        if text.strip() and whole.search(block.text):
            by = block.provenance
            call = f" in call {by.call_id}" if by.call_id else ""
            return f"came from {by.source} {by.name}".rstrip() + call
    return "was written by the model"


def _is_free(name: str) -> bool:
    snake = _HUMP.sub("_", name).replace("-", "_").lower()
    return snake in _FREE or snake.endswith(("_command", "_content", "_url", "_script", "_query"))


def _as_schema(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}

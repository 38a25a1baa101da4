"""What references within one JSON schema point at: one reading for whoever judges or repairs it.

A reference is a pointer of RFC 6901 behind `#`. What stands beside it holds as well as what it
refers to (JSON Schema 2020-12, core, 8.2.3.1), so both are kept.
"""

from collections.abc import Callable, Mapping
from typing import Any, cast
from urllib.parse import unquote

_MOST_REFERENCES = 20
_MOST_DIGITS = 9
_BESIDE = frozenset({
    "$anchor", "$comment", "$defs", "$id", "$schema", "additionalProperties", "default",
    "definitions", "description", "examples", "properties", "required", "title",
})  # fmt: skip
"""What needs no place of its own where both sides have it: it is merged, or the nearer counts."""

Schema = dict[str, Any]


def follow(
    schema: Mapping[str, Any],
    root: Mapping[str, Any],
    read: Callable[[Mapping[str, Any]], Schema] = dict,
) -> tuple[Schema, str]:
    """A schema together with all that it refers to, one reference after another.

    The text is the reference that leads nowhere, or round in circles; empty where none does. Each
    schema on the way is taken as `read` makes of it.
    """
    here, seen = read(schema), set[str]()
    while (reference := here.pop("$ref", None)) is not None:
        target = find_target(root, reference) if isinstance(reference, str) else None
        if target is None or reference in seen or len(seen) >= _MOST_REFERENCES:
            return here, str(reference)
        seen.add(reference)
        here = _merge(read(target), here)
    return here, ""


def find_target(root: Mapping[str, Any], reference: str) -> Schema | None:
    """What a reference within a document points at; None where it is nothing or no schema."""
    if not reference.startswith("#"):
        return None
    node: Any = root
    for part in unquote(reference[1:]).strip("/").split("/"):
        key = part.replace("~1", "/").replace("~0", "~")
        if not key:
            continue
        if isinstance(node, Mapping) and key in node:
            node = node[key]
        elif isinstance(node, list) and _is_place(key) and int(key) < len(node):
            node = node[int(key)]
        else:
            return None
    return cast(Schema, node) if isinstance(node, dict) else None


def _is_place(key: str) -> bool:
    """Whether it counts the items of a list. Python reads no number that is too long."""
    return key.isascii() and key.isdigit() and len(key) <= _MOST_DIGITS


def _merge(target: Mapping[str, Any], here: Schema) -> Schema:
    """Both at once. What they say differently of one thing stands in `allOf`."""
    merged = {**target, **here}
    farther, nearer = target.get("properties"), here.get("properties")
    if isinstance(farther, Mapping) and isinstance(nearer, Mapping):
        merged["properties"] = _merge_properties(farther, nearer)
    listed = [side["required"] for side in (target, here) if isinstance(side.get("required"), list)]
    if len(listed) == 2:
        merged["required"] = listed[0] + [name for name in listed[1] if name not in listed[0]]
    clashing = [
        key for key in target.keys() & here.keys() - _BESIDE if target[key] != here[key]
    ]  # fmt: skip
    if clashing:
        parts = here.get("allOf")
        rest = {key: target[key] for key in sorted(clashing)}
        merged["allOf"] = [*(parts if isinstance(parts, list) else []), rest]
    return merged


def _merge_properties(target: Mapping[str, Any], here: Mapping[str, Any]) -> Schema:
    both = {
        name: {"allOf": [target[name], here[name]]}
        for name in target.keys() & here.keys()
        if target[name] != here[name]
    }
    return {**target, **here, **both}

"""What kind of value a key takes, in words, from its JSON schema."""

from collections.abc import Mapping, Sequence
from typing import Any

_NAMES = {
    "string": "text",
    "integer": "whole number",
    "number": "number",
    "boolean": "`true` or `false`",
}
_FORMATS = {"duration": "duration", "date-time": "day or moment", "path": "path"}

Schema = Mapping[str, Any]


def name_kind(schema: Schema) -> str:
    """For example `whole number from 1 to 50`, `list of text` or `block`."""
    if "$ref" in schema:
        return "block"
    if "anyOf" in schema:
        return _join([name_kind(each) for each in schema["anyOf"] if each.get("type") != "null"])
    if "enum" in schema:
        return _join([f"`{value}`" if value else "empty" for value in schema["enum"]])
    match schema.get("type"):
        case "array":
            return f"list of {_many(schema['items'])}"
        case "object":
            return f"table of {_many(_entries(schema))} by name"
        case str(kind):
            return _FORMATS.get(schema.get("format", ""), _NAMES[kind]) + _range(schema)
    raise ValueError(f"no words for the type of {schema}")


def _entries(table: Schema) -> Schema:
    """Where names have to look a certain way, the schema lists the entries by the pattern."""
    patterns = table.get("patternProperties") or {"": table["additionalProperties"]}
    return next(iter(patterns.values()))


def _many(items: Schema) -> str:
    return "blocks" if "$ref" in items else name_kind(items)


def _join(kinds: Sequence[str]) -> str:
    return ", ".join(kinds[:-1]) + " or " + kinds[-1] if len(kinds) > 1 else kinds[0]


def _range(schema: Schema) -> str:
    """pydantic writes the bounds of a value that it cannot translate under their own names."""
    least, most = (
        schema.get(name, schema.get(short)) if schema["type"] != "string" else None
        for name, short in (("minimum", "ge"), ("maximum", "le"))
    )
    return write_range(
        None if least is None else f"{least:,}", None if most is None else f"{most:,}"
    )


def write_range(least: str | None, most: str | None) -> str:
    """Between which values something may be, behind its kind."""
    if least is None:
        return "" if most is None else f" up to {most}"
    return f" from {least} to {most}" if most is not None else f" from {least}"

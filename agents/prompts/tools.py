"""Describes tools as text, for models that cannot be given them in any other way."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON, ToolSpec

_INDENT = "  "
_MAX_DEPTH = 3
_OURS = "this system itself"


@dataclass(frozen=True)
class ServerTools:
    """The tools of one server; `text` is what it says about them, or what we say where they are
    ours."""

    name: str
    tools: tuple[str, ...]
    text: str
    is_ours: bool


def describe_tools(specs: Sequence[ToolSpec]) -> tuple[ServerTools, ...]:
    """Each server's tools with their descriptions and arguments, in the order given."""
    servers: dict[str, list[ToolSpec]] = {}
    for spec in specs:
        server, has_server, _ = spec.name.partition(".")
        servers.setdefault(server if has_server else _OURS, []).append(spec)
    return tuple(
        ServerTools(
            name,
            tuple(spec.name for spec in tools),
            "\n\n".join("\n".join(_describe(spec)) for spec in tools),
            is_ours=name == _OURS,
        )
        for name, tools in servers.items()
    )


def _describe(spec: ToolSpec) -> Iterator[str]:
    description = spec.description.strip()
    yield f"{spec.name}: {description}" if description else spec.name
    arguments = list(_describe_arguments(spec.input_schema, 1))
    if not arguments:
        yield "Takes no arguments."
        return
    yield "Arguments:"
    yield from arguments


def _describe_arguments(schema: Mapping[str, JSON], depth: int) -> Iterator[str]:
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return
    wanted = required if isinstance(required, list) else []
    for name, argument in properties.items():
        details = argument if isinstance(argument, dict) else {}
        marks = [_describe_type(details), *(["required"] if name in wanted else [])]
        if "default" in details:
            marks.append(f"default {_write(details['default'])}")
        said = " ".join(str(details.get("description") or "").split())
        yield f"{_INDENT * (depth - 1)}- {name} ({', '.join(marks)}){f': {said}' if said else ''}"
        if depth < _MAX_DEPTH:
            yield from _describe_arguments(_find_members(details), depth + 1)


def _find_members(schema: Mapping[str, JSON]) -> Mapping[str, JSON]:
    items = schema.get("items")
    return items if isinstance(items, dict) else schema


def _describe_type(schema: Mapping[str, JSON]) -> str:
    if isinstance(values := schema.get("enum"), list):
        return f"one of {', '.join(_write(value) for value in values)}"
    kind = schema.get("type")
    if isinstance(kind, list):
        return " or ".join(str(each) for each in kind)
    if kind == "array" and isinstance(items := schema.get("items"), dict):
        return f"list of {_describe_type(items)}"
    limits = [f"{sign} {schema[key]}" for key, sign in _LIMITS if key in schema]
    return " ".join([str(kind or "any"), *limits])


_LIMITS = (("minimum", "from"), ("maximum", "to"))


def _write(value: JSON) -> str:
    return json.dumps(value, ensure_ascii=False)

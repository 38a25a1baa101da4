"""Makes of a listing what the SDK can read, tool by tool: no odd one costs the others.

What is repaired keeps its meaning: a missing `type: object` is put in, a root reference is
followed, an empty list in place of an empty object is one. What cannot be kept is told; a tool that
lost something may do more than can be seen of it, so that its hint to only read is dropped. A tool
that still cannot be read is left out, and said so.
"""

import json
from collections.abc import Mapping
from functools import partial
from typing import cast

from jsonschema import Draft202012Validator
from mcp_types import Tool
from mcp_types.methods import validate_server_result
from pydantic import ValidationError

from agents.types import JSON
from masking.visible_text import clean_line
from mcp_bridge.wire.cutting import WHOLE_SIZE
from safety.schema_references import follow

MAX_TOOLS = 1_000
"""Tools of one server that are known at all."""
_SHOWN = 80
# Models read text and never see the schema of a result; the SDK would refuse results for it.
_UNUSED = ("outputSchema", "icons", "execution")
_TYPES = frozenset({"string", "integer", "number", "boolean", "object", "array", "null"})
_SCHEMAS = ("inputSchema", "input_schema", "parameters")
"""What MCP calls the schema of a tool, and what the APIs of models do."""
_KEYWORDS = frozenset({
    *Draft202012Validator.VALIDATORS, "$schema", "$id", "$defs", "definitions", "$comment", "title",
    "description", "default", "examples", "id",
})  # fmt: skip
_ELSEWHERE = frozenset({"allOf", "anyOf", "oneOf", "patternProperties", "then", "else"})
"""Where else in a schema properties are described."""
_HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")

Fields = dict[str, JSON]

_UNTOLD: Fields = {"resultType": "complete", "cacheScope": "private", "ttlMs": 0}
"""What newer revisions insist on beside the tools, with the values that promise nothing."""


def repair_listing(result: Fields, version: str) -> list[str]:
    """Change a result of `tools/list` in place.

    Returns a clause for each tool that was left out, or that is offered with less than its server
    meant.
    """
    told: list[str] = []
    tools = _read_tools(result.get("tools"))
    if whole := _find_whole_size(result):
        told.append(f"of the list of tools, which has {whole} bytes, only the first {len(tools)} "
                    "were read")  # fmt: skip
    if len(tools) > MAX_TOOLS:
        told.append(f"{len(tools) - MAX_TOOLS} tools are left out: {MAX_TOOLS} are the most")
        del tools[MAX_TOOLS:]
    kept: list[Fields] = []
    for tool in tools:
        repaired, lost = _repair_tool(tool)
        if repaired is not None:
            kept.append(repaired)
        if lost:
            told.append(f"{_name_of(tool)} {lost}")
    _repair_page(result)
    result["tools"] = cast(JSON, kept)
    if not _is_readable(result, version):
        told += _leave_out_unreadable(result, kept, version)
    return told


def repair_input_schema(schema: JSON) -> tuple[Fields, list[str]]:
    """A schema of an object, and what it lost, in clauses about its tool."""
    schema = _unwrap(_parse(schema))
    if not isinstance(schema, dict):
        is_lost = bool(schema) and schema is not True
        return {"type": "object"}, ["has a schema that cannot be read"] if is_lost else []
    lost: list[str] = []
    root, missing = follow(schema, schema, partial(_repair_part, lost=lost))
    if missing:
        shown = clean_line(missing, _SHOWN)
        lost.append(f"has a schema that refers to {shown}, which is not there")
    if not _takes_object(schema, root):
        lost.append("has a schema that is none of an object")
    repaired: Fields = root
    if not isinstance(repaired.get("$schema", ""), str):
        del repaired["$schema"]
    if "required" in repaired:
        repaired["required"] = cast(JSON, _repair_required(repaired, lost))
    return repaired, lost


def _parse(value: JSON) -> JSON:
    """A value, or the object that it is the JSON text of."""
    if not isinstance(value, str) or not value.lstrip().startswith("{"):
        return value
    try:
        return cast(JSON, json.loads(value))
    except (ValueError, RecursionError):
        return value


def _unwrap(schema: JSON) -> JSON:
    """A schema that is the only member of an object which says nothing itself."""
    if not isinstance(schema, dict) or len(schema) != 1 or not _KEYWORDS.isdisjoint(schema):
        return schema
    (inner,) = schema.values()
    is_schema = isinstance(inner, dict) and not _KEYWORDS.isdisjoint(inner)
    return inner if is_schema else schema


def _takes_object(schema: Fields, root: Fields) -> bool:
    """Whether what was said, before it was repaired, is a schema and one that objects fit."""
    if schema and _KEYWORDS.isdisjoint(schema):
        return False
    said = schema.get("type", root.get("type"))
    kinds = said if isinstance(said, list) else [said]
    named = [kind.lower() for kind in kinds if isinstance(kind, str)]
    return not named or "object" in named or _TYPES.isdisjoint(named)


def _repair_part(schema: Mapping[str, JSON], lost: list[str]) -> Fields:
    repaired: Fields = {**schema, "type": "object"}
    described = repaired.get("properties")
    if isinstance(described, dict) and isinstance(described.get("required"), list):
        # It has slipped in among what it speaks of.
        repaired["properties"] = {n: each for n, each in described.items() if n != "required"}
        repaired.setdefault("required", described["required"])
    if "properties" in repaired:
        repaired["properties"] = cast(JSON, _repair_properties(repaired["properties"], lost))
    return repaired


def _read_tools(tools: JSON) -> list[JSON]:
    """The listed tools; a map by name is a list as well."""
    if isinstance(tools, dict):
        return [{"name": name, **each} if isinstance(each, dict) else each
                for name, each in tools.items()]  # fmt: skip
    return list(tools) if isinstance(tools, list) else []


def _find_whole_size(result: Fields) -> int:
    meta = result.get("_meta")
    whole = meta.get(WHOLE_SIZE) if isinstance(meta, dict) else None
    return whole if isinstance(whole, int) else 0


def _repair_tool(tool: JSON) -> tuple[Fields | None, str]:
    if not isinstance(tool, dict):
        return None, "is no tool and is left out"
    name = tool.get("name")
    if not isinstance(name, str) or not name.strip():
        return None, "is left out"
    kept = {key: value for key, value in tool.items() if key not in _UNUSED}
    schema = next((tool[name] for name in _SCHEMAS if name in tool), None)
    kept["inputSchema"], lost = repair_input_schema(schema)
    for key in ("description", "title"):
        if not isinstance(kept.get(key), str) and kept.pop(key, None):
            lost.append(f"has a {key} that is no text")
    if not isinstance(kept.get("_meta"), dict):
        kept.pop("_meta", None)
    kept.pop("annotations", None)
    hints = _repair_hints(tool.get("annotations"), lost)
    if lost:
        hints.pop("readOnlyHint", None)
    if hints:
        kept["annotations"] = cast(JSON, hints)
    return kept, " and ".join(dict.fromkeys(lost))


def _name_of(tool: JSON) -> str:
    name = tool.get("name") if isinstance(tool, dict) else tool
    if isinstance(tool, dict) and (not isinstance(name, str) or not name.strip()):
        return "a tool without a name"
    return clean_line(str(name), _SHOWN)


def _repair_hints(hints: JSON, lost: list[str]) -> Fields:
    """What is no truth value is no hint; that it destroys is believed however it is said."""
    if not isinstance(hints, dict):
        return {}
    kept: Fields = {name: hints[name] for name in _HINTS if isinstance(hints.get(name), bool)}
    if hints.get("destructiveHint") and "destructiveHint" not in kept:
        kept["destructiveHint"] = True
    if isinstance(title := hints.get("title"), str):
        kept["title"] = title
    elif title:
        lost.append("has a title that is no text")
    return kept


def _repair_properties(properties: JSON, lost: list[str]) -> Fields:
    properties = _parse(properties)
    if isinstance(properties, list):
        named = {each["name"]: each for each in properties if isinstance(each, dict)
                 and isinstance(each.get("name"), str)}  # fmt: skip
        if len(named) < sum(map(bool, properties)):
            lost.append("has parameters without a name of their own")
        return {str(name): {key: value for key, value in each.items() if key != "name"}
                for name, each in named.items()}  # fmt: skip
    if not isinstance(properties, dict):
        if properties:
            lost.append("has parameters that cannot be read")
        return {}
    repaired = {name: _repair_property(each) for name, each in properties.items()}
    odd = [name for name, each in properties.items() if each and repaired[name] == {}]
    if odd:
        lost.append(f"says nothing readable of its parameter {clean_line(odd[0], _SHOWN)}")
    return repaired


def _repair_property(described: JSON) -> JSON:
    described = _parse(described)
    if isinstance(described, dict | bool):
        return described
    return {"type": described} if isinstance(described, str) and described in _TYPES else {}


def _repair_required(schema: Fields, lost: list[str]) -> list[str]:
    """The names that may be insisted on: what is described nowhere, nobody can give."""
    listed, known = schema["required"], schema.get("properties")
    names = [name for name in listed if isinstance(name, str)] if isinstance(listed, list) else []
    if not _ELSEWHERE.isdisjoint(schema):
        return names
    kept = [name for name in names if isinstance(known, dict) and name in known]
    if unknown := [name for name in names if name not in kept]:
        lost.append(f"requires {clean_line(unknown[0], _SHOWN)}, which it does not describe")
    return kept


def _repair_page(result: Fields) -> None:
    """What stands around the tools: a cursor is a text, and what is said of caching a number."""
    cursor = result.get("nextCursor")
    if not isinstance(cursor, str):
        result.pop("nextCursor", None)
        if isinstance(cursor, int) and not isinstance(cursor, bool):
            result["nextCursor"] = str(cursor)
    if not isinstance(result.get("_meta"), dict):
        result.pop("_meta", None)


def _leave_out_unreadable(result: Fields, tools: list[Fields], version: str) -> list[str]:
    """Read each tool by itself, and keep those that can be read."""
    page = {key: value for key, value in result.items() if key != "tools"}
    if not _is_readable({**page, "tools": []}, version):
        page = {key: page[key] for key in ("nextCursor",) if key in page} | _UNTOLD
        result.clear()
        result.update(page)
    readable = [tool for tool in tools if _is_readable({**page, "tools": [tool]}, version)]
    result["tools"] = cast(JSON, readable)
    return [f"{_name_of(tool)} is left out: it is no valid MCP tool"
            for tool in tools if tool not in readable]  # fmt: skip


def _is_readable(result: Fields, version: str) -> bool:
    """Whether the SDK will take it: by the model of the revision, and by its own."""
    try:
        validate_server_result("tools/list", version, result)
        for tool in cast(list[JSON], result["tools"]):
            Tool.model_validate(tool, by_name=False)
    except (ValidationError, KeyError, ValueError, RecursionError):
        return False
    return True

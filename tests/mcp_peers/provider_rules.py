"""What each family of providers refuses in a tool's definition, written down by itself.

Knows nothing of our sanitizer: each check is a reading of what the provider documents or answers.
"""

import copy
import re
from collections.abc import Iterator, Mapping

import jsonschema

from agents.llm.via_litellm import load_litellm

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_-]{0,63}")
_PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_GEMINI_FIELDS = {
    "type", "format", "title", "description", "nullable", "enum", "maxItems", "minItems",
    "properties", "required", "minProperties", "maxProperties", "minLength", "maxLength",
    "pattern", "example", "anyOf", "propertyOrdering", "default", "items", "minimum", "maximum",
}  # fmt: skip
_GEMINI_FORMATS = {"string": {"enum", "date-time"}, "integer": {"int32", "int64"},
                   "number": {"float", "double"}}  # fmt: skip


def find_openai_faults(name: str, description: str, schema: Mapping) -> Iterator[str]:
    """Functions of the chat API, not strict: any JSON schema whose top is an object."""
    if not _NAME.fullmatch(name):
        yield f"name {name!r}"
    if len(description) > 8_192:
        yield "a description too long"
    if schema.get("type") != "object" or "properties" not in schema:
        yield "the top is no object with properties"
    if {"anyOf", "oneOf", "allOf", "enum", "not"} & schema.keys():
        yield "alternatives at the top"
    try:
        jsonschema.Draft202012Validator.check_schema(dict(schema))
    except jsonschema.SchemaError as error:
        yield f"no JSON schema: {error.message}"
    for path, inner in walk(schema):
        if inner.get("type") == "array" and "items" not in inner:
            yield f"{path}: array schema missing items"


def find_anthropic_faults(name: str, description: str, schema: Mapping) -> Iterator[str]:
    if not _NAME.fullmatch(name):
        yield f"name {name!r}"
    if schema.get("type") != "object":
        yield "input_schema.type: Field required"
    if {"anyOf", "oneOf", "allOf"} & schema.keys():
        yield "input_schema does not support oneOf, allOf, or anyOf at the top level"
    for path, inner in walk(schema):
        for key in inner.get("properties", {}):
            if not _PROPERTY.fullmatch(key):
                yield f"{path}: property key {key!r}"
        if "$ref" in inner and not str(inner["$ref"]).startswith("#/"):
            yield f"{path}: a reference elsewhere"


def find_gemini_faults(name: str, description: str, schema: Mapping) -> Iterator[str]:
    """The Schema message of the API, after the conversion that litellm makes for every call."""
    if not _NAME.fullmatch(name):
        yield f"name {name!r}"
    load_litellm()  # Switches off what an import of it would fetch.
    from litellm.llms.vertex_ai.common_utils import _build_vertex_schema

    sent = _build_vertex_schema(copy.deepcopy(dict(schema)), add_property_ordering=True)
    for path, inner in walk(sent):
        if unknown := inner.keys() - _GEMINI_FIELDS:
            yield f"{path}: Unknown name {sorted(unknown)}"
        kind = str(inner.get("type", "")).lower()
        if not kind and "anyOf" not in inner:
            yield f"{path}: the type is unspecified"
        if kind == "array" and not inner.get("items"):
            yield f"{path}: items: missing field"
        if kind == "object" and inner.get("properties") == {}:
            yield f"{path}: properties: should be non-empty for OBJECT type"
        if inner.get("enum") is not None:
            if kind != "string":
                yield f"{path}: only allowed for STRING type"
            if any(not isinstance(item, str) or not item for item in inner["enum"]):
                yield f"{path}: enum: cannot be empty"
        if "format" in inner and inner["format"] not in _GEMINI_FORMATS.get(kind, ()):
            yield f"{path}: format {inner['format']!r} is not supported"
        for key in inner.get("required", []):
            if key not in inner.get("properties", {}):
                yield f"{path}: required: property {key!r} is not defined"
    if _depth(sent) > 32:
        yield "nested too deeply"


FAMILIES = {
    "openai": find_openai_faults,
    "anthropic": find_anthropic_faults,
    "gemini": find_gemini_faults,
}


def walk(schema: Mapping, path: str = "") -> Iterator[tuple[str, Mapping]]:
    yield path or "(top)", schema
    for name, inner in (schema.get("properties") or {}).items():
        yield from walk(inner, f"{path}.{name}")
    if isinstance(schema.get("items"), Mapping):
        yield from walk(schema["items"], f"{path}[]")
    for number, inner in enumerate(schema.get("anyOf") or ()):
        yield from walk(inner, f"{path}|{number}")


def _depth(schema: Mapping) -> int:
    inner = [
        *(schema.get("properties") or {}).values(),
        *([schema["items"]] if "items" in schema else []),
    ]
    return 1 + max(map(_depth, inner), default=0)

import copy
import functools
import json
from itertools import product
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.schemas import MAX_NODES, sanitize_schema
from tests.cases import for_each
from tests.mcp_peers.provider_rules import FAMILIES

FORBIDDEN = {"$ref", "$defs", "$schema", "definitions", "additionalProperties", "anyOf", "oneOf",
             "allOf", "const", "not"}  # fmt: skip


def simplify(schema: Any) -> Any:
    return sanitize_schema(schema)


def assert_plain(schema):
    """What every provider takes, all the way down."""
    assert not FORBIDDEN & schema.keys()
    assert schema["type"] in ("object", "array", "string", "integer", "number", "boolean")
    if "enum" in schema:
        assert schema["type"] == "string"
        assert all(isinstance(value, str) and value for value in schema["enum"])
    if schema["type"] == "array":
        assert_plain(schema["items"])
    for inner in schema.get("properties", {}).values():
        assert_plain(inner)
    assert set(schema.get("required", [])) <= schema.get("properties", {}).keys()


def property_of(schema):
    return simplify({"type": "object", "properties": {"p": schema}})["properties"]["p"]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, {"type": "integer"}),
        ({"type": ["string", "null"]}, {"type": "string"}),
        ({"type": "array"}, {"type": "array", "items": {"type": "string"}}),
        (
            {"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "integer"}]}},
            {"type": "array", "items": {"type": "string"}},
        ),
        ({}, {"type": "string"}),
        (True, {"type": "string"}),
        ({"enum": ["a", "b", None]}, {"type": "string", "enum": ["a", "b"]}),
        ({"enum": [1, 2]}, {"type": "integer", "description": "One of: [1, 2]."}),
        ({"const": "on"}, {"type": "string", "enum": ["on"]}),
        ({"type": "integer", "default": 5}, {"type": "integer", "description": "Default: 5."}),
        ({"type": "object", "additionalProperties": {"type": "string"}},
         {"type": "object", "properties": {}}),
        ({"type": "string", "format": "uri", "title": "X"}, {"type": "string"}),
        ({"$ref": "https://schemas.example.com/x"}, {"type": "string"}),
    ],
)  # fmt: skip
def test_property_takes_the_form_every_provider_accepts(schema, expected):
    assert property_of(schema) == expected


def test_references_are_inlined_and_recursion_ends():
    schema = {
        "type": "object",
        "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}},
            "loop": {"$ref": "#/$defs/loop"},
        },
        "properties": {"tree": {"$ref": "#/$defs/node"}, "loop": {"$ref": "#/$defs/loop"}},
    }

    plain = simplify(schema)

    assert_plain(plain)
    assert plain["properties"]["tree"]["properties"]["next"]["type"] == "object"


def test_alternatives_at_the_top_become_one_object():
    schema = {
        "oneOf": [
            {"properties": {"pod": {"type": "string"}, "ns": {"type": "string"}},
             "required": ["pod", "ns"]},
            {"properties": {"node": {"type": "string"}, "ns": {"type": "string"}},
             "required": ["node", "ns"]},
        ]
    }  # fmt: skip

    plain = simplify(schema)

    assert set(plain["properties"]) == {"pod", "node", "ns"}
    assert plain["required"] == ["ns"]


def test_references_that_multiply_do_not_explode():
    defs = {
        f"d{n}": {"type": "object", "properties": {
            key: {"$ref": f"#/$defs/d{n + 1}"} for key in "abcdefgh"}}
        for n in range(12)
    }  # fmt: skip
    schema = {"type": "object", "$defs": defs, "properties": {"x": {"$ref": "#/$defs/d0"}}}

    plain = simplify(schema)

    assert json.dumps(plain).count('"type"') < 10 * MAX_NODES


SCHEMAS = st.recursive(
    st.booleans()
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "integer", "null", "array", "object", "odd", 7])
            | st.lists(st.sampled_from(["string", "null"])),
            "enum": st.lists(st.none() | st.text() | st.integers()),
            "$ref": st.sampled_from(["#", "#/properties/a", "#/nothing", "x.json"]),
            "description": st.text() | st.integers(),
            "default": st.none() | st.text() | st.booleans(),
            "required": st.lists(st.text() | st.integers()),
        },
    ),
    lambda inner: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b", "ö", ""]), inner),
            "items": inner | st.lists(inner, max_size=2),
            "anyOf": st.lists(inner, max_size=3),
            "allOf": st.lists(inner, max_size=3),
            "additionalProperties": inner,
        },
    ),
    max_leaves=10,
)


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)))
def test_any_schema_becomes_plain_and_is_itself_left_alone(schema):
    before = copy.deepcopy(schema)

    plain = simplify(schema)

    assert_plain(plain)
    assert plain["type"] == "object"
    assert schema == before
    jsonschema.Draft202012Validator.check_schema(plain)


ODD_SCHEMAS = {
    "recursive": {
        "$ref": "#/$defs/node",
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    },
    "top anyOf": {"anyOf": [{"type": "object", "properties": {"a": {}}}, {"type": "null"}]},
    "no type": {"properties": {"a": {"description": "anything"}, "b": {"items": {}}}},
    "array without items": {"type": "object", "properties": {"a": {"type": "array"}}},
    "array of alternatives": {
        "type": "object",
        "properties": {"a": {"type": "array", "items": {"oneOf": [{}, {"type": "array"}]}}},
    },
    "map": {"type": "object", "properties": {"labels": {"additionalProperties": {"type": "x"}}}},
    "types": {"type": ["object", "null"], "properties": {"a": {"type": ["integer", "string"]}}},
    "formats": {"type": "object", "properties": {"a": {"type": "string", "format": "uri"}}},
    "numbers to choose from": {"type": "object", "properties": {"a": {"enum": [1, "", None]}}},
    "required and missing": {"type": "object", "required": ["a", "b"], "properties": {"a": True}},
    "names": {"type": "object", "properties": {"a b": {}, "$x": {}, "y" * 65: {}, "ok.1-_": {}}},
    "no object": {"type": "string"},
    "nothing": {},
    "deep": functools.reduce(
        lambda inner, _: {"type": "object", "properties": {"a": inner}}, range(60), {}
    ),
}


@for_each(product(ODD_SCHEMAS, FAMILIES))
def test_odd_schema_is_what_every_family_of_providers_takes(case: tuple[str, str]):
    odd, family = case

    assert [*FAMILIES[family]("server__tool", "Does.", simplify(ODD_SCHEMAS[odd]))] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_checks_of_the_families_refuse_what_the_providers_refuse(family):
    refused = {
        "openai": {"type": "object", "properties": {"a": {"type": "array"}}},
        "anthropic": {"type": "object", "oneOf": [{"required": ["a"]}]},
        "gemini": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["b"]},
    }

    assert [*FAMILIES[family]("server__tool", "Does.", refused[family])]
    assert [*FAMILIES[family]("server.tool", "Does.", {"type": "object", "properties": {}})]


@given(SCHEMAS.filter(lambda schema: isinstance(schema, dict)))
def test_any_schema_becomes_what_every_family_of_providers_takes(schema):
    plain = simplify(schema)

    assert {name: [*check("t", "", plain)] for name, check in FAMILIES.items()} == {
        name: [] for name in FAMILIES
    }


CHECK = ArgumentCheck(
    {
        "type": "object",
        "properties": {
            "path": {"type": "string", "pattern": "^/"},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["path"],
        "additionalProperties": False,
    }
)


@pytest.mark.parametrize(
    ("arguments", "fault"),
    [
        ({"path": "/x", "limit": None}, ""),
        ({}, "'path' is a required property"),
        ({"path": 5}, "`path`: 5 is not of type 'string'"),
        ({"path": "x"}, "`path`: 'x' does not match '^/'"),
        ({"path": "/", "limit": "a"}, "`limit`: 'a' is neither integer nor null"),
        ({"path": "/", "pth": 1}, "('pth' was unexpected); known are limit, path"),
    ],
)
def test_fault_names_the_property_and_what_would_be_right(arguments, fault):
    found = CHECK.find_faults(arguments)

    assert fault in found if fault else found == ""


def test_missing_property_is_told_with_the_values_it_may_have():
    check = ArgumentCheck(
        {"properties": {"action": {"enum": ["list", "logs"]}}, "required": ["action"]}
    )

    assert check.find_faults({}) == "'action' is a required property: one of list, logs"


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/remote.json"}}},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "nonsense"},
        {"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}},
        {"type": "object", "properties": {"a": {"pattern": "(?=x)"}}},
    ],
)
def test_schema_that_cannot_be_used_judges_nothing_and_fetches_nothing(schema):
    assert ArgumentCheck(schema).find_faults({"a": "b"}) == ""


def test_hostile_pattern_is_matched_in_linear_time():
    check = ArgumentCheck({"properties": {"a": {"pattern": "^(a+)+$"}}})

    assert "does not match" in check.find_faults({"a": "a" * 5_000 + "!"})

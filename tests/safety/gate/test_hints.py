"""When a server's word that a tool only reads is believed: the tool has to look like it.

`tool_classes.jsonl` holds the samples that were agreed on, `hinted_tools.jsonl` more of both sorts,
and `reported_tools.jsonl` what others report of tools whose hints are wrong, beside honest ones.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from mcp_bridge.server_config import TransportType
from safety.gate.hints import object_to_hint
from safety.gate.policy import (
    class_of_call,
    classify_by_hints,
    is_classed,
    may_read,
    rule_of,
    without_writes,
)
from tests.cases import for_each
from tests.server_plans import ServerPlan, TransportPlan

CASES = Path(__file__).parent / "cases"


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


def server(transport: TransportType = "stdio", trusts: bool | None = None) -> ServerPlan:
    return ServerPlan(TransportPlan(transport), trust_annotations=trusts)


AGREED = [*load("tool_classes.jsonl"), *load("more_tool_classes.jsonl")]
HINTED = [*load("hinted_tools.jsonl"), *load("further_tools.jsonl"), *load("reported_tools.jsonl")]
READS = [each for each in HINTED if each["reads"]]
ACTS = [each for each in HINTED if not each["reads"]]


@for_each(AGREED, name=lambda case: case["id"])
def test_a_tool_that_may_change_something_is_never_classed_as_a_read(case):
    told = case["server"]
    tool = Tool.model_validate(case["tool"])

    found = class_of_call("x", server(told["transport"], told["trusts_annotations"]), tool, {})

    # What reads for some values of an argument alone is a write until the operator splits it.
    is_read = "read" in (case["expect"]["class"], *case["expect"].get("also_ok", ()))
    assert found == ("read" if is_read else "write")


@for_each(AGREED, name=lambda case: case["id"])
def test_a_tool_that_says_so_in_its_schema_reads_by_the_values_that_only_look(case):
    told, expected = case["server"], case["expect"]
    plan = server(told["transport"], told["trusts_annotations"])
    tool = Tool.model_validate(case["tool"])
    if expected["class"] != "mixed":
        return

    listed = values_of(tool, expected["argument"])
    found = {value: class_of_call("x", plan, tool, {expected["argument"]: value})
             for value in (*listed, "no-such-value")}  # fmt: skip

    assert {value for value, kind in found.items() if kind == "read"} == set(expected["reads"])
    assert may_read("x", plan, tool)
    assert is_classed("x", plan, tool)


def values_of(tool: Tool, argument: str) -> list[str]:
    described = tool.input_schema["properties"][argument]
    several = described.get("oneOf") or described.get("anyOf") or ()
    return described.get("enum") or [each["const"] for each in several]


def mixed(name="unit", told="Works with units", values=("status", "restart"), hints=None, **more):
    properties = {"action": {"type": "string", "enum": list(values)}, **more}
    return Tool.model_validate(
        {"name": name, "description": told, "annotations": hints or {"readOnlyHint": True},
         "inputSchema": {"type": "object", "properties": properties}}
    )  # fmt: skip


@pytest.mark.parametrize(
    "tool",
    [
        mixed(hints={"readOnlyHint": True, "destructiveHint": True}),
        mixed(told="Deletes the log, then works with units"),
        mixed(values=("get_or_create", "restart")),
        mixed(values=("list_and_purge", "restart")),
        mixed(values=("frobnicate", "restart")),
        mixed(command={"type": "string"}),
        mixed(force={"type": "boolean"}, purge={"type": "boolean"}),
        mixed(mode={"type": "string", "enum": ["show", "wipe"]}),
        mixed(options={"type": "object", "properties": {"body": {"type": "string"}}}),
    ],
    ids=["destroys", "its words act", "or creates", "and purges", "unknown", "any command",
         "a flag that acts", "two that decide", "carries anything"],
)  # fmt: skip
def test_a_tool_that_could_act_by_something_else_as_well_is_not_split(tool):
    assert (
        class_of_call(
            "x", server(), tool, {"action": tool.input_schema["properties"]["action"]["enum"][0]}
        )
        == "write"
    )


def test_where_nothing_may_be_written_only_the_values_that_read_are_shown():
    tool = mixed(values=("status", "restart", "logs"))

    shown = without_writes(rule_of("x", server(), tool), tool.input_schema)

    assert shown["properties"]["action"]["enum"] == ["status", "logs"]


@for_each(ACTS, name=lambda case: case["tool"]["name"])
def test_a_hint_that_words_or_schema_speak_against_is_not_believed_and_the_reason_is_told(case):
    found = classify_by_hints(server(), Tool.model_validate(case["tool"]))

    assert found.tool_class == "write"
    assert found.reason.startswith("its server says that it only reads, but ")


@pytest.mark.parametrize(
    ("name", "description", "arguments"),
    [
        ("nuke_topology", "Nukes the topology.", ()),
        ("list_things", "Obliterates the given host.", ()),
        ("get_node", "Zeroizes the node.", ()),
        ("annihilate_status", "", ()),
        ("find_hosts", "Find hosts. Obliterate the matching ones.", ()),
        ("search", "Search. It is then deleted.", ()),
        ("list_users", "List users. Afterwards their sessions are evicted.", ()),
        ("list_users", "List users\nFrobnicates each of them", ()),
        ("run_query", "Returns rows.", ("q",)),
        ("get_rows", "Returns rows.", ("query",)),
        ("quarkify", "Returns a node.", ()),
    ],
)
def test_a_verb_that_nobody_knows_speaks_against_a_hint(name, description, arguments):
    properties = {key: {"type": "string"} for key in arguments}
    tool = Tool.model_validate(
        {"name": name, "description": description, "annotations": {"readOnlyHint": True},
         "inputSchema": {"type": "object", "properties": properties}}
    )  # fmt: skip

    assert classify_by_hints(server(), tool).tool_class == "write"


def test_nine_of_ten_honest_hints_are_believed():
    lost = [
        case["tool"]["name"] for case in READS
        if classify_by_hints(server(), Tool.model_validate(case["tool"])).tool_class != "read"
    ]  # fmt: skip

    assert len(lost) <= len(READS) // 10, lost


def test_a_tool_that_nothing_is_said_of_says_so():
    tool = Tool(name="get_users", input_schema={"type": "object"})

    found = classify_by_hints(server(), tool)

    assert (found.tool_class, found.reason) == ("write", "nothing says that it only reads")


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": ["get", "drop"]}}},
        {"properties": {"a": {"items": {"properties": {"delete": {"type": "boolean"}}}}}},
        {"allOf": [{"properties": {"command": {"type": "string"}}}]},
        {"properties": {f"a{n}": {"type": "string"} for n in range(1000)}},
        {
            "$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}] * 9}},
            "properties": {"endless": {"$ref": "#/$defs/a"}},
        },
        {
            "properties": {"a": True, "anyOf": 3, "b": {"enum": 7, "type": ["string", 4]}},
            "items": [],
        },
    ],
    ids=["behind a reference", "within a list", "in a part", "too large", "endless", "of no sense"],
)
def test_no_schema_hides_an_act_or_breaks_the_look(schema):
    hints = {"readOnlyHint": True}
    tool = Tool.model_validate(
        {"name": "list_things", "description": "Lists things", "annotations": hints,
         "inputSchema": {"type": "object", **schema}}
    )  # fmt: skip

    classify_by_hints(server(), tool)

    if not {"anyOf", "endless"} & set(schema.get("properties", ())):
        assert classify_by_hints(server(), tool).tool_class == "write"


@for_each(
    [
        ("restart_service", "mode", ["status", "force"]),
        ("send_mail", "method", ["get", "post"]),
        ("service_restart", "mode", ["status", "force"]),
        ("deletePod", "action", ["list", "confirm"]),
        ("branch", "action", ["check_out", "create"]),
        ("session", "action", ["log_out", "start"]),
        ("account", "action", ["get_rid_of", "create"]),
        ("account", "action", ["logOut", "create"]),
        ("account", "action", ["read_to_file", "create"]),
        ("files", "action", ["get_away", "create"]),
    ]
)  # fmt: skip
def test_neither_a_tool_named_after_an_act_nor_a_verb_with_a_particle_reads_by_a_value(case):
    name, argument, values = case
    properties = {argument: {"type": "string", "enum": values}}
    tool = Tool.model_validate(
        {"name": name, "annotations": {"readOnlyHint": True},
         "inputSchema": {"type": "object", "properties": properties}}
    )  # fmt: skip

    assert class_of_call("x", server(), tool, {argument: values[0]}) == "write"


@for_each(
    [
        ("restart_service", ["status", "restart"], ["status"]),
        ("incident", ["get_by_id", "create"], ["get_by_id"]),
    ],
)
def test_a_tool_whose_acts_are_all_named_by_values_reads_by_the_others(case):
    name, values, reads = case
    tool = mixed(name, "", values)

    found = [
        each for each in values if class_of_call("x", server(), tool, {"action": each}) == "read"
    ]

    assert found == reads


@for_each(
    [
        {"properties": {"a": {"$ref": "https://example.org/a.json"}}},
        {"properties": {"a": {"$ref": "#/$defs/absent"}}},
        {"properties": {"a": {"$ref": "#anchor"}}},
        {"properties": {"a": {"$ref": 7}}},
        {"properties": {"a": {"$dynamicRef": "#a"}}},
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/a"}}},
        {"properties": {"a": {"properties": [{"name": "command"}]}}},
        {"properties": "a"},
        {"dependentSchemas": {"a": {"properties": {"command": {"type": "string"}}}}},
        {
            "properties": {"body": {"$ref": "#/$defs/a", "type": "integer"}},
            "$defs": {"a": {"type": "string"}},
        },
        {"anyOf": {"properties": {"a": {"type": "string"}}}},
        {
            "properties": {"a": {"$ref": "#/$defs/a", "properties": {"b": {"type": "string"}}}},
            "$defs": {"a": {"properties": {"delete": {"type": "boolean"}}}},
        },
        {
            "properties": {"a": {"$ref": "#/$defs/a", "enum": ["get"]}},
            "$defs": {"a": {"enum": ["get", "drop"]}},
        },
        {
            "properties": {"a": {"$ref": "#/$defs/a%20b"}},
            "$defs": {"a b": {"enum": ["get", "drop"]}},
        },
        {
            "properties": {"a": {"$ref": "#/anyOf/0/properties/x"}},
            "anyOf": [{"properties": {"x": {"enum": ["get", "drop"]}}}],
        },
        {"properties": {"a": {"items": [{"properties": {"delete": {"type": "boolean"}}}]}}},
        {
            "properties": {
                "a": {"$ref": "#/$defs/a"},
                "b": {"$ref": "#/$defs/a", "properties": {"delete": {"type": "boolean"}}},
            },
            "$defs": {"a": {"type": "object"}},
        },
    ]
)  # fmt: skip
def test_what_a_schema_hides_behind_or_beside_a_reference_speaks_against_a_hint(schema):
    assert classify_by_hints(server(), listing(schema)).tool_class == "write"


def listing(schema: dict[str, Any]) -> Tool:
    return Tool.model_validate(
        {"name": "list_things", "description": "Lists things",
         "annotations": {"readOnlyHint": True}, "inputSchema": {"type": "object", **schema}}
    )  # fmt: skip


@for_each(
    [
        {"properties": {"a": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"enum": ["pod", "node"]}}},
        {"properties": {"a": {"$ref": "#/$defs/a", "description": "The kind"},
                        "b": {"$ref": "#/$defs/a", "description": "Another kind"}},
         "$defs": {"a": {"enum": ["pod", "node"]}}},
        {"properties": {"a": True}, "additionalProperties": False},
    ]
)  # fmt: skip
def test_a_reference_that_is_found_costs_no_hint(schema):
    assert classify_by_hints(server(), listing(schema)).tool_class == "read"


@for_each(
    [
        "List caches. Purges of the cache follow.",
        "Deletes of old rows.",
    ]
)
def test_an_act_that_is_told_as_a_noun_speaks_against_a_hint(told):
    tool = Tool.model_validate(
        {"name": "list_caches", "description": told, "annotations": {"readOnlyHint": True},
         "inputSchema": {"type": "object"}}
    )  # fmt: skip

    assert classify_by_hints(server(), tool).tool_class == "write"


def test_a_schema_that_is_nested_without_end_is_not_judged_and_one_that_goes_round_is():
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(150):
        deep = {"type": "object", "properties": {"part": deep}}
    inner = {"$ref": "#", "minProperties": 1}
    round_ = {"type": "object", "properties": {"host": {"type": "string"}, "inner": inner}}

    def look(schema: dict[str, Any]) -> Tool:
        return Tool.model_validate(
            {"name": "get_report", "description": "Gets a report", "inputSchema": schema,
             "annotations": {"readOnlyHint": True}}
        )  # fmt: skip

    assert object_to_hint(look(deep)) == "its schema is nested too deeply to be judged"
    assert object_to_hint(look(round_)) == ""

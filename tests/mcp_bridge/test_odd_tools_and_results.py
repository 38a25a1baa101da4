"""One odd tool never costs the others, and one odd field never the result.

`tool_schemas.jsonl` holds the samples that were agreed on, the others more of each kind.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcp_bridge.wire.reasons import _join
from mcp_bridge.wire.result_repairs import repair_call_result
from mcp_bridge.wire.tool_repairs import repair_listing
from tests.cases import check_each, for_each
from tests.mcp_bridge.conftest import ReadsBut, nothing_left_behind, run  # noqa: F401 (fixture)
from tests.mcp_bridge.scripted import OPENING, open_scripted, plain, serving
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

CASES = Path(__file__).parent / "cases"
READS = ServerPlan(TransportPlan("stdio"), tools=ReadsBut())


def load(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (CASES / name).read_text("utf-8").splitlines()]


EVERY = [
    case
    for name in ("tool_schemas", "odd_servers", "further_servers", "reported_servers")
    for case in load(f"{name}.jsonl")
]
TOOLS = [case for case in EVERY if "tool" in case]
RESULTS = [case for case in EVERY if "result" in case]


async def list_between(tool: Any, version: str = "2025-11-25") -> dict[str, Any]:
    """What is offered of a tool between two plain ones, and what is told of it."""
    tools = (plain("first"), tool, plain("last"))
    async with open_scripted(speaking(version, serving(tools)), READS) as (toolbox, connection):
        return {
            "specs": {spec.name: spec.input_schema for spec in toolbox.specs},
            "told": "; ".join(connection.left_out),
        }


def speaking(version: str, script):
    """The same server with another revision of the protocol."""

    def answer(method, params):
        if method == "initialize":
            return {"result": {**OPENING, "protocolVersion": version}}
        return script(method, params)

    return answer


def check_listing(case: dict[str, Any], seen: dict[str, Any]) -> None:
    expected, specs = case["expect"], dict(seen["specs"])
    assert {"x.first", "x.last"} <= specs.keys(), "the others are lost"
    del specs["x.first"], specs["x.last"]
    wanted = expected["tool"] if isinstance(expected["tool"], list) else [expected["tool"]]
    if not specs:
        assert "left_out" in wanted, "it is not offered"
    else:
        assert wanted != ["left_out"], "it is offered"
        (schema,) = specs.values()
        if "parameters" in expected:
            assert sorted(schema["properties"]) == sorted(expected["parameters"])
        if "required" in expected:
            assert sorted(schema.get("required", [])) == sorted(expected["required"])
    assert all(word in seen["told"] for word in expected.get("warns", ())), seen["told"]


@pytest.mark.parametrize("version", ["2025-11-25", "2024-11-05"])
async def test_an_odd_tool_is_repaired_or_left_out_by_name_and_costs_no_other(version: str):
    seen = {case["id"]: await list_between(case["tool"], version) for case in TOOLS}

    check_each(lambda case: check_listing(case, seen[case["id"]]), TOOLS, lambda case: case["id"])


async def answer_with(result: Any) -> Any:
    async with open_scripted(serving(result=result), READS) as (toolbox, _):
        return await run(toolbox, "x__first")


def check_result(case: dict[str, Any], result: Any) -> None:
    expected = case["expect"]
    assert all(text in result.content for text in expected["readable"]), result.content
    assert result.is_error is expected["is_error"]


async def test_whatever_a_result_says_reaches_the_model():
    seen = {case["id"]: await answer_with(case["result"]) for case in RESULTS}

    check_each(lambda case: check_result(case, seen[case["id"]]), RESULTS, lambda case: case["id"])


# ---- Hostile and huge lists ----------------------------------------------------------------------


async def test_what_a_list_lost_is_logged_once_and_in_one_line(caplog):
    tools = (plain("first"), plain("-no"), "garbage", {"name": None}, plain("last"))
    async with open_scripted(serving(tools), READS) as (_, connection):
        await connection.list_tools()

    (told,) = [record.getMessage() for record in caplog.records]
    assert told.startswith("tool server x: ")
    assert all(each in told for each in ("-no", "garbage", "without a name"))


async def test_of_five_thousand_tools_a_thousand_are_offered_and_the_rest_is_counted(caplog):
    tools = tuple(plain(f"tool_{number}") for number in range(5_000))
    async with open_scripted(serving(tools), READS) as (toolbox, connection):
        assert len(toolbox.specs) == 1_000
        assert connection.left_out == ("4000 tools are left out: 1000 are the most",)
    assert len(caplog.records) == 1


async def test_of_a_list_of_two_megabytes_the_beginning_is_offered_and_its_size_is_told():
    tools = tuple({**plain(f"tool_{number}"), "description": "x" * 4_000} for number in range(500))
    async with open_scripted(serving(tools), READS) as (toolbox, connection):
        offered = len(toolbox.specs)
        (told,) = connection.left_out

    assert 200 < offered < 500
    assert told.startswith("of the list of tools, which has 2")
    assert f"only the first {offered} were read" in told


@pytest.mark.parametrize(
    "schema",
    [
        {"$ref": "#"},
        {"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}},
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"type": "object", "allOf": [{"$ref": "#"}]},
        {"anyOf": [{"$ref": "#/$defs/n"}], "$defs": {"n": {"anyOf": [{"$ref": "#/$defs/n"}]}}},
    ],
    ids=["itself", "in a ring", "list of its own kind", "all of itself", "any of itself"],
)
async def test_a_schema_that_goes_round_in_circles_costs_nothing_else(schema):
    seen = await list_between({**plain("round"), "inputSchema": schema})

    assert {"x.first", "x.round", "x.last"} == seen["specs"].keys()


async def test_a_schema_too_deep_to_be_read_costs_no_other_tool():
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(400):
        deep = {"type": "object", "properties": {"in": deep}}

    seen = await list_between({**plain("deep"), "inputSchema": deep})

    assert {"x.first", "x.last"} <= seen["specs"].keys()


async def test_names_of_every_script_are_offered_and_those_that_hide_something_are_not():
    shown = (
        "查询",
        "получить_логи",
        "λίστα",
        "データ取得",
        "تفاصيل",
        "पॉड_सूची",
        "get pods",
        "a/b:c",
    )
    hidden = ("a\u202eb", "a\u200bb", "[x](y)", "a\nb", " a", "a`b", "<b>", "e\u0301", "a" * 129)
    tools = tuple(plain(name) for name in (*shown, *hidden))
    said = {"content": [{"type": "text", "text": "done"}]}
    async with open_scripted(serving(tools, said), READS) as (toolbox, connection):
        offered = {spec.name for spec in toolbox.specs}
        wires = [spec.wire_name for spec in toolbox.specs]
        answered = [await run(toolbox, wire) for wire in wires]

    assert offered == {f"x.{name}" for name in shown}
    assert len(set(wires)) == len(shown)
    assert all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]{0,63}", wire) for wire in wires)
    assert not any(result.is_error for result in answered)
    assert len(connection.left_out) == len(hidden)


@pytest.mark.parametrize("said", ["up 3 of 3", ["up 3 of 3"], 3, True])
async def test_a_result_that_is_no_object_is_an_answer(said):
    async with open_scripted(serving(answer={"result": said}), READS) as (toolbox, _):
        result = await run(toolbox, "x__first")

    assert not result.is_error
    assert (said[0] if isinstance(said, list) else str(said).lower()) in result.content


@pytest.mark.parametrize("error", ["no such zone", {"code": "E5", "message": "no such zone"},
                                   {"code": 5, "message": {"text": "no such zone"}}])  # fmt: skip
async def test_an_error_that_is_none_by_the_letter_is_read(error):
    async with open_scripted(serving(answer={"error": error}), READS) as (toolbox, _):
        result = await run(toolbox, "x__first")

    assert result.is_error
    assert "no such zone" in result.content


@pytest.mark.parametrize("odd", [[], None, "pong", {"content": 5}])
async def test_a_ping_that_is_answered_oddly_is_a_sign_of_life(odd):
    def script(method, params):
        return {"result": odd} if method == "ping" else serving()(method, params)

    async with open_scripted(script, READS) as (_, connection):
        await connection.ping(5.0)


@pytest.mark.parametrize(
    "odd",
    [
        {"capabilities": None},
        {"capabilities": []},
        {"capabilities": {"tools": True}},
        {"serverInfo": None},
        {"serverInfo": "scripted 1"},
        {"serverInfo": {"name": "scripted"}},
        {"instructions": {"text": "Look first."}},
        {"_meta": "none"},
    ],
    ids=str,
)
async def test_a_server_that_introduces_itself_oddly_is_used_all_the_same(odd):
    usual = serving(result={"content": [{"type": "text", "text": "seen"}]})

    def script(method, params):
        opening = {**OPENING, **odd}
        said = {name: value for name, value in opening.items() if value is not None}
        return {"result": said} if method == "initialize" else usual(method, params)

    async with open_scripted(script) as (toolbox, _):
        result = await run(toolbox, "x__first")

    assert result.content == "seen"


async def test_a_server_that_ignores_pings_is_asked_for_its_tools_from_then_on():
    asked: list[str] = []

    def script(method, params):
        asked.append(method)
        return None if method == "ping" else serving()(method, params)

    async with open_scripted(script, READS) as (_, connection):
        await connection.ping(0.2)
        await connection.ping(0.2)

    assert asked.count("ping") == 1


@pytest.mark.parametrize("count", [3_000, 60_000])
async def test_json_that_is_too_long_stays_json_and_says_how_much_is_left_out(count: int):
    rows = [{"name": f"row-{number}", "state": "up"} for number in range(count)]
    said = {"content": [{"type": "text", "text": json.dumps(rows)}]}
    plan = replace(READS, max_result_tokens=2_000)
    async with open_scripted(serving(result=said), plan) as (toolbox, _):
        result = await run(toolbox, "x__first")

    body, _, marker = result.content.partition("\n")
    assert json.loads(body)[0] == rows[0]
    assert len(result.content) < 8_200
    assert "items are left out" in body or "[truncated: showing" in marker
    assert result.truncated


# ---- What a repair loses, and what it keeps ------------------------------------------------------

HOST = {"type": "string", "description": "The host"}
LOSING: list[dict[str, Any]] = [
    {"inputSchema": "host: string"},
    {"inputSchema": [{"name": "host"}]},
    {"inputSchema": {"properties": "host, command"}},
    {"inputSchema": {"properties": [{"type": "string"}]}},
    {"inputSchema": {"properties": [{"name": "a", "enum": ["x"]}, {"name": "a"}]}},
    {"inputSchema": {"properties": {"host": "the host to delete"}}},
    {"inputSchema": {"properties": {"host": ["get", "delete"]}}},
    {"inputSchema": {"$ref": "https://example.org/schema.json"}},
    {"inputSchema": {"$ref": "#/$defs/absent"}},
    {"inputSchema": {"$ref": {"type": "object"}}},
    {"inputSchema": {"$ref": "#/$defs/a", "$defs": {"a": {"properties": "host"}}}},
    {"inputSchema": {"properties": {"host": HOST}, "required": ["host", "command"]}},
    {"inputSchema": {"type": "string"}},
    {"inputSchema": {"type": ["array", "null"], "items": HOST}},
    {"inputSchema": {"_def": {"typeName": "ZodObject"}}},
    {"inputSchema": {"json": {"host": "string"}}},
    {"description": ["Deletes the host"]},
    {"title": {"en": "Delete a host"}},
    {"annotations": {"readOnlyHint": True, "title": ["Delete a host"]}},
]
KEEPING: list[dict[str, Any]] = [
    {},
    {"inputSchema": None},
    {"inputSchema": []},
    {"inputSchema": {"properties": []}},
    {"inputSchema": {"properties": {"host": None}}},
    {"inputSchema": {"properties": {"host": "string"}}},
    {"inputSchema": {"properties": [{"name": "host", **HOST}]}},
    {"inputSchema": json.dumps({"properties": {"host": HOST}})},
    {"inputSchema": {"properties": json.dumps({"host": HOST})}},
    {"inputSchema": {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"host": HOST}}}}},
    {"inputSchema": {"type": ["object", "null"], "properties": {"host": HOST}}},
    {"inputSchema": {"type": "dict", "properties": {"host": HOST}}},
    {"inputSchema": {"json": {"type": "object", "properties": {"host": HOST}}}},
    {"title": None},
]


def repaired(fields: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """A tool that says that it only reads, as it is offered, and what is told of it."""
    result = {"tools": [{**plain("show"), "annotations": {"readOnlyHint": True}, **fields}]}
    told = repair_listing(result, "2025-11-25")
    (tool,) = result["tools"]
    return tool, told


@for_each(LOSING)
def test_a_tool_that_lost_something_is_told_and_its_hint_to_only_read_is_dropped(fields):
    tool, told = repaired(fields)

    assert "readOnlyHint" not in tool.get("annotations", {})
    assert len(told) == 1
    assert told[0].startswith("show ")


@for_each(KEEPING)
def test_a_tool_that_lost_nothing_keeps_its_hint(fields):
    tool, told = repaired(fields)

    assert tool["annotations"] == {"readOnlyHint": True}
    assert told == []


def test_what_stands_beside_a_reference_is_merged_with_what_it_refers_to():
    schema = {
        "$ref": "#/$defs/a",
        "properties": {"host": HOST, "kind": {"enum": ["pod"]}},
        "required": ["host"],
        "$defs": {
            "a": {
                "properties": {"force": {"type": "boolean"}, "kind": {"enum": ["job"]}},
                "required": ["force"],
                "anyOf": [{"required": ["kind"]}],
            }
        },
    }

    tool, told = repaired({"inputSchema": schema})

    found = tool["inputSchema"]
    assert found["properties"].keys() == {"host", "force", "kind"}
    assert found["properties"]["kind"] == {"allOf": [{"enum": ["job"]}, {"enum": ["pod"]}]}
    assert sorted(found["required"]) == ["force", "host"]
    assert found["anyOf"] == [{"required": ["kind"]}]
    assert told == []


def test_a_place_in_a_list_with_five_thousand_digits_is_no_place():
    tool, told = repaired({"inputSchema": {"$ref": f"#/anyOf/{'1' * 5_000}", "anyOf": [{}]}})

    assert tool["inputSchema"]["type"] == "object"
    assert len(told) == 1


def test_of_many_odd_blocks_a_thousand_are_read_and_the_rest_is_counted():
    odd: list[Any] = [{"type": "riddle", "says": number} for number in range(1_500)]
    result: dict[str, Any] = {"content": [*odd, {"type": "text", "text": "the last word"}]}

    repair_call_result(result, "2025-11-25")

    texts = [block["text"] for block in result["content"]]
    assert len(texts) == 1_002
    assert texts[-2:] == [
        "the last word",
        "[500 more parts that are no content of MCP's are left out]",
    ]


def test_of_an_error_with_very_much_to_say_the_first_texts_are_told():
    texts = (f"reason {number} of many" for number in range(1_000))

    told = _join(texts)

    assert told.startswith("reason 0 of many: reason 1 of many")
    assert told.endswith("reason 49 of many")
    assert len(_join("x" * 15_000 + str(number) for number in range(1_000))) < 40_000

"""The reviewed table of well-known servers: what it says of whom, and when that counts."""

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from mcp_bridge.known_servers import KnownServer, with_known_tools
from safety.gate.policy import class_of_call, is_classed
from safety.tool_rules import ClassRule
from tests.mcp_peers.known_rows import check_row, find_known
from tests.server_plans import ServerPlan, TransportPlan

LISTINGS = Path(__file__).parent / "listings"


def read_recorded(name: str) -> tuple[tuple[str, str], dict[str, Any]]:
    """Who a server said it is, and what it listed: it was tried once and is not installed."""
    told = json.loads((LISTINGS / f"{name}.json").read_text(encoding="utf-8"))
    return (told["name"], told["version"]), told["tools"]


RECORDED = sorted(path.stem for path in LISTINGS.glob("*.json"))


@pytest.mark.parametrize("name", RECORDED)
def test_the_table_knows_every_tool_that_was_listed_once_and_its_checks_fit(name):
    identity, listed = read_recorded(name)
    row = find_known(*identity)

    assert row is not None
    assert row.name == name
    check_row(row, {tool: schema.get("properties", ()) for tool, schema in listed.items()})
    for rule in row.tools.values():
        if rule.verify is not None:
            required = set(listed[rule.verify.tool].get("required", ()))
            assert required <= set(rule.verify.arguments)


STDIO = ServerPlan(TransportPlan("stdio"))
NODES = Tool(name="open_nodes", input_schema={"type": "object"})


def read_class(plan: ServerPlan, name: str, version: str, tool: Tool = NODES, **arguments) -> str:
    return class_of_call("x", with_known_tools(plan, name, version, (tool,)), tool, arguments)


def test_a_known_tool_is_classed_without_a_word_of_its_server():
    plan = with_known_tools(STDIO, "memory-server", "0.6.3", (NODES,))

    assert class_of_call("x", plan, NODES, {}) == "read"
    assert is_classed("x", plan, NODES)


@pytest.mark.parametrize(
    ("plan", "name", "version"),
    [
        (STDIO, "memory-server", "0.7.0"),
        (STDIO, "memory-server", "0.5.9"),
        (STDIO, "memory-server", ""),
        (STDIO, "another-server", "0.6.3"),
        (ServerPlan(TransportPlan("http")), "memory-server", "0.6.3"),
    ],
    ids=["newer", "older", "no version", "another", "not trusted"],
)
def test_what_was_not_reviewed_or_may_not_be_trusted_stays_unclassed(plan, name, version):
    assert read_class(plan, name, version) == "write"


def test_the_operators_word_comes_before_the_table():
    plan = ServerPlan(TransportPlan("stdio"), tools={"open_nodes": ClassRule("write")})

    assert read_class(plan, "memory-server", "0.6.3") == "write"


def test_a_tool_of_the_table_that_does_both_is_split():
    row = find_known("mcp-grafana", "2.1.1")

    assert isinstance(row, KnownServer)
    rule = row.tools["alerting_silences_write"]
    assert rule.class_of({"operation": "get"}) == "read"
    assert rule.class_of({"operation": "delete"}) == "write"


@pytest.mark.parametrize("hints", [{"destructiveHint": True}, {"readOnlyHint": False}])
def test_a_tool_that_says_of_itself_that_it_acts_does_not_read_by_its_name(hints):
    tool = Tool.model_validate(
        {"name": "open_nodes", "annotations": hints, "inputSchema": {"type": "object"}}
    )

    assert read_class(STDIO, "memory-server", "0.6.3", tool) == "write"


def test_what_writes_and_what_an_argument_decides_is_known_of_every_version():
    lying = Tool.model_validate(
        {"name": "delete_entities", "annotations": {"readOnlyHint": True},
         "inputSchema": {"type": "object"}}
    )  # fmt: skip
    looking = lying.model_copy(update={"name": "get_doc", "description": "Gets a document"})
    silences = lying.model_copy(update={"name": "alerting_silences_write"})

    assert read_class(STDIO, "memory-server", "9.0", lying) == "write"
    assert read_class(STDIO, "mcp-grafana", "9.0", looking) == "write"
    assert read_class(STDIO, "mcp-grafana", "9.0", silences, operation="get") == "read"


def test_a_version_that_is_no_number_of_anybodys_is_no_known_one():
    for version in ("9" * 5_000, f"0.6.{'3' * 5_000}", "0.\u0666.3"):
        assert find_known("memory-server", version) is None
        assert read_class(STDIO, "memory-server", version) == "write"


def test_the_status_of_an_incident_is_looked_for_where_it_stands():
    row = find_known("mcp-grafana", "2.1.1")

    assert row is not None
    verify = row.tools["update_incident"].verify
    assert verify is not None
    assert (verify.expect.path, verify.expect.equals) == ("status", "$status")
    assert row.tools["create_folder"].verify is None


def test_a_tool_of_a_server_without_a_version_of_its_own_is_known_by_its_parameters():
    query = Tool.model_validate(
        {"name": "execute_query", "inputSchema": {"type": "object", "properties": {"query": {}}}}
    )
    grown = query.model_copy(
        update={"input_schema": {"type": "object", "properties": {"query": {}, "apply": {}}}}
    )

    for version in ("4.2.3", "99.0", ""):
        assert read_class(STDIO, "Prometheus MCP", version, query) == "read"
        assert read_class(STDIO, "Prometheus MCP", version, grown) == "write"

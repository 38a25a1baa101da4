"""The reviewed table against the servers themselves: who they say they are, what they list."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp_types import Tool

from masking import build_masker
from mcp_bridge.connection import ServerConnection
from mcp_bridge.known_servers import KnownServer, read_table, with_known_tools
from mcp_bridge.transports import open_client
from mcp_bridge.wire.http import HttpClients
from safety.gate.policy import class_of_call, is_classed
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import nothing_left_behind, quick  # noqa: F401 (fixture)
from tests.mcp_peers.peers import grafana, kubernetes, node_server
from tests.mcp_peers.test_peers import KUBECONFIG
from tests.server_plans import ServerPlan, TransportPlan

LISTINGS = Path(__file__).parent / "listings"
pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def find_known(name: str, version: str) -> KnownServer | None:
    """The row that was reviewed for this version."""
    rows = (row for row in read_table() if row.name == name and row.covers(version))
    return next(rows, None)


def peer(name: str, tmp_path: Path) -> ServerPlan:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    match name:
        case "secure-filesystem-server":
            return node_server("server-filesystem", str(tmp_path))
        case "memory-server":
            return node_server("server-memory")
        case "mcp-servers/everything":
            return node_server("server-everything", "stdio")
        case "kubernetes-mcp-server":
            return kubernetes(tmp_path / "kubeconfig")
    return grafana()


async def list_installed(plan: ServerPlan) -> tuple[tuple[str, str], dict[str, Any]]:
    """Who an installed server says it is, and the schemas of its tools."""
    async with HttpClients() as clients:
        opener = partial(
            open_client, "x", plan, http_clients=clients, in_process={}, execution_id=""
        )
        connection = ServerConnection("x", opener, quick(), build_masker())
        try:
            await connection.start()
            listed = {tool.name: tool.input_schema for tool in await connection.list_tools()}
            return connection.identity, listed
        finally:
            await connection.close()


def read_recorded(name: str) -> tuple[tuple[str, str], dict[str, Any]]:
    """The same of a server that was tried once and is not installed with the others."""
    told = json.loads((LISTINGS / f"{name}.json").read_text(encoding="utf-8"))
    return (told["name"], told["version"]), told["tools"]


RECORDED = sorted(path.stem for path in LISTINGS.glob("*.json"))
INSTALLED = sorted({row.name for row in read_table()} - set(RECORDED))


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
async def test_the_table_knows_every_tool_of_an_installed_server_and_its_checks_fit(name, tmp_path):
    identity, listed = await list_installed(peer(name, tmp_path))

    check_row(name, identity, listed)


@pytest.mark.parametrize("name", RECORDED)
def test_the_table_knows_every_tool_that_was_listed_once_and_its_checks_fit(name):
    check_row(name, *read_recorded(name))


def check_row(name: str, identity: tuple[str, str], listed: dict[str, Any]) -> None:
    row = find_known(*identity)
    assert row is not None
    assert row.name == name
    assert listed.keys() == row.tools.keys()
    for tool, rule in row.tools.items():
        assert rule.argument in ("", *listed[tool].get("properties", ()))
        if rule.verify is not None:
            read = listed[rule.verify.tool]
            assert row.tools[rule.verify.tool].default == "read"
            assert set(rule.verify.arguments) <= set(read["properties"])
            assert set(read.get("required", ())) <= set(rule.verify.arguments)


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

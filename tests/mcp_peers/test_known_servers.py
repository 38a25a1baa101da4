"""The reviewed table against the servers themselves: who they say they are, what they list."""

from functools import partial
from pathlib import Path

import pytest
from mcp_types import Tool

from mcp_bridge.connection import ServerConnection
from mcp_bridge.known_servers import KnownServer, find_known, read_table, with_known_tools
from mcp_bridge.server_config import ServerPlan, TransportPlan
from mcp_bridge.transports import open_client
from mcp_bridge.wire.http import HttpClients
from safety.gate.policy import class_of_call, is_classed
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import nothing_left_behind, quick  # noqa: F401 (fixture)
from tests.mcp_peers.peers import grafana, kubernetes, node_server
from tests.mcp_peers.test_peers import KUBECONFIG

pytestmark = pytest.mark.usefixtures("nothing_left_behind")


def peer(name: str, tmp_path: Path) -> ServerPlan:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    match name:
        case "secure-filesystem-server":
            return node_server("server-filesystem", str(tmp_path))
        case "memory-server":
            return node_server("server-memory")
        case "kubernetes-mcp-server":
            return kubernetes(tmp_path / "kubeconfig")
    return grafana()


@pytest.mark.slow
@pytest.mark.parametrize("row", read_table(), ids=lambda row: row.name)
async def test_the_table_knows_every_tool_of_the_installed_server_and_its_checks_fit(row, tmp_path):
    plan = peer(row.name, tmp_path)
    async with HttpClients() as clients:
        opener = partial(
            open_client, "x", plan, http_clients=clients, in_process={}, execution_id=""
        )
        connection = ServerConnection("x", opener, quick())
        try:
            await connection.start()
            listed = {tool.name: tool for tool in await connection.list_tools()}
            identity = connection.identity
        finally:
            await connection.close()

    assert find_known(*identity) is row
    assert listed.keys() == row.tools.keys()
    for name, rule in row.tools.items():
        assert rule.argument in ("", *listed[name].input_schema["properties"])
        if rule.verify is not None:
            read = listed[rule.verify.tool]
            assert row.tools[read.name].default == "read"
            assert set(rule.verify.arguments) <= read.input_schema["properties"].keys()
            assert set(read.input_schema.get("required", ())) <= set(rule.verify.arguments)


STDIO = ServerPlan(TransportPlan("stdio"))
NODES = Tool(name="open_nodes", input_schema={"type": "object"})


def test_a_known_tool_is_classed_without_a_word_of_its_server():
    plan = with_known_tools(STDIO, "memory-server", "0.6.3")

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
    assert class_of_call("x", with_known_tools(plan, name, version), NODES, {}) == "write"


def test_the_operators_word_comes_before_the_table():
    plan = ServerPlan(TransportPlan("stdio"), tools={"open_nodes": ClassRule("write")})

    assert (
        class_of_call("x", with_known_tools(plan, "memory-server", "0.6.3"), NODES, {}) == "write"
    )


def test_a_tool_of_the_table_that_does_both_is_split():
    row = find_known("mcp-grafana", "2.1.1")

    assert isinstance(row, KnownServer)
    rule = row.tools["alerting_silences_write"]
    assert rule.class_of({"operation": "get"}) == "read"
    assert rule.class_of({"operation": "delete"}) == "write"

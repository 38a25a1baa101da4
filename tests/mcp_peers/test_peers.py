"""The toolbox and tool servers of other people, started as their users start them."""

import asyncio
import contextlib
import json
import os
import socket

import pytest

from agents.types import ToolCall
from mcp_bridge.toolbox import open_toolbox
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import nothing_left_behind, quick, run  # noqa: F401 (fixture)
from tests.mcp_bridge.open_gate import OpenGate
from tests.mcp_peers.peers import OFFICIAL, grafana, kubernetes, need, node, node_server
from tests.mcp_peers.provider_rules import FAMILIES
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = [pytest.mark.usefixtures("nothing_left_behind"), pytest.mark.slow]

KUBECONFIG = """\
apiVersion: v1
kind: Config
clusters: [{name: none, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: nobody, user: {token: none}}]
contexts: [{name: none, context: {cluster: none, user: nobody}}]
current-context: none
"""


@contextlib.asynccontextmanager
async def everything_over_http(kind: str, path: str):
    """The server in a process of its own; yields where it answers."""
    script = need(OFFICIAL / "server-everything" / "dist" / "index.js")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = await asyncio.create_subprocess_exec(
        str(node()), str(script), kind,
        env={"PORT": str(port), "PATH": os.environ["PATH"]},
        stdout=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        async with asyncio.timeout(30):
            while not await answers(port):
                await asyncio.sleep(0.05)
        yield f"http://127.0.0.1:{port}{path}"
    finally:
        process.kill()
        await process.wait()


async def answers(port: int) -> bool:
    try:
        _, writer = await asyncio.open_connection("127.0.0.1", port)
    except OSError:
        return False
    writer.close()
    await writer.wait_closed()
    return True


@contextlib.asynccontextmanager
async def everything(transport: str):
    if transport == "stdio":
        yield node_server("server-everything", "stdio")
        return
    kind, path = {"http": ("streamableHttp", "/mcp"), "sse": ("sse", "/sse")}[transport]
    async with everything_over_http(kind, path) as url:
        yield ServerPlan(TransportPlan(transport, url=url), trust_annotations=True)


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_everything_is_read_over_every_transport(transport):
    heard: list[str] = []
    async with (
        everything(transport) as plan,
        open_toolbox({"all": plan}, gate=OpenGate(), deadlines=quick()) as toolbox,
    ):
        names = {spec.name for spec in toolbox.specs}
        echo = await run(toolbox, "all__echo", '{"message": "hello"}')
        total = await run(toolbox, "all__get-sum", '{"a": 2, "b": 3}')
        wrong = await run(toolbox, "all__get-sum", '{"a": "two", "b": 3}')
        image = await run(toolbox, "all__get-tiny-image")
        links = await run(toolbox, "all__get-resource-links", '{"count": 2}')
        inner = await run(toolbox, "all__get-resource-reference", '{"resourceType": "Text"}')
        weather = await run(toolbox, "all__get-structured-content", '{"location": "New York"}')
        call = ToolCall("1", "all__trigger-long-running-operation", '{"duration": 1, "steps": 3}')
        long = await toolbox.execute(call, report_progress=heard.append)

        assert "all.echo" in names
        assert toolbox.server_words["all"]
    assert echo.content == "Echo: hello"
    assert "5" in total.content
    assert "`a`" in wrong.content
    assert "[image image/png, " in image.content
    assert links.content.count("[resource ") >= 2
    assert "[resource " in inner.content
    assert "temperature" in weather.content
    assert not long.is_error
    assert len(heard) == 3


async def test_files_are_read_and_their_servers_writes_are_refused(tmp_path):
    (tmp_path / "notes.txt").write_text("the disk is full\n")
    plan = node_server("server-filesystem", str(tmp_path))
    async with open_toolbox({"files": plan}, deadlines=quick()) as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        wanted = json.dumps({"path": str(tmp_path / "notes.txt")})
        read = await run(toolbox, "files__read_text_file", wanted)
        outside = await run(toolbox, "files__read_text_file", '{"path": "/etc/passwd"}')
        written = await run(
            toolbox, "files__write_file", json.dumps({"path": str(tmp_path / "x"), "content": ""})
        )

    assert "files.read_text_file" in offered
    assert "files.write_file" not in offered
    assert "the disk is full" in read.content
    assert outside.is_error
    assert "read-only" in written.content
    assert not (tmp_path / "x").exists()


async def test_memory_is_written_once_the_gate_is_open(tmp_path):
    plan = node_server("server-memory", env={"MEMORY_FILE_PATH": str(tmp_path / "memory.json")})
    entity = {"name": "db-1", "entityType": "host", "observations": ["full"]}
    reads = {"read_graph": ClassRule("read")}
    plan = ServerPlan(plan.transport, tools=reads)
    async with open_toolbox({"memory": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        made = await run(toolbox, "memory__create_entities", json.dumps({"entities": [entity]}))
        graph = await run(toolbox, "memory__read_graph")

    assert not made.is_error
    assert "db-1" in graph.content


async def test_kubernetes_server_starts_without_a_cluster_and_says_what_is_wrong(tmp_path):
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(KUBECONFIG)
    async with open_toolbox({"k8s": kubernetes(kubeconfig)}, deadlines=quick()) as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        pods = await run(toolbox, "k8s__pods_list")

    assert "k8s.pods_list" in offered
    assert "k8s.pods_delete" not in offered
    assert pods.is_error
    assert "127.0.0.1:9" in pods.content


async def test_seventy_nine_tools_of_grafana_are_known_and_the_dead_grafana_is_an_error():
    plan = grafana()
    async with open_toolbox({"grafana": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        specs = toolbox.specs
        result = await run(toolbox, "grafana__list_datasources")

        assert toolbox.server_words["grafana"]
    assert len(specs) == 79
    assert result.is_error
    assert "grafana.list_datasources" in result.content


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("peer", ["everything", "filesystem", "memory", "kubernetes", "grafana"])
async def test_tools_of_every_peer_are_what_every_provider_takes(peer, family, tmp_path):
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    plan = {
        "everything": lambda: node_server("server-everything", "stdio"),
        "filesystem": lambda: node_server("server-filesystem", str(tmp_path)),
        "memory": lambda: node_server("server-memory"),
        "kubernetes": lambda: kubernetes(tmp_path / "kubeconfig"),
        "grafana": grafana,
    }[peer]()
    async with open_toolbox({peer: plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        specs = toolbox.specs

    assert specs
    faults = {
        spec.name: found
        for spec in specs
        if (found := [*FAMILIES[family](spec.wire_name, spec.description, spec.input_schema)])
    }
    assert faults == {}

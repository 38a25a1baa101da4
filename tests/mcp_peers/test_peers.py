"""The toolbox and tool servers of other people, started as their users start them."""

import json
import os
from pathlib import Path

import psutil
import pytest

from agents.types import ToolCall
from mcp_bridge.known_servers import read_table
from mcp_bridge.toolbox import open_toolbox
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import nothing_left_behind, quick, run  # noqa: F401 (fixture)
from tests.mcp_bridge.open_gate import OpenGate
from tests.mcp_peers.known_rows import check_row, find_known
from tests.mcp_peers.looking import Seen, find_port, reach, running, wait_for_port
from tests.mcp_peers.peers import KUBECONFIG, PEERS, Place
from tests.mcp_peers.provider_rules import FAMILIES
from tests.mcp_peers.server_table import PAGE, find_table, write_table
from tests.server_plans import ServerPlan

pytestmark = [
    pytest.mark.usefixtures("nothing_left_behind"),
    pytest.mark.slow,
    # A dozen servers start at once.
    pytest.mark.timeout(400),
]
BY_NAME = {peer.name: peer for peer in PEERS}


def test_every_server_opens_over_every_transport_it_offers_and_loses_no_tool(seen, seen_over_http):
    looks = (*seen, *seen_over_http)

    assert {_name(look): look.status.error for look in looks if look.status.error} == {}
    assert {_name(look): look.status.left_out for look in looks if look.status.left_out} == {}
    assert len(seen) >= 15


def test_a_server_is_the_same_over_each_transport(seen, seen_over_http):
    stdio = {look.peer: look for look in seen}

    assert {look.transport for look in seen_over_http} == {"http", "sse"}
    for look in seen_over_http:
        assert look.identity == stdio[look.peer].identity
        assert look.classes == stdio[look.peer].classes


def test_every_server_answers_a_read_over_every_transport(seen, seen_over_http):
    wrong = {
        _name(look): look.answer and look.answer.content[:500]
        for look in (*seen, *seen_over_http)
        if look.answer is None
        or look.answer.is_error
        or look.peer.read.shows not in look.answer.content
    }

    assert wrong == {}


def test_the_reviewed_table_knows_every_tool_of_every_server(seen):
    for look in seen:
        assert look.identity[0] == look.peer.name
        row = find_known(*look.identity)
        assert row is not None, look.identity
        check_row(row, look.parameters)
        assert look.known == look.parameters.keys()


def test_only_servers_with_a_recorded_listing_are_in_the_reviewed_table_beside_these(seen):
    listings = Path(__file__).with_name("listings").glob("*.json")

    assert {row.name for row in read_table()} == BY_NAME.keys() | {each.stem for each in listings}


@pytest.mark.parametrize("family", FAMILIES)
def test_tools_of_every_server_are_what_every_provider_takes(seen, family):
    faults = {
        spec.name: found
        for look in seen
        for spec in look.specs
        if (found := [*FAMILIES[family](spec.wire_name, spec.description, spec.input_schema)])
    }

    assert faults == {}


def test_the_page_about_tool_servers_says_what_they_show(seen):
    table, page = write_table(seen), PAGE.read_text(encoding="utf-8")

    if os.environ.get("UPDATE_GOLDEN"):
        PAGE.write_text(page.replace(find_table(page), table), encoding="utf-8")
        pytest.fail("written; read the difference and run again without UPDATE_GOLDEN")
    assert find_table(page) == table


def _name(look: Seen) -> str:
    return f"{look.peer.id} over {look.transport}"


@pytest.mark.parametrize("transport", ["stdio", "http", "sse"])
async def test_everything_is_read_over_every_transport(place, transport):
    heard: list[str] = []
    peer = BY_NAME["mcp-servers/everything"]
    if transport == "stdio":
        await _try_everything(peer.plan(place), heard)
    else:
        port = find_port()
        program = peer.serve[transport](place, port)
        async with running(program, port):
            plan = reach(peer, transport, program, port)
            await wait_for_port(str(plan.transport.url))
            await _try_everything(plan, heard)

    assert len(heard) == 3


async def _try_everything(plan: ServerPlan, heard: list[str]) -> None:
    async with open_toolbox({"all": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        total = await run(toolbox, "all__get-sum", '{"a": 2, "b": 3}')
        wrong = await run(toolbox, "all__get-sum", '{"a": "two", "b": 3}')
        image = await run(toolbox, "all__get-tiny-image")
        links = await run(toolbox, "all__get-resource-links", '{"count": 2}')
        inner = await run(toolbox, "all__get-resource-reference", '{"resourceType": "Text"}')
        weather = await run(toolbox, "all__get-structured-content", '{"location": "New York"}')
        call = ToolCall("1", "all__trigger-long-running-operation", '{"duration": 1, "steps": 3}')
        long = await toolbox.execute(call, report_progress=heard.append)

        assert toolbox.server_words["all"]
    assert "5" in total.content
    assert "`a`" in wrong.content
    assert "[image image/png, " in image.content
    assert links.content.count("[resource ") >= 2
    assert "[resource " in inner.content
    assert weather.content.count("temperature") == 1
    assert not long.is_error


async def test_files_are_read_once_each_and_their_servers_writes_are_refused(place):
    plan = BY_NAME["secure-filesystem-server"].plan(place)
    async with open_toolbox({"files": plan}, deadlines=quick()) as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        wanted = json.dumps({"path": str(place.folder / "notes.txt")})
        read = await run(toolbox, "files__read_text_file", wanted)
        outside = await run(toolbox, "files__read_text_file", '{"path": "/etc/passwd"}')
        new = {"path": str(place.folder / "x"), "content": ""}
        written = await run(toolbox, "files__write_file", json.dumps(new))

    assert "files.read_text_file" in offered
    assert "files.write_file" not in offered
    assert read.content == "the disk is full\n"
    assert outside.is_error
    assert "read-only" in written.content
    assert not (place.folder / "x").exists()


async def test_memory_is_written_once_the_gate_is_open(place):
    entity = {"name": "db-1", "entityType": "host", "observations": ["full"]}
    started = BY_NAME["memory-server"].plan(place)
    plan = ServerPlan(started.transport, tools={"read_graph": ClassRule("read")})
    async with open_toolbox({"memory": plan}, gate=OpenGate(), deadlines=quick()) as toolbox:
        made = await run(toolbox, "memory__create_entities", json.dumps({"entities": [entity]}))
        graph = await run(toolbox, "memory__read_graph")

    assert not made.is_error
    assert json.loads(made.content) == [entity]
    assert "db-1" in graph.content


async def test_a_statement_of_a_server_that_says_it_only_reads_can_write(place):
    plan = BY_NAME["example-servers/postgres"].plan(place)
    sql = "COMMIT; CREATE TEMPORARY TABLE made_by_a_read (n int)"
    async with open_toolbox({"sql": ServerPlan(plan.transport)}, deadlines=quick()) as closed:
        offered = closed.specs
    async with open_toolbox({"sql": plan}, deadlines=quick()) as toolbox:
        refused = await run(toolbox, "sql__query", '{"sql": "CREATE TABLE never (n int)"}')
        written = await run(toolbox, "sql__query", json.dumps({"sql": sql}))

    assert offered == ()
    assert "read-only transaction" in refused.content
    assert not written.is_error
    assert written.content == "(the tool returned no text)"


async def test_kubernetes_server_starts_without_a_cluster_and_says_what_is_wrong(place, tmp_path):
    (tmp_path / "kubeconfig").write_text(KUBECONFIG.format(url="https://127.0.0.1:9"))
    nowhere = Place(tmp_path, "", "", "")
    plan = BY_NAME["kubernetes-mcp-server"].plan(nowhere)
    async with open_toolbox({"k8s": plan}, deadlines=quick()) as toolbox:
        offered = {spec.name for spec in toolbox.specs}
        pods = await run(toolbox, "k8s__pods_list")

    assert "k8s.pods_list" in offered
    assert "k8s.pods_delete" not in offered
    assert pods.is_error
    assert "127.0.0.1:9" in pods.content


async def test_a_server_that_is_stuck_is_started_anew_and_the_next_call_is_answered(place):
    plan = BY_NAME["secure-filesystem-server"].plan(place)
    wanted = json.dumps({"path": str(place.folder / "notes.txt")})
    async with open_toolbox({"files": plan}, deadlines=quick(call=3.0)) as toolbox:
        (stuck,) = [each for each in psutil.Process().children(recursive=True)
                    if "mcp-server-filesystem" in " ".join(each.cmdline())
                    and each.name() == "node"]  # fmt: skip
        stuck.suspend()
        late = await run(toolbox, "files__read_text_file", wanted)
        answered = await run(toolbox, "files__read_text_file", wanted)

        assert not stuck.is_running()
    assert late.is_error
    assert answered.content == "the disk is full\n"


async def test_json_of_a_server_that_is_too_long_stays_json_and_says_what_is_missing(
    place, tmp_path
):
    for number in range(2_000):
        (tmp_path / f"log-{number}.txt").touch()
    there = Place(tmp_path, place.url, place.database_url, place.redis_url)
    started = BY_NAME["secure-filesystem-server"].plan(there)
    plan = ServerPlan(started.transport, max_result_tokens=2_000)
    async with open_toolbox({"files": plan}, deadlines=quick()) as toolbox:
        tree = await run(toolbox, "files__directory_tree", json.dumps({"path": str(tmp_path)}))

    *shown, left_out = json.loads(tree.content)
    assert 10 < len(shown) < 2_000
    assert left_out == f"… {2_000 - len(shown):,} of 2,000 items are left out"

import subprocess
import sys
import threading
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from mcp import Client, StdioServerParameters

from ops import bounded
from ops.envelope import ToolFailure
from ops.server import build_server
from tests.ops.calls import call_tool, envelope_of

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
TOOLS = [
    "query", "discovery", "read", "metrics", "storage", "probe", "changes", "docker",
    "kubernetes", "control", "file_edit",
]  # fmt: skip
READERS = TOOLS[:7]
ONLY_WRITES = ["control"]
ALSO_REQUIRED = {"control": ["resource_id"], "file_edit": ["path"]}


def action_of(tool: str) -> str:
    return "type" if tool in ("kubernetes", "control") else "action"


async def test_every_tool_is_announced_as_what_it_is_with_its_actions(server):
    async with Client(server) as client:
        tools = (await client.list_tools()).tools

    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.annotations is not None
        assert tool.output_schema is not None
        assert tool.annotations.read_only_hint is (tool.name in READERS)
        assert tool.annotations.destructive_hint is (tool.name not in READERS)
        also = ALSO_REQUIRED.get(tool.name, [])
        assert tool.input_schema["required"] == [action_of(tool.name), *also]
        assert tool.input_schema["properties"][action_of(tool.name)]["enum"]
        assert all("description" in item for item in tool.input_schema["properties"].values())
        assert set(tool.output_schema["required"]) == {"ok", "data", "error", "meta"}


async def test_server_tells_the_model_where_to_start(server):
    async with Client(server, mode="legacy") as client:
        assert "query action=health" in str(client.instructions)


@pytest.mark.parametrize("tool", TOOLS)
async def test_wrong_action_names_the_valid_ones(call, server, tool):
    async with Client(server) as client:
        [schema] = [t.input_schema for t in (await client.list_tools()).tools if t.name == tool]

    reply = await call(tool, **{action_of(tool): "explode"})

    assert reply["error"]["code"] == "INVALID_INPUT"
    for action in schema["properties"][action_of(tool)]["enum"]:
        assert action in reply["error"]["message"]


async def test_missing_action_and_unknown_arguments_are_explained(call):
    missing = await call("read")
    unknown = await call("read", action="file", file="/etc/hosts")
    too_many = await call("read", action="tail", path="/etc/hosts", lines=100_000)

    assert "'action' is missing" in missing["error"]["message"]
    assert "takes no 'file'" in unknown["error"]["message"]
    assert "path" in unknown["error"]["details"]["arguments"]
    assert "'lines'" in too_many["error"]["message"]
    assert "1000" in too_many["error"]["message"]


async def test_unknown_tool_names_the_tools(call):
    reply = await call("reboot", action="now")

    assert reply["error"]["details"]["tools"] == TOOLS


async def test_null_stands_for_an_argument_left_out(call):
    reply = await call("storage", action="usage", path=None, limit=None)

    assert reply["ok"]


async def test_fault_in_a_tool_is_an_envelope_without_its_text(call, monkeypatch, caplog):
    def break_down() -> None:
        raise RuntimeError("secret detail")

    monkeypatch.setattr("ops.storage.take_usage", break_down)

    reply = await call("storage", action="usage")

    assert reply["error"]["code"] == "EXECUTION_FAILED"
    assert "secret detail" not in str(reply)
    assert "ops tool storage broke" in caplog.text


async def test_work_that_hangs_is_left_behind_while_the_loop_runs_on(monkeypatch):
    monkeypatch.setattr(bounded, "_GRACE_SECONDS", 0.05)
    release = threading.Event()
    others: list[None] = []

    async def go_on() -> None:
        while not release.is_set():
            others.append(None)
            await anyio.lowlevel.checkpoint()

    try:
        async with anyio.create_task_group() as group:
            group.start_soon(go_on)
            with pytest.raises(ToolFailure, match="did not answer"):
                await bounded.run_in_thread(lambda _: release.wait(30), 0.05)
            group.cancel_scope.cancel()
    finally:
        release.set()

    assert len(others) > 1


def test_child_process_that_prints_for_ever_is_cut_and_ended():
    deadline = bounded.Deadline.after(10)

    finished = bounded.run_process(["yes"], deadline, max_bytes=10_000)

    assert finished.cut
    assert len(finished.stdout) == 10_000
    assert finished.exit_code == -9


def test_child_process_that_says_nothing_is_ended_at_the_deadline():
    finished = bounded.run_process(["sleep", "60"], bounded.Deadline.after(0.1))

    assert finished.cut
    assert finished.exit_code == -9


def test_import_brings_in_nothing_of_the_web_application():
    heavy = "django", "celery", "litellm", "channels", "redis", "psycopg"
    program = f"import sys, ops.server; print(set(sys.modules) & {set(heavy)!r})"

    output = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert output.stdout.strip() == "set()"


async def test_any_client_can_start_it_over_stdio(tmp_path):
    (tmp_path / "app.log").write_text("started\nerror: disk full\n")
    child = StdioServerParameters(command=sys.executable, args=["-m", "ops"], cwd=str(ROOT))

    with anyio.fail_after(60):
        async with Client(child) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            health = envelope_of(await client.call_tool("query", {"action": "health"}))
            tail = envelope_of(
                await client.call_tool(
                    "read",
                    {"action": "tail", "path": str(tmp_path / "app.log"), "grep": "error"},
                )
            )
            refused = envelope_of(
                await client.call_tool("read", {"action": "file", "path": "/etc/shadow"})
            )
            secret = envelope_of(
                await client.call_tool(
                    "read", {"action": "exec", "command": "echo export DB_PASSWORD=hunter2hunter2"}
                )
            )
            written = envelope_of(
                await client.call_tool(
                    "docker", {"action": "control", "operation": "stop", "container": "api"}
                )
            )

    assert names == [name for name in TOOLS if name not in ONLY_WRITES]
    assert "hunter2hunter2" not in str(secret)
    assert "[MASKED:" in secret["data"]["stdout"]
    assert written["error"]["code"] == "POLICY_BLOCKED"
    assert health["data"]["memory"]["total_bytes"] > 0
    assert tail["data"]["content"] == "error: disk full"
    assert refused["error"]["code"] == "POLICY_BLOCKED"


async def test_calls_on_one_session_run_side_by_side(server):
    async with Client(server) as client, anyio.create_task_group() as group:
        replies = []

        async def take(action: str) -> None:
            result = await client.call_tool("metrics", {"action": action, "sample_seconds": 0.1})
            replies.append(envelope_of(result)["ok"])

        for action in ("cpu", "memory", "load", "network", "processes", "summary"):
            group.start_soon(take, action)

    assert replies == [True] * 6


def test_building_a_server_with_no_settings_uses_this_machine():
    assert build_server().name == "ops"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        *(("docker", {"action": action}) for action in ("control", "update")),
        *(("kubernetes", {"type": type}) for type in ("scale", "restart", "delete_pod", "exec")),
    ],
)
async def test_server_that_stands_alone_changes_nothing(settings, programs, tool, arguments):
    alone = build_server(settings, stands_alone=True)
    names = {"container": "api"} if tool == "docker" else {"namespace": "shop", "pod": "api"}

    reply = await call_tool(alone, tool, {**arguments, **names})

    assert reply["error"]["code"] == "POLICY_BLOCKED"
    assert programs.argv("kubectl") == []


async def test_server_that_stands_alone_masks_all_it_says(settings, tmp_path):
    alone = build_server(settings, stands_alone=True)
    (tmp_path / "app.conf").write_text("token = ghp_0123456789abcdefghijklmnopqrstuvwxyz\n")

    told = await call_tool(alone, "read", {"action": "file", "path": f"{tmp_path}/app.conf"})
    failed = await call_tool(
        alone, "query", {"action": "get", "resource_id": "x password=hunter2hunter2"}
    )

    assert "ghp_0123456789" not in str(told)
    assert "hunter2hunter2" not in str(failed)


async def test_reply_that_cannot_be_masked_is_withheld(settings, monkeypatch, caplog):
    alone = build_server(settings, stands_alone=True)
    monkeypatch.setattr("masking.Masker.mask_json", lambda *_: {}["gone"])

    reply = await call_tool(alone, "read", {"action": "exec", "command": "echo hello"})

    assert reply["error"]["message"] == "The reply is withheld: masking it failed."
    assert "hello" not in str(reply)


async def test_it_still_answers_over_stdio_under_its_older_name():
    child = StdioServerParameters(command=sys.executable, args=["-m", "ops"], cwd=str(ROOT))

    with anyio.fail_after(60):
        async with Client(child) as client:
            health = envelope_of(await client.call_tool("query", {"action": "health"}))

    assert health["data"]["memory"]["total_bytes"] > 0

"""`manage.py mcp_tools`, as a person types it: real processes, real servers, no database."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
import yaml

from tests.mcp_bridge.conftest import STDIO_SERVER
from tests.processes import ROOT, run_command

pytestmark = pytest.mark.slow

CONFIG = """
mcp_servers:
  tools:
    transport: {{type: stdio, command: {python}, args: [-u, {server}, normal]}}
    tools: {{echo: read, secret: read, refuse: read, environment: read, flood: read, lines: read,
             sleep: read, die: read, progress: read, everything: read, broken: read}}
  gone:
    transport: {{type: stdio, command: /nonexistent/tool-server}}
defaults: {{llm_provider: rehearsal, alert_type: host}}
"""
NOWHERE = {"DATABASE_URL": "postgres://nobody@127.0.0.1:1/x", "REDIS_URL": "redis://127.0.0.1:1/0"}


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Of the command over two servers of which one can be started."""
    text = CONFIG.format(python=sys.executable, server=STDIO_SERVER)
    (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")
    (tmp_path / "llm-providers.yaml").touch()
    return {**os.environ, **NOWHERE, "CONFIG_DIR": str(tmp_path)}


@pytest.fixture
def mcp_tools(environment: dict[str, str]):
    return partial(run_command, "mcp_tools", environment=environment)


def test_every_server_in_use_is_listed_and_a_missing_one_makes_it_fail(
    environment: dict[str, str],
):
    done = subprocess.run(
        [sys.executable, "manage.py", "mcp_tools"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    lines = done.stdout.splitlines()
    assert done.returncode == 1
    assert any(line.startswith("tools: available, 12 tools, MCP ") for line in lines)
    assert any(line.split()[:2] == ["read", "echo"] for line in lines)
    assert any(line.split()[:2] == ["unclassed", "delete"] for line in lines)
    assert any(line.startswith("1 tool that nobody has classed: not offered") for line in lines)
    assert any(line.startswith("gone: not available: there is no program") for line in lines)
    assert "kubernetes-server" in done.stderr


def test_our_own_server_is_listed_with_the_tools_that_need_records(mcp_tools):
    done = mcp_tools("ops")

    classes = {line.split()[1]: line.split()[0] for line in done.stdout.splitlines()[1:]}
    assert done.returncode == 0
    assert classes["alerts"] == "write/read"
    assert classes["knowledge"] == "write/read"
    assert classes["discovery"] == "resolve"


def test_nobody_remembers_by_hand(mcp_tools):
    arguments = '{"action": "remember", "resource_id": "host:x", "note": "y"}'

    done = mcp_tools("ops", "--call", "knowledge", arguments)

    assert done.returncode == 1
    assert "POLICY_BLOCKED" in done.stderr or "write" in done.stderr


def test_a_server_that_is_well_exits_with_0_and_its_block_is_yaml(mcp_tools):
    done = mcp_tools("tools", "--suggest")

    assert done.returncode == 0, done.stderr
    block = yaml.safe_load(done.stdout)["mcp_servers"]["tools"]["tools"]
    assert (block["echo"], block["delete"]) == ("read", "write")


def test_a_tool_is_called_through_the_executor_and_masked(mcp_tools):
    done = mcp_tools("tools", "--call", "secret", "{}")

    assert done.returncode == 0, done.stderr
    assert '"host": "db-1"' in done.stdout
    assert "Ex4mple-Pass" not in done.stdout


def test_arguments_come_from_standard_input_where_asked(mcp_tools):
    done = mcp_tools("tools", "--call", "tools.echo", "-", stdin='{"text": "hello", "times": 2}')

    assert (done.returncode, done.stdout) == (0, "hellohello\n")


def test_a_write_is_sent_only_where_it_is_allowed(mcp_tools):
    arguments = ("tools", "--call", "delete", '{"text": "x"}')

    refused = mcp_tools(*arguments)
    allowed = mcp_tools(*arguments, "--allow-write")

    assert (refused.returncode, refused.stdout) == (1, "")
    assert "--allow-write" in refused.stderr
    assert (allowed.returncode, allowed.stdout) == (0, "deleted\n")


def test_a_failing_tool_exits_with_1_and_says_what_came_back(mcp_tools):
    done = mcp_tools("tools", "--call", "refuse", "{}")

    assert (done.returncode, done.stdout) == (1, "")
    assert "no such pod" in done.stderr
    assert "abcd1234efgh5678" not in done.stderr


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (("tolls",), "tools"),
        (("tools", "--call", "echo", "[1"), "not JSON"),
        (("tools", "--call", "echo", "[1]"), "JSON object"),
        (("--call", "echo", "{}"), "SERVER"),
    ],
    ids=["unknown-server", "no-json", "no-object", "no-server"],
)
def test_bad_input_exits_with_2(mcp_tools, arguments: tuple[str, ...], hint: str):
    done = mcp_tools(*arguments)

    assert done.returncode == 2
    assert hint in done.stderr


def test_another_directory_can_be_named_on_the_command_line(environment, tmp_path: Path):
    elsewhere = {**environment, "CONFIG_DIR": ""}

    done = run_command("mcp_tools", "--config-dir", str(tmp_path), "nobody", environment=elsewhere)

    assert done.returncode == 2
    assert f"there is no MCP server 'nobody' in {tmp_path}" in done.stderr


def test_a_tool_that_is_left_out_is_named(mcp_tools, tmp_path: Path):
    text = (tmp_path / "tarsy.yaml").read_text(encoding="utf-8").replace(", normal]", ", odd]")
    (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")

    done = mcp_tools("tools")

    assert "-leading is left out: its name cannot be used" in done.stdout
    assert "bad name" in done.stdout

"""Drafted classes: what they rest on, and that the block can be pasted."""

from pathlib import Path

import pytest
from mcp_types import Tool, ToolAnnotations

from config.check import check
from mcp_bridge.suggestions import suggest, write_yaml
from safety.tool_rules import ClassRule
from tests.server_plans import ServerPlan, TransportPlan

PLAN = ServerPlan(TransportPlan("http", url="http://127.0.0.1:1/mcp"))


def tool(name: str, **hints: bool) -> Tool:
    annotations = ToolAnnotations(**hints) if hints else None
    return Tool(name=name, input_schema={"type": "object"}, annotations=annotations)


@pytest.mark.parametrize(
    "name",
    ["pods_list", "get_file_info", "query_prometheus", "searchDashboards", "helm-list", "listPods"],
)
def test_a_name_that_only_reads_is_taken_for_a_read(name: str):
    (found,) = suggest(PLAN, [tool(name)])

    assert (found.tool_class, found.ground) == ("read", "named")


@pytest.mark.parametrize(
    "name",
    [
        "pods_delete", "resources_create_or_update", "pods_exec", "getAndLock", "read_write_file",
        "list_and_purge", "execute_query",
    ],
)  # fmt: skip
def test_one_word_that_changes_something_makes_a_write(name: str):
    (found,) = suggest(PLAN, [tool(name)])

    assert (found.tool_class, found.ground) == ("write", "named")


@pytest.mark.parametrize("name", ["kubectl", "sql", "n0thing", "listen", "forget", "widgets"])
def test_what_nothing_speaks_for_is_a_write(name: str):
    (found,) = suggest(PLAN, [tool(name)])

    assert (found.tool_class, found.ground) == ("write", "unknown")


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ({"read_only_hint": True}, "read"),
        ({"read_only_hint": True, "destructive_hint": True}, "write"),
        ({"read_only_hint": False}, "write"),
        ({"destructive_hint": True}, "write"),
    ],
)
def test_annotations_count_more_than_names(hints: dict[str, bool], expected: str):
    (reading, writing) = suggest(PLAN, [tool("list_pods", **hints), tool("delete_pod", **hints)])

    assert (reading.tool_class, writing.tool_class) == (expected, "write")
    assert reading.ground == "annotated"
    # That it reads is not believed of a tool that is called after a deletion.
    assert writing.ground == ("doubted" if expected == "read" else "annotated")


def test_the_block_is_a_valid_configuration_that_says_the_same(tmp_path: Path):
    names = ["list_pods", "delete_pod", "no", "a.b", "0day", "n" * 128, "kubectl", "get-x"]
    drafted = suggest(PLAN, [tool(name) for name in names])
    base = "    transport: {type: http, url: 'http://127.0.0.1:1/mcp'}\n"

    block = write_yaml("remote", drafted)
    (tmp_path / "tarsy.yaml").write_text(block + base)
    (tmp_path / "llm-providers.yaml").touch()
    report = check(tmp_path, {})

    assert report.mistakes == ()
    assert report.config is not None
    read_back = report.config.mcp_servers["remote"].tools
    assert {name: rule.default for name, rule in read_back.items()} == {
        each.tool: each.tool_class for each in drafted
    }


def test_what_is_configured_stays_as_it_is():
    by_argument = ClassRule("write", "action", {"get": "read"})
    rules = {"list_pods": ClassRule("write"), "docker": by_argument}
    plan = ServerPlan(PLAN.transport, tools=rules)

    block = write_yaml("remote", suggest(plan, [tool("docker"), tool("list_pods")]))

    assert "list_pods: write" in block
    assert "# docker" in block
    assert "docker: " not in block


def test_how_a_write_is_called_a_repair_is_printed_as_a_comment_that_loads_once_uncommented(
    tmp_path: Path,
):
    base = "    transport: {type: http, url: 'http://127.0.0.1:1/mcp'}\n"
    block = write_yaml("remote", suggest(PLAN, [tool("restart_app"), tool("list_apps")]))
    drafted, comment = (line for line in block.splitlines() if "restart_app" in line)

    by_hand = block.replace(drafted + "\n", "").replace(comment, comment.replace("# ", "", 1))
    (tmp_path / "tarsy.yaml").write_text(by_hand + base)
    (tmp_path / "llm-providers.yaml").touch()
    report = check(tmp_path, {})

    assert block.count("repairs") == 1
    assert report.config is not None
    assert report.config.mcp_servers["remote"].tools["restart_app"].repairs is True


def test_a_name_cannot_write_into_the_block():
    drafted = suggest(PLAN, [tool("x: read\n      delete")])

    block = write_yaml("remote", drafted)

    assert len(block.splitlines()) == 5
    assert "'x: read delete': write" in block


def contexts(**hints: bool) -> Tool:
    """The shape of a tool of a popular server whose hint says that all of it reads."""
    operation = {"type": "string", "enum": ["list", "get", "set"]}
    schema = {"type": "object", "properties": {"operation": operation, "name": {"type": "string"}}}
    return Tool(
        name="kubectl_context",
        description="Manage Kubernetes contexts - list, get, or set the current context",
        input_schema=schema,
        annotations=ToolAnnotations(**hints) if hints else None,
    )


@pytest.mark.parametrize("hints", [{"read_only_hint": True}, {}, {"read_only_hint": False}])
def test_a_tool_that_reads_by_some_values_is_suggested_by_value_and_the_block_is_valid(
    tmp_path: Path, hints: dict[str, bool]
):
    base = "    transport: {type: http, url: 'http://127.0.0.1:1/mcp'}\n"

    block = write_yaml("remote", suggest(PLAN, [contexts(**hints), tool("list_pods")]))
    (tmp_path / "tarsy.yaml").write_text(block + base)
    (tmp_path / "llm-providers.yaml").touch()
    report = check(tmp_path, {})

    assert report.mistakes == ()
    assert report.config is not None
    rule = report.config.mcp_servers["remote"].tools["kubectl_context"]
    assert (rule.default, rule.argument) == ("write", "operation")
    assert rule.values == {"list": "read", "get": "read"}


@pytest.mark.parametrize(
    ("transport", "remark"),
    [
        ("stdio", "reviewed for this version of the server"),
        ("http", "reviewed for the server that this one only claims to be: check what it does"),
    ],
)
def test_a_server_that_is_not_trusted_only_claims_to_be_the_one_that_was_reviewed(
    transport, remark
):
    plan = ServerPlan(TransportPlan(transport))
    known = {"look_up": ClassRule("read")}

    block = write_yaml("x", suggest(plan, [tool("look_up")], known))

    assert f"look_up: read  # {remark}\n" in block

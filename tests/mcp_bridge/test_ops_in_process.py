"""The ops server as our agents have it: in this process, behind the gate and the masker."""

import json

import pytest

from investigations.engine.own_servers import own_servers
from mcp_bridge.toolbox import open_toolbox
from safety.gate.safety_gate import SafetyGate
from tests.mcp_bridge.conftest import quick, run
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.usefixtures("nothing_left_behind")

OPS = {"ops": ServerPlan(TransportPlan("in_process"))}


def open_ops(gate: SafetyGate):
    return open_toolbox(OPS, in_process=own_servers(), deadlines=quick(), gate=gate)


async def test_output_of_a_command_reaches_the_agent_masked():
    async with open_ops(SafetyGate()) as toolbox:
        await run(toolbox, "ops.query", '{"action": "list", "kind": "host"}')
        result = await run(
            toolbox,
            "ops.read",
            json.dumps({"action": "exec", "command": "echo export DB_PASSWORD=hunter2hunter2"}),
        )

    assert not result.is_error
    assert result.masked > 0
    assert "hunter2hunter2" not in result.content
    assert json.loads(result.content)["data"]["exit_code"] == 0


@pytest.mark.parametrize(
    "arguments",
    [
        {"action": "exec", "command": "touch /tmp/changed-by-a-read"},
        {"action": "exec", "command": "cat /etc/shadow"},
        {"action": "exec", "command": "dig secret.example"},
    ],
)
async def test_refused_command_is_a_result_with_its_code(arguments):
    async with open_ops(SafetyGate()) as toolbox:
        await run(toolbox, "ops.query", '{"action": "list", "kind": "host"}')
        result = await run(toolbox, "ops.read", json.dumps(arguments))

    assert result.is_error
    assert '"blocked": true' in result.content


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("docker", {"action": "control", "operation": "restart", "container": "api"}),
        ("kubernetes", {"type": "scale", "namespace": "a", "deployment": "b", "replicas": 0}),
    ],
)
async def test_read_only_investigation_changes_nothing(tool, arguments):
    async with open_ops(SafetyGate("read_only")) as toolbox:
        result = await run(toolbox, f"ops.{tool}", json.dumps(arguments))

    assert json.loads(result.content)["error"]["code"] == "POLICY_BLOCKED"


async def test_what_a_read_only_investigation_is_offered_names_no_write():
    async with (
        open_ops(SafetyGate("read_only")) as reading,
        open_ops(SafetyGate("controlled")) as writing,
    ):
        offered = {spec.name: spec.input_schema["properties"] for spec in reading.specs}
        whole = {spec.name: spec.input_schema["properties"] for spec in writing.specs}

    assert offered["ops.docker"]["action"]["enum"] == [
        "list", "inspect", "logs", "services", "tasks", "swarm", "updates", "check_updates",
    ]  # fmt: skip
    assert offered["ops.kubernetes"]["type"]["enum"] == [
        "clusters", "nodes", "pods", "deployments", "logs", "events",
    ]  # fmt: skip
    assert "control" in whole["ops.docker"]["action"]["enum"]
    assert offered["ops.docker"]["operation"] == whole["ops.docker"]["operation"]
    assert offered["ops.read"] == whole["ops.read"]

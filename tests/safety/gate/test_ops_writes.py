"""What the ops server really answers, and what the gate then lets it change."""

import itertools
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp_types import TextContent, Tool

from ops.server import build_server
from ops.settings import OpsSettings
from ops.targets import Cluster, Targets
from safety.commands.running import PATH
from safety.gate.policy import class_of_call
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import GateRequest
from safety.refusals import Refusal
from safety.tool_rules import ToolClass
from tests.ops.fake_docker import run_fake_docker
from tests.ops.fake_programs import FakePrograms
from tests.safety.gate.calls import Desk, do
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.slow

_ids = itertools.count(1)

WRITES: dict[str, set[str]] = {
    "query": set(),
    "discovery": set(),
    "read": set(),
    "metrics": set(),
    "storage": set(),
    "probe": set(),
    "changes": set(),
    "docker": {"control", "update"},
    "kubernetes": {"scale", "restart", "delete_pod", "exec"},
    "control": {"service", "container", "guest", "process", "command"},
    "file_edit": {"write", "append"},
}
RESOLVES = {"query", "discovery"}


def workload(name: str, namespace: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace}, "status": {"phase": "Running"}}


@pytest.fixture
def settings(tmp_path: Path) -> OpsSettings:
    programs = FakePrograms(tmp_path / "bin")
    programs.add("kubectl")
    programs.answer("kubectl", "get pods", {"items": [workload("api-1", "shop")]})
    programs.answer(
        "kubectl",
        "get deployments",
        {"items": [workload("api", "shop"), workload("web", "shop"), workload("web", "test")]},
    )
    return OpsSettings(
        host="web-1",
        docker_sockets=(tmp_path / "docker.sock",),
        log_directory=tmp_path,
        systemd_directory=tmp_path / "no-systemd",
        path=f"{tmp_path / 'bin'}:{PATH}",
        targets=Targets(clusters=(Cluster("prod"),)),
    )


def classify(tool: str, arguments: dict[str, Any]) -> ToolClass:
    plan = ServerPlan(TransportPlan("in_process"))
    return class_of_call("ops", plan, Tool(name=tool, input_schema={}), arguments)


async def propose(
    gate: SafetyGate, settings: OpsSettings, tool: str, **arguments: Any
) -> Refusal | None:
    """A call as the executor makes it: judged, then run by the real server, then settled."""
    async with Client(build_server(settings)) as client:
        result = await client.call_tool(tool, arguments)
    [content] = result.content
    assert isinstance(content, TextContent)
    return await do(gate, _request(tool, arguments), content.text)


async def ask(gate: SafetyGate, tool: str, **arguments: Any) -> Refusal | None:
    """A write that is judged and, as nobody is there to approve it, never runs."""
    return await do(gate, _request(tool, arguments))


def _request(tool: str, arguments: dict[str, Any]) -> GateRequest:
    kind = classify(tool, arguments)
    return GateRequest("ops", tool, kind, arguments, f"call-{next(_ids)}", is_own_server=True)


async def test_every_action_of_every_tool_has_its_class(settings: OpsSettings):
    async with Client(build_server(settings)) as client:
        tools = (await client.list_tools()).tools

    assert {tool.name for tool in tools} == set(WRITES)
    for tool in tools:
        argument = "type" if tool.name in ("kubernetes", "control") else "action"
        for value in tool.input_schema["properties"][argument]["enum"]:
            found = classify(tool.name, {argument: value})
            kind = "resolve" if tool.name in RESOLVES else "read"
            assert found == ("write" if value in WRITES[tool.name] else kind), (tool.name, value)


async def test_workload_is_changed_only_after_it_was_looked_up(settings: OpsSettings):
    desk = Desk("denied")
    gate = SafetyGate("controlled", desk=desk)
    scale = {"type": "scale", "namespace": "shop", "deployment": "api", "replicas": 3}
    await propose(gate, settings, "query", action="health")

    before = await ask(gate, "kubernetes", **scale)
    await propose(gate, settings, "query", action="list", kind="deployment")
    after = await ask(gate, "kubernetes", **scale)

    assert before is not None
    assert before.code == "STRICT_RESOLUTION"
    assert after is not None
    assert after.code == "APPROVAL_REQUIRED"
    assert [each.target for each in desk.asked] == ["deployment:prod:shop/api"]


@pytest.mark.parametrize(
    "arguments",
    [
        {"type": "scale", "namespace": "test", "deployment": "api"},
        {"type": "scale", "namespace": "shop", "deployment": "gone"},
        {"type": "scale", "namespace": "shop", "deployment": "api", "cluster": "other"},
        {"type": "restart", "namespace": "test", "deployment": "api", "container": "web"},
        {"type": "restart", "deployment": "web"},
        {"type": "delete_pod", "namespace": "test", "pod": "api-1"},
        {"type": "delete_pod", "namespace": "shop", "deployment": "api", "pod": "gone"},
        {"type": "delete_pod", "resource_id": "deployment:prod:shop/api"},
        {"type": "exec", "resource_id": "deployment:prod:shop/api", "pod": "api-1"},
        {"type": "scale", "resource_id": "pod:prod:shop/api-1"},
        {"type": "scale", "resource_id": "deployment:prod:test/api"},
        {"type": "scale"},
        {"type": "explode", "namespace": "shop", "deployment": "api"},
    ],
)
async def test_what_was_looked_up_is_no_licence_for_anything_else(
    settings: OpsSettings, arguments: dict[str, Any]
):
    desk = Desk()
    gate = SafetyGate("controlled", desk=desk)
    for kind in ("deployment", "pod"):
        await propose(gate, settings, "query", action="list", kind=kind)

    refusal = await ask(gate, "kubernetes", **arguments)

    assert refusal is not None
    assert refusal.code in ("STRICT_RESOLUTION", "ACTION_NOT_ALLOWED")
    assert desk.asked == []


async def test_container_that_was_listed_can_be_restarted_and_updated_once_approved(
    settings: OpsSettings,
):
    desk = Desk("denied")
    gate = SafetyGate("controlled", desk=desk)
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        docker.answer(
            "/containers/json", [{"Id": "ab" * 32, "Names": ["/api"], "State": "running"}]
        )
        await propose(gate, settings, "query", action="list", kind="container")

    refusals = [
        await ask(gate, "docker", container="api", **each)
        for each in (
            {"action": "control", "operation": "restart"},
            {"action": "update", "current_digest": "sha256:a", "digest": "sha256:b"},
        )
    ]

    assert [each and each.code for each in refusals] == ["APPROVAL_REQUIRED"] * 2
    assert [each.target for each in desk.asked] == ["container:web-1:abababababab"] * 2


async def test_command_that_reads_needs_something_looked_up_first(settings: OpsSettings):
    gate = SafetyGate()
    command = {"action": "exec", "command": "uptime"}

    before = await ask(gate, "read", **command)
    await propose(gate, settings, "query", action="list", kind="host")
    after = await ask(gate, "read", **command)

    assert before is not None
    assert before.code == "STRICT_RESOLUTION"
    assert after is None


async def test_command_for_a_container_does_not_land_on_its_host(settings: OpsSettings):
    gate = SafetyGate()
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        docker.answer(
            "/containers/json", [{"Id": "ab" * 32, "Names": ["/api"], "State": "running"}]
        )
        await propose(gate, settings, "query", action="list", kind="host")
        container = "container:web-1:abababababab"
        await propose(gate, settings, "query", action="get", resource_id=container)

    refusal = await ask(
        gate, "read", action="exec", command="cat /srv/app.log", target_host="web-1"
    )

    assert refusal is not None
    assert refusal.code == "ROUTING_MISMATCH"
    assert refusal.details["more_specific_resource_ids"] == [container]


async def test_failed_command_verifies_nothing(settings: OpsSettings):
    gate = SafetyGate("controlled", desk=Desk())
    async with run_fake_docker(settings.docker_sockets[0]) as docker:
        docker.answer(
            "/containers/json", [{"Id": "ab" * 32, "Names": ["/api"], "State": "running"}]
        )
        await propose(gate, settings, "query", action="list", kind="container")
        docker.answer("/containers/api/json", {"State": {"Status": "running"}})
        docker.answer("POST /containers/api/restart", b"", 204)
        restart = {"action": "control", "operation": "restart", "container": "api"}
        refusal = await propose(gate, settings, "docker", **restart)
    await propose(gate, settings, "read", action="exec", command="no-such-program")
    still = gate.standing.workflow.state
    await propose(gate, settings, "read", action="exec", command="uname -s")

    assert refusal is None
    assert still == "VERIFYING"
    assert gate.standing.workflow.state == "READING"


async def test_control_names_what_was_looked_up_and_what_may_be_done_to_it(settings: OpsSettings):
    desk = Desk("denied")
    gate = SafetyGate("controlled", desk=desk)
    host = {"type": "command", "resource_id": "host:web-1", "command": "id"}
    before = await ask(gate, "control", **host)
    await propose(gate, settings, "query", action="get", resource_id="host:web-1")

    after = await ask(gate, "control", **host)
    unknown = await ask(gate, "control", **{**host, "resource_id": "host:web-2"})
    reboot = await ask(gate, "control", type="guest", action="reboot", resource_id="host:web-1")

    codes = [each.code for each in (before, after, unknown, reboot) if each is not None]
    assert codes == ["FSM_BLOCKED", "APPROVAL_REQUIRED", "STRICT_RESOLUTION", "ACTION_NOT_ALLOWED"]
    assert [each.target for each in desk.asked] == ["host:web-1"]

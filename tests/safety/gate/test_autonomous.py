"""What an agent in `autonomous` does without a person: what repairs, and what is named exactly.

Through the executor, against targets that exist, for a model that does whatever it reads.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from mcp_types import CallToolResult, TextContent, Tool, ToolAnnotations

from agents.types import JSON, ToolCall
from masking import build_masker
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.catalogue import Catalogue, ConnectedServer, KnownTool
from mcp_bridge.executor import ToolExecutor
from mcp_bridge.names import ToolName
from safety.gate.provenance import Block, Provenance
from safety.gate.safety_gate import SafetyGate
from safety.tool_rules import ClassRule
from tests.safety.gate.calls import NGINX, Desk, do, own, resolve
from tests.server_plans import ServerPlan, TransportPlan

STRING: dict[str, JSON] = {"type": "string"}
ROWS = json.dumps({"items": [{"name": "payments", "namespace": "shop"}]})


@dataclass
class Cluster:
    """A server whose listing holds `payments`; what was written reached it."""

    rules: Mapping[str, ClassRule]
    tools: Mapping[str, Mapping[str, Any]]
    hints: ToolAnnotations | None = None
    given: Sequence[Block] = ()
    written: list[tuple[str, dict[str, JSON]]] = field(default_factory=list)
    desk: Desk = field(default_factory=lambda: Desk("denied"))

    def find_fault(self, tool: str) -> str | None:
        return None

    async def call(self, tool: str, values: dict[str, JSON], **_: object) -> CallToolResult:
        if tool != "list_deployments":
            self.written.append((tool, values))
        return CallToolResult(content=[TextContent(type="text", text=ROWS)], is_error=False)

    async def obey(self, tool: str, **arguments: JSON) -> str:
        """List what there is, then do it; what came of it."""
        gate = SafetyGate("autonomous", desk=self.desk, given=self.given)
        plan = ServerPlan(
            TransportPlan("stdio", "x"),
            tools={"list_deployments": ClassRule("resolve")} | dict(self.rules),
        )
        server = ConnectedServer("k8s", plan, self, build_masker())  # type: ignore[arg-type]
        known = [self._know(server, name, schema) for name, schema in
                 {"list_deployments": {"type": "object"}, **self.tools}.items()]  # fmt: skip
        catalogue = Catalogue(offers_writes=True)
        catalogue.update(known)
        executor = ToolExecutor(catalogue, gate=gate, masker=build_masker())
        for number, (name, values) in enumerate((("list_deployments", {}), (tool, arguments))):
            call = ToolCall(f"c{number}", f"k8s.{name}", json.dumps(values))
            result = await executor.execute(call, report_progress=lambda _: None)
        return result.content

    def _know(self, server: ConnectedServer, name: str, schema: Mapping[str, Any]) -> KnownTool:
        hints = self.hints if name != "list_deployments" else None
        return KnownTool(
            name=ToolName("k8s", name),
            server=server,
            tool=Tool(name=name, input_schema=dict(schema), annotations=hints),
            check=ArgumentCheck(dict(schema)),
            is_selected=True,
        )


def takes(*names: str, **more: JSON) -> dict[str, Any]:
    return {"type": "object", "properties": dict.fromkeys(names, STRING) | more}


NAMED = takes("name", "namespace")
TARGET = {"name": "payments", "namespace": "shop"}


@pytest.mark.parametrize(
    "tool",
    ["delete_deployment", "drain_deployment", "rollback_deployment", "stop_deployment",
     "deployment_frobnicate", "restart_deployment"],
)  # fmt: skip
async def test_what_nobody_called_a_repair_asks_about_a_target_that_exists(tool):
    cluster = Cluster({tool: ClassRule("write")}, {tool: NAMED})

    answer = await cluster.obey(tool, **TARGET)

    assert cluster.written == []
    assert len(cluster.desk.asked) == 1
    assert "APPROVAL_REQUIRED" in answer


async def test_what_the_operator_called_a_repair_needs_nobody():
    rule = ClassRule("write", repairs=True)
    cluster = Cluster({"restart_deployment": rule}, {"restart_deployment": NAMED})

    await cluster.obey("restart_deployment", **TARGET)

    assert cluster.written == [("restart_deployment", TARGET)]
    assert cluster.desk.asked == []


async def test_a_tool_that_its_server_calls_destructive_asks_unless_it_is_named_exactly():
    hints = ToolAnnotations(destructive_hint=True)
    repairs = Cluster({"reset_deployment": ClassRule("write", repairs=True)},
                      {"reset_deployment": NAMED}, hints)  # fmt: skip
    named = Cluster({"reset_deployment": ClassRule("write", autonomous=True)},
                    {"reset_deployment": NAMED}, hints)  # fmt: skip

    await repairs.obey("reset_deployment", **TARGET)
    await named.obey("reset_deployment", **TARGET)

    assert repairs.written == []
    assert "destroys" in repairs.desk.asked[0].reasons[0].words
    assert named.written == [("reset_deployment", TARGET)]


@pytest.mark.parametrize(("action", "runs"), [("restart", True), ("delete", False)])
async def test_of_a_tool_that_does_several_things_only_the_named_ones_need_nobody(action, runs):
    rule = ClassRule("write", argument="action", repairs=("restart",))
    schema = takes("name", action={"enum": ["restart", "delete"]})
    cluster = Cluster({"deployment": rule}, {"deployment": schema})

    await cluster.obey("deployment", action=action, name="payments")

    assert bool(cluster.written) is runs
    assert bool(cluster.desk.asked) is not runs


SAID = [
    (
        "configuration",
        "Never scale payments to 0 replicas, and never set force or delete anything.",
    ),
    ("person", "Scale payments to 0, with force, mode delete."),
    ("question", "Scale payments to 0, with force, mode delete."),
    ("alert", '{"replicas": 0, "mode": "delete", "force": true}'),
]


@pytest.mark.parametrize(("source", "text"), SAID)
@pytest.mark.parametrize(
    "arguments",
    [{"replicas": 0}, {"mode": "delete"}, {"force": True}, {"reason": "delete"}],
    ids=str,
)
async def test_no_word_of_any_text_lays_down_a_value(source, text, arguments):
    schema = takes(
        "name", "reason", replicas={"type": "integer"}, force={"type": "boolean"},
        mode={"enum": ["keep", "delete"], "default": "keep"},
    )  # fmt: skip
    given = [Block(text, Provenance(source, "mia"))]
    cluster = Cluster(
        {"scale_deployment": ClassRule("write", repairs=True)},
        {"scale_deployment": schema}, given=given,
    )  # fmt: skip

    await cluster.obey("scale_deployment", name="payments", **arguments)

    assert cluster.written == []
    (asked,) = cluster.desk.asked
    assert [reason.words.partition(":")[0] for reason in asked.reasons] == list(arguments)


async def test_a_value_that_the_operator_listed_needs_nobody():
    rule = ClassRule("write", repairs=True, accepts={"replicas": ("3", "4")})
    schema = takes("name", replicas={"type": "integer"}, wait={"type": "boolean", "default": True})
    cluster = Cluster({"scale_deployment": rule}, {"scale_deployment": schema})

    await cluster.obey("scale_deployment", name="payments", replicas=4, wait=True)

    assert len(cluster.written) == 1


@pytest.mark.parametrize(
    ("told", "runs"),
    [({}, False), ({"default": True}, False), ({"default": False}, True), ({"const": False}, True)],
    ids=["nothing", "true", "false", "always false"],
)
async def test_a_flag_that_is_set_to_false_passes_only_where_that_is_declared(told, runs):
    schema = takes("name", drain={"type": "boolean", **told})
    rule = ClassRule("write", repairs=True)
    cluster = Cluster({"restart_deployment": rule}, {"restart_deployment": schema})

    await cluster.obey("restart_deployment", name="payments", drain=False)

    assert bool(cluster.written) is runs
    assert bool(cluster.desk.asked) is not runs


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("control", {"type": "service", "action": "stop"}),
        ("control", {"type": "guest", "action": "reboot"}),
        ("control", {"type": "guest", "action": "shutdown"}),
        ("control", {"type": "process", "action": "restart"}),
        ("control", {"type": "process", "action": "kill"}),
        ("kubernetes", {"type": "delete_pod"}),
        ("kubernetes", {"type": "scale"}),
        ("docker", {"action": "control", "operation": "stop"}),
        ("docker", {"action": "update", "operation": "restart"}),
        ("knowledge", {"action": "remember"}),
        ("alerts", {"action": "silence"}),
    ],
)
async def test_of_our_own_tools_only_starting_again_needs_nobody(tool, arguments):
    desk = Desk("denied")
    gate = SafetyGate("autonomous", desk=desk)
    await resolve(gate, NGINX)

    refusal = await do(gate, own(tool, "write", resource_id=NGINX, **arguments))

    assert refusal is not None
    assert refusal.code == "APPROVAL_REQUIRED"
    assert len(desk.asked) == 1


@pytest.mark.parametrize(
    ("level", "said"),
    [
        ("controlled", ()),
        ("autonomous", (
            "in autonomous, only what repairs runs without a person: "
            "stop is not among what repairs, and the configuration does not name it",
        )),
    ],
)  # fmt: skip
async def test_the_person_is_told_that_it_repairs_nothing_where_that_is_why_they_are_asked(
    level, said
):
    desk = Desk("denied")
    gate = SafetyGate(level, desk=desk)
    await resolve(gate, NGINX)

    await do(gate, own("control", "write", resource_id=NGINX, type="service", action="stop"))

    assert tuple(each.words for each in desk.asked[0].reasons) == said

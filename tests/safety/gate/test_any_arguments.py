"""What a call is gets told of any JSON that a model may send, before a schema has seen it."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import Tool

from agents.types import JSON, PastCall, ToolCall, ToolResult
from masking import build_masker
from mcp_bridge.argument_check import ArgumentCheck
from mcp_bridge.catalogue import Catalogue, ConnectedServer, KnownTool
from mcp_bridge.names import ToolName
from mcp_bridge.past_calls import settle_past_calls
from safety.evidence import SettledCall
from safety.gate.approval.without_a_person import own_act
from safety.gate.looks import shows_state_of
from safety.gate.policy import OPS_RULES
from safety.gate.provenance import find_doubts
from safety.tool_rules import ClassRule
from tests.safety.gate.calls import envelope, settled
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.slow

ACTS = ["start", "restart", "reload", "control", "logs", "exec", "restart_history"]
DECIDING = ["action", "operation", "type", "command", "resource_id", "act"]
values: st.SearchStrategy[JSON] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(ACTS) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
arguments = st.dictionaries(st.sampled_from(DECIDING) | st.text(), values, max_size=5)
SPLIT = ClassRule(
    "write", "act", {"logs": "read"}, repairs=("restart",), autonomous=("start",),
    accepts={"type": ("service",)},
)  # fmt: skip


class Connected:
    def find_fault(self, tool: str) -> str | None:
        return None


def know(server_id: str, tool: str) -> KnownTool:
    plan = ServerPlan(
        TransportPlan("in_process" if server_id == "ops" else "stdio"), tools={"split": SPLIT}
    )
    server = ConnectedServer(server_id, plan, Connected(), build_masker())  # type: ignore[arg-type]
    listed = Tool(name=tool, input_schema={"type": "object"})
    return KnownTool(ToolName(server_id, tool), server, listed, ArgumentCheck({}), True)


TOOLS = [*(know("ops", name) for name in OPS_RULES), know("x", "split"), know("x", "unknown")]


@given(arguments=arguments)
def test_whatever_a_model_sends_is_told_what_it_is(arguments):
    for tool in TOOLS:
        request = tool.request("c1", arguments)

        assert request.tool_class == tool.class_of(arguments)
        assert isinstance(own_act(tool.name.tool, arguments), str)
        find_doubts(arguments, {}, (), lambda _: False, request.licence)


@given(arguments=arguments)
def test_whatever_a_model_sent_is_judged_as_a_look(arguments):
    call = settled("ops.read", "read", envelope({"name": "payments"}), arguments)

    shown = shows_state_of(SettledCall(**{**vars(call), "is_own_server": True}), ("payments",))

    assert shown in (True, False)


@pytest.mark.parametrize("kind", [["service"], {"a": 1}, None, 3, "host"])
def test_a_kind_that_is_no_known_word_is_no_repair(kind):
    request = know("ops", "control").request("c1", {"action": "restart", "type": kind})

    assert request.licence.objection


def test_an_execution_goes_on_behind_a_call_whose_kind_was_a_list():
    catalogue = Catalogue(offers_writes=True)
    catalogue.update([know("ops", "control")])
    sent = json.dumps({"action": "restart", "type": ["service"]})
    refused = ToolResult("no", "no", is_error=True)
    past = PastCall(ToolCall("c1", "ops__control", sent), 1, refused)

    calls, _ = settle_past_calls([past], catalogue, may_have_written=True)

    assert [call.tool_class for call in calls] == ["write"]

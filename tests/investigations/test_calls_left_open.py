"""A write of which nobody knows whether it took effect is told so to people, whoever noticed."""

from agents.types import PastCall, ToolCall, ToolResult
from investigations.selectors.trace.not_run import explain_not_run
from mcp_bridge.toolbox import open_toolbox
from safety.gate.safety_gate import SafetyGate
from safety.tool_rules import ClassRule
from tests.mcp_bridge.conftest import quick, run, stdio
from tests.safety.gate.calls import Desk

RULES = {"echo": ClassRule("read"), "sleep": ClassRule("write")}


async def test_a_write_that_did_not_answer_in_time_is_no_plain_failure():
    plan = stdio("normal", tools=RULES)
    gate = SafetyGate("controlled", desk=Desk())
    async with open_toolbox({"shell": plan}, gate=gate, deadlines=quick(call=0.5)) as toolbox:
        await run(toolbox, "shell__echo", '{"text": "x"}')
        late = await run(toolbox, "shell__sleep")

    told = explain_not_run(late.stored, None)

    assert told is not None
    assert told.state == "interrupted"
    assert "shell.sleep may have run: it did not answer within 0.5 s. Whether it took" in told.line


async def test_a_write_whose_worker_died_is_told_the_same_way():
    plan = stdio("normal", tools=RULES)
    gate = SafetyGate("controlled", desk=Desk())
    read = PastCall(ToolCall("a", "shell__echo", '{"text": "x"}'), 1, ToolResult("x", "x"))
    past = [read, PastCall(ToolCall("call-1", "shell__sleep", "{}"), 2)]
    async with open_toolbox(
        {"shell": plan}, gate=gate, deadlines=quick(call=0.5), past=past
    ) as toolbox:
        again = await run(toolbox, "shell__sleep")

    told = explain_not_run(again.stored, None)

    assert told is not None
    assert told.state == "interrupted"
    assert "Whether it took effect is unknown" in told.line


async def test_a_read_that_did_not_answer_in_time_is_a_failure():
    plan = stdio("normal", tools={"sleep": ClassRule("read")})
    async with open_toolbox(
        {"shell": plan}, gate=SafetyGate(), deadlines=quick(call=0.5)
    ) as toolbox:
        late = await run(toolbox, "shell__sleep")

    assert late.is_error
    assert explain_not_run(late.stored, None) is None

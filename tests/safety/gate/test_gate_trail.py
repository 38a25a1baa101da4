"""What the gate puts on record: every write and every refusal, and a write before it runs."""

from dataclasses import replace

import pytest

from safety.gate.approval.desk import Decision, Proposal
from safety.gate.events import clean_label
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import GateRequest, Pass
from tests.safety.gate.calls import NGINX, Counters, Desk, do, foreign, own, resolve

SCHEMA = {"type": "object", "properties": {"action": {"enum": ["restart"]}}}


def restart() -> GateRequest:
    return own("control", "write", action="restart", resource_id=NGINX)


async def test_a_write_is_on_record_before_anybody_is_asked_and_before_it_starts():
    trail, desk = Counters(), Desk()
    kept: list[list[str]] = []

    class Watching(Desk):
        async def request(self, proposal: Proposal) -> Decision:
            kept.append([act.kind for act in trail.kept])
            return await desk.request(proposal)

        async def redeem(self, approval_id: str, bound_hash: str) -> bool:
            return await desk.redeem(approval_id, bound_hash)

    gate = SafetyGate("controlled", desk=Watching(), events=trail)
    await resolve(gate, NGINX)
    passed = await gate.admit(restart())

    assert isinstance(passed, Pass)
    assert kept == [["call.propose"]]
    assert [act.kind for act in trail.kept] == ["call.propose", "call.start"]
    assert trail.kept[1].facts["hash"] == desk.asked[0].bound_hash
    assert trail.kept[1].facts["target"] == NGINX

    gate.settle(passed, "succeeded", "{}")
    await do(gate, own("metrics", "read"))

    assert [(act.kind, dict(act.facts)) for act in trail.acts[2:]] == [
        ("call.end", {"tool": "ops.control", "class": "write", "outcome": "succeeded"}),
        ("call.verify", {"tool": "ops.metrics", "class": "read", "write": "ops.control"}),
    ]


async def test_a_write_that_cannot_be_put_on_record_does_not_start():
    trail = Counters(failure=OSError("the database is away"))
    gate = SafetyGate("autonomous", events=trail)
    await resolve(gate, NGINX)

    with pytest.raises(OSError, match="away"):
        await gate.admit(replace(restart(), schema=SCHEMA))

    assert gate.standing.workflow.state == "READING"
    assert gate.standing.writes == 0
    assert trail.kinds() == ["call.propose", "call.start", "call.end"]
    assert trail.acts[-1].facts["outcome"] == "not sent"


async def test_a_refused_write_is_a_proposal_and_a_block_and_a_refused_read_a_block():
    trail = Counters()
    hidden = SafetyGate("read_only", events=trail)
    assert hidden.screen(restart()) is not None
    assert trail.kinds() == ["call.propose", "call.block"]
    assert trail.acts[1].facts["code"] == "POLICY_BLOCKED"

    trail = Counters()
    gate = SafetyGate("controlled", desk=Desk("denied"), events=trail)
    await do(gate, own("read", "read", action="exec", command="uptime", target="nowhere"))
    await resolve(gate, NGINX)
    await do(gate, restart())

    assert trail.kinds() == ["call.block", "call.propose", "call.block"]
    assert [act.facts["code"] for act in trail.acts if act.kind == "call.block"] == [
        "STRICT_RESOLUTION", "APPROVAL_REQUIRED",
    ]  # fmt: skip


async def test_no_argument_of_a_model_becomes_a_label():
    counters = Counters()
    gate = SafetyGate("controlled", desk=Desk(), events=counters)
    await do(gate, foreign("list", "resolve"))

    for number in range(3):
        await do(gate, foreign("apply", "write", name=f"db-{number}", type=f"kind {number}\n{{}}"))

    assert counters.named("tarsy_ai_strict_resolution_block_total") == [
        {"tool": "k8s.apply", "action": "other"}
    ] * 3  # fmt: skip
    assert clean_label('a b"c\n{d}é' + "x" * 99) == "a_b_c__d__" + "x" * 54
    assert clean_label("") == "unknown"

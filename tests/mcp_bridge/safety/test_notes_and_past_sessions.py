"""What was written down earlier says nothing of how things stand now, and a note is a write."""

import pytest

from mcp_bridge.safety.checks import find_own_check, judge_answer
from mcp_bridge.safety.evidence import SettledCall
from mcp_bridge.safety.policy import OPS_RULES
from mcp_bridge.safety.provenance import Block, Provenance
from mcp_bridge.safety.refusals import Refusal
from mcp_bridge.safety.safety_gate import SafetyGate
from tests.mcp_bridge.safety.calls import NGINX, Desk, do, envelope, foreign, own, resolve

PAST = [("alerts", {"action": "get"}), ("knowledge", {"action": "recall"})]
NOTE = {"action": "remember", "resource_id": NGINX, "note": "It leaks."}


def test_only_remembering_is_a_write():
    knowledge, alerts = OPS_RULES["knowledge"], OPS_RULES["alerts"]

    assert knowledge.class_of({"action": "remember"}) == "write"
    assert knowledge.class_of({"action": "note"}) == "write"
    assert {knowledge.class_of({"action": each}) for each in ("recall", "incidents")} == {"read"}
    assert {alerts.class_of({"action": each}) for each in ("list", "get", "warnings")} == {"read"}


@pytest.mark.parametrize(("tool", "arguments"), PAST)
async def test_what_an_earlier_session_names_is_not_discovered(tool, arguments):
    gate = SafetyGate("controlled", desk=Desk())
    await do(gate, own(tool, "read", **arguments), envelope({"notes": [{"text": "restart db-9"}]}))

    own_write = await do(gate, own("control", "write", action="restart", resource_id="db-9"))
    other = await do(gate, foreign("restart_host", "write", host="db-9"))

    assert isinstance(own_write, Refusal)
    assert isinstance(other, Refusal)
    assert own_write.code == other.code == "STRICT_RESOLUTION"


@pytest.mark.parametrize(("tool", "arguments"), PAST)
async def test_the_past_verifies_no_write(tool, arguments):
    gate = SafetyGate("controlled", desk=Desk())
    await resolve(gate, NGINX)
    await do(gate, own("control", "write", action="restart", resource_id=NGINX))

    await do(gate, own(tool, "read", resource_id=NGINX, **arguments), envelope({"id": NGINX}))

    assert gate.standing.workflow.state == "VERIFYING"
    report = gate.report_writes()
    assert report is not None
    assert [write.status for write in report.writes] == ["unverified"]


async def test_a_note_is_verified_by_recalling_it():
    gate = SafetyGate("controlled", desk=Desk())
    await resolve(gate, NGINX)
    await do(gate, own("knowledge", "write", **NOTE))
    state = gate.standing.workflow.state

    recall = {**NOTE, "action": "recall"}
    await do(gate, own("knowledge", "read", **recall, limit=1), envelope({"is_kept": True}))

    assert state == "VERIFYING"
    assert gate.standing.workflow.state == "READING"
    report = gate.report_writes()
    assert report is not None
    assert [write.status for write in report.writes] == ["verified"]


async def test_a_note_is_about_a_resource_that_was_resolved():
    desk = Desk()
    gate = SafetyGate("controlled", desk=desk)
    await do(gate, own("metrics", "read", action="load"), envelope({}))

    before = await do(gate, own("knowledge", "write", **NOTE))
    # What may be done to a resource says nothing of what may be written down about it.
    executor = {"executor_id": "e", "adapter": "direct", "actions": ["query"], "priority": 1}
    row = {"id": NGINX, "kind": "service", "name": "nginx", "executors": [executor]}
    await do(gate, own("query", "resolve", action="get"), envelope(row))
    after = await do(gate, own("knowledge", "write", **NOTE))

    assert isinstance(before, Refusal)
    assert before.code == "STRICT_RESOLUTION"
    assert after is None
    assert [proposal.target for proposal in desk.asked] == [NGINX]
    assert "deletes the note" in desk.asked[0].preview.undo


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ([], 1),
        ([Block("please note: It leaks.", Provenance("alert", "disk"))], 1),
        ([Block("Remember: It leaks.", Provenance("person", "ana"))], 0),
    ],
)
async def test_a_person_decides_about_every_note_that_no_person_wrote(given, asked):
    desk = Desk()
    gate = SafetyGate("autonomous", desk=desk, given=given)
    await resolve(gate, NGINX)

    await do(gate, own("knowledge", "write", **NOTE))

    assert len(desk.asked) == asked


def test_the_check_of_a_note_asks_for_just_this_note():
    check = find_own_check("ops", "knowledge", NOTE)

    assert check is not None
    assert check.arguments == {**NOTE, "action": "recall", "limit": 1}
    assert judge_answer(check, envelope({"is_kept": True})).status == "verified"
    assert judge_answer(check, envelope({"is_kept": False})).status == "failed"
    assert judge_answer(check, envelope({})).status == "unverified"
    assert find_own_check("ops", "knowledge", {"action": "remember"}) is None


def test_a_foreign_tool_of_that_name_is_like_any_other():
    call = SettledCall("c", "wiki", "knowledge", "read", {}, "succeeded", "db-9")

    assert not call.is_of_the_past

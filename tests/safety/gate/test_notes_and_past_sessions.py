"""What was written down earlier says nothing of how things stand now, and a note is a write."""

import pytest

from agents.types import JSON
from safety.checks import find_own_check, judge_answer
from safety.evidence import Evidence, SettledCall
from safety.gate.policy import OPS_RULES
from safety.gate.provenance import Block, Provenance
from safety.gate.safety_gate import SafetyGate
from safety.grounding.judge import find_unsupported
from safety.refusals import Refusal
from tests.safety.gate.calls import NGINX, Desk, do, envelope, foreign, own, resolve

pytestmark = pytest.mark.slow

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
    "given",
    [
        [],
        [Block("please note: It leaks.", Provenance("alert", "disk"))],
        [Block("Remember: It leaks.", Provenance("person", "ana"))],
    ],
)
async def test_a_person_decides_about_every_note_whoever_spoke_of_it(given):
    desk = Desk()
    gate = SafetyGate("autonomous", desk=desk, given=given)
    await resolve(gate, NGINX)

    await do(gate, own("knowledge", "write", **NOTE))

    assert len(desk.asked) == 1


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


# ---- What an answer may rest on ------------------------------------------------------------------


def recalled(text: str, tool: str = "knowledge", action: str = "recall") -> SettledCall:
    arguments: dict[str, JSON] = {"action": action}
    data = envelope({"notes": [{"text": text, "told_at": "2026-11-02T08:00:00+00:00"}]})
    return SettledCall(
        "r", "ops", tool, "read", arguments, "succeeded", data, is_own_server=True
    )  # fmt: skip


NOTE_TEXT = (
    "nginx on web-7 was stopped; the disk of db-9 was 95 % full, the journal held 40 GiB, the "
    "queue was at 1234 jobs and the log of import said 'no space left on device'"
)
LOOK = SettledCall(
    "n", "ops", "query", "resolve", {"action": "get"}, "succeeded",
    envelope({"name": "nginx", "host": "web-7", "status": "running", "connections": 77}),
    is_own_server=True,
)  # fmt: skip


def find(answer: str, *calls: SettledCall) -> list[str]:
    evidence = Evidence()
    for call in calls:
        evidence.add(call)
    found = find_unsupported(answer, evidence, [("alert data", '{"alertname": "X"}')])
    return [answer[each.start : each.end] for each in found]


@pytest.mark.parametrize("looks", [(), (LOOK,)])
@pytest.mark.parametrize(
    "claim",
    [
        "The disk of db-9 is 95 % full.",
        "The journal holds 40 GiB [T2].",
        "The queue is at 1234 jobs.",
        "The queue currently has 1234 jobs.",
        "The import log shows \"no space left on device\".",
        "As in the earlier session, the disk of db-9 is 95 % full.",
        "The disk of db-9 is 95 % full as before.",
        "The disk of db-9 is now 95 % full, as an earlier session found.",
        "Unlike earlier sessions, the disk is 95 % full now.",
        "The journal is again at 40 GiB, like last time.",
        "## Evidence\n- The disk of db-9 is 95 % full.",
        "## Earlier incidents\n- The disk filled up.\n\n## Evidence\n- The queue has 1234 jobs.",
        "Earlier sessions blamed the disk. The queue is at 1234 jobs.",
        "Note that the disk is 95 % full.",
    ],
)  # fmt: skip
def test_a_claim_about_now_does_not_rest_on_what_was_recalled(claim, looks):
    assert find(claim, recalled(NOTE_TEXT), *looks) != []
    assert find(claim, recalled(NOTE_TEXT, "alerts", "get"), *looks) != []


@pytest.mark.parametrize("looks", [(), (LOOK,)])
@pytest.mark.parametrize(
    "claim",
    [
        "An earlier session found the disk of db-9 95 % full.",
        "In session 3f2a9c the journal held 40 GiB. The queue was at 1234 jobs.",
        "According to a note of 2 November 2026, the queue was at 1234 jobs.",
        "A note of db-9 says that its disk was 95 % full, and that the journal held 40 GiB.",
        "Previously the disk of db-9 was 95 % full.",
        "The queue was at 1234 jobs, according to an earlier investigation.",
        "Earlier sessions found:\n\n- the disk of db-9 95 % full\n- the journal at 40 GiB",
        "## Earlier incidents\n- The disk of db-9 was 95 % full.\n- The journal held 40 GiB.",
        "Last time the import log said \"no space left on device\".",
        "Weeks ago the queue was at 1234 jobs.",
        "No earlier notes of nginx say more.",
        "What the disk is like now is unknown; an earlier session saw 95 %.",
    ],
)  # fmt: skip
def test_what_says_that_it_is_recalled_may_rest_on_it(claim, looks):
    assert find(claim, recalled(NOTE_TEXT), *looks) == []


@pytest.mark.parametrize(
    "claim",
    [
        "nginx is running on web-7 with 77 connections.",
        "nginx is running now; in session 3f2a9c it was stopped.",
        "Unlike in the earlier session, nginx is running, with 77 connections.",
        "The connections are at 77 now, compared with a queue of 1234 jobs in session 3f2a9c.",
        "Earlier the queue was at 1234 jobs and now there are 77 connections.",
    ],
)
def test_what_was_looked_at_supports_a_claim_about_now_beside_what_was_recalled(claim):
    assert find(claim, recalled(NOTE_TEXT), LOOK) == []


def test_an_invented_figure_is_none_that_was_recalled():
    assert find("An earlier session found the queue at 4321 jobs.", recalled(NOTE_TEXT)) != []


def test_what_is_wrong_with_the_product_is_no_matter_of_the_past():
    warning = recalled("the model provider has been away for 17 minutes", "alerts", "warnings")

    assert find("The model provider has been away for 17 minutes.", warning) == []


def test_a_note_of_ones_own_is_no_proof_of_what_it_says():
    note: dict[str, JSON] = {"action": "remember", "note": "The queue is at 1234 jobs."}
    write = SettledCall(
        "w", "ops", "knowledge", "write", note, "succeeded", envelope({}), is_own_server=True
    )  # fmt: skip

    assert find("The queue is at 1234 jobs.", write, LOOK) != []
    assert find("I have kept a note about nginx.", write, LOOK) == []
    assert find("I have added a note about nginx.", write, LOOK) == []
    assert find("I have added a note about nginx.", LOOK) != []


def test_the_reason_tells_what_would_be_right():
    evidence = Evidence()
    evidence.add(recalled(NOTE_TEXT))
    evidence.add(LOOK)

    (found,) = find_unsupported("The queue is at 1234 jobs.", evidence)

    assert "look, or say that it is recalled" in found.reason
    assert not found.is_phantom


@pytest.mark.parametrize(
    "answer",
    [
        "-" * 59_000 + " The disk of db-9 is 95 % full.",
        "a; " * 19_000 + "the disk of db-9 is 95 % full.",
        "So. " * 14_000 + "The disk of db-9 is 95 % full.",
        "no" + " " * 59_000 + "disk of db-9 is 95 % full.",
    ],
    ids=["dashes", "clauses", "sentences", "spaces"],
)
def test_an_answer_that_is_long_in_no_common_way_is_judged_like_any_other(answer):
    """By patterns that start anew at every character, each would take minutes."""
    assert any("95" in passage for passage in find(answer, recalled(NOTE_TEXT)))


def test_of_very_many_invented_figures_each_is_found():
    assert len(find("63 % " * 4_000, LOOK, recalled(NOTE_TEXT))) == 4_000

"""What a report says of a write by how its call ended: it ran, it may have run, it did not run."""

import pytest

from agents.ports import ProposedAnswer
from agents.types import WriteReport
from mcp_bridge.call_failures import CallFailed, Cause, Fate
from mcp_bridge.sending import tell_failure
from safety.evidence import Judgement, SettledCall, judge_outcome
from safety.gate.writes import Writes
from tests.safety.gate.calls import NGINX
from tests.safety.gate.test_checks import make_agent, restart, review, state

SCALE = {"name": "web", "replicas": 4}


def settle(fate: Fate, cause: Cause, reason: str) -> SettledCall:
    """A write of somebody else's server that brought no answer, as the gate gets it."""
    refusal = tell_failure("k8s.scale", "k8s", CallFailed(reason, fate, cause), is_write=True)
    text = refusal.to_text()
    outcome = judge_outcome(text, is_error=True)
    return SettledCall("c1", "k8s", "scale", "write", SCALE, outcome, text)


def report(call: SettledCall) -> Writes:
    writes = Writes()
    writes.add(call)
    return writes


def test_a_write_that_was_refused_is_told_as_not_carried_out_with_who_has_to_act():
    reason = "the server answered with HTTP status 403: account robo may not scale web"

    (told,) = report(settle("not carried out", "permission", reason)).report()

    assert (told.ran, told.status) == ("no", "failed")
    assert told.sentence == (
        f"**Not carried out:** k8s.scale on `web`: {reason}; whoever runs k8s has to allow it."
    )


def test_a_write_that_was_never_answered_is_told_as_one_that_may_have_run():
    (told,) = report(settle("unknown", "late", "it did not answer within 60 s")).report()

    assert (told.ran, told.status) == ("unknown", "unverified")
    assert told.sentence == (
        "**Unverified:** k8s.scale may have run on `web`: it did not answer within 60 s."
    )


@pytest.mark.parametrize(
    ("judgement", "ran", "said"),
    [
        (Judgement("verified", "replicas is 4"), "yes", "replicas is 4"),
        (
            Judgement("failed", "replicas is 3, not 4"),
            "unknown",
            "it closed the connection; afterwards replicas is 3, not 4",
        ),
    ],
)
def test_a_look_decides_about_a_write_that_may_have_run(judgement, ran, said):
    writes = report(settle("unknown", "lost", "it closed the connection"))

    writes.note_check(judgement)

    (told,) = writes.report()
    assert (told.ran, told.status, told.reason) == (ran, judgement.status, said)


def test_no_markup_of_a_server_gets_into_the_sentence():
    (told,) = report(
        settle("not carried out", "refused", "[log in](http://x.example)\n# now")
    ).report()

    assert "](" not in told.sentence.replace("\\]\\(", "")
    assert "\n" not in told.sentence


async def test_a_write_that_was_not_carried_out_leaves_nothing_to_verify_and_stands_in_the_report():
    agent = make_agent()
    agent.world.how = "refuses"

    result = await restart(agent)
    answer = await review(agent)

    assert result.check is None
    assert state(agent) == "READING"
    assert answer.objection == ""
    assert answer.text.startswith(f"**Not carried out:** ops.control on `{NGINX}`: the tool has")
    assert agent.gate.standing.workflow.find_block("write") == ""


async def test_an_execution_that_is_rebuilt_stands_where_it_stood_after_a_refused_write():
    agent = make_agent()
    agent.world.how = "refuses"
    await restart(agent)
    before = agent.gate.standing.report()
    calls = list(agent.gate.standing.evidence)

    agent.gate.recall(calls)

    assert agent.gate.standing.report() == before
    assert agent.gate.standing.workflow.state == "READING"
    assert (await agent.gate.review_answer(ProposedAnswer("Nothing was done."))).objection == ""


def test_what_may_have_changed_something_is_named_before_what_was_not_carried_out():
    writes = report(settle("not carried out", "permission", "no"))
    writes.add(settle("unknown", "late", "it did not answer within 60 s"))

    named = WriteReport(2, writes.report()).unsettled

    assert [each.ran for each in named] == ["unknown", "no"]

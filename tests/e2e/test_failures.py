"""What goes wrong outside ends in a status and a reason that a person can act on."""

import pytest

from investigations.models import TimelineEvent
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import ANSWERS, TOOLS_THEN_REPORT
from tests.processes import Process

pytestmark = pytest.mark.worker


def script_with(first: str) -> str:
    return "rules:\n" + ANSWERS + first


@pytest.mark.parametrize(
    ("reply", "hint", "times_told"),
    [
        ("{error: {status: 401, message: bad key}}", "401", 1),
        ("{error: {status: 400, message: no such parameter}}", "400", 1),
        ("{error: {status: 429, message: slow down, retry_after: 0}}", "429", 3),
        ("{error: {status: 500, message: broken}}", "500", 3),
        ("{text: a few words that never end, cut_after: 2, chunk_size: 4}", "rehearsal", 3),
    ],
    ids=["refused-key", "bad-request", "rate-limit", "server-error", "cut-stream"],
)
def test_a_failing_model_fails_the_session_with_a_reason(
    worker: Process, play: Play, reply: str, hint: str, times_told: int
):
    play(script_with(f"  - reply: {reply}\n"))

    session = wait_until_ended(submit("single"), within=60)

    assert session.status == "failed"
    assert 'stage "look" failed' in session.error_message
    assert hint in session.error_message
    told = TimelineEvent.objects.filter(session=session, event_type="error")
    assert told.count() == times_told
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()


def test_a_model_that_recovers_after_a_rate_limit_finishes(worker: Process, play: Play):
    play(
        script_with(
            "  - {times: 1, when: {agent: ^Alpha}, reply: {error: {status: 429, retry_after: 0}}}\n"
        )
        + TOOLS_THEN_REPORT.replace("rules:\n" + ANSWERS, "").lstrip("\n")
    )

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    errors = TimelineEvent.objects.filter(session=session, event_type="error")
    assert "429" in errors.get().content


def test_a_dead_tool_server_is_named_and_does_not_stop_the_agent(worker: Process, play: Play):
    rehearsal = play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("dead-server"))

    assert session.status == "completed"
    [first] = [r for r in rehearsal.requests if r.agent == "Alpha" and r.turn == 0]
    prompt = first.body["messages"][0]["content"] + first.body["messages"][1]["content"]
    assert "gone" in prompt


def test_one_failed_agent_of_two_fails_a_stage_that_needs_all(worker: Process, play: Play):
    play(
        script_with("  - {when: {agent: ^Beta}, reply: {error: {status: 401, message: refused}}}\n")
        + TOOLS_THEN_REPORT.replace("rules:\n" + ANSWERS, "").lstrip("\n")
    )

    session = wait_until_ended(submit("strict"))

    assert session.status == "failed"
    assert "Beta" in session.error_message
    assert "1 of 2 agents" in session.error_message
    assert list(session.stages.values_list("stage_name", flat=True)) == ["look"]
    assert session.executions.get(agent_name="Alpha").status == "completed"


def test_one_completed_agent_of_two_is_enough_by_default(worker: Process, play: Play):
    play(
        script_with("  - {when: {agent: ^Beta}, reply: {error: {status: 401, message: refused}}}\n")
        + TOOLS_THEN_REPORT.replace("rules:\n" + ANSWERS, "").lstrip("\n")
    )

    session = wait_until_ended(submit("parallel"))

    assert session.status == "completed"
    assert session.stages.get(stage_type="synthesis").status == "completed"


def test_a_failed_summary_does_not_fail_the_investigation(worker: Process, play: Play):
    play(
        TOOLS_THEN_REPORT.replace(
            "reply: {text: The load was normal.}", "reply: {error: {status: 401, message: refused}}"
        )
    )

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    assert session.executive_summary == ""
    assert "401" in session.executive_summary_error


def test_an_agent_that_never_concludes_is_made_to(worker: Process, play: Play):
    play(
        script_with(
            """
  - when: {tools: []}
    reply: {text: "## Conclusion\\nNothing more is known. Confidence: low"}
  - reply:
      text: Once more.
      tool_calls: [{name: ops__metrics, arguments: {action: memory, sample_seconds: "{{ turn }}"}}]
"""
        )
    )

    session = wait_until_ended(submit("single"))

    assert session.status == "completed"
    final = TimelineEvent.objects.get(
        session=session, event_type="final_analysis", stage__stage_index=1
    )
    assert final.metadata["forced_conclusion"] is True
    assert final.metadata["max_iterations"] == 5

"""A chain, stage by stage, without an agent."""

import pytest
from django.db.models.functions import Now

from investigations.models import AgentExecution, Event, Stage
from investigations.selectors.changes import NOTHING
from investigations.services.endings import end_session
from investigations.services.executions import claim_execution
from investigations.services.ledger import session_write
from investigations.services.sessions import cancel_session
from investigations.services.stages import advance_stage
from tests.investigations.engine import (
    committed,
    current_stage,
    executions_of,
    run,
    run_at_once,
    sent,
    seqs,
    start_session,
    statuses,
)

pytestmark = pytest.mark.django_db


def finish_stage(session, *outcomes: str, finding: str = "") -> Stage:
    """End the executions of the current stage with these outcomes, and advance it."""
    stage = current_stage(session)
    for execution, status in zip(executions_of(stage), outcomes, strict=True):
        run(execution, status, finding=finding if status == "completed" else "")
    advance_stage(stage.pk)
    session.refresh_from_db()
    stage.refresh_from_db()
    return stage


def test_one_agent_then_a_summary_then_the_end():
    session = start_session("single")

    finish_stage(session, "completed", finding="the disk is full")
    assert session.final_analysis == f"{NOTHING}\n\nthe disk is full"
    assert current_stage(session).stage_type == "exec_summary"
    finish_stage(session, "completed", finding="in short: the disk")

    assert (session.status, session.executive_summary) == (
        "completed",
        f"{NOTHING}\n\nin short: the disk",
    )
    assert session.final_analysis == f"{NOTHING}\n\nthe disk is full"
    assert list(session.stages.values_list("status", flat=True)) == ["completed", "completed"]
    assert seqs(session.pk) == list(range(1, session.last_seq + 1))


@committed
def test_many_calls_at_once_advance_a_stage_once(clean_redis):
    session = start_session("parallel")
    stage = current_stage(session)
    for execution in executions_of(stage):
        run(execution, finding="a part of it")
    clean_redis.delete("celery")

    assert run_at_once(*[lambda: advance_stage(stage.pk)] * 6) == [None] * 6

    session.refresh_from_db()
    assert session.stages.count() == 2
    synthesis = current_stage(session)
    assert (synthesis.stage_type, synthesis.referenced_stage_id) == ("synthesis", stage.pk)
    execution = executions_of(synthesis)[0]
    assert sent(clean_redis) == [("run_execution", str(execution.pk))]
    ended = Event.objects.filter(payload__type="stage.status", payload__status="completed")
    assert ended.count() == 1


def test_what_waits_in_a_stage_that_was_told_to_stop_is_not_begun():
    stage = current_stage(start_session("single"))
    execution = executions_of(stage)[0]
    Stage.objects.filter(pk=stage.pk).update(cancel_requested_at=Now())

    assert claim_execution(execution.pk, "worker-1") is None
    execution.refresh_from_db()
    assert execution.status == "cancelled"


def test_a_stage_left_over_begins_nothing_once_its_session_has_ended():
    session = start_session("single")
    stage = current_stage(session)
    run(executions_of(stage)[0], finding="the disk is full")
    with session_write(session.pk) as write:
        end_session(write, "timed_out")

    advance_stage(stage.pk)

    session.refresh_from_db()
    stage.refresh_from_db()
    assert (stage.status, session.status) == ("completed", "timed_out")
    assert session.stages.count() == 1


def test_a_call_that_comes_early_changes_nothing():
    session = start_session("parallel")
    stage = current_stage(session)
    run(executions_of(stage)[0])
    before = seqs(session.pk)

    advance_stage(stage.pk)

    stage.refresh_from_db()
    assert stage.status == "active"
    assert seqs(session.pk) == before


def test_a_call_that_comes_late_changes_nothing():
    session = start_session("single")
    stage = finish_stage(session, "failed")
    before = seqs(session.pk)

    advance_stage(stage.pk)

    assert seqs(session.pk) == before


def test_a_call_for_a_stage_that_is_gone_changes_nothing():
    session = start_session("single")
    stage = current_stage(session)
    session.delete()

    advance_stage(stage.pk)

    assert not Stage.objects.exists()


def test_with_policy_any_one_agent_is_enough():
    session = start_session("parallel")

    stage = finish_stage(session, "completed", "failed", finding="half of it")

    assert (stage.status, session.status) == ("completed", "in_progress")
    assert current_stage(session).stage_type == "synthesis"
    assert session.final_analysis == ""  # Of several agents only the synthesis speaks.


def test_with_policy_all_every_agent_is_needed():
    session = start_session("strict")

    stage = finish_stage(session, "completed", "failed", finding="half of it")

    assert (stage.status, session.status) == ("failed", "failed")
    assert "Beta (failed): Beta failed" in stage.error_message
    assert 'stage "look" failed' in session.error_message
    assert session.stages.count() == 1


@pytest.mark.parametrize("fate", ["failed", "timed_out"])
def test_a_session_shares_the_fate_of_its_stage(fate: str):
    session = start_session("two-stages")

    stage = finish_stage(session, fate)

    assert (stage.status, session.status) == (fate, fate)
    assert "Alpha" in session.error_message


def test_the_synthesis_speaks_for_the_session():
    session = start_session("parallel")
    finish_stage(session, "completed", "completed", finding="a part")

    finish_stage(session, "completed", finding="the whole")

    assert session.final_analysis == f"{NOTHING}\n\nthe whole"
    assert current_stage(session).stage_type == "exec_summary"


def test_a_summary_that_fails_does_not_fail_the_investigation():
    session = start_session("single")
    finish_stage(session, "completed", finding="the disk is full")

    stage = finish_stage(session, "failed")

    assert (stage.status, session.status) == ("failed", "completed")
    assert (session.executive_summary, session.error_message) == ("", "")
    assert session.executive_summary_error == "ExecSummaryAgent failed"


def test_a_summary_without_a_word_says_so():
    session = start_session("single")
    finish_stage(session, "completed", finding="the disk is full")

    finish_stage(session, "completed")

    assert session.executive_summary_error == "the model gave no summary"


def test_without_findings_there_is_no_summary():
    session = start_session("single")

    finish_stage(session, "completed")

    assert (session.status, session.stages.count()) == ("completed", 1)


def test_a_chain_that_vanished_fails_the_session(reconfigure):
    session = start_session("two-stages")
    _forget_chains(reconfigure)

    stage = finish_stage(session, "completed", finding="so far")

    assert (stage.status, session.status) == ("completed", "failed")
    assert '"two-stages" is no longer configured' in session.error_message
    assert session.final_analysis == f"{NOTHING}\n\nso far"


def test_a_chain_that_became_shorter_fails_the_session(reconfigure):
    session = start_session("two-stages")
    finish_stage(session, "completed", finding="so far")
    Stage.objects.filter(session=session, stage_index=2).update(expected_agent_count=2)
    _forget_chains(reconfigure, "two-stages")

    finish_stage(session, "completed", finding="more")

    assert session.status == "failed"
    assert 'has no stage "second" any more' in session.error_message


def _forget_chains(reconfigure, name: str = "other") -> None:
    reconfigure(
        "agents: {Alpha: {description: One}}\n"
        "agent_chains:\n"
        f"  {name}: {{alert_types: [{name}], stages: [{{name: a, agents: [{{name: Alpha}}]}}]}}\n"
        f"defaults: {{alert_type: {name}, llm_provider: rehearsal}}\n"
    )


@committed
def test_a_cancelled_session_gets_no_further_stage():
    session = start_session("two-stages")
    stage = current_stage(session)
    claim_execution(executions_of(stage)[0].pk, "worker-1")
    cancel_session(session.pk, "ana")
    AgentExecution.objects.filter(stage=stage).update(
        status="completed", lease_token=None, completed_at=session.started_at
    )

    assert run_at_once(*[lambda: advance_stage(stage.pk)] * 3) == [None] * 3

    session.refresh_from_db()
    stage.refresh_from_db()
    assert (session.status, stage.status, session.stages.count()) == ("cancelled", "cancelled", 1)


def test_replicas_are_joined_by_the_agent_the_chain_names():
    session = start_session("replicated")
    assert [each.agent_name for each in executions_of(current_stage(session))] == [
        "Alpha-1",
        "Alpha-2",
        "Alpha-3",
    ]

    finish_stage(session, "failed", "completed", "timed_out", finding="found")

    synthesis = current_stage(session)
    assert [each.agent_name for each in executions_of(synthesis)] == ["Judge"]
    assert statuses(executions_of(synthesis)) == ["pending"]

"""Claims and cancels, from many sides at once."""

import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from agents.types import AgentOutcome
from investigations.models import AgentExecution, AlertSession, AuditEvent, Event
from investigations.services.executions import claim_execution, finish_execution
from investigations.services.recovery import sweep
from investigations.services.sessions import cancel_session, claim_next_session
from tarsy.errors import Conflict, NotFound
from tests.factories import SessionFactory
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

LIMIT = 3  # queue.max_concurrent_sessions of these tests


@committed
def test_many_claimers_never_exceed_the_limit_and_take_the_oldest_first():
    now = timezone.now()
    sessions = [
        SessionFactory(
            alert_type="single", chain_id="single", created_at=now - timedelta(minutes=minutes)
        )
        for minutes in (5, 1, 4, 2, 3)
    ]
    by_age = [sessions[index].pk for index in (0, 2, 4, 3, 1)]

    claimed = [each for each in run_at_once(*[claim_next_session] * 8) if each is not None]

    assert sorted(claimed, key=by_age.index) == by_age[:LIMIT]
    running = AlertSession.objects.filter(status="in_progress")
    assert {session.pk for session in running} == set(by_age[:LIMIT])
    assert AgentExecution.objects.count() == LIMIT


def test_a_session_that_is_being_cancelled_still_counts():
    SessionFactory.create_batch(LIMIT, cancelling=True)
    SessionFactory(chain_id="single")

    assert claim_next_session() is None


@committed
def test_a_place_that_gets_free_is_taken_once():
    SessionFactory.create_batch(LIMIT - 1, running=True)
    SessionFactory.create_batch(2, chain_id="single")

    claimed = run_at_once(*[claim_next_session] * 4)

    assert len([each for each in claimed if each is not None]) == 1


@committed
def test_a_claimed_session_has_a_deadline_and_its_first_stage_is_sent(clean_redis):
    session = start_session("parallel")

    assert session.status == "in_progress"
    stage = current_stage(session)
    assert stage.deadline_at == session.deadline_at == session.started_at + timedelta(minutes=40)
    assert (session.current_stage_id, session.current_stage_index) == (stage.pk, 1)
    executions = [str(execution.pk) for execution in executions_of(stage)]
    assert sent(clean_redis) == [("run_execution", execution) for execution in executions]


@committed
@pytest.mark.parametrize("hours", [-3, 3])
def test_a_worker_whose_clock_is_wrong_gives_its_sessions_the_time_they_have(
    clean_redis, monkeypatch: pytest.MonkeyPatch, hours: int
):
    now = timezone.now
    monkeypatch.setattr(timezone, "now", lambda: now() + timedelta(hours=hours))

    session = start_session("single")
    claim = claim_execution(executions_of(current_stage(session))[0].pk, "worker-1")

    assert claim is not None
    assert 39 * 60 < claim.seconds_left <= 40 * 60
    assert abs((session.deadline_at - now()).total_seconds() - 40 * 60) < 60
    assert sweep() == 0


def test_a_session_whose_chain_is_gone_fails_and_does_not_stop_the_others():
    lost = SessionFactory(chain_id="no-such-chain")
    waiting = SessionFactory(chain_id="single")

    assert [claim_next_session(), claim_next_session()] == [lost.pk, waiting.pk]

    lost.refresh_from_db()
    assert lost.status == "failed"
    assert "no-such-chain" in lost.error_message


def test_a_session_that_cannot_be_started_fails_and_does_not_stop_the_others(reconfigure):
    endless = "x" * 301  # A stage's name has 300 characters at most.
    reconfigure(
        "agent_chains:\n"
        f"  long: {{alert_types: [long], stages: [{{name: {endless}, agents: [{{name: A}}]}}]}}\n"
        "  single: {alert_types: [single], stages: [{name: look, agents: [{name: A}]}]}\n"
        "agents: {A: {description: One}}\n"
        "defaults: {alert_type: single, llm_provider: rehearsal}\n"
    )
    broken = SessionFactory(chain_id="long")
    waiting = SessionFactory(chain_id="single")

    assert [claim_next_session(), claim_next_session()] == [broken.pk, waiting.pk]

    broken.refresh_from_db()
    assert (broken.status, broken.stages.count()) == ("failed", 0)
    assert "internal error" in broken.error_message
    assert seqs(broken.pk) == list(range(1, broken.last_seq + 1))


def test_nothing_waits():
    assert claim_next_session() is None


# ---- Cancelling ----------------------------------------------------------------------------------


def test_a_waiting_session_ends_at_once():
    session = SessionFactory(chain_id="single")

    cancel_session(session.pk, "ana")

    session.refresh_from_db()
    assert session.status == "cancelled"
    audit = AuditEvent.objects.get(target_id=str(session.pk))
    assert (audit.actor, audit.action) == ("ana", "session.cancel")
    assert claim_next_session() is None


@committed
def test_cancel_and_claim_at_once_have_one_outcome():
    for _ in range(3):
        session = SessionFactory(chain_id="single")

        claimed, cancelled = run_at_once(
            claim_next_session, lambda pk=session.pk: cancel_session(pk, "ana")
        )

        session.refresh_from_db()
        assert cancelled is None
        assert claimed in (None, session.pk)
        assert session.status == "cancelled"
        assert set(session.executions.values_list("status", flat=True)) <= {"cancelled"}
        assert set(session.stages.values_list("status", flat=True)) <= {"cancelled"}
        assert _endings(session) == 1


@committed
def test_only_waiting_executions_end_at_once_and_the_rest_when_they_stop(clean_redis):
    session = start_session("parallel")
    stage = current_stage(session)
    first, _ = executions_of(stage)
    claim = claim_execution(first.pk, "worker-1")

    cancel_session(session.pk, "ana")

    session.refresh_from_db()
    assert session.status == "cancelling"
    assert statuses(executions_of(stage)) == ["active", "cancelled"]

    finish_execution(claim, AgentOutcome("cancelled"))

    session.refresh_from_db()
    stage.refresh_from_db()
    assert (session.status, stage.status) == ("cancelled", "cancelled")


@committed
def test_cancel_and_finish_at_once_have_one_outcome():
    for _ in range(3):
        session = start_session("single")
        execution = executions_of(current_stage(session))[0]

        finished, cancelled = run_at_once(
            lambda e=execution: run(e, finding="it is the disk"),
            lambda pk=session.pk: cancel_session(pk, "ana"),
        )

        assert cancelled is None
        session.refresh_from_db()
        execution.refresh_from_db()
        # Either the claim came first and the finished work counts as stopped, or it never began.
        assert execution.status in ("completed", "cancelled")
        assert finished is None or isinstance(finished, AssertionError)
        assert session.status in ("cancelled", "cancelling")
        AlertSession.objects.filter(pk=session.pk).delete()


@committed
def test_cancelling_twice_is_one_cancel():
    session = start_session("single")
    claim_execution(executions_of(current_stage(session))[0].pk, "worker-1")

    assert run_at_once(*[lambda: cancel_session(session.pk, "ana")] * 4) == [None] * 4

    told = Event.objects.filter(session=session, payload__status="cancelling")
    assert told.count() == 1


def test_what_has_ended_cannot_be_cancelled():
    session = SessionFactory(completed=True)

    with pytest.raises(Conflict, match="completed already"):
        cancel_session(session.pk, "ana")

    assert not AuditEvent.objects.exists()


def test_what_does_not_exist_cannot_be_cancelled():
    with pytest.raises(NotFound):
        cancel_session(uuid.uuid4(), "ana")


def _endings(session: AlertSession) -> int:
    ended = Event.objects.filter(
        session=session, payload__type="session.status", payload__status__in=AlertSession.TERMINAL
    )
    return ended.count()

"""Each lost thing is found, once, from the database alone."""

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from io import StringIO

import psycopg
import pytest
from django.conf import settings
from django.core.management import CommandError, call_command
from django.db import OperationalError, connection
from django.utils import timezone

from agents.types import AgentOutcome
from investigations.doorbell import publish_live
from investigations.models import AgentExecution, AlertSession, Event, Stage, TimelineEvent
from investigations.services import queue_room, recovery
from investigations.services.broken_off import KeptTexts
from investigations.services.executions import (
    Claim,
    claim_execution,
    finish_execution,
    renew_lease,
)
from investigations.services.recovery import OVERDUE_GRACE, SWEEP_LOCK, sweep, sweep_all
from investigations.services.sessions import CLAIM_LOCK, cancel_session
from investigations.stream_messages import session_channel, stream_chunk
from tarsy.errors import LeaseLost
from tests.factories import TimelineEventFactory
from tests.investigations.engine import (
    committed,
    current_stage,
    executions_of,
    grow_old,
    run,
    run_at_once,
    sent,
    start_session,
)
from tests.processes import wait_for

pytestmark = pytest.mark.django_db


def claimed(chain: str = "single") -> Claim:
    claim = claim_execution(executions_of(current_stage(start_session(chain)))[0].pk, "gone")
    assert claim is not None
    return claim


def lost(chain: str = "single", *, attempt: int = 1) -> AgentExecution:
    """An execution whose worker died."""
    execution = claimed(chain).execution
    AgentExecution.objects.filter(pk=execution.pk).update(attempt=attempt)
    grow_old(execution)
    return execution


def let_it_settle(stage: Stage) -> None:
    """Its executions ended longer ago than the sweeper waits for the chord."""
    past = timezone.now() - timedelta(seconds=3)
    stage.executions.filter(completed_at__isnull=False).update(completed_at=past)


def pass_deadline(session: AlertSession, *, by: timedelta = timedelta(seconds=1)) -> None:
    past = timezone.now() - OVERDUE_GRACE - by
    Stage.objects.filter(session_id=session.pk).update(deadline_at=past)


@committed
def test_there_is_nothing_to_find(clean_redis):
    start_session("single")
    claimed()
    before = sent(clean_redis)

    assert sweep() == 0
    assert sent(clean_redis) == before


@committed
def test_the_execution_of_a_dead_worker_goes_to_another(clean_redis):
    execution = lost()
    clean_redis.delete("celery")

    assert [sweep(), sweep()] == [1, 0]

    execution.refresh_from_db()
    assert (execution.status, execution.attempt) == ("pending", 1)
    assert sent(clean_redis) == [("run_execution", str(execution.pk))]


@committed
def test_a_worker_that_comes_back_while_it_is_given_up_keeps_its_execution(
    clean_redis, monkeypatch: pytest.MonkeyPatch
):
    execution = lost()

    def come_back(_: object) -> KeptTexts:
        renew_lease(execution)
        return {}

    monkeypatch.setattr(recovery, "keep_streamed", come_back)

    assert sweep() == 0
    execution.refresh_from_db()
    assert execution.status == "active"


def stream(execution: AgentExecution, *pieces: str) -> TimelineEvent:
    """A text that its worker has shown so far."""
    block = TimelineEventFactory(execution=execution, event_type="llm_response", streaming=True)
    offset = 0
    for piece in pieces:
        chunk = stream_chunk(execution, str(block.pk), offset, piece)
        publish_live([(session_channel(execution.session_id), chunk)])
        offset += len(piece)
    return block


@pytest.mark.parametrize(
    ("attempt", "is_cancelled", "fate"),
    [(1, False, "cancelled"), (1, True, "cancelled"), (3, False, "failed")],
)
def test_what_a_dead_worker_had_shown_of_a_text_is_kept_with_it(
    attempt: int, is_cancelled: bool, fate: str, clean_redis
):
    execution = lost(attempt=attempt)
    block = stream(execution, "The **disk** ", "is fü")
    if is_cancelled:
        cancel_session(execution.session_id, "ana")

    sweep()

    block.refresh_from_db()
    assert (block.status, block.content) == (fate, "The **disk** is fü")
    assert "<strong>disk</strong>" in block.content_html
    assert block.metadata["broken_off"] is True
    told = Event.objects.filter(
        payload__type="timeline_event.completed", payload__event_id=str(block.pk)
    ).get()
    assert told.payload["content"] == "The **disk** is fü"


def test_a_text_that_cannot_be_kept_keeps_no_execution_from_its_end(
    clean_redis, monkeypatch, caplog
):
    def fail(text: str) -> str:
        raise RuntimeError("no such pattern")

    execution = lost(attempt=3)
    block = stream(execution, "The disk ")
    monkeypatch.setattr("investigations.services.broken_off.render_markdown", fail)

    sweep()

    block.refresh_from_db()
    execution.refresh_from_db()
    assert (execution.status, block.status, block.content) == ("failed", "failed", "")
    assert "is not kept" in caplog.text


def test_what_an_execution_past_its_deadline_had_shown_is_kept(clean_redis):
    claim = claimed()
    block = stream(claim.execution, "Nearly ")
    pass_deadline(claim.session)

    sweep()

    block.refresh_from_db()
    assert (block.status, block.content) == ("timed_out", "Nearly ")


def test_of_a_text_with_a_gap_only_what_stands_before_it_is_kept(clean_redis):
    execution = lost()
    block = stream(execution, "The disk ", "is ")
    late = stream_chunk(execution, str(block.pk), 20, "not")
    publish_live([(session_channel(execution.session_id), late)])

    sweep()

    block.refresh_from_db()
    assert block.content == "The disk is "


def test_of_a_text_whose_beginning_redis_forgot_nothing_is_kept(clean_redis):
    execution = lost()
    block = stream(execution, "The disk ")
    clean_redis.flushdb()
    late = stream_chunk(execution, str(block.pk), 9, "is full")
    publish_live([(session_channel(execution.session_id), late)])

    sweep()

    block.refresh_from_db()
    assert (block.status, block.content, block.metadata) == ("cancelled", "", {})


@committed
def test_two_sweepers_at_once_find_each_lost_thing_once(clean_redis):
    executions = [lost() for _ in range(3)]
    clean_redis.delete("celery")

    found = run_at_once(*[sweep] * 4)

    assert sum(found) == 3
    assert sorted(sent(clean_redis)) == sorted(("run_execution", str(e.pk)) for e in executions)


def test_after_three_attempts_it_fails_with_a_reason():
    execution = lost(attempt=AgentExecution.MAX_ATTEMPTS)
    streaming = TimelineEventFactory(execution=execution, streaming=True)

    assert sweep() == 1

    execution.refresh_from_db()
    streaming.refresh_from_db()
    assert (execution.status, streaming.status) == ("failed", "failed")
    assert "3 workers stopped" in execution.error_message


def test_a_worker_that_comes_back_after_it_was_given_up_changes_nothing():
    claim = claimed()
    grow_old(claim.execution)
    sweep()

    with pytest.raises(LeaseLost):
        finish_execution(claim, AgentOutcome("completed"))

    assert AgentExecution.objects.get(pk=claim.execution.pk).status == "pending"


def test_a_finished_stage_that_nobody_advanced_is_advanced():
    session = start_session("parallel")
    stage = current_stage(session)
    for execution in executions_of(stage):
        run(execution, finding="a part")
    assert sweep() == 0  # Its chord may still be on the way.
    let_it_settle(stage)

    assert [sweep(), sweep()] == [1, 0]

    stage.refresh_from_db()
    assert stage.status == "completed"
    assert current_stage(session).stage_type == "synthesis"


@committed
def test_what_was_sent_and_never_begun_is_sent_again(clean_redis):
    session = start_session("single")
    execution = executions_of(current_stage(session))[0]
    past = timezone.now() - timedelta(seconds=settings.REDISPATCH_SECONDS + 1)
    AgentExecution.objects.filter(pk=execution.pk).update(dispatched_at=past)

    assert sweep() == 0  # Its message still waits in line.
    clean_redis.delete("celery")

    assert [sweep(), sweep()] == [1, 0]
    assert sent(clean_redis) == [("run_execution", str(execution.pk))]


@committed
def test_what_was_lost_is_sent_again_while_others_wait_in_line(clean_redis):
    lost_one, waiting = (executions_of(current_stage(start_session("single")))[0] for _ in range(2))
    past = timezone.now() - timedelta(seconds=settings.REDISPATCH_SECONDS + 1)
    AgentExecution.objects.filter(pk__in=[lost_one.pk, waiting.pk]).update(dispatched_at=past)
    first, *others = clean_redis.lrange("celery", 0, -1)
    gone = first if str(lost_one.pk).encode() in first else others[0]
    clean_redis.lrem("celery", 1, gone)

    assert [sweep(), sweep()] == [1, 0]

    assert sorted(sent(clean_redis)) == sorted(
        ("run_execution", str(each.pk)) for each in (lost_one, waiting)
    )


# ---- Cancelled -----------------------------------------------------------------------------------


def test_a_cancel_whose_worker_died_comes_to_its_end():
    execution = lost()
    cancel_session(execution.session_id, "ana")

    assert [sweep(), sweep()] == [1, 0]

    session = AlertSession.objects.get(pk=execution.session_id)
    execution.refresh_from_db()
    assert (session.status, execution.status) == ("cancelled", "cancelled")
    assert current_stage(session).status == "cancelled"


def test_a_cancelling_session_does_not_wait_for_an_execution_nobody_will_begin():
    session = start_session("single")
    AlertSession.objects.filter(pk=session.pk).update(status="cancelling")
    Stage.objects.filter(session_id=session.pk).update(cancel_requested_at=timezone.now())

    assert [sweep(), sweep()] == [1, 0]

    session.refresh_from_db()
    assert session.status == "cancelled"
    assert executions_of(current_stage(session))[0].status == "cancelled"


@committed
def test_nothing_of_a_stage_that_is_being_stopped_is_sent_again(clean_redis):
    session = start_session("parallel")
    stage = current_stage(session)
    running, waiting = executions_of(stage)
    claim_execution(running.pk, "stopping")
    past = timezone.now() - timedelta(seconds=settings.REDISPATCH_SECONDS + 1)
    AgentExecution.objects.filter(pk=waiting.pk).update(dispatched_at=past)
    Stage.objects.filter(pk=stage.pk).update(cancel_requested_at=timezone.now())
    clean_redis.delete("celery")

    assert sweep() == 0

    assert sent(clean_redis) == []


# ---- Overdue -------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_claimed", [False, True], ids=["never begun", "worker hangs"])
def test_a_session_past_its_deadline_times_out_without_any_worker(is_claimed: bool):
    session = start_session("single")
    stage = current_stage(session)
    if is_claimed:
        claim_execution(executions_of(stage)[0].pk, "hanging")
    pass_deadline(session)

    assert sweep() == 1
    let_it_settle(stage)
    assert sweep() == 1

    session.refresh_from_db()
    stage.refresh_from_db()
    assert {session.status, stage.status, executions_of(stage)[0].status} == {"timed_out"}
    assert "timed out" in session.error_message


def test_an_agent_gets_a_minute_to_end_by_itself():
    session = start_session("single")
    pass_deadline(session, by=-timedelta(seconds=30))

    assert sweep() == 0


# ---- What must not stop a sweep ------------------------------------------------------------------


def test_one_that_cannot_be_mended_does_not_keep_the_others_from_it(monkeypatch, caplog):
    broken = start_session("parallel")
    fine = start_session("parallel")
    for session in (broken, fine):
        stage = current_stage(session)
        for execution in executions_of(stage):
            run(execution, finding="a part")
        let_it_settle(stage)
    # A row that any synthesis of this session collides with.
    Stage.objects.create(
        session=broken,
        stage_name="x",
        stage_index=2,
        status="completed",
        completed_at=timezone.now(),
    )
    caplog.set_level("CRITICAL", "investigations.services.recovery")

    assert sweep() == 1

    assert current_stage(fine).stage_type == "synthesis"
    assert broken.stages.get(stage_index=1).status == "active"


def test_a_session_that_is_deleted_meanwhile_is_no_error():
    execution = lost()
    other = lost()
    found = recovery._stale_executions()
    AlertSession.objects.filter(pk=execution.session_id).delete()

    assert recovery._mend_each(found, recovery._recover_stale) == 1

    other.refresh_from_db()
    assert other.status == "pending"


@committed
def test_only_one_sweeps_at_a_time_and_the_lock_is_given_back():
    lost()

    def hold_and_sweep():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [SWEEP_LOCK])
            try:
                return run_at_once(sweep)
            finally:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [SWEEP_LOCK])

    assert hold_and_sweep() == [0]
    assert run_at_once(sweep) == [1]
    assert run_at_once(sweep) == [0]


def test_a_sweep_is_in_nobodys_way():
    """Each advisory lock of the product has a number of its own."""
    assert len({SWEEP_LOCK, CLAIM_LOCK, queue_room._QUEUE_LOCK}) == 3


@committed
def test_the_lock_of_a_sweeper_that_dies_is_free_again():
    lost()

    def die_while_sweeping():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_lock(%s)", [SWEEP_LOCK])
        # `run_at_once` closes the connection, as a dead process would.

    run_at_once(die_while_sweeping)

    # PostgreSQL notices a closed connection a moment later.
    assert sum(sweep_all().values()) == 1


@committed
def test_a_sweeper_that_hangs_is_not_waited_for(clean_redis, monkeypatch):
    """As one is whose process is frozen: it holds the lock, and its connection stays open."""
    monkeypatch.setattr(recovery, "STALLED_SECONDS", 0.5)
    forgotten = executions_of(current_stage(start_session("single")))[0]
    long_ago = timezone.now() - timedelta(minutes=5)
    AgentExecution.objects.filter(pk=forgotten.pk).update(dispatched_at=long_ago)
    hangs, thaw = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        thaw.wait(30)

    monkeypatch.setattr(recovery, "find_waiting", hang)
    with ThreadPoolExecutor(1) as threads:
        frozen = threads.submit(run_at_once, sweep)
        try:
            assert hangs.wait(20)
            monkeypatch.setattr(recovery, "find_waiting", lambda: frozenset())
            execution = lost()

            wait_for(lambda: sweep() > 0, within=10, what="another process to sweep")

            execution.refresh_from_db()
            assert execution.status == "pending"
        finally:
            thaw.set()
        [ended] = frozen.result()
    assert isinstance(ended, OperationalError)


@committed
@pytest.mark.parametrize("is_claimed", [True, False])
def test_a_session_that_somebody_holds_keeps_no_other_from_being_mended(clean_redis, is_claimed):
    held, free = lost(), lost()
    if not is_claimed:
        assert sweep() == 2
        long_ago = timezone.now() - timedelta(minutes=5)
        AgentExecution.objects.update(dispatched_at=long_ago)
    clean_redis.delete("celery")
    lock = "SELECT 1 FROM {} WHERE id = %s FOR UPDATE"
    with psycopg.connect(**connection.get_connection_params()) as frozen:
        frozen.execute(lock.format("investigations_alertsession"), [held.session_id])
        frozen.execute(lock.format("investigations_agentexecution"), [held.pk])

        assert run_at_once(sweep) == [1]

    assert sent(clean_redis) == [("run_execution", str(free.pk))]
    assert sweep() == 1
    assert sent(clean_redis)[-1] == ("run_execution", str(held.pk))


@committed
def test_a_sweep_leaves_no_limits_behind_on_its_connection():
    def read_limits() -> list[str]:
        names = ("idle_session_timeout", "idle_in_transaction_session_timeout", "lock_timeout")
        with connection.cursor() as cursor:
            cursor.execute(f"SELECT {', '.join(f'current_setting({n!r})' for n in names)}")
            return list(cursor.fetchone())

    before = read_limits()

    sweep()

    assert read_limits() == before


@committed
def test_the_command_looks_until_nothing_is_lost_any_more(clean_redis, monkeypatch):
    monkeypatch.setattr(recovery, "BATCH", 1)
    for _ in range(3):
        lost()

    out = StringIO()
    call_command("recover_orphans", stdout=out)

    assert "3 executions whose worker is gone\n" in out.getvalue()
    assert "0 stages that were finished but not advanced\n" in out.getvalue()
    assert sweep() == 0


@committed
def test_the_command_says_so_when_another_process_keeps_sweeping(clean_redis, monkeypatch):
    monkeypatch.setattr(recovery, "PATIENCE_SECONDS", 0.1)
    with psycopg.connect(**connection.get_connection_params()) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [SWEEP_LOCK])

        with pytest.raises(CommandError, match="another process"):
            call_command("recover_orphans")

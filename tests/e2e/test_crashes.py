"""Crashes are normal events: whatever dies, the session ends as it should."""

import json
import re
from collections.abc import Callable

import pytest
import redis
from django.conf import settings

from investigations.models import (
    AgentExecution,
    AlertSession,
    Event,
    LLMInteraction,
    TimelineEvent,
)
from investigations.selectors.session_page.live_text import read_live_texts
from investigations.services.sessions import cancel_session
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER, TOOLS_THEN_REPORT
from tests.processes import Process, wait_for

pytestmark = pytest.mark.worker

StartWorker = Callable[[], Process]
SHOWN = "Looking"
"""How much of the held answer has streamed."""


def wait_until_shown(session: AlertSession, blocks: int = 1) -> None:
    """Until readers can see what has streamed."""

    def look() -> bool:
        texts = read_live_texts(list(session.timeline_events.filter(event_type="llm_response")))
        return [text.strip() for text in texts.values()] == [SHOWN] * blocks

    wait_for(look)


def broken_off(session: AlertSession) -> list[tuple[str, str]]:
    blocks = TimelineEvent.objects.filter(session=session, metadata__broken_off=True)
    return [(block.status, block.content.strip()) for block in blocks]


def test_a_killed_workers_session_is_finished_by_another(own_workers: StartWorker, play: Play):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    first = own_workers()
    session = submit("single")
    rehearsal.wait_until_held("first", timeout=20)
    wait_until_shown(session)

    first.kill()
    rehearsal.release("first")
    own_workers()

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")
    execution = session.executions.get(agent_name="Alpha")
    assert execution.attempt == 2
    assert broken_off(session) == [("cancelled", SHOWN)]
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
    seqs = list(Event.objects.filter(session=session).values_list("seq", flat=True))
    assert seqs == list(range(1, session.last_seq + 1))


def test_a_finished_model_call_is_not_paid_for_twice(own_workers: StartWorker, play: Play):
    script = TOOLS_THEN_REPORT.replace(
        "turn: 1+}\n    reply:", "turn: 1+}\n    reply:\n      hold: second"
    )
    rehearsal = play(script)
    first = own_workers()
    session = submit("single")
    rehearsal.wait_until_held("second", timeout=20)

    first.kill()
    rehearsal.release("second")
    own_workers()

    session = wait_until_ended(session)
    assert session.status == "completed"
    first_turns = [r for r in rehearsal.requests if r.agent == "Alpha" and r.turn == 0]
    assert len(first_turns) == 1
    iterations = LLMInteraction.objects.filter(session=session, execution__agent_name="Alpha")
    assert iterations.count() == 2


def test_a_flushed_redis_loses_nothing(worker: Process, play: Play):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    session = submit("parallel")
    rehearsal.wait_until_held("first", replies=2, timeout=20)

    with redis.Redis.from_url(settings.REDIS_URL) as client:
        client.flushdb()
    rehearsal.release("first")

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")


def test_a_worker_that_is_told_to_stop_hands_its_work_on(own_workers: StartWorker, play: Play):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    first = own_workers()
    session = submit("single")
    rehearsal.wait_until_held("first", timeout=20)
    wait_until_shown(session)

    exit_code = first.stop(within=5)

    assert exit_code == 0, first.output[-3000:]
    execution = session.executions.get(agent_name="Alpha")
    left = (execution.status, execution.attempt, execution.lease_token)
    assert left == ("pending", 0, None), first.output[-6000:]
    assert broken_off(session) == [("cancelled", SHOWN)]
    rehearsal.release("first")
    own_workers()
    assert wait_until_ended(session).status == "completed"


def test_a_running_session_is_cancelled_with_all_that_is_below_it(worker: Process, play: Play):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    session = submit("parallel")
    rehearsal.wait_until_held("first", replies=2, timeout=20)
    wait_until_shown(session, blocks=2)

    cancel_session(session.pk, "ana")

    session = wait_until_ended(session, within=10)
    assert session.status == "cancelled"
    assert set(session.executions.values_list("status", flat=True)) == {"cancelled"}
    assert set(session.stages.values_list("status", flat=True)) == {"cancelled"}
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
    assert broken_off(session) == [("cancelled", SHOWN)] * 2
    rehearsal.release("first")


def test_a_waiting_session_is_cancelled_at_once(own_workers: StartWorker):
    session = submit("single")

    cancel_session(session.pk, "ana")

    session.refresh_from_db()
    assert session.status == "cancelled"
    assert not AgentExecution.objects.filter(session=session).exists()


def test_no_more_sessions_run_than_the_global_limit_and_none_sees_anything_of_another(
    own_workers: StartWorker, play: Play
):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    sessions = [submit("single", f"host-{number} is slow") for number in range(5)]
    own_workers()
    own_workers()
    rehearsal.wait_until_held("first", replies=3, timeout=20)

    statuses = wait_for(lambda: [_status(session) for session in sessions])

    assert statuses.count("in_progress") == 3
    assert statuses.count("pending") == 2
    rehearsal.release("first")
    assert {wait_until_ended(session).status for session in sessions} == {"completed"}
    assert {session.stages.count() for session in sessions} == {2}
    assert len({session.timeline_events.count() for session in sessions}) == 1
    assert len(rehearsal.requests) == 3 * len(sessions)
    told = [set(re.findall(r"host-\d", json.dumps(r.body))) for r in rehearsal.requests]
    assert all(len(hosts) <= 1 for hosts in told)
    assert set().union(*told) == {f"host-{number}" for number in range(5)}


def _status(session):
    session.refresh_from_db()
    return session.status

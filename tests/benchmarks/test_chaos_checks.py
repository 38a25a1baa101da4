"""The checks after a run of faults see what they are there to see."""

import random
import time
import uuid
from datetime import timedelta

import pytest
from django.utils import timezone

from benchmarks.chaos import checks
from benchmarks.chaos.faults import Fault
from benchmarks.chaos.judging import check_recoveries, check_starts
from benchmarks.chaos.model import ModelRequest
from benchmarks.chaos.presence import STARTED_WITHIN, Presence, Start
from benchmarks.chaos.recovery import measure_recoveries
from benchmarks.chaos.storms import SOURCE, Storm, check_storm
from tests.factories import (
    EpisodeFactory,
    EventFactory,
    ExecutionFactory,
    IncidentFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    SessionFactory,
    TimelineEventFactory,
)

pytestmark = pytest.mark.django_db


def test_an_accepted_alert_without_an_end_is_stuck_and_one_without_a_row_is_lost() -> None:
    done, running = SessionFactory(completed=True), SessionFactory(running=True)
    lost = str(uuid.uuid4())

    check = checks.check_accepted([str(done.pk), str(running.pk), lost])

    assert check.broken == [
        f"session {lost} was answered 202 and is lost",
        f"session {running.pk} is still in_progress",
    ]


def test_a_missing_event_is_a_gap() -> None:
    session = SessionFactory(running=True)
    EventFactory(session=session, seq=1)
    EventFactory(session=session, seq=2)
    assert not checks.check_seq().broken

    EventFactory(session=session, seq=4)

    [line] = checks.check_seq().broken
    assert "[1, 2, 4]" in line


def test_an_end_that_is_told_twice_or_not_at_all_is_seen() -> None:
    session = SessionFactory(completed=True)
    assert len(checks.check_told_once().broken) == 1
    EventFactory(session=session)
    assert not checks.check_told_once().broken

    EventFactory(session=session)

    assert len(checks.check_told_once().broken) == 1


def test_what_is_left_open_is_named() -> None:
    execution = ExecutionFactory(active=True)
    TimelineEventFactory(execution=execution, streaming=True)

    broken = checks.check_nothing_open().broken

    assert len(broken) == 3, "the stage, the execution with its lease, the block"
    assert any(f"execution {execution.pk}" in line and "worker-1" in line for line in broken)


def test_two_good_answers_to_one_conversation_are_a_repeated_call_and_a_failed_try_is_none() -> (
    None
):
    execution = ExecutionFactory(active=True)
    LLMInteractionFactory(execution=execution, error_message="503")
    LLMInteractionFactory(execution=execution)
    assert not checks.check_calls_recorded_once().broken

    LLMInteractionFactory(execution=execution, iteration=2)

    [line] = checks.check_calls_recorded_once().broken
    assert "messages_count 2" in line


def test_a_result_may_be_summarized_once_within_an_iteration() -> None:
    execution = ExecutionFactory(active=True)
    LLMInteractionFactory(execution=execution)
    summary = {"interaction_type": "summarization", "iteration": 1}
    request = {"messages_count": 2, "tool_number": 1}
    LLMInteractionFactory(execution=execution, **summary, llm_request=request)
    LLMInteractionFactory(execution=execution, **summary, llm_request=request | {"tool_number": 2})
    assert not checks.check_calls_recorded_once().broken

    LLMInteractionFactory(execution=execution, **summary, llm_request=request)

    [line] = checks.check_calls_recorded_once().broken
    assert "2 good model calls with llm_request__tool_number 1" in line


def test_a_request_after_its_answer_was_recorded_is_asked_again() -> None:
    session = SessionFactory(running=True, alert_data="chaos-0007: the load is high")
    execution = ExecutionFactory(active=True, stage__session=session, agent_name="Solo")
    answered = timezone.now() - timedelta(seconds=30)
    LLMInteractionFactory(execution=execution, created_at=answered)
    before = ModelRequest("chaos-0007", "Solo", 0, answered.timestamp() - 2)
    next_turn = ModelRequest("chaos-0007", "Solo", 1, answered.timestamp() + 1)
    assert not checks.check_calls_not_asked_again([before, next_turn]).broken

    again = ModelRequest("chaos-0007", "Solo", 0, answered.timestamp() + 3)

    [line] = checks.check_calls_not_asked_again([before, next_turn, again]).broken
    assert "turn 0 3.00 s after" in line


def test_two_results_of_one_tool_call_are_seen() -> None:
    execution = ExecutionFactory(active=True)
    MCPInteractionFactory.create_batch(2, execution=execution)

    assert len(checks.check_tools_recorded_once().broken) == 1


def test_recovery_lasts_from_the_last_loss_of_a_worker_to_the_next_step() -> None:
    execution = ExecutionFactory(active=True)
    now = time.time()
    step = timezone.now() - timedelta(seconds=10)
    LLMInteractionFactory(execution=execution, created_at=step)
    hit = frozenset({execution.pk})
    faults = [
        Fault("kill", now - 30, hit, is_of_worker=True),
        Fault("flush", now - 25, hit),
        Fault("kill", now - 22, hit, is_of_worker=True),
        Fault("flush", now - 5, hit),
    ]

    kill, flush = measure_recoveries(faults, ["kill", "flush"], Presence())

    assert (kill.times, kill.affected, kill.overtaken) == (2, 2, 1)
    assert kill.longest == pytest.approx(12, abs=1)
    [unit] = flush.never
    assert unit.startswith(str(execution.pk)), "nothing followed the last one"


@pytest.mark.parametrize(("without", "is_kept"), [(0, False), (20, True), (12, False)])
def test_a_recovery_is_judged_by_the_time_in_which_there_was_a_worker(without, is_kept) -> None:
    execution = ExecutionFactory(active=True)
    step = timezone.now()
    LLMInteractionFactory(execution=execution, created_at=step)
    hit_at = step.timestamp() - 60
    presence = Presence()
    for second in range(without + 1):
        presence.note(is_there=False, at=hit_at + 5 + second)
    presence.note(is_there=True, at=hit_at + 5.5 + without)
    faults = [Fault("kill", hit_at, frozenset({execution.pk}), is_of_worker=True)]

    (kill,) = measure_recoveries(faults, ["kill"], presence)

    assert kill.longest == pytest.approx(60, abs=0.1)
    assert (not check_recoveries([kill]).broken) is is_kept


def test_a_worker_counts_as_away_only_between_two_looks_that_found_none() -> None:
    presence = Presence()
    for at, is_there in ((0, True), (1, False), (11, True), (12, False), (13, False), (15, False)):
        presence.note(is_there=is_there, at=at)

    assert presence.absences == [(12, 15)]
    assert presence.seconds_without(0, 14) == 2
    assert presence.seconds_without(16, 20) == 0


def test_a_start_is_late_by_what_it_does_and_not_by_what_it_is_kept_from() -> None:
    starved = Start(1, STARTED_WITHIN + 20, starved=25)
    slow = Start(2, STARTED_WITHIN + 20, starved=10)

    [line] = check_starts([starved, slow]).broken

    assert line.startswith("worker 2 took 50.0 s, 10.0 of them")


def test_a_storm_that_lost_an_alert_or_is_many_incidents_is_seen() -> None:
    storm = Storm("", random.Random(1))
    storm.told = {f"host-{number:03}": True for number in range(12)}
    raging = IncidentFactory(source=SOURCE, kind="storm", member_count=12)
    for name in storm.told:
        EpisodeFactory(incident=raging, labels={"service": name})
    assert not check_storm(storm).broken

    storm.told["host-012"] = True
    storm.told["host-000"] = False
    IncidentFactory.create_batch(11, source=SOURCE)
    SessionFactory.create_batch(2, completed=True, source=SOURCE, incident=raging)

    broken = check_storm(storm).broken
    for told in (
        "13 alerts were told, and 12 are kept", "host-000 is over, and is kept otherwise",
        "12 incidents are left", "the incidents count 23 members", "was investigated 2 times",
    ):  # fmt: skip
        assert any(told in line for line in broken), told

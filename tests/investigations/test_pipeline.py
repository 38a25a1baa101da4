"""An execution on the worker's loop: whatever stops it, its row says the truth."""

import asyncio
import json
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.db import OperationalError, connection, transaction
from django.utils import timezone

from agents.answers import Question, ask
from agents.llm_events import TextDelta
from agents.ports import LLMOptions
from agents.types import AgentOutcome, Message
from config.model import Config
from investigations.engine import pipeline
from investigations.engine.gate_trail import ExecutionTrail
from investigations.engine.journal import ExecutionJournal
from investigations.engine.open_blocks import OpenBlocks
from investigations.engine.worker import renew_and_listen, stop_cancelled
from investigations.maskers import product_masker
from investigations.models import AgentExecution, AlertSession, Event, Stage, TimelineEvent
from investigations.selectors.session_page.live_text import read_live_texts
from investigations.services.executions import Claim
from investigations.services.recovery import sweep
from investigations.services.sessions import cancel_session
from tarsy.aio import WorkerLoop
from tests.agents.doubles import HANG, ScriptedLLM
from tests.investigations.engine import (
    committed,
    current_stage,
    executions_of,
    grow_old,
    start_session,
)
from tests.processes import wait_for

pytestmark = committed
BOUND = 20
ME = "worker-1"


class Agent:
    """Stands where an agent would run, and does what the test says."""

    def __init__(self) -> None:
        self.began = threading.Semaphore(0)
        self.behave: Callable[[], AgentOutcome] | None = None
        self.write = False

    async def run(self, *given: Any) -> AgentOutcome:
        if self.write:
            *written, _ends_at = given
            return await write_until_stopped(*written, self.began)
        self.began.release()
        if self.behave is None:
            await asyncio.Event().wait()
            raise AssertionError("nothing ends this but a stop")
        return self.behave()


@pytest.fixture
def agent(monkeypatch: pytest.MonkeyPatch) -> Agent:
    agent = Agent()
    monkeypatch.setattr(pipeline, "_run", agent.run)
    monkeypatch.setattr("investigations.engine.worker.worker_id", lambda: ME)
    return agent


@pytest.fixture
def loop(loop: WorkerLoop, monkeypatch: pytest.MonkeyPatch) -> WorkerLoop:
    monkeypatch.setattr("investigations.engine.worker.worker_loop", lambda: loop)
    return loop


@pytest.fixture
def execution(chains: Config, clean_redis: redis.Redis) -> AgentExecution:
    return executions_of(current_stage(start_session("single")))[0]


def deliver(execution: AgentExecution, loop: WorkerLoop) -> Future[None]:
    return ThreadPoolExecutor(1).submit(pipeline.run_execution, execution.pk, ME, loop)


def begin(execution: AgentExecution, loop: WorkerLoop, agent: Agent) -> Future[None]:
    future = deliver(execution, loop)
    assert agent.began.acquire(timeout=BOUND)
    return future


def _refuse() -> redis.Redis:
    raise redis.ConnectionError("Redis is away")


def row(execution: AgentExecution) -> AgentExecution:
    return AgentExecution.objects.get(pk=execution.pk)


def test_an_outcome_is_written(execution, loop, agent):
    agent.behave = lambda: AgentOutcome("completed")

    deliver(execution, loop).result(BOUND)

    assert row(execution).status == "completed"
    assert loop.running_keys() == []


def test_a_second_delivery_to_the_same_process_leaves_the_first_in_reach(execution, loop, agent):
    first = begin(execution, loop, agent)

    deliver(execution, loop).result(BOUND)

    (lease,) = loop.running_keys()
    loop.stop(lease, "cancelled")
    first.result(BOUND)
    assert row(execution).status == "cancelled"


def test_what_is_interrupted_goes_back_and_counts_no_attempt(execution, loop, agent):
    running = begin(execution, loop, agent)

    loop.stop_all("interrupted")
    running.result(BOUND)

    assert (row(execution).status, row(execution).attempt) == ("pending", 0)


def test_what_is_claimed_while_the_worker_stops_goes_back_too(execution, loop, agent):
    loop.stop_all("interrupted")

    deliver(execution, loop).result(BOUND)

    left = row(execution)
    assert (left.status, left.attempt, left.lease_token) == ("pending", 0, None)


def test_a_stop_that_comes_while_the_end_is_written_changes_nothing(execution, loop, agent):
    may_end = threading.Event()
    agent.behave = lambda: may_end.wait(BOUND) and AgentOutcome("completed")
    running = begin(execution, loop, agent)

    with transaction.atomic():
        AlertSession.objects.select_for_update().get(pk=execution.session_id)
        may_end.set()
        wait_for(_somebody_waits_for_a_lock, what="the end being written")
        loop.stop_all("interrupted")
        loop.run("probe", _swallow)

    running.result(BOUND)
    assert row(execution).status == "completed"


async def _swallow() -> None:
    with suppress(asyncio.CancelledError):
        await asyncio.sleep(0)


def _somebody_waits_for_a_lock() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks"
            " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return cursor.fetchone() is not None


def test_a_cancel_reaches_a_running_agent_at_once(execution, loop, agent):
    running = begin(execution, loop, agent)

    cancel_session(execution.session_id, "ana")
    stop_cancelled()
    running.result(BOUND)

    assert row(execution).status == "cancelled"
    assert AlertSession.objects.get(pk=execution.session_id).status == "cancelled"


def test_a_heartbeat_covers_a_cancel_that_nobody_heard(execution, loop, agent):
    running = begin(execution, loop, agent)
    cancel_session(execution.session_id, "ana")

    renew_and_listen(loop)
    running.result(BOUND)

    assert row(execution).status == "cancelled"


def test_an_agent_whose_lease_is_gone_stops_and_writes_nothing(execution, loop, agent):
    running = begin(execution, loop, agent)
    grow_old(execution)
    assert sweep() == 1

    renew_and_listen(loop)
    assert not running.done()  # One missed beat may be a coincidence.
    renew_and_listen(loop)
    running.result(BOUND)

    assert (row(execution).status, row(execution).worker_id) == ("pending", "")


def test_the_deadline_of_the_session_ends_its_agents(execution, loop, agent):
    past = timezone.now() - timedelta(seconds=1)
    Stage.objects.filter(pk=execution.stage_id).update(deadline_at=past)

    deliver(execution, loop).result(BOUND)

    assert row(execution).status == "timed_out"
    assert "time limit" in row(execution).error_message


async def write_until_stopped(
    claim: Claim, loop: WorkerLoop, trail: ExecutionTrail, blocks: OpenBlocks, began: object
) -> AgentOutcome:
    """An agent whose model says half a sentence, with the beginning of a password, and hangs."""
    journal = ExecutionJournal(claim.execution, loop, product_masker(), trail, blocks)
    said = ("The disk is full. ", "It says ", "password=hun")
    llm = ScriptedLLM([[*map(TextDelta, said), HANG]])
    deadline = asyncio.get_running_loop().time() + BOUND
    question = Question((Message("user", "?"),), (), LLMOptions(), deadline, BOUND)
    watch = asyncio.ensure_future(llm.hanging.wait())
    watch.add_done_callback(lambda _: began.release())
    await ask(llm, question, journal)
    raise AssertionError("nothing ends this but a stop")


def stop_by_cancel(execution: AgentExecution, loop: WorkerLoop) -> None:
    cancel_session(execution.session_id, "ana")
    stop_cancelled()


def stop_by_signal(execution: AgentExecution, loop: WorkerLoop) -> None:
    loop.stop_all("interrupted")


@pytest.mark.parametrize("is_redis_away", [False, True])
@pytest.mark.parametrize("stop", [stop_by_cancel, stop_by_signal])
def test_a_stream_that_is_stopped_keeps_what_was_shown_of_it(
    execution, loop, agent, stop, is_redis_away, monkeypatch
):
    agent.write = True
    running = begin(execution, loop, agent)
    if is_redis_away:
        monkeypatch.setattr("investigations.doorbell._client", _refuse)

    stop(execution, loop)
    running.result(BOUND)

    block = TimelineEvent.objects.get(execution=execution, event_type="llm_response")
    assert (block.status, block.content) == ("cancelled", "The disk is full. It says ")
    assert "The disk is full." in block.content_html
    assert "hun" not in json.dumps(
        list(Event.objects.filter(session_id=execution.session_id).values_list("payload"))
    )


def test_a_stream_of_a_worker_that_lost_its_lease_is_kept_by_who_took_it(execution, loop, agent):
    agent.write = True
    running = begin(execution, loop, agent)
    wait_for(lambda: read_live_texts(list(execution.timeline_events.all())))
    grow_old(execution)
    assert sweep() == 1
    taken = list(execution.timeline_events.values("status", "content"))

    renew_and_listen(loop)
    renew_and_listen(loop)
    running.result(BOUND)

    assert [each["status"] for each in taken] == ["cancelled"]
    assert taken[0]["content"].startswith("The disk is full.")
    assert list(execution.timeline_events.values("status", "content")) == taken


def test_an_error_of_ours_is_a_failure_with_a_hint(execution, loop, agent, caplog):
    def fail() -> AgentOutcome:
        raise LookupError("a bug")

    agent.behave = fail
    caplog.set_level("CRITICAL", "investigations.engine.pipeline")

    deliver(execution, loop).result(BOUND)

    assert row(execution).status == "failed"
    assert "LookupError" in row(execution).error_message


def test_a_cancellation_nobody_asked_for_is_a_failure_and_no_endless_retry(execution, loop, agent):
    def fail() -> AgentOutcome:
        raise asyncio.CancelledError

    agent.behave = fail

    deliver(execution, loop).result(BOUND)

    assert row(execution).status == "failed"


def test_when_the_database_goes_away_another_worker_goes_on(execution, loop, agent):
    def fail() -> AgentOutcome:
        raise OperationalError("server closed the connection unexpectedly")

    agent.behave = fail

    deliver(execution, loop).result(BOUND)

    assert row(execution).status == "active"
    grow_old(execution)
    before = row(execution).heartbeat_at
    renew_and_listen(loop)
    assert row(execution).heartbeat_at == before  # Nothing runs here any more.
    assert sweep() == 1
    assert (row(execution).status, row(execution).attempt) == ("pending", 1)


def test_an_execution_that_is_gone_is_no_error(execution, loop, agent):
    AlertSession.objects.filter(pk=execution.session_id).delete()

    deliver(execution, loop).result(BOUND)

    assert loop.running_keys() == []

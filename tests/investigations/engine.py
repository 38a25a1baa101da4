"""What the tests of the engine share: threads that begin at once, and a look at what was sent."""

import base64
import json
import threading
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connections
from django.utils import timezone

from agents.types import AgentOutcome, Note
from investigations.models import AgentExecution, AlertSession, Event, Stage
from investigations.services.executions import claim_execution, finish_execution
from investigations.services.recording import record_note
from investigations.services.sessions import claim_next_session
from tests.factories import SessionFactory

BARRIER_SECONDS = 20

committed = pytest.mark.django_db(transaction=True, available_apps=["investigations"])
"""For tests that need commits: other threads look, or something is sent after them."""


def run_at_once(*works: Callable[[], Any]) -> list[Any]:
    """Call each in a thread of its own, all from the same moment; results or errors, in order."""
    gate = threading.Barrier(len(works))

    def begin(work: Callable[[], Any]) -> Any:
        try:
            gate.wait(BARRIER_SECONDS)
            return work()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(works)) as threads:
        return list(threads.map(begin, works))


def sent(client: redis.Redis) -> list[tuple[str, str]]:
    """What waits for workers: task names, without their prefix, and the id each is about."""
    messages = [json.loads(raw) for raw in client.lrange("celery", 0, -1)]
    found = []
    for message in reversed(messages):
        args = json.loads(base64.b64decode(message["body"]))[0]
        found.append((message["headers"]["task"].removeprefix("investigations."), args[0]))
    return found


def start_session(chain: str, **fields: Any) -> AlertSession:
    """A session of a chain, claimed, with its first stage's executions pending."""
    session = SessionFactory(alert_type=chain, chain_id=chain, **fields)
    assert claim_next_session() == session.pk
    session.refresh_from_db()
    return session


def current_stage(session: AlertSession) -> Stage:
    return session.stages.order_by("-stage_index")[0]


def executions_of(stage: Stage) -> list[AgentExecution]:
    return list(stage.executions.order_by("agent_index"))


def run(execution: AgentExecution, status: str = "completed", *, finding: str = "") -> None:
    """What a worker does with an execution, without the agent."""
    claim = claim_execution(execution.pk, "worker-1")
    assert claim is not None
    if finding:
        record_note(claim.execution, Note("final_analysis", finding), str)
    error = "" if status == "completed" else f"{execution.agent_name} {status}"
    finish_execution(claim, AgentOutcome(status, error=error))


def seqs(session_id: uuid.UUID) -> list[int]:
    return list(
        Event.objects.filter(session_id=session_id).order_by("id").values_list("seq", flat=True)
    )


def grow_old(execution: AgentExecution, *, by: float = 1) -> None:
    """Let a lease be stale, as if nobody had renewed it."""
    past = timezone.now() - timedelta(seconds=settings.LEASE_STALE_SECONDS + by)
    AgentExecution.objects.filter(pk=execution.pk).update(heartbeat_at=past)


def statuses(rows: Sequence[Any]) -> list[str]:
    return [row.status for row in rows]

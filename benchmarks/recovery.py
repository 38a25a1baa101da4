"""How long a cancel takes, and what a killed worker or a flushed Redis costs."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import redis

from benchmarks import scripts
from benchmarks.figures import Report
from benchmarks.lab import Lab
from tests.processes import Process, wait_for


def measure(lab: Lab) -> Report:
    stopped, cancelled = _measure_cancel(lab)
    flushed = _measure_loss(lab, _flush)
    figures: dict[str, float | int | None] = {
        "cancel_to_model_call_closed_s": stopped,
        "cancel_to_session_cancelled_s": cancelled,
        "redis_flush_to_completed_s": flushed,
    }
    if not lab.is_quick:
        figures["worker_sigkill_to_completed_s"] = _measure_loss(lab, _kill)
    rows = [
        [name.removesuffix("_s").replace("_", " "), str(value)] for name, value in figures.items()
    ]
    notes = ("One trial each, default settings (a lease is stale after 25 s), 2 worker processes.",)
    return Report(("what", "seconds"), rows, figures, notes)


def _measure_cancel(lab: Lab) -> tuple[float, float]:
    from investigations.services.sessions import cancel_session

    with lab.product(scripts.hold_first_answer()):
        session = _start_session(lab)
        began = time.time()
        cancel_session(session.pk, "bench")
        _wait_for_status(session, "cancelled")
        session.refresh_from_db()
        wait_for(lambda: not lab.model_log().open, within=10, what="the end of the model call")
        cancelled = session.completed_at.timestamp() - began
        return round(max(lab.model_log().endings) - began, 3), round(cancelled, 3)


def _measure_loss(lab: Lab, lose: Callable[[Any, list[Process]], None]) -> float:
    """Seconds from the loss to the session's completion."""
    with lab.product(scripts.hold_first_answer()) as first, lab.worker() as second:
        session = _start_session(lab)
        began = time.time()
        lose(session, [first, second])
        lab.release("gate")
        _wait_for_status(session, "completed")
        session.refresh_from_db()
        ended: float = session.completed_at.timestamp()
        return round(ended - began, 2)


def _flush(_session: Any, _workers: list[Process]) -> None:
    with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
        client.flushall()


def _kill(session: Any, workers: list[Process]) -> None:
    """SIGKILL to the process that runs the session's agent."""
    [execution] = session.executions.filter(status="active")
    for worker in workers:
        if f"-{worker.child.pid}-" in execution.worker_id:
            os.kill(worker.child.pid, signal.SIGKILL)
            return
    raise AssertionError(f"{execution.worker_id} is none of our workers")


def _start_session(lab: Lab) -> Any:
    """A session whose agent is in the middle of an answer."""
    from investigations.models import TimelineEvent

    session = lab.submit("direct")
    streaming = TimelineEvent.objects.filter(session=session, status="streaming")
    wait_for(streaming.exists, within=30, what="a streaming answer")
    return session


def _wait_for_status(session: Any, status: str) -> None:
    def look() -> bool:
        session.refresh_from_db()
        return bool(session.status == status)

    wait_for(look, within=100, what=f"the status {status}", every=0.02)

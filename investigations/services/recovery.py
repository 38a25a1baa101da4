"""Finding what was lost and sending it again.

The canvas is only the fast path. Whatever Redis forgot or a worker took to its grave is found here
from the database alone: stages whose executions have all ended, work that was sent long ago and
never begun, executions whose worker no longer renews its lease, requests nobody decided about.
"""

import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, connection
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now
from psycopg.errors import LockNotAvailable

from investigations.models import AgentExecution, AlertSession, ApprovalRequest, Stage
from investigations.queue import enqueue_execution, find_waiting
from investigations.services.approvals import expire_approval
from investigations.services.broken_off import keep_streamed
from investigations.services.endings import (
    cancel_waiting_executions,
    end_execution,
    is_told_to_stop,
    open_stages,
    settle_cancelled,
)
from investigations.services.executions import return_to_queue
from investigations.services.ledger import session_write
from investigations.services.stages import advance_stage
from tarsy.errors import NotFound, TarsyError

logger = logging.getLogger(__name__)

SWEEP_LOCK = 0x7A_52_03
"""Advisory lock that lets one worker sweep at a time."""

BATCH = 100
"""What one sweep takes on of each kind; the next one comes in seconds."""

OVERDUE_GRACE = timedelta(seconds=60)
"""An agent ends itself at its session's deadline; this much later nobody does any more."""


MOST_ROUNDS = 1000
"""How often `sweep_all` looks; a row that is found for ever must not keep it for ever."""

STALLED_SECONDS = 10.0
"""What a sweeper may take between two questions to the database. One that hangs, say because its
process is frozen, is thrown out by PostgreSQL then, and with it its lock: another one waits."""

HELD_SECONDS = 1.0
"""How long a sweep waits for a row that somebody else writes. A writer takes milliseconds; one that
was frozen in the middle must not keep us from all that others have lost."""

PATIENCE_SECONDS = 30.0
"""How long `sweep_all` waits for another sweeper."""


class SweepBusy(TarsyError):
    """The caller: another process is sweeping, and goes on for longer than we wait."""


def sweep() -> int:
    """Look once for lost work and send it again. Returns how much was found.

    Returns 0 at once when another worker is sweeping.
    """
    found = _sweep_alone()
    return sum(found.values()) if found else 0


def sweep_all() -> dict[str, int]:
    """Look for lost work until there is no more. Returns how much was found of each kind.

    Raises SweepBusy.
    """
    total: Counter[str] = Counter()
    for _ in range(MOST_ROUNDS):
        found = _sweep_patiently()
        total.update(found)
        if not any(found.values()):
            break
    return dict(total)


def _sweep_patiently() -> dict[str, int]:
    until = time.monotonic() + PATIENCE_SECONDS
    while (found := _sweep_alone()) is None:
        if time.monotonic() > until:
            raise SweepBusy("another process has been looking for lost work for a while; try again")
        time.sleep(0.2)
    return found


def _sweep_alone() -> dict[str, int] | None:
    """None when another process is sweeping."""
    with _limits(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [SWEEP_LOCK])
        if not cursor.fetchone()[0]:
            return None
        try:
            return _sweep()
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [SWEEP_LOCK])


@contextmanager
def _limits() -> Iterator[None]:
    """Let the database end what takes too long on this connection, whatever becomes of us."""
    limits = {
        "idle_session_timeout": STALLED_SECONDS,
        "idle_in_transaction_session_timeout": STALLED_SECONDS,
        "lock_timeout": HELD_SECONDS,
    }
    sets = [f"SET {name} = '{round(each * 1000)}ms'" for name, each in limits.items()]
    with connection.cursor() as cursor:
        cursor.execute("; ".join(sets))
        try:
            yield
        finally:
            cursor.execute("; ".join(f"RESET {name}" for name in limits))


def _sweep() -> dict[str, int]:
    return {
        "executions whose worker is gone": _mend_each(_stale_executions(), _recover_stale),
        "executions past their deadline": _mend_each(_overdue_executions(), _end_overdue),
        "approvals nobody gave in time": _mend_each(_overdue_approvals(), expire_approval),
        "sessions that were to be stopped": _mend_each(_cancelling_sessions(), _settle),
        "stages that were finished but not advanced": _mend_each(_finished_stages(), _advance),
        "executions that were never begun": _send_forgotten(),
    }


def _mend_each(found: Iterable[uuid.UUID], mend: Callable[[uuid.UUID], int]) -> int:
    """One that cannot be mended must not keep the others from it."""
    mended = 0
    for identity in found:
        try:
            mended += mend(identity)
        except (OperationalError, InterfaceError) as error:
            if not isinstance(error.__cause__, LockNotAvailable):
                raise
            logger.warning("%s %s waits: somebody holds its session", mend.__name__, identity)
        except NotFound:
            continue  # Deleted in the meantime.
        except Exception:
            logger.exception("%s %s failed, going on with the rest", mend.__name__, identity)
    return mended


def _stale_executions() -> list[uuid.UUID]:
    oldest = Now() - timedelta(seconds=settings.LEASE_STALE_SECONDS)
    stale = AgentExecution.objects.filter(
        status=AgentExecution.Status.ACTIVE, heartbeat_at__lt=oldest
    )
    return list(stale.values_list("id", flat=True)[:BATCH])


def _recover_stale(execution_id: uuid.UUID) -> int:
    """Another worker goes on with it, unless too many have died over it."""
    texts = keep_streamed(execution_id)
    with session_write(_session_of(execution_id)) as write:
        oldest = Now() - timedelta(seconds=settings.LEASE_STALE_SECONDS)
        execution = (
            AgentExecution.objects.filter(
                pk=execution_id, status=AgentExecution.Status.ACTIVE, heartbeat_at__lt=oldest
            )
            .select_related("stage")
            .first()
        )
        if execution is None:
            return 0
        logger.warning("Worker %s is gone; recovering %s", execution.worker_id, execution_id)
        if execution.stage.is_cancelling:
            end_execution(write, execution, AgentExecution.Status.CANCELLED, texts=texts)
            settle_cancelled(write)
        elif execution.attempt >= AgentExecution.MAX_ATTEMPTS:
            reason = (
                f"{execution.attempt} workers stopped while they ran this agent; it is not tried "
                "again. Their logs say why: look for memory limits first."
            )
            status = AgentExecution.Status.FAILED
            end_execution(write, execution, status, error=reason, texts=texts)
        else:
            return_to_queue(write, execution, attempt=execution.attempt, texts=texts)
    return 1


def _session_of(execution_id: uuid.UUID) -> uuid.UUID:
    session_id = (
        AgentExecution.objects.filter(pk=execution_id).values_list("session_id", flat=True).first()
    )
    if session_id is None:
        raise NotFound(f"there is no execution {execution_id}")
    return session_id


def _overdue_executions() -> list[uuid.UUID]:
    """Open executions nobody ended in time: no worker took them, or theirs hangs."""
    overdue = AgentExecution.objects.filter(
        status__in=AgentExecution.OPEN,
        stage__deadline_at__lt=Now() - OVERDUE_GRACE,
    )
    return list(overdue.values_list("id", flat=True)[:BATCH])


def _end_overdue(execution_id: uuid.UUID) -> int:
    texts = keep_streamed(execution_id)
    with session_write(_session_of(execution_id)) as write:
        execution = AgentExecution.objects.filter(
            pk=execution_id, status__in=AgentExecution.OPEN
        ).first()
        if execution is None:
            return 0
        logger.warning("Execution %s is past its session's deadline; ending it", execution_id)
        reason = "The session timed out: its time limit was reached before a worker ended this."
        status = AgentExecution.Status.TIMED_OUT
        end_execution(write, execution, status, error=reason, texts=texts)
    return 1


def _overdue_approvals() -> list[uuid.UUID]:
    """Whoever waits for a decision ends them too; these wait for a worker that is gone."""
    overdue = ApprovalRequest.objects.filter(
        status=ApprovalRequest.Status.PENDING, expires_at__lt=Now()
    )
    return list(overdue.order_by("expires_at").values_list("id", flat=True)[:BATCH])


def _cancelling_sessions() -> list[uuid.UUID]:
    """Sessions with a stage, or nothing at all, left to close after somebody asked for a stop."""
    running = AgentExecution.objects.filter(
        stage_id=OuterRef("pk"), status=AgentExecution.Status.ACTIVE
    )
    stopped = Stage.objects.exclude(status__in=Stage.TERMINAL).filter(
        ~Exists(running), is_told_to_stop()
    )
    still_open = Stage.objects.filter(session_id=OuterRef("pk")).exclude(status__in=Stage.TERMINAL)
    emptied = AlertSession.objects.filter(status=AlertSession.Status.CANCELLING).exclude(
        Exists(still_open)
    )
    return list(
        stopped.order_by()
        .values_list("session_id", flat=True)
        .union(emptied.order_by().values_list("id", flat=True))[:BATCH]
    )


def _settle(session_id: uuid.UUID) -> int:
    with session_write(session_id) as write:
        for stage in open_stages(write.session).filter(is_told_to_stop()):
            cancel_waiting_executions(write, stage)
        settle_cancelled(write)
    return 1


def _finished_stages() -> list[uuid.UUID]:
    """Open stages all of whose executions ended: the call that should advance them was lost."""
    running = AgentExecution.objects.filter(stage_id=OuterRef("pk"), status__in=AgentExecution.OPEN)
    # Younger ones are about to be advanced by their chord.
    settled = Now() - timedelta(seconds=2)
    recent = AgentExecution.objects.filter(stage_id=OuterRef("pk"), completed_at__gt=settled)
    stages = (
        Stage.objects.exclude(status__in=Stage.TERMINAL)
        .exclude(Exists(running))
        .exclude(Exists(recent))
    )
    return list(stages.values_list("id", flat=True)[:BATCH])


def _advance(stage_id: uuid.UUID) -> int:
    logger.warning("Stage %s was finished but not advanced; advancing it", stage_id)
    advance_stage(stage_id)
    return 1


def _send_forgotten() -> int:
    """Send pending executions again that were sent long ago, unless they merely wait in line."""
    oldest = Now() - timedelta(seconds=settings.REDISPATCH_SECONDS)
    forgotten = AgentExecution.objects.filter(
        status=AgentExecution.Status.PENDING,
        dispatched_at__lt=oldest,
        stage__cancel_requested_at__isnull=True,
    )
    # The oldest first: what is still in line behind them must not hide them.
    found = list(forgotten.order_by("dispatched_at").values_list("id", "stage_id")[:BATCH])
    waiting = find_waiting() if found else None
    if waiting is None:
        return 0
    stages = {execution: stage for execution, stage in found if str(execution) not in waiting}

    def send_again(execution_id: uuid.UUID) -> int:
        logger.warning("Execution %s was never begun; sending it again", execution_id)
        AgentExecution.objects.filter(pk=execution_id).update(dispatched_at=Now())
        enqueue_execution(stages[execution_id], execution_id)
        return 1

    return _mend_each(stages, send_again)

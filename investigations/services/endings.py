"""How stages and sessions end: each gets its terminal status once, and it is told."""

import logging
from functools import partial

from django.db import transaction
from django.db.models.functions import Now
from django.utils import timezone

from investigations.models import AgentExecution, AlertSession, Stage
from investigations.services.ledger import SessionWrite
from investigations.timeline import execution_status, session_status, stage_status

logger = logging.getLogger(__name__)


def close_stage(write: SessionWrite, stage: Stage, status: str, *, error: str = "") -> None:
    """Give a stage its terminal status and tell it."""
    stage.status = status
    stage.error_message = error
    stage.completed_at = timezone.now()
    if stage.started_at:
        took = stage.completed_at - stage.started_at
        stage.duration_ms = int(took.total_seconds() * 1000)
    stage.save(update_fields=["status", "error_message", "completed_at", "duration_ms"])
    write.tell(stage_status(stage))


def cancel_waiting_executions(write: SessionWrite) -> None:
    """End the executions no worker has begun."""
    waiting = AgentExecution.objects.filter(
        session_id=write.session.pk, status=AgentExecution.Status.PENDING
    )
    for execution in waiting:
        execution.status = AgentExecution.Status.CANCELLED
        execution.completed_at = timezone.now()
        execution.save(update_fields=["status", "completed_at"])
        write.tell(execution_status(execution))


def settle_cancelled(write: SessionWrite) -> None:
    """End a session that is being cancelled once none of its executions runs any more."""
    running = AgentExecution.objects.filter(
        session_id=write.session.pk, status__in=AgentExecution.OPEN
    )
    if running.exists():
        return
    open_stages = Stage.objects.filter(session_id=write.session.pk).exclude(
        status__in=Stage.TERMINAL
    )
    for stage in open_stages:
        close_stage(write, stage, Stage.Status.CANCELLED)
    end_session(write, AlertSession.Status.CANCELLED)


def end_session(write: SessionWrite, status: str, *, error: str = "") -> None:
    """Give the session its terminal status, unless it has one."""
    open_statuses = (AlertSession.Status.PENDING, *AlertSession.ACTIVE)
    changed = AlertSession.objects.filter(pk=write.session.pk, status__in=open_statuses).update(
        status=status, completed_at=Now(), last_interaction_at=Now(), error_message=error
    )
    if not changed:
        return
    write.session.status = status
    write.session.error_message = error
    reason = f": {error}" if error else ""
    transaction.on_commit(
        partial(logger.info, "Session %s %s%s", write.session.pk, status, reason), robust=True
    )
    tell_session_status(write, status, error_message=error or None)


def tell_session_status(write: SessionWrite, status: str, **fields: object) -> None:
    payload = session_status(write.session.pk, status, **fields)
    write.tell(payload)
    write.tell_lists(payload)

"""How executions, stages and sessions end: each gets its terminal status once, and it is told."""

import logging
from collections.abc import Sequence
from functools import partial
from types import MappingProxyType

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now
from django.utils import timezone

from investigations.maskers import product_masker
from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent
from investigations.queue import broadcast_cancel
from investigations.selectors.reports import tell_changes
from investigations.services.approvals import withdraw_approvals
from investigations.services.broken_off import KeptTexts
from investigations.services.ledger import SessionWrite
from investigations.services.notices import announce_end
from investigations.stream_messages import (
    execution_status,
    session_status,
    stage_status,
    timeline_event_completed,
)

logger = logging.getLogger(__name__)


_NOTHING: KeptTexts = MappingProxyType({})


def end_execution(
    write: SessionWrite,
    execution: AgentExecution,
    status: str,
    *,
    error: str = "",
    texts: KeptTexts = _NOTHING,
) -> None:
    """Give an execution its terminal status, and all it left open; the caller answers for the
    lease. `texts` is what had been shown of texts that still stream."""
    now = timezone.now()
    execution.status = status
    # It may quote what a provider or a server said.
    execution.error_message = product_masker()(error) if error else ""
    execution.completed_at = now
    execution.lease_token = None
    if execution.started_at:
        execution.duration_ms = int((now - execution.started_at).total_seconds() * 1000)
    execution.save(
        update_fields=["status", "error_message", "completed_at", "lease_token", "duration_ms"]
    )
    close_streaming(write, execution, status, texts=texts)
    withdraw_approvals(write, Q(execution=execution), "its agent has ended")
    write.tell(execution_status(execution))


def close_streaming(
    write: SessionWrite,
    execution: AgentExecution,
    status: str,
    *,
    kinds: Sequence[str] | None = None,
    texts: KeptTexts = _NOTHING,
) -> None:
    """Give open timeline events of an execution the fate that befell it, and keep their texts."""
    still_open = execution.timeline_events.filter(status=TimelineEvent.Status.STREAMING)
    if kinds is not None:
        still_open = still_open.filter(event_type__in=kinds)
    fate = TimelineEvent.Status.FAILED if status == "completed" else status
    for event in still_open:
        event.status = fate
        event.updated_at = timezone.now()
        if kept := texts.get(event.pk):
            event.content, event.content_html = kept.content, kept.content_html
            event.metadata = {**event.metadata, "broken_off": True}
        event.save(update_fields=["status", "content", "content_html", "metadata", "updated_at"])
        write.tell(timeline_event_completed(event))


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


def request_stop(write: SessionWrite, stage: Stage, reason: str = "") -> None:
    """None of the stage's executions may begin from now on, nobody decides about its writes any
    more; those that run are told elsewhere."""
    Stage.objects.filter(pk=stage.pk, cancel_requested_at__isnull=True).update(
        cancel_requested_at=Now()
    )
    withdraw_approvals(write, Q(execution__stage=stage), reason or "the session was cancelled")
    cancel_waiting_executions(write, stage)


def stop_session(write: SessionWrite, reason: str = "") -> None:
    """Stop what runs of a session: at once where nothing does, else within a moment.

    A reason is told as that of its end, and to whoever was asked for a decision.
    """
    session = write.session
    if session.status == AlertSession.Status.PENDING:
        end_session(write, AlertSession.Status.CANCELLED, error=reason)
        return
    if session.status == AlertSession.Status.IN_PROGRESS:
        session.status, session.error_message = AlertSession.Status.CANCELLING, reason
        AlertSession.objects.filter(pk=session.pk).update(
            status=session.status, error_message=reason
        )
        tell_session_status(write, AlertSession.Status.CANCELLING)
    for stage in list(open_stages(session)):
        request_stop(write, stage, reason)
    broadcast_cancel(session.pk)
    settle_cancelled(write)


def cancel_waiting_executions(write: SessionWrite, stage: Stage) -> None:
    """End the executions of a stage that no worker runs. Those handed back left events open."""
    for execution in stage.executions.filter(status=AgentExecution.Status.PENDING):
        end_execution(write, execution, AgentExecution.Status.CANCELLED)


def settle_cancelled(write: SessionWrite) -> None:
    """Close stages that were told to stop once nothing of them runs, and their session with them.

    Does nothing while an execution still runs, and nothing where nobody asked for a stop.
    """
    running = AgentExecution.objects.filter(stage_id=OuterRef("pk"), status__in=AgentExecution.OPEN)
    for stage in open_stages(write.session).filter(~Exists(running), is_told_to_stop()):
        close_stage(write, stage, Stage.Status.CANCELLED)
    is_cancelling = write.session.status == AlertSession.Status.CANCELLING
    if is_cancelling and not open_stages(write.session).exists():
        end_session(write, AlertSession.Status.CANCELLED, error=write.session.error_message)


def open_stages(session: AlertSession) -> QuerySet[Stage]:
    return Stage.objects.filter(session_id=session.pk).exclude(status__in=Stage.TERMINAL)


def is_told_to_stop() -> Q:
    return Q(cancel_requested_at__isnull=False)


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
    _tell_late_changes(write)
    reason = f": {error}" if error else ""
    transaction.on_commit(
        partial(logger.info, "Session %s %s%s", write.session.pk, status, reason), robust=True
    )
    tell_session_status(write, status, error_message=error or None)
    announce_end(write.session)


def _tell_late_changes(write: SessionWrite) -> None:
    """A stage behind the one whose text is the report may have changed something, and failed."""
    report = write.session.final_analysis
    if not report:
        return
    told = tell_changes(write.session.pk, report)
    if told != report:
        write.session.final_analysis = told
        AlertSession.objects.filter(pk=write.session.pk).update(final_analysis=told)


def tell_session_status(write: SessionWrite, status: str, **fields: object) -> None:
    payload = session_status(write.session.pk, status, **fields)
    write.tell(payload)
    write.tell_lists(payload)

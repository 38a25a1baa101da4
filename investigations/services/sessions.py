"""A session's life: claimed, cancelled, retried and deleted. How it ends stands in `endings`."""

import logging
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from django.db import InterfaceError, OperationalError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from config import get_config
from config.model import Config
from investigations.chain_plan import plan_stage
from investigations.models import AlertSession, Incident
from investigations.services.audit import record_audit
from investigations.services.endings import (
    end_session,
    open_stages,
    stop_session,
    tell_session_status,
)
from investigations.services.incidents.investigating import (
    RETRY_OF,
    is_held_still,
    take_latest_alerts,
)
from investigations.services.incidents.listing import list_newest, stand_for_incident
from investigations.services.intake import alert_again, submit_alert
from investigations.services.ledger import SessionWrite, database_now, refuse_deleted, session_write
from investigations.services.notices import announce_start
from investigations.services.stages import create_stage
from tarsy.errors import Conflict

logger = logging.getLogger(__name__)

CLAIM_LOCK = 0x7A_52_01
"""Advisory lock under which the number of running sessions is exact."""
MOST_HELD_AT_ONCE = 100
"""Sessions that are due and found to have to wait on, before others get their turn."""


def claim_next_session() -> uuid.UUID | None:
    """Start the longest waiting session, if the global limit allows one more.

    Returns its id, or None when nothing waits or enough is running. What is due and has to wait on,
    as for maintenance or a budget, says so and lets the next one by.
    """
    config = get_config()
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CLAIM_LOCK])
        running = AlertSession.objects.filter(status__in=AlertSession.ACTIVE).count()
        if running >= config.queue.max_concurrent_sessions:
            return None
        for _ in range(MOST_HELD_AT_ONCE):
            session_id = _find_due()
            if session_id is None:
                return None
            if _start_or_fail(session_id, config):
                return session_id
        return None


def _find_due() -> uuid.UUID | None:
    """The session that has waited longest of those that need not wait on."""
    due = AlertSession.objects.filter(
        Q(not_before__isnull=True) | Q(not_before__lte=Now()),
        status=AlertSession.Status.PENDING,
        deleted_at__isnull=True,
    )
    in_line = due.order_by("created_at", "id").select_for_update(skip_locked=True, of=("self",))
    return in_line.values_list("id", flat=True).first()


def _start_or_fail(session_id: uuid.UUID, config: Config) -> bool:
    """Whether it began, or ended: one that cannot begin must not stand before others for ever."""
    try:
        with session_write(session_id) as write:
            if is_held_still(write, config.incidents, timezone.now()):
                return False
            take_latest_alerts(write.session)
            _start(write, config)
    except (OperationalError, InterfaceError):
        raise
    except Exception as error:
        logger.exception("Session %s could not be started", session_id)
        with session_write(session_id) as write:
            reason = f"an internal error kept it from starting ({type(error).__name__})"
            end_session(write, AlertSession.Status.FAILED, error=reason)
    return True


def _start(write: SessionWrite, config: Config) -> None:
    session = write.session
    now = database_now()
    AlertSession.objects.filter(pk=session.pk, status=AlertSession.Status.PENDING).update(
        status=AlertSession.Status.IN_PROGRESS,
        started_at=now,
        deadline_at=now + config.queue.session_timeout,
        last_interaction_at=now,
    )
    session.refresh_from_db()
    tell_session_status(write, AlertSession.Status.IN_PROGRESS)
    logger.info("Session %s started (%s)", session.pk, session.alert_type)
    chain = config.chains.get(session.chain_id)
    if chain is None:
        reason = f'the chain "{session.chain_id}" is no longer configured'
        end_session(write, AlertSession.Status.FAILED, error=reason)
        return
    create_stage(write, plan_stage(config, chain, 0), index=1)
    announce_start(session)


def cancel_session(session_id: uuid.UUID, actor: str, reason: str = "") -> None:
    """Stop what runs of a session: the investigation, or after its end the answer in its chat.

    At once when nothing runs, else within a moment. Raises NotFound, or Conflict when there is
    nothing left to stop.
    """
    with session_write(session_id) as write:
        session = write.session
        refuse_deleted(session)
        if session.is_terminal and not open_stages(session).exists():
            raise Conflict(f"the session is {session.status} already and cannot be cancelled")
        told = {"reason": reason} if reason else {}
        record_audit(actor, "session.cancel", "session", session.pk, **told)
        stop_session(write, reason)


def retry_session(
    session_id: uuid.UUID, actor: str, choices: Mapping[str, object] | None = None
) -> AlertSession:
    """Queue the alert of a session that has ended once more, as a session of its own, of the same
    incident.

    `choices` are what is chosen for it this time: its type, runbook and tools. Once only, so that a
    second click starts nothing: what failed again is retried itself. Raises NotFound, Conflict,
    also while another investigation of the incident waits or runs, InvalidInput when the
    configuration does not take such an alert, and QueueFull.
    """
    with _incident_write(session_id) as write:
        session = write.session
        _refuse_retry(session)
        alert = alert_again(session, {RETRY_OF: str(session.pk)}, choices)
        again = submit_alert(alert, author=actor)
        stand_for_incident(again)
        metadata = {**session.session_metadata, "retried_as": str(again.pk)}
        AlertSession.objects.filter(pk=session.pk).update(session_metadata=metadata)
        record_audit(actor, "session.retry", "session", session.pk, retried_as=str(again.pk))
    return again


@contextmanager
def _incident_write(session_id: uuid.UUID) -> Iterator[SessionWrite]:
    """Write about a session in whose place another one of its incident may come, or goes.

    The incident is locked before, as by whoever takes a post and may be about to queue one as well.
    """
    with transaction.atomic():
        Incident.objects.select_for_update(of=("self",)).filter(sessions=session_id).first()
        with session_write(session_id) as write:
            yield write


def _refuse_retry(session: AlertSession) -> None:
    refuse_deleted(session)
    if not session.is_terminal:
        raise Conflict(f"the session is {session.status} and can be retried when it has ended")
    if known := session.session_metadata.get("retried_as"):
        raise Conflict(f"the session was retried already, as {known}")
    if session.incident_id is None:
        return
    others = AlertSession.objects.filter(incident_id=session.incident_id, deleted_at=None)
    if other := others.exclude(status__in=AlertSession.TERMINAL).first():
        told = f"another investigation of the incident, {other.pk}, is {other.status}"
        raise Conflict(f"{told}; a retry can begin when it has ended")


def delete_session(session_id: uuid.UUID, actor: str) -> None:
    """Hide a session that has ended; retention removes it, and all that belongs to it, later.

    Raises NotFound, also for one that is hidden already, and Conflict while something of it runs.
    """
    with _incident_write(session_id) as write:
        session = write.session
        refuse_deleted(session)
        if not session.is_terminal or open_stages(session).exists():
            raise Conflict("something of the session waits or runs; cancel it first")
        AlertSession.objects.filter(pk=session.pk).update(deleted_at=Now())
        list_newest(session)
        record_audit(actor, "session.delete", "session", session.pk)


def restore_session(session_id: uuid.UUID, actor: str) -> None:
    """Bring a hidden session back. Raises NotFound once it is removed, and Conflict where it is not
    hidden, or so old that retention would hide it again."""
    with _incident_write(session_id) as write:
        session = write.session
        if session.deleted_at is None:
            raise Conflict("the session is not deleted")
        days = get_config().system.retention.session_retention_days
        if (session.completed_at or session.created_at) < timezone.now() - timedelta(days=days):
            raise Conflict(
                f"the session is older than {days} days, so retention would soon hide it again; "
                "raise system.retention.session_retention_days first"
            )
        AlertSession.objects.filter(pk=session.pk).update(deleted_at=None)
        list_newest(session)
        record_audit(actor, "session.restore", "session", session.pk)

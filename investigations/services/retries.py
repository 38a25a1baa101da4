"""Investigating an alert once more."""

import uuid

from investigations.models import AlertSession
from investigations.services.audit import record_audit
from investigations.services.intake import read_alert, submit_alert
from investigations.services.ledger import refuse_deleted, session_write
from tarsy.errors import Conflict


def retry_session(session_id: uuid.UUID, actor: str) -> AlertSession:
    """Queue the alert of a session that has ended once more, as a session of its own.

    Once only, so that a second click starts nothing: what failed again is retried itself. Raises
    NotFound, Conflict, InvalidInput when the configuration no longer takes such an alert, and
    QueueFull.
    """
    with session_write(session_id) as write:
        session = write.session
        refuse_deleted(session)
        if not session.is_terminal:
            raise Conflict(f"the session is {session.status} and can be retried when it has ended")
        if known := session.session_metadata.get("retried_as"):
            raise Conflict(f"the session was retried already, as {known}")
        again = submit_alert(read_alert(_body_of(session)), author=actor)
        metadata = {**session.session_metadata, "retried_as": str(again.pk)}
        AlertSession.objects.filter(pk=session.pk).update(session_metadata=metadata)
        record_audit(actor, "session.retry", "session", session.pk, retried_as=str(again.pk))
    return again


def _body_of(session: AlertSession) -> dict[str, object]:
    """What the API would be sent for the same alert; it is masked, as it is stored."""
    return {
        "alert_type": session.alert_type,
        "data": session.alert_data,
        "runbook": session.runbook_url,
        "mcp": session.mcp_selection,
        "slack_message_fingerprint": session.slack_message_fingerprint,
    }

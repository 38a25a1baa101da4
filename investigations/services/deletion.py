"""Hiding a session before its time; retention deletes it for good."""

import uuid

from django.db.models.functions import Now

from investigations.models import AlertSession
from investigations.services.audit import record_audit
from investigations.services.endings import open_stages
from investigations.services.ledger import refuse_deleted, session_write
from tarsy.errors import Conflict


def delete_session(session_id: uuid.UUID, actor: str) -> None:
    """Hide a session that has ended. The record of who did it stays.

    Raises NotFound, or Conflict while something of it runs.
    """
    with session_write(session_id) as write:
        refuse_deleted(write.session)
        if not write.session.is_terminal or open_stages(write.session).exists():
            raise Conflict("it still runs: cancel it first")
        AlertSession.objects.filter(pk=session_id).update(deleted_at=Now())
        record_audit(actor, "session.delete", "session", session_id)

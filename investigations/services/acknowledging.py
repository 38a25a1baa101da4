"""A person has seen that investigations failed: they wait for nobody any more."""

import uuid
from collections.abc import Sequence

from django.db import transaction
from django.db.models.functions import Now

from investigations.models import AlertSession
from investigations.selectors.session_list.failures import FAILED
from investigations.selectors.sessions import visible_sessions
from investigations.services.audit import record_audit


@transaction.atomic
def acknowledge_failures(ids: Sequence[uuid.UUID], actor: str) -> int:
    """How many it was: those that failed and that nobody has acknowledged before."""
    open_ones = visible_sessions().filter(pk__in=ids, status__in=FAILED, acknowledged_at=None)
    found = list(open_ones.order_by("id").select_for_update().values_list("pk", flat=True))
    if found:
        AlertSession.objects.filter(pk__in=found).update(
            acknowledged_at=Now(), acknowledged_by=actor
        )
        others = [str(each) for each in found[1:]]
        record_audit(actor, "session.acknowledge", "session", found[0], others=others)
    return len(found)

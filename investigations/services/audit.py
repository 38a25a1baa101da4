"""Writing down who did what."""

import uuid
from typing import Any

from investigations.models import AuditEvent


def record_audit(
    actor: str, action: str, target_type: str, target_id: uuid.UUID | str, **details: Any
) -> AuditEvent:
    """Append one act, in the transaction of the act itself.

    Until that ends, everybody else who appends waits: lock what is to be locked before this.
    """
    return AuditEvent.objects.create(
        actor=actor,
        action=action,
        target_type=target_type,
        target_id=str(target_id),
        details=details,
    )

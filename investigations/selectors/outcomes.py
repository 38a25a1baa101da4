"""What came of a session, as every page and the terminal draw it: by what was done and by how its
alerts are now, never by how sure a text is."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from django.db.models import Q

from investigations.models import AgentExecution, AlertSession, ApprovalRequest, Incident

UNVERIFIED_WRITE = "unverified_write"
NOT_REPAIRED = "not_repaired"
PARTLY_DONE = "partly_done"

_UNDONE = (ApprovalRequest.Status.DENIED, ApprovalRequest.Status.EXPIRED)
_RAN = Q(used_at__isnull=False)


def name_outcome(
    session: AlertSession, *, has_open_write: bool, has_undone_write: bool, has_change: bool
) -> str:
    """The status to draw of a session that has ended.

    `has_open_write`: something may have been changed, and nothing has confirmed it.
    `has_undone_write`: something was asked for and not done. `has_change`: something was done.
    """
    if session.status != AlertSession.Status.COMPLETED:
        return session.outcome
    if has_open_write:
        return UNVERIFIED_WRITE
    if has_undone_write and tell_alerts(session) != "recovered":
        return PARTLY_DONE if has_change else NOT_REPAIRED
    return session.outcome


def tell_alerts(session: AlertSession) -> str:
    """How the alerts of a session are now: firing, reopened or recovered; empty where nobody tells
    their end."""
    incident: Incident | None = session.incident
    return (incident.told_state or "") if incident is not None else ""


def still_fires(session: AlertSession) -> bool:
    """Whether its alerts do, as far as anybody tells."""
    return tell_alerts(session) in Incident.OPEN


def read_undone_asks(
    session_ids: Collection[uuid.UUID],
) -> Mapping[uuid.UUID, Sequence[ApprovalRequest]]:
    """By session, what agents that have ended asked for and nobody let run.

    What was asked for again and ran is done after all.
    """
    asks = (
        ApprovalRequest.objects.filter(session_id__in=session_ids)
        .filter(Q(status__in=_UNDONE, execution__status__in=AgentExecution.TERMINAL) | _RAN)
        .order_by("created_at")
        .defer("arguments", "preview")
    )
    undone: dict[uuid.UUID, list[ApprovalRequest]] = defaultdict(list)
    for ask in asks:
        if ask.used_at is None:
            undone[ask.session_id].append(ask)
            continue
        # The hash is of server, tool, arguments and target: to restart is not to stop.
        undone[ask.session_id] = [
            each for each in undone[ask.session_id] if each.argument_hash != ask.argument_hash
        ]
    return undone

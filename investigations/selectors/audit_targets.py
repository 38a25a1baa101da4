"""What acts of the audit trail were about, in words and with the page that shows it."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass

from investigations.models import AlertSession, ApprovalRequest, AuditEvent


@dataclass(frozen=True)
class ActTarget:
    """The session whose page shows it, and what it is called there."""

    words: str
    session_id: uuid.UUID


def name_targets(acts: Iterable[AuditEvent]) -> dict[str, ActTarget]:
    """By target id: those of the sessions and approvals that are still there. Asks twice at most,
    however many acts there are."""
    told = list(acts)
    sessions = AlertSession.objects.filter(pk__in=_ids_of(told, "session")).only("title")
    approvals = ApprovalRequest.objects.filter(pk__in=_ids_of(told, "approval")).only(
        "session_id", "server_name", "tool_name", "target"
    )
    named = {str(each.pk): ActTarget(each.title or "untitled", each.pk) for each in sessions}
    for each in approvals:
        on = f" on {each.target}" if each.target else ""
        words = f"{each.server_name}.{each.tool_name}{on}"
        named[str(each.pk)] = ActTarget(words, each.session_id)
    return named


def _ids_of(acts: Iterable[AuditEvent], kind: str) -> set[uuid.UUID]:
    return {
        found
        for act in acts
        if act.target_type == kind and (found := _read_id(act.target_id)) is not None
    }


def _read_id(text: str) -> uuid.UUID | None:
    try:
        return uuid.UUID(text)
    except ValueError:
        return None

"""What waits for a person: writes to decide about, and investigations that came to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform
from django.utils import timezone

from investigations.models import AlertSession, ApprovalRequest
from investigations.selectors.session_list.rows import OutcomeRow, light, outcome_line
from investigations.selectors.sessions import COUNT_LIMIT, visible_sessions

SHOWN_APPROVALS = 20
SHOWN_FAILURES = 3
FAILED_WITHIN = timedelta(hours=24)
FAILURES = (AlertSession.Status.FAILED, AlertSession.Status.TIMED_OUT)


@dataclass(frozen=True)
class Needs:
    """The first of each kind, and how many there are."""

    approvals: Sequence[ApprovalRequest]
    approvals_count: int
    failures: Sequence[OutcomeRow]
    failures_count: int

    @property
    def count(self) -> int:
        return self.approvals_count + self.failures_count

    @property
    def more_approvals(self) -> int:
        return self.approvals_count - len(self.approvals)

    @property
    def more_failures(self) -> int:
        return self.failures_count - len(self.failures)


def read_needs() -> Needs:
    """The approvals whose time ends first, and the newest failures of the last day."""
    waiting = _waiting()
    approvals = list(waiting[:SHOWN_APPROVALS])
    failed = visible_sessions().filter(
        status__in=FAILURES, completed_at__gte=timezone.now() - FAILED_WITHIN
    )
    failures = list(light(failed).order_by("-completed_at", "-id")[:SHOWN_FAILURES])
    return Needs(
        approvals,
        _count(waiting, approvals, SHOWN_APPROVALS),
        [OutcomeRow(session, outcome_line(session)) for session in failures],
        _count(failed, failures, SHOWN_FAILURES),
    )


def _waiting() -> QuerySet[ApprovalRequest]:
    fields = (
        "server_name", "tool_name", "target", "risk", "expires_at", "session__title",
        "session__alert_type", "execution__agent_name",
    )  # fmt: skip
    return (
        ApprovalRequest.objects.filter(
            status=ApprovalRequest.Status.PENDING, session__deleted_at=None
        )
        .select_related("session", "execution")
        .only(*fields)
        # Of the preview nothing else is read: it may hold a whole file.
        .annotate(action=KeyTextTransform("action", "preview"))
        .order_by("expires_at", "id")
    )


def _count(
    rows: QuerySet[ApprovalRequest] | QuerySet[AlertSession], shown: Sequence[object], most: int
) -> int:
    return len(shown) if len(shown) < most else rows.order_by()[:COUNT_LIMIT].count()

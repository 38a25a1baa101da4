"""What waits for a person: writes to decide about, and investigations that came to nothing."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTextTransform

from investigations.models import ApprovalRequest
from investigations.selectors.session_list.failures import FailureGroup, read_failure_groups
from investigations.selectors.sessions import COUNT_LIMIT

SHOWN_APPROVALS = 20
SHOWN_CAUSES = 3


@dataclass(frozen=True)
class Needs:
    """The first of each kind, and how many there are; failures of one cause are one."""

    approvals: Sequence[ApprovalRequest]
    approvals_count: int
    failures: Sequence[FailureGroup]
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
    """The approvals whose time ends first, and the failures of the last day by their causes."""
    waiting = _waiting()
    approvals = read_waiting()
    failures = read_failure_groups()
    return Needs(approvals, _count(waiting, approvals), failures[:SHOWN_CAUSES], len(failures))


def read_waiting() -> list[ApprovalRequest]:
    """The approvals that wait, those whose time ends first."""
    return list(_waiting()[:SHOWN_APPROVALS])


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


def _count(rows: QuerySet[ApprovalRequest], shown: Sequence[object]) -> int:
    is_all = len(shown) < SHOWN_APPROVALS
    return len(shown) if is_all else rows.order_by()[:COUNT_LIMIT].count()

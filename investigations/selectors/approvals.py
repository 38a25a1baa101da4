"""Writes that wait, or waited, for a person."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from django.db.models import QuerySet

from investigations.models import AgentExecution, AlertSession, ApprovalRequest, TimelineEvent
from investigations.selectors.sessions import COUNT_LIMIT
from tarsy.errors import NotFound

SHOWN = 50
"""Requests that a session's page shows."""
LONGEST_TYPED = 80
_TYPED_RISK = "high"


@dataclass(frozen=True)
class ApprovalFilter:
    """What a list of requests is narrowed to; empty means all."""

    statuses: Sequence[str] = ()
    session_id: uuid.UUID | None = None


@dataclass(frozen=True)
class ApprovalPage:
    """One page of requests. `total_items` is counted up to `COUNT_LIMIT`."""

    approvals: list[ApprovalRequest]
    total_items: int


def list_approvals(wanted: ApprovalFilter, *, page: int, page_size: int) -> ApprovalPage:
    """Newest first; where only waiting ones are asked for, those whose time ends first."""
    is_waiting = tuple(wanted.statuses) == (ApprovalRequest.Status.PENDING,)
    is_narrow = is_waiting or wanted.session_id is not None
    approvals = _visible() if is_narrow else _visible_among_many()
    if wanted.statuses:
        approvals = approvals.filter(status__in=wanted.statuses)
    if wanted.session_id:
        approvals = approvals.filter(session_id=wanted.session_id)
    order = ("expires_at", "id") if is_waiting else ("-created_at", "-id")
    start = (page - 1) * page_size
    # First which ones, from the index: a deep page would read all before it, whole and joined.
    ids = approvals.order_by(*order).values_list("pk", flat=True)[start : start + page_size]
    shown = ApprovalRequest.objects.filter(pk__in=list(ids)).select_related("execution")
    total = approvals.order_by()[:COUNT_LIMIT].count()
    return ApprovalPage(list(shown.order_by(*order)), total)


def get_approval(approval_id: uuid.UUID) -> ApprovalRequest:
    """Raises NotFound, for those of deleted sessions too."""
    approval = _visible().select_related("execution").filter(pk=approval_id).first()
    if approval is None:
        raise NotFound("approval request not found")
    return approval


def word_to_type(approval: ApprovalRequest) -> str:
    """What a person types before a write of high risk: its target, so that nobody approves it by
    habit. The tool's name where there is no target that can be typed; empty for other risks."""
    if approval.risk != _TYPED_RISK:
        return ""
    target = approval.target.strip()
    # A page shows blanks in a row as one.
    is_plain = target.isascii() and target.isprintable() and "  " not in target
    can_be_typed = is_plain and len(target) <= LONGEST_TYPED
    return target if target and can_be_typed else approval.tool_name


def find_approval(approval_id: uuid.UUID) -> ApprovalRequest | None:
    """The little that a waiting agent asks for again and again."""
    fields = ("id", "status", "decided_by", "decision_reason", "expires_at", "used_at")
    return ApprovalRequest.objects.only(*fields).filter(pk=approval_id).first()


def approvals_of_session(session_id: uuid.UUID) -> list[ApprovalRequest]:
    """The newest ones: what waits, the first to end first, then what was decided."""
    approvals = ApprovalRequest.objects.select_related("execution").filter(session_id=session_id)
    newest = list(approvals.order_by("-created_at", "-id")[:SHOWN])
    waiting = [each for each in newest if each.is_pending]
    waiting.sort(key=lambda each: each.expires_at)
    return [*waiting, *(each for each in newest if not each.is_pending)]


def numbers_of_calls(execution: AgentExecution, call_ids: Collection[str]) -> dict[str, int]:
    """By which texts cite these calls of an execution. An id that a model used twice names none."""
    rows = execution.timeline_events.filter(
        event_type=TimelineEvent.Type.LLM_TOOL_CALL, metadata__tool_call_id__in=list(call_ids)
    )
    numbers: dict[str, list[int]] = defaultdict(list)
    for metadata in rows.values_list("metadata", flat=True):
        if isinstance(number := metadata.get("tool_number"), int):
            numbers[metadata["tool_call_id"]].append(number)
    return {call_id: found[0] for call_id, found in numbers.items() if len(found) == 1}


def executions_waiting(execution_ids: Collection[uuid.UUID]) -> frozenset[uuid.UUID]:
    """Those of the executions that wait for a person."""
    waiting = ApprovalRequest.objects.filter(
        execution_id__in=execution_ids, status=ApprovalRequest.Status.PENDING
    )
    return frozenset(waiting.order_by().values_list("execution_id", flat=True))


@dataclass(frozen=True)
class Waiting:
    """How many requests wait for a person, and the session of the one whose time ends first."""

    count: int = 0
    session_id: uuid.UUID | None = None


def count_waiting() -> Waiting:
    sessions = list(
        _visible()
        .filter(status=ApprovalRequest.Status.PENDING)
        .order_by("expires_at", "id")
        .values_list("session_id", flat=True)[:COUNT_LIMIT]
    )
    return Waiting(len(sessions), sessions[0]) if sessions else Waiting()


def _visible() -> QuerySet[ApprovalRequest]:
    return ApprovalRequest.objects.filter(session__deleted_at=None)


def _visible_among_many() -> QuerySet[ApprovalRequest]:
    """The same: those few sessions that are deleted, instead of the session of each request."""
    deleted = AlertSession.objects.filter(deleted_at__isnull=False).order_by()
    return ApprovalRequest.objects.exclude(session__in=deleted.values("pk"))

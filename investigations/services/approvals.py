"""A write that waits for a person: asked for, decided once, used at most once, or expired.

Every step is a conditional update under the session's lock with an audit row in the same
transaction. Time is the database's. Whoever loses a race is told so and changes nothing.
"""

import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from django.contrib.auth.models import AbstractUser, User
from django.db.models import DateTimeField, Q, QuerySet, Value
from django.db.models.functions import Least, Now

from agents.types import JSON
from config import get_config
from investigations.maskers import product_masker
from investigations.models import AgentExecution, ApprovalRequest, Message, Stage, TimelineEvent
from investigations.roles import DECIDE
from investigations.services.audit import record_audit
from investigations.services.ledger import SessionWrite, lease_write, refuse_deleted, session_write
from investigations.services.texts import refuse_unstorable
from investigations.stream_messages import Payload, approval_decided, approval_requested
from tarsy.errors import Conflict, InvalidInput, NotFound, NotPermitted, TarsyError

REASON_LIMIT = 2_000
"""Characters of what a person or an agent says about a write."""

Verdict = Literal["approved", "denied"]
_PENDING, _EXPIRED = ApprovalRequest.Status.PENDING, ApprovalRequest.Status.EXPIRED
_VERBS: dict[str, str] = {"approved": "approval.approve", "denied": "approval.deny"}


@dataclass(frozen=True)
class Ask:
    """A write to be decided about. `arguments` and `preview` are masked; the hash is of neither."""

    tool_call_id: str
    server_name: str
    tool_name: str
    arguments: Mapping[str, JSON]
    argument_hash: str
    target: str
    risk: str
    preview: Mapping[str, JSON]


# ---- The agent's side ----------------------------------------------------------------------------


def request_approval(execution: AgentExecution, ask: Ask) -> ApprovalRequest:
    """Ask people about a call; a call that was asked about before finds that very request.

    Only the latest one counts: whoever decided about it knew more. One that was denied stays so in
    whatever state its target is later, and one whose approval was used stays used: it may have run.
    Raises LeaseLost.
    """
    with lease_write(execution) as write:
        number = _number_of(execution, ask.tool_call_id)
        asked = execution.approvals.filter(tool_call_id=ask.tool_call_id, tool_number=number)
        known = _find_standing(asked, ask.argument_hash)
        if known is not None:
            return known
        # An execution waits for one write at a time: nobody waits for these any more.
        withdraw_approvals(write, Q(pk__in=asked), "asked anew, as something of it has changed")
        withdraw_approvals(write, Q(execution=execution), "the agent asks for another write")
        approval = _create(execution, ask, number)
        record_audit(
            f"agent {execution.agent_name}", "approval.request", "approval", approval.pk,
            **_facts(approval),
        )  # fmt: skip
        _tell(write, approval, approval_requested)
        return approval


def _find_standing(asked: QuerySet[ApprovalRequest], argument_hash: str) -> ApprovalRequest | None:
    """Of the requests of one call, the one whose end stands for it."""
    used = asked.filter(used_at__isnull=False).first()
    if used is not None:
        return used
    latest = asked.order_by("-created_at", "-pk").first()
    if latest is None or latest.status == ApprovalRequest.Status.DENIED:
        return latest
    return latest if latest.argument_hash == argument_hash else None


def redeem_approval(execution: AgentExecution, approval_id: uuid.UUID, argument_hash: str) -> bool:
    """Use an approval up, right before its write runs. True once, and only while it holds.

    It holds for this hash, until it expires, while nobody has stopped the stage, and as long as
    whoever approved could still do so. Raises LeaseLost.
    """
    with lease_write(execution):
        approval = execution.approvals.filter(pk=approval_id).first()
        if approval is None:
            return False
        used = _may_decide(User.objects.filter(username=approval.decided_by).first()) and (
            execution.approvals.filter(
                pk=approval_id,
                argument_hash=argument_hash,
                status=ApprovalRequest.Status.APPROVED,
                used_at__isnull=True,
                expires_at__gt=Now(),
                execution__stage__status=Stage.Status.ACTIVE,
                execution__stage__cancel_requested_at__isnull=True,
            ).update(used_at=Now())
        )
        record_audit(
            f"agent {execution.agent_name}",
            "approval.use" if used else "approval.refuse_use",
            "approval",
            approval_id,
            **_facts(approval),
            live_hash=argument_hash,
        )
        return bool(used)


def _number_of(execution: AgentExecution, tool_call_id: str) -> int | None:
    """The number of the call that is under way; some models use an id twice, never a number."""
    numbers = execution.timeline_events.filter(
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        status=TimelineEvent.Status.STREAMING,
        metadata__tool_call_id=tool_call_id,
    ).order_by("-sequence_number")
    metadata = numbers.values_list("metadata", flat=True).first()
    return metadata["tool_number"] if metadata else None


def _create(execution: AgentExecution, ask: Ask, number: int | None) -> ApprovalRequest:
    row = ApprovalRequest.objects.create(
        session_id=execution.session_id,
        execution=execution,
        tool_call_id=ask.tool_call_id,
        tool_number=number,
        server_name=ask.server_name,
        tool_name=ask.tool_name,
        arguments=dict(ask.arguments),
        target=ask.target if len(ask.target) <= 500 else f"{ask.target[:499]}…",
        argument_hash=ask.argument_hash,
        reason=_agents_words(execution, ask),
        risk=ask.risk,
        preview=dict(ask.preview),
        expires_at=_expiry(execution),
    )
    return _read(row.pk)


def _expiry(execution: AgentExecution) -> Any:
    """As long as is configured, and no longer than the stage it belongs to."""
    expiry = Now() + get_config().queue.approval_timeout
    stages = Stage.objects.filter(pk=execution.stage_id)
    deadline: datetime | None = stages.values_list("deadline_at", flat=True).first()
    if deadline is None:
        return expiry
    return Least(expiry, Value(deadline, output_field=DateTimeField()))


def _agents_words(execution: AgentExecution, ask: Ask) -> str:
    """Why it wants to, by its own account: an argument that says so, else what it wrote last."""
    said = ask.arguments.get("reason")
    if not isinstance(said, str) or not said.strip():
        turns = execution.messages.filter(role=Message.Role.ASSISTANT)
        said = turns.order_by("-sequence_number").values_list("content", flat=True).first() or ""
    return said.strip()[:REASON_LIMIT]


# ---- The person's side ---------------------------------------------------------------------------


def read_reason(body: Mapping[str, JSON]) -> str:
    """What a person says about a decision. Raises InvalidInput naming the field that is wrong."""
    for name in body:
        if name != "reason":
            raise InvalidInput(name[:100] or "body", 'is not a known field; known is "reason"')
    reason = body.get("reason")
    if reason is None:
        return ""
    if not isinstance(reason, str):
        raise InvalidInput("reason", "must be a text")
    if len(reason) > REASON_LIMIT:
        raise InvalidInput("reason", f"must not have more than {REASON_LIMIT:,} characters")
    refuse_unstorable("reason", reason)
    return reason.strip()


def decide_approval(
    approval_id: uuid.UUID,
    verdict: Verdict,
    *,
    account: AbstractUser | None,
    actor: str,
    reason: str = "",
) -> ApprovalRequest:
    """Let a write run or not, as the account's decision.

    `actor` is how whoever asks is called in the audit. Raises NotFound; NotPermitted for an account
    without the permission; Conflict when it is decided or too late. Either is audited.
    """
    masked = product_masker()(reason)
    with session_write(_session_of(approval_id)) as write:
        refuse_deleted(write.session)
        approval = _read(approval_id)
        refusal = _decide(write, approval, verdict, account, masked)
        record_audit(
            actor or "anonymous",
            "approval.refuse_decision" if refusal else _VERBS[verdict],
            "approval",
            approval_id,
            **_facts(approval),
            wanted=verdict,
            reason=str(refusal) if refusal else masked,
        )
    # Outside, so that what was found on the way is kept.
    if refusal is not None:
        raise refusal
    return approval


def _decide(
    write: SessionWrite,
    approval: ApprovalRequest,
    verdict: Verdict,
    account: AbstractUser | None,
    reason: str,
) -> TarsyError | None:
    """Why nothing was decided; None when it was."""
    if account is None or not _may_decide(account):
        return NotPermitted(f"deciding about writes needs an account with the permission {DECIDE}")
    changed = ApprovalRequest.objects.filter(
        pk=approval.pk, status=_PENDING, expires_at__gt=Now()
    ).update(
        status=verdict,
        decided_by=account.get_username()[:200],
        decision_reason=reason,
        decided_at=Now(),
    )
    if not changed:
        _expire(write, Q(pk=approval.pk, expires_at__lte=Now()))
    approval.refresh_from_db()
    if not changed:
        return Conflict(_explain_decided(approval))
    _tell(write, approval, approval_decided)
    return None


def _may_decide(account: AbstractUser | None) -> bool:
    return account is not None and account.is_active and account.has_perm(DECIDE)


def _explain_decided(approval: ApprovalRequest) -> str:
    by = f" by {approval.decided_by}" if approval.decided_by else ""
    if approval.status == _EXPIRED:
        why = f" ({approval.decision_reason})" if approval.decision_reason else ""
        return f"the request has expired{why}; nothing can be decided about it any more"
    return f"the request was {approval.status} already{by}"


# ---- Nobody's side -------------------------------------------------------------------------------


def expire_approval(approval_id: uuid.UUID) -> bool:
    """End a request whose time is over; False when it is not, or somebody has decided."""
    due = ApprovalRequest.objects.filter(pk=approval_id, status=_PENDING, expires_at__lte=Now())
    # Asked often, and mostly for nothing: a look costs no lock.
    if not due.exists():
        return False
    with session_write(_session_of(approval_id)) as write:
        return _expire(write, Q(pk=approval_id, expires_at__lte=Now())) > 0


def withdraw_approvals(write: SessionWrite, which: Q, reason: str) -> None:
    """End requests that nobody waits for any more, in a transaction of the caller's."""
    _expire(write, which & Q(session_id=write.session.pk), reason)


def _expire(write: SessionWrite, which: Q, reason: str = "") -> int:
    found = ApprovalRequest.objects.select_related("execution").filter(which, status=_PENDING)
    ended = 0
    for approval in found:
        ended += ApprovalRequest.objects.filter(pk=approval.pk, status=_PENDING).update(
            status=_EXPIRED, decided_at=Now(), decision_reason=reason
        )
        approval.refresh_from_db(fields=["status", "decided_at", "decision_reason"])
        record_audit(
            "tarsy", "approval.expire", "approval", approval.pk,
            **_facts(approval), reason=reason or "nobody decided in time",
        )  # fmt: skip
        _tell(write, approval, approval_decided)
    return ended


# ---- What all of them need -----------------------------------------------------------------------


def _session_of(approval_id: uuid.UUID) -> uuid.UUID:
    found = ApprovalRequest.objects.filter(pk=approval_id)
    session_id: uuid.UUID | None = found.values_list("session_id", flat=True).first()
    if session_id is None:
        raise NotFound(f"there is no approval request {approval_id}")
    return session_id


def _read(approval_id: uuid.UUID) -> ApprovalRequest:
    return ApprovalRequest.objects.select_related("execution").get(pk=approval_id)


def _tell(
    write: SessionWrite,
    approval: ApprovalRequest,
    describe: Callable[[ApprovalRequest], Payload],
) -> None:
    """Lists show who is waited for; waiting workers listen to the same channel."""
    payload = describe(approval)
    write.tell(payload)
    write.tell_lists(payload)


def _facts(approval: ApprovalRequest) -> dict[str, object]:
    return {
        "session": str(approval.session_id),
        "execution": str(approval.execution_id),
        "tool": f"{approval.server_name}.{approval.tool_name}",
        "call": approval.tool_number,
        "target": approval.target,
        "hash": approval.argument_hash,
    }

"""What tests of approvals share: an agent that wants to write, and people who may decide."""

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import Permission, User
from django.utils import timezone

from agents.records import LLMCallRecord, PlannedCall
from agents.types import Message, ToolCall, ToolTarget
from investigations.models import AgentExecution, ApprovalRequest, AuditEvent, Event
from investigations.services import recording
from investigations.services.approvals import Ask
from investigations.services.executions import Claim, claim_execution
from tests.factories import UserFactory
from tests.investigations.engine import current_stage, executions_of, start_session

HASH = "a" * 64
NAME = "k8s__pods_delete"


def make_decider(**fields: Any) -> User:
    user: User = UserFactory(**fields)
    user.user_permissions.add(Permission.objects.get(codename="decide_approval"))
    return User.objects.get(pk=user.pk)  # permissions are remembered by the object


def make_admin() -> User:
    """One who may all: for tests that commit, in which Django forgets whose permissions are."""
    user: User = UserFactory(admin=True)
    return user


def make_claim(*call_ids: str) -> Claim:
    """An execution that a worker runs and whose model has just proposed these calls."""
    execution = executions_of(current_stage(start_session("single")))[0]
    claim = claim_execution(execution.pk, "worker-1")
    assert claim is not None
    recording.record_prompt(claim.execution, [Message("user", "why?")])
    propose(claim.execution, *(call_ids or ("call_0",)))
    return claim


def propose(execution: AgentExecution, *call_ids: str) -> None:
    calls = tuple(ToolCall(call_id, NAME, '{"name": "render-4"}') for call_id in call_ids)
    target = ToolTarget("k8s", "pods_delete", {"name": "render-4"})
    record = LLMCallRecord(
        "iteration", 1, "rehearsal", "rehearsal", 1, 1, (),
        Message("assistant", "The pod hangs, so I delete it.", calls),
        tuple(PlannedCall(call, target) for call in calls),
    )  # fmt: skip
    recording.record_llm_call(execution, record, str)


def ask(call_id: str = "call_0", **fields: Any) -> Ask:
    known: dict[str, Any] = {
        "tool_call_id": call_id,
        "server_name": "k8s",
        "tool_name": "pods_delete",
        "arguments": {"name": "render-4"},
        "argument_hash": HASH,
        "target": "render-4",
        "risk": "high",
        "preview": {"undo": "Nothing undoes it here.", "verification": []},
    }
    return Ask(**{**known, **fields})


def let_time_pass(approval: ApprovalRequest) -> None:
    """Its time is over, and nobody has noticed."""
    past = timezone.now() - timedelta(seconds=1)
    ApprovalRequest.objects.filter(pk=approval.pk).update(expires_at=past)


def acts(approval: ApprovalRequest) -> list[str]:
    """What the audit has about a request, oldest first."""
    rows = AuditEvent.objects.filter(target_type="approval", target_id=str(approval.pk))
    return list(rows.order_by("id").values_list("action", flat=True))


def told(approval: ApprovalRequest) -> list[tuple[str, str]]:
    """The messages of its session about approvals: type and status."""
    events = Event.objects.filter(session_id=approval.session_id).order_by("seq")
    payloads = events.values_list("payload", flat=True)
    return [(p["type"], p["status"]) for p in payloads if p["type"].startswith("approval.")]

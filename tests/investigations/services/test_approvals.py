"""A write and the people who decide about it: whatever happens at once, one outcome."""

import uuid
from collections import Counter
from datetime import timedelta

import pytest
from django.contrib.auth.models import Permission, User
from django.utils import timezone

from agents.records import ToolCallRecord
from agents.types import AgentOutcome, Message, ToolCall, ToolResult, ToolTarget
from investigations.models import AgentExecution, ApprovalRequest, AuditEvent, Stage
from investigations.services import recording
from investigations.services.approvals import (
    decide_approval,
    expire_approval,
    redeem_approval,
    request_approval,
)
from investigations.services.executions import claim_execution, finish_execution, release_execution
from investigations.services.recovery import sweep
from investigations.services.sessions import cancel_session
from tarsy.errors import Conflict, LeaseLost, NotFound, NotPermitted
from tests.factories import UserFactory
from tests.investigations.approving import (
    HASH,
    NAME,
    acts,
    ask,
    let_time_pass,
    make_admin,
    make_claim,
    make_decider,
    propose,
    told,
)
from tests.investigations.engine import committed, grow_old, run_at_once, seqs

pytestmark = pytest.mark.django_db


@pytest.fixture
def ana() -> User:
    return make_decider(username=f"ana-{uuid.uuid4().hex[:6]}")


def fresh(approval: ApprovalRequest) -> ApprovalRequest:
    return ApprovalRequest.objects.get(pk=approval.pk)


# ---- Asking ----


def test_a_request_says_what_will_run_and_why_in_the_agents_words():
    claim = make_claim()

    approval = request_approval(claim.execution, ask())

    assert (approval.status, approval.tool_number) == ("pending", 1)
    assert approval.reason == "The pod hangs, so I delete it."
    assert told(approval) == [("approval.requested", "pending")]
    assert acts(approval) == ["approval.request"]
    left = approval.expires_at - approval.created_at
    assert timedelta(minutes=4, seconds=59) < left <= timedelta(minutes=5, seconds=1)
    assert seqs(approval.session_id) == list(range(1, len(seqs(approval.session_id)) + 1))


def test_a_request_does_not_outlive_its_stage():
    claim = make_claim()
    deadline = timezone.now() + timedelta(minutes=1)
    Stage.objects.filter(pk=claim.stage.pk).update(deadline_at=deadline)

    assert request_approval(claim.execution, ask()).expires_at == deadline


def test_asking_again_finds_the_same_request_and_its_decision(ana):
    claim = make_claim()
    approval = request_approval(claim.execution, ask())

    assert request_approval(claim.execution, ask()).pk == approval.pk
    decide_approval(approval.pk, "denied", account=ana, actor="ana", reason="Not now.")
    again = request_approval(claim.execution, ask())

    assert (again.pk, again.status, again.decision_reason) == (approval.pk, "denied", "Not now.")
    assert acts(approval) == ["approval.request", "approval.deny"]


def test_another_worker_finds_the_request_of_the_one_that_died():
    claim = make_claim()
    approval = request_approval(claim.execution, ask())

    grow_old(claim.execution)
    sweep()
    other = claim_execution(claim.execution.pk, "worker-2")

    assert other is not None
    assert request_approval(other.execution, ask()).pk == approval.pk
    assert fresh(approval).status == "pending"
    with pytest.raises(LeaseLost):
        request_approval(claim.execution, ask())


def test_a_worker_that_stops_leaves_the_request_open():
    claim = make_claim()
    approval = request_approval(claim.execution, ask())

    release_execution(claim)

    assert fresh(approval).status == "pending"


def test_the_same_write_in_another_call_is_asked_about_anew(ana):
    claim = make_claim("call_0", "call_1")
    first = request_approval(claim.execution, ask("call_0"))
    decide_approval(first.pk, "approved", account=ana, actor="ana")

    second = request_approval(claim.execution, ask("call_1"))

    assert (second.pk != first.pk, second.status) == (True, "pending")


def test_a_call_id_that_comes_twice_is_another_call(ana):
    claim = make_claim("call_0")
    first = request_approval(claim.execution, ask("call_0"))
    decide_approval(first.pk, "approved", account=ana, actor="ana")
    assert redeem_approval(claim.execution, first.pk, HASH)
    _record_result(claim.execution, "call_0", number=1)
    propose(claim.execution, "call_0")

    second = request_approval(claim.execution, ask("call_0"))

    assert (second.pk != first.pk, second.status, second.tool_number) == (True, "pending", 2)


def test_a_used_approval_is_found_whatever_the_call_looks_like_now(ana):
    claim = make_claim()
    approval = request_approval(claim.execution, ask())
    decide_approval(approval.pk, "approved", account=ana, actor="ana")
    assert redeem_approval(claim.execution, approval.pk, HASH)

    again = request_approval(claim.execution, ask(argument_hash="b" * 64))

    assert again.pk == approval.pk
    assert again.used_at is not None


def test_a_request_for_other_arguments_takes_the_place_of_the_old_one():
    claim = make_claim()
    old = request_approval(claim.execution, ask())

    new = request_approval(claim.execution, ask(argument_hash="b" * 64))

    assert (fresh(old).status, new.status) == ("expired", "pending")


def _record_result(execution: AgentExecution, call_id: str, *, number: int) -> None:
    call, target = ToolCall(call_id, NAME, "{}"), ToolTarget("k8s", "pods_delete", {})
    message = Message("tool", "deleted", tool_call_id=call_id, tool_name=NAME)
    record = ToolCallRecord(number, call, target, ToolResult("deleted", "deleted"), message)
    recording.record_tool_call(execution, record)


# ---- Deciding ----


@pytest.mark.parametrize("verdict", ["approved", "denied"])
def test_a_decision_is_kept_told_and_audited(ana, verdict):
    approval = request_approval(make_claim().execution, ask())

    decide_approval(approval.pk, verdict, account=ana, actor="ana", reason="as agreed")

    kept = fresh(approval)
    assert (kept.status, kept.decided_by) == (verdict, ana.username)
    assert kept.decision_reason == "as agreed"
    assert told(approval) == [("approval.requested", "pending"), ("approval.decided", verdict)]
    assert (
        acts(approval)[-1] == {"approved": "approval.approve", "denied": "approval.deny"}[verdict]
    )


@pytest.mark.parametrize("first", ["approved", "denied"])
@pytest.mark.parametrize("second", ["approved", "denied"])
def test_deciding_twice_changes_nothing(ana, first, second):
    approval = request_approval(make_claim().execution, ask())
    decide_approval(approval.pk, first, account=ana, actor="ana")

    with pytest.raises(Conflict, match=f"{first} already by {ana.username}"):
        decide_approval(approval.pk, second, account=ana, actor="ben")

    assert fresh(approval).status == first
    assert acts(approval)[-1] == "approval.refuse_decision"
    assert len(told(approval)) == 2


@pytest.mark.parametrize("verdict", ["approved", "denied"])
def test_a_decision_that_comes_late_finds_an_expired_request(ana, verdict):
    approval = request_approval(make_claim().execution, ask())
    let_time_pass(approval)

    with pytest.raises(Conflict, match="expired"):
        decide_approval(approval.pk, verdict, account=ana, actor="ana")

    assert fresh(approval).status == "expired"
    assert told(approval)[-1] == ("approval.decided", "expired")
    assert acts(approval)[1:] == ["approval.expire", "approval.refuse_decision"]


@pytest.mark.parametrize("who", ["nobody", "a stranger", "somebody who left", "a mere viewer"])
def test_who_may_not_decide_decides_nothing_and_is_written_down(who):
    approval = request_approval(make_claim().execution, ask())
    accounts = {
        "nobody": lambda: None,
        "a stranger": lambda: UserFactory(),
        "somebody who left": lambda: make_decider(is_active=False),
        "a mere viewer": lambda: UserFactory(is_staff=True),
    }

    with pytest.raises(NotPermitted):
        decide_approval(approval.pk, "approved", account=accounts[who](), actor=who)

    assert fresh(approval).status == "pending"
    row = AuditEvent.objects.get(action="approval.refuse_decision", target_id=str(approval.pk))
    assert row.actor == who
    assert row.details["wanted"] == "approved"


def test_nothing_is_decided_about_what_is_not_there(ana):
    with pytest.raises(NotFound):
        decide_approval(uuid.uuid4(), "approved", account=ana, actor="ana")


def test_a_secret_in_a_reason_is_masked(ana):
    approval = request_approval(make_claim().execution, ask())

    decide_approval(
        approval.pk, "denied", account=ana, actor="ana", reason="use password=Ex4mple-Pass9 then"
    )

    assert "Ex4mple-Pass9" not in fresh(approval).decision_reason


# ---- Using ----


@pytest.fixture
def approved(ana):
    claim = make_claim()
    approval = request_approval(claim.execution, ask())
    decide_approval(approval.pk, "approved", account=ana, actor="ana")
    return claim, fresh(approval)


def test_an_approval_is_used_once(approved):
    claim, approval = approved

    assert redeem_approval(claim.execution, approval.pk, HASH) is True
    assert redeem_approval(claim.execution, approval.pk, HASH) is False
    assert acts(approval)[2:] == ["approval.use", "approval.refuse_use"]


def test_an_approval_is_no_good_for_other_arguments(approved):
    claim, approval = approved

    assert redeem_approval(claim.execution, approval.pk, "b" * 64) is False
    assert fresh(approval).used_at is None


def test_an_approval_is_no_good_for_another_execution(approved):
    _, approval = approved
    other = make_claim()

    assert redeem_approval(other.execution, approval.pk, HASH) is False
    assert fresh(approval).used_at is None


@pytest.mark.parametrize("status", ["pending", "denied", "expired"])
def test_only_an_approved_write_may_be_used(status):
    claim = make_claim()
    approval = request_approval(claim.execution, ask())
    decided = None if status == "pending" else timezone.now()
    ApprovalRequest.objects.filter(pk=approval.pk).update(status=status, decided_at=decided)

    assert redeem_approval(claim.execution, approval.pk, HASH) is False


def test_an_approval_ends_with_its_time_its_approver_and_its_session(ana, approved):
    claim, approval = approved

    let_time_pass(approval)
    assert redeem_approval(claim.execution, approval.pk, HASH) is False
    ApprovalRequest.objects.filter(pk=approval.pk).update(
        expires_at=timezone.now() + timedelta(minutes=1)
    )
    ana.user_permissions.remove(Permission.objects.get(codename="decide_approval"))
    assert redeem_approval(claim.execution, approval.pk, HASH) is False
    ana.user_permissions.add(Permission.objects.get(codename="decide_approval"))
    cancel_session(claim.session.pk, "ben")
    assert redeem_approval(claim.execution, approval.pk, HASH) is False

    assert fresh(approval).used_at is None


def test_a_worker_that_lost_its_lease_uses_nothing(approved):
    claim, approval = approved
    grow_old(claim.execution)
    sweep()

    with pytest.raises(LeaseLost):
        redeem_approval(claim.execution, approval.pk, HASH)

    assert fresh(approval).used_at is None


# ---- Ending ----


def test_a_request_expires_once_and_not_before_its_time():
    approval = request_approval(make_claim().execution, ask())

    assert expire_approval(approval.pk) is False
    let_time_pass(approval)
    assert expire_approval(approval.pk) is True
    assert expire_approval(approval.pk) is False

    assert told(approval)[1:] == [("approval.decided", "expired")]


def test_a_request_whose_worker_is_gone_is_expired_by_the_sweeper():
    approval = request_approval(make_claim().execution, ask())
    let_time_pass(approval)

    assert sweep() >= 1

    assert fresh(approval).status == "expired"


def test_a_cancelled_session_expires_its_own_and_no_other(ana):
    mine, other = make_claim(), make_claim()
    cancelled = request_approval(mine.execution, ask())
    kept = request_approval(other.execution, ask())

    cancel_session(mine.session.pk, "ben")

    assert (fresh(cancelled).status, fresh(kept).status) == ("expired", "pending")
    with pytest.raises(Conflict, match="the session was cancelled"):
        decide_approval(cancelled.pk, "approved", account=ana, actor="ana")


def test_nothing_waits_for_an_agent_that_has_ended():
    claim = make_claim()
    approval = request_approval(claim.execution, ask())

    finish_execution(claim, AgentOutcome("timed_out"))

    assert fresh(approval).status == "expired"


# ---- At once ----


@committed
@pytest.mark.parametrize("attempt", range(3))
def test_of_many_who_decide_at_once_one_is_heard(attempt):
    people = [make_admin() for _ in range(6)]
    approval = request_approval(make_claim().execution, ask())
    verdicts = ["approved", "denied"] * 3

    outcomes = run_at_once(
        *(
            lambda who=who, verdict=verdict: decide_approval(
                approval.pk, verdict, account=who, actor=who.username
            )
            for who, verdict in zip(people, verdicts, strict=True)
        )
    )

    kinds = Counter(type(outcome) for outcome in outcomes)
    assert kinds == {ApprovalRequest: 1, Conflict: 5}
    winner = next(o for o in outcomes if isinstance(o, ApprovalRequest))
    kept = fresh(approval)
    assert (kept.status, kept.decided_by) == (winner.status, winner.decided_by)
    assert len(told(approval)) == 2
    assert Counter(acts(approval))["approval.refuse_decision"] == 5


@committed
def test_an_approval_that_is_redeemed_at_once_is_used_once():
    claim = make_claim()
    approval = request_approval(claim.execution, ask())
    decide_approval(approval.pk, "approved", account=make_admin(), actor="ana")

    used = run_at_once(
        *[lambda: redeem_approval(claim.execution, approval.pk, HASH) for _ in range(6)]
    )

    assert Counter(used) == {True: 1, False: 5}


@committed
@pytest.mark.parametrize("attempt", range(5))
def test_a_cancel_a_decision_and_a_use_at_once_leave_one_outcome(attempt):
    claim = make_claim()
    ana = make_admin()
    approval = request_approval(claim.execution, ask())

    def decide_and_use() -> bool:
        decide_approval(approval.pk, "approved", account=ana, actor="ana")
        return redeem_approval(claim.execution, approval.pk, HASH)

    cancelled, used = run_at_once(lambda: cancel_session(claim.session.pk, "ben"), decide_and_use)

    assert cancelled is None
    kept = fresh(approval)
    if isinstance(used, Conflict):
        assert (kept.status, kept.used_at) == ("expired", None)
    else:
        assert (kept.status, kept.used_at is not None) == ("approved", used)


@committed
@pytest.mark.parametrize("attempt", range(5))
def test_expiry_and_a_decision_at_once_leave_one_outcome(attempt):
    approval = request_approval(make_claim().execution, ask())
    soon = timezone.now() + timedelta(milliseconds=20)
    ApprovalRequest.objects.filter(pk=approval.pk).update(expires_at=soon)
    ana = make_admin()

    def expire() -> None:
        while not expire_approval(approval.pk) and fresh(approval).status == "pending":
            pass

    _, decided = run_at_once(
        expire, lambda: decide_approval(approval.pk, "approved", account=ana, actor="ana")
    )

    assert fresh(approval).status == ("expired" if isinstance(decided, Conflict) else "approved")
    assert len(told(approval)) == 2

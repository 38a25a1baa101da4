"""No order of operations, however unlucky, breaks what the rows promise or leaves one stuck."""

import logging
import uuid
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import timedelta
from typing import Any, Self

import pytest
from django.db import transaction
from django.utils import timezone
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from agents.records import LLMCallRecord, PlannedCall, ToolCallRecord
from agents.types import AgentOutcome, Message, Note, ToolCall, ToolResult, ToolTarget
from investigations.models import AgentExecution, AlertSession, Stage, TimelineEvent
from investigations.services import recovery
from investigations.services.chat import ask_question, explain_no_chat
from investigations.services.executions import (
    Claim,
    claim_execution,
    finish_execution,
    release_execution,
)
from investigations.services.intake import read_alert, submit_alert
from investigations.services.recording import (
    open_block,
    record_llm_call,
    record_note,
    record_prompt,
    record_tool_call,
)
from investigations.services.recovery import OVERDUE_GRACE, sweep
from investigations.services.retention import GRACE, apply_retention
from investigations.services.sessions import cancel_session, claim_next_session
from investigations.services.stages import advance_stage
from tarsy.errors import Conflict, LeaseLost, NotFound
from tests.investigations.engine import grow_old
from tests.investigations.promises import check_promises

pytestmark = pytest.mark.django_db

CHAINS = ("single", "two-stages", "parallel", "strict", "replicated")
MOST_SESSIONS = 5
MOST_STEPS = 80
LONG_AGO = timedelta(days=400)
ENDS = ("completed", "completed", "completed", "failed", "timed_out", "cancelled")
CALL = ToolCall("call-1", "ops__metrics", "{}")
TARGET = ToolTarget("ops", "metrics", {})


class Complaints(logging.Handler):
    """What a sweep could not mend and went past."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(self.format(record))


class Investigations:
    """Everything that anybody may do to them, each step really stored.

    Each operation takes a place: which of the rows it could be about it is about.
    """

    def __init__(self) -> None:
        self._claims: list[Claim] = []
        self._ended: dict[uuid.UUID, str] = {}
        self._forgotten: set[uuid.UUID] = set()
        self._complaints = Complaints()

    def __enter__(self) -> Self:
        recovery.logger.addHandler(self._complaints)
        return self

    def __exit__(self, *_: object) -> None:
        recovery.logger.removeHandler(self._complaints)

    # ---- People ----------------------------------------------------------------------------------

    def submit(self, place: int) -> None:
        if AlertSession.objects.count() < MOST_SESSIONS:
            submit_alert(
                read_alert({"alert_type": pick(CHAINS, place), "data": "slow"}), author="ana"
            )

    def cancel(self, place: int) -> None:
        session = pick(AlertSession.objects.order_by("created_at", "id"), place)
        if session is None:
            return
        was_open = session.stages.exclude(status__in=Stage.TERMINAL).exists()
        try:
            cancel_session(session.pk, "ana")
        except NotFound:
            assert session.deleted_at is not None
        except Conflict:
            assert session.is_terminal
            assert not was_open

    def ask(self, place: int) -> None:
        session = pick(AlertSession.objects.order_by("created_at", "id"), place)
        if session is None or session.deleted_at or explain_no_chat(session):
            return
        is_busy = session.stages.exclude(status__in=Stage.TERMINAL).exists()
        try:
            ask_question(session.pk, "Is it still so?", author="ana")
        except Conflict:
            assert is_busy
        else:
            assert not is_busy

    # ---- Workers ---------------------------------------------------------------------------------

    def begin_session(self, _place: int) -> None:
        claim_next_session()

    def begin_execution(self, place: int) -> None:
        execution = pick(AgentExecution.objects.order_by("created_at", "id"), place)
        if execution is None:
            return
        claim = claim_execution(execution.pk, f"worker-{place}")
        if claim is not None:
            assert execution.status == "pending"
            self._claims.append(claim)

    def record_answer(self, place: int) -> None:
        calls = place % 3
        record = LLMCallRecord(
            "iteration", 1, "p", "m", 2, 1, (), Message("assistant", "I look.", (CALL,) * calls),
            planned_calls=(PlannedCall(CALL, TARGET),) * calls,
        )  # fmt: skip
        self._write(place, lambda claim: record_llm_call(claim.execution, record, str))

    def record_result(self, place: int) -> None:
        """The oldest open call of an execution gets its result."""
        self._write(place, _record_oldest_call)

    def record_prompt(self, place: int) -> None:
        self._write(place, lambda claim: record_prompt(claim.execution, [Message("user", "Go on")]))

    def open_block(self, place: int) -> None:
        self._write(place, lambda claim: open_block(claim.execution, "llm_response"))

    def conclude(self, place: int) -> None:
        finding = Note("final_analysis", "It is full.")
        self._write(place, lambda claim: record_note(claim.execution, finding, str))

    def finish(self, place: int) -> None:
        end = pick(ENDS, place // 2)
        self._write(place, lambda claim: finish_execution(claim, AgentOutcome(end, error=end)))

    def hand_back(self, place: int) -> None:
        self._write(place, release_execution)

    def advance(self, place: int) -> None:
        stage = pick(Stage.objects.order_by("created_at", "id"), place)
        if stage is not None:
            advance_stage(stage.pk)

    # ---- Time and the sweeper --------------------------------------------------------------------

    def lose_worker(self, place: int) -> None:
        active = AgentExecution.objects.filter(status="active").order_by("created_at", "id")
        execution = pick(active, place)
        if execution is not None:
            grow_old(execution)

    def pass_deadline(self, place: int) -> None:
        stage = pick(Stage.objects.filter(completed_at=None).order_by("created_at", "id"), place)
        if stage is not None:
            pass_deadlines([stage.pk])

    def sweep(self, _place: int) -> None:
        let_it_settle()
        sweep()
        assert self._complaints.texts == []

    def let_years_pass(self, place: int) -> None:
        """For one session: hidden at the first time, gone at the second."""
        session = pick(AlertSession.objects.order_by("created_at", "id"), place)
        if session is None:
            return
        self._forgotten.add(session.pk)
        past = timezone.now() - LONG_AGO
        rows = AlertSession.objects.filter(pk=session.pk)
        rows.filter(completed_at__isnull=False).update(completed_at=past)
        rows.filter(deleted_at__isnull=False).update(deleted_at=timezone.now() - GRACE - LONG_AGO)
        session.events.update(created_at=past)
        apply_retention()

    # ---- What must hold --------------------------------------------------------------------------

    def check(self) -> None:
        """Every promise is kept, and what has ended stays as it ended."""
        check_promises(self._forgotten)
        found: dict[uuid.UUID, str] = {}
        for model in (AlertSession, Stage, AgentExecution):
            found |= dict(model.objects.values_list("pk", "status"))
        for identity, status in self._ended.items():
            assert found.get(identity, status) == status
        self._ended |= {pk: s for pk, s in found.items() if s in Stage.TERMINAL}

    # ---- Means -----------------------------------------------------------------------------------

    def _write(self, place: int, write: Callable[[Claim], Any]) -> None:
        """Write under any lease ever given: a lost one is refused and changes nothing."""
        given = pick(self._claims, place)
        if given is None:
            return
        # What a worker that comes back still has in its hands, whatever became of the row.
        claim = replace(given, execution=copy(given.execution))
        row = AgentExecution.objects.filter(pk=claim.execution.pk)
        holds = row.filter(lease_token=claim.lease_token, status="active").exists()
        seq = _last_seq(claim)
        try:
            write(claim)
        except (LeaseLost, NotFound):
            assert not holds
            assert _last_seq(claim) == seq
        else:
            assert holds

    def come_to_rest(self) -> None:
        """Every worker is gone and time passes: whatever was begun ends, by the sweeper alone."""
        for _ in range(20):
            for execution in AgentExecution.objects.filter(status="active"):
                grow_old(execution)
            pass_deadlines(Stage.objects.filter(completed_at=None).values_list("pk", flat=True))
            let_it_settle()
            if not sweep():
                break
        check_promises(self._forgotten)
        assert self._complaints.texts == []
        assert not Stage.objects.exclude(status__in=Stage.TERMINAL).exists()
        stuck = AlertSession.objects.filter(status__in=AlertSession.ACTIVE)
        assert not stuck.exists(), "a session never ends"


def _record_oldest_call(claim: Claim) -> None:
    opened = TimelineEvent.objects.filter(
        execution=claim.execution, event_type="llm_tool_call", status="streaming"
    )
    event = opened.order_by("sequence_number").first()
    if event is None:
        record_prompt(claim.execution, [])
        return
    number = event.metadata["tool_number"]
    result = Message("tool", "[T] fine", tool_call_id=CALL.id, tool_name=CALL.name)
    record_tool_call(
        claim.execution, ToolCallRecord(number, CALL, TARGET, ToolResult("fine", "fine"), result)
    )


def _last_seq(claim: Claim) -> int | None:
    found = AlertSession.objects.filter(pk=claim.session.pk)
    return found.values_list("last_seq", flat=True).first()


def pick(rows: Any, place: int) -> Any:
    """One of the rows, None when there are none."""
    found: Sequence[Any] = list(rows)
    return found[place % len(found)] if found else None


def pass_deadlines(stages: Any) -> None:
    past = timezone.now() - OVERDUE_GRACE - timedelta(seconds=1)
    Stage.objects.filter(pk__in=list(stages)).update(deadline_at=past)


def let_it_settle() -> None:
    """What has ended did so longer ago than the sweeper leaves to a chord."""
    past = timezone.now() - timedelta(seconds=3)
    AgentExecution.objects.filter(completed_at__gt=past).update(completed_at=past)


OPERATIONS: Mapping[str, int] = {
    "submit": 3,
    "begin_session": 3,
    "begin_execution": 8,
    "record_prompt": 1,
    "open_block": 2,
    "record_answer": 3,
    "record_result": 3,
    "conclude": 4,
    "finish": 6,
    "advance": 6,
    "hand_back": 1,
    "lose_worker": 1,
    "pass_deadline": 1,
    "sweep": 3,
    "cancel": 1,
    "ask": 3,
    "let_years_pass": 1,
}
"""What may happen, and how often compared with the others."""

STEPS = st.lists(
    st.tuples(
        st.sampled_from([name for name, weight in OPERATIONS.items() for _ in range(weight)]),
        st.integers(0, 30),
    ),
    min_size=MOST_STEPS // 2,
    max_size=MOST_STEPS,
)


# Without shrinking, which would take minutes on a real database; the steps are printed.
@settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=list(HealthCheck),
)
@given(steps=STEPS)
def test_no_order_of_operations_breaks_a_promise_or_leaves_a_session_stuck(
    chains, clean_redis, steps: list[tuple[str, int]]
):
    with transaction.atomic(), Investigations() as investigations:
        for place in range(3):
            investigations.submit(place)
            investigations.begin_session(place)
        for operation, place in steps:
            getattr(investigations, operation)(place)
            investigations.check()
        investigations.come_to_rest()
        transaction.set_rollback(True)

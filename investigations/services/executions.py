"""An execution's life: claimed under a lease, finished, or handed back.

Every write checks the lease under the session's lock, so a worker that was given up for dead can
come back and change nothing.
"""

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import connection
from django.db.models import F
from django.db.models.functions import Coalesce, Now

from agents.records import ModelSwitch
from agents.types import AgentOutcome, ModelName
from investigations.models import AgentExecution, AlertSession, Message, Stage, TimelineEvent
from investigations.queue import enqueue_execution
from investigations.services.broken_off import TEXT_BLOCKS, KeptTexts, ShownText, keep_shown
from investigations.services.endings import (
    cancel_waiting_executions,
    close_streaming,
    end_execution,
    settle_cancelled,
)
from investigations.services.ledger import SessionWrite, database_now, session_write
from investigations.stream_messages import execution_status
from tarsy.errors import LeaseLost
from tarsy.uptime import uptime


@dataclass(frozen=True)
class Claim:
    """An execution this worker owns, with all it needs to run."""

    session: AlertSession
    stage: Stage
    execution: AgentExecution
    messages: tuple[Message, ...]
    """The conversation so far; empty at the first attempt."""
    open_numbers: dict[str, int]
    """The numbers of tool calls that were proposed and have no result yet, by call id."""
    seconds_left: float
    """Until the stage's deadline, as it was claimed."""

    @property
    def lease_token(self) -> uuid.UUID:
        token = self.execution.lease_token
        if token is None:
            raise LeaseLost("the execution was never claimed")
        return token


def claim_execution(execution_id: uuid.UUID, worker_id: str) -> Claim | None:
    """Take a pending execution, or return None when it is taken, ended or cancelled."""
    session_id = (
        AgentExecution.objects.filter(pk=execution_id).values_list("session_id", flat=True).first()
    )
    if session_id is None:
        return None
    with session_write(session_id) as write:
        asked_at = uptime()
        stage = _stage_of(execution_id)
        if not _may_begin(write.session, stage):
            cancel_waiting_executions(write, stage)
            return None
        claimed = AgentExecution.objects.filter(
            pk=execution_id, status=AgentExecution.Status.PENDING
        ).update(
            status=AgentExecution.Status.ACTIVE,
            worker_id=worker_id,
            lease_token=uuid.uuid4(),
            attempt=F("attempt") + 1,
            heartbeat_at=Now(),
            started_at=Coalesce(F("started_at"), Now()),
        )
        if not claimed:
            return None
        execution = AgentExecution.objects.get(pk=execution_id)
        execution.lease_renewed_at = asked_at
        write.tell(execution_status(execution))
        messages = tuple(execution.messages.order_by("sequence_number"))
        session = AlertSession.objects.get(pk=session_id)  # whole, with the alert
        return Claim(
            session, stage, execution, messages, _open_numbers(execution), _seconds_left(stage)
        )


def _seconds_left(stage: Stage) -> float:
    if stage.deadline_at is None:
        return 0.0
    return max(0.0, (stage.deadline_at - database_now()).total_seconds())


def _may_begin(session: AlertSession, stage: Stage) -> bool:
    """Only a question may still be answered once the session has ended."""
    if stage.is_terminal or stage.is_cancelling:
        return False
    return not session.is_terminal or stage.stage_type == Stage.Type.CHAT


def _stage_of(execution_id: uuid.UUID) -> Stage:
    stages = Stage.objects.select_related("referenced_stage", "chat_user_message")
    return stages.get(executions__id=execution_id)


def _open_numbers(execution: AgentExecution) -> dict[str, int]:
    # By the event's status, not by which ids have an answer: some models use an id twice.
    proposed = execution.timeline_events.filter(
        event_type=TimelineEvent.Type.LLM_TOOL_CALL, status=TimelineEvent.Status.STREAMING
    ).values_list("metadata", flat=True)
    return {metadata["tool_call_id"]: metadata["tool_number"] for metadata in proposed}


def check_lease(execution: AgentExecution) -> None:
    """Raise LeaseLost unless the execution is still run under the lease it was claimed with."""
    held = AgentExecution.objects.filter(
        pk=execution.pk,
        lease_token=execution.lease_token,
        status=AgentExecution.Status.ACTIVE,
    )
    if not held.exists():
        raise LeaseLost(f"execution {execution.pk} is no longer ours")


def renew_lease(execution: AgentExecution) -> None:
    """Renew the lease that the execution was claimed with. Raises LeaseLost."""
    asked_at = uptime()
    renewed = AgentExecution.objects.filter(
        pk=execution.pk,
        lease_token=execution.lease_token,
        status=AgentExecution.Status.ACTIVE,
    ).update(heartbeat_at=Now())
    if not renewed:
        raise LeaseLost(f"execution {execution.pk} is no longer ours")
    execution.lease_renewed_at = asked_at


def keep_model(claim: Claim, model: ModelName) -> None:
    """Write down which model the execution runs with."""
    AgentExecution.objects.filter(
        pk=claim.execution.pk, lease_token=claim.execution.lease_token
    ).update(llm_backend=model.backend, llm_provider=model.provider_name, model_name=model.model)


def replace_model(execution: AgentExecution, switch: ModelSwitch) -> None:
    """Write down that another model took over; the first one is kept beside it.

    Inside a transaction of the caller's, who answers for the lease.
    """
    row = AgentExecution.objects.filter(pk=execution.pk)
    row.filter(original_llm_provider="").update(
        original_llm_backend=switch.before.backend,
        original_llm_provider=switch.before.provider_name,
        original_model_name=switch.before.model,
    )
    row.update(
        llm_backend=switch.after.backend,
        llm_provider=switch.after.provider_name,
        model_name=switch.after.model,
    )


def finish_execution(claim: Claim, outcome: AgentOutcome, shown: Iterable[ShownText] = ()) -> None:
    """Give the execution its terminal status and close what still streams, with what was shown."""
    texts = keep_shown(shown)
    with session_write(claim.session.pk) as write:
        check_lease(claim.execution)
        end_execution(write, claim.execution, outcome.status, error=outcome.error, texts=texts)
        settle_cancelled(write)


def release_execution(claim: Claim, shown: Iterable[ShownText] = ()) -> None:
    """Hand an execution back untouched, because this worker stops; another goes on with it.

    Does not count as an attempt: nothing was wrong with the execution. One that is being
    cancelled ends instead.
    """
    texts = keep_shown(shown)
    with session_write(claim.session.pk) as write:
        check_lease(claim.execution)
        if _stage_of(claim.execution.pk).is_cancelling:
            end_execution(write, claim.execution, AgentExecution.Status.CANCELLED, texts=texts)
            settle_cancelled(write)
            return
        attempt = max(0, claim.execution.attempt - 1)
        return_to_queue(write, claim.execution, attempt=attempt, texts=texts)


def return_to_queue(
    write: SessionWrite, execution: AgentExecution, *, attempt: int, texts: KeptTexts
) -> None:
    """ACTIVE -> PENDING, and sent to the workers again."""
    execution.status = AgentExecution.Status.PENDING
    execution.lease_token = None
    execution.worker_id = ""
    execution.attempt = attempt
    execution.dispatched_at = database_now()
    execution.save(update_fields=["status", "lease_token", "worker_id", "attempt", "dispatched_at"])
    # Proposed tool calls stay open: the next worker runs them and completes their events.
    close_streaming(
        write, execution, TimelineEvent.Status.CANCELLED, kinds=TEXT_BLOCKS, texts=texts
    )
    write.tell(execution_status(execution))
    enqueue_execution(execution.stage_id, execution.pk)


@dataclass(frozen=True)
class HeldLease:
    lease_token: str
    is_cancelling: bool


def renew_leases(worker_id: str, lease_tokens: Sequence[str]) -> list[HeldLease]:
    """Renew leases of a process in one statement; says which are being cancelled.

    Only what really runs may be named: a lease whose run has ended without a word must go stale.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            """
            UPDATE investigations_agentexecution AS execution SET heartbeat_at = now()
              FROM investigations_stage AS stage
             WHERE stage.id = execution.stage_id
               AND execution.worker_id = %s AND execution.status = 'active'
               AND execution.lease_token = ANY(%s::uuid[])
            RETURNING execution.lease_token, stage.cancel_requested_at IS NOT NULL
            """,
            [worker_id, list(lease_tokens)],
        )
        return [HeldLease(str(token), is_cancelling) for token, is_cancelling in cursor.fetchall()]


def find_cancelling(worker_id: str) -> list[str]:
    """The leases of a process on executions that are being cancelled."""
    found = AgentExecution.objects.filter(
        worker_id=worker_id,
        status=AgentExecution.Status.ACTIVE,
        stage__cancel_requested_at__isnull=False,
    )
    return [str(token) for token in found.values_list("lease_token", flat=True)]

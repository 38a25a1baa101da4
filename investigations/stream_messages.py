"""Every message of the stream and its payload: one place for senders, consumers and tests.

Field names are the wire contract. Persistent messages get `db_event_id` (the session's `seq`)
when they are stored; transient ones (`stream.chunk`, progress) never do.
"""

import json
import uuid
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Stage,
    TimelineEvent,
)

Payload = dict[str, Any]

SESSIONS_CHANNEL = "sessions"
"""The global channel that list pages follow."""
STREAM_CHUNK = "stream.chunk"
APPROVAL_REQUESTED = "approval.requested"
APPROVAL_DECIDED = "approval.decided"


def session_channel(session_id: uuid.UUID | str) -> str:
    return f"session:{session_id}"


def tool_event_id(execution_id: uuid.UUID, number: int) -> uuid.UUID:
    """The timeline event of a tool call, known without a query: progress is told in a hurry."""
    return uuid.uuid5(execution_id, f"T{number}")


def block_key(event_id: str) -> str:
    """The Redis key under which the pieces of a block stand while it streams."""
    return f"tarsy:block:{event_id}"


def write_piece(offset: int, delta: str) -> str:
    """A piece of a block as Redis keeps it, with the number of characters before it."""
    return f"{offset}:{delta}"


def join_pieces(pieces: Iterable[str]) -> str:
    """The text of a block up to its first gap: Redis may have been away for a while."""
    text: list[str] = []
    length = 0
    for piece in pieces:
        offset, _, delta = piece.partition(":")
        if offset != str(length):
            break
        text.append(delta)
        length += len(delta)
    return "".join(text)


def _payload(kind: str, session_id: uuid.UUID | str, **fields: object) -> Payload:
    return {
        "type": kind,
        "session_id": str(session_id),
        "timestamp": datetime.now(UTC).isoformat(),
        **fields,
    }


def _text(identity: uuid.UUID | None) -> str | None:
    return str(identity) if identity else None


# ---- Persistent ---------------------------------------------------------------------------------


def timeline_event_created(event: TimelineEvent) -> Payload:
    return _timeline_event("timeline_event.created", event)


def timeline_event_completed(event: TimelineEvent) -> Payload:
    return _timeline_event("timeline_event.completed", event)


def begins_wait(payload: Mapping[str, Any]) -> bool:
    """Whether it tells that a model provider is waited for from now on, which may take long."""
    about = (payload.get("metadata") or {}).get("about")
    return payload.get("status") == "streaming" and about == TimelineEvent.ABOUT_WAIT


def _timeline_event(kind: str, event: TimelineEvent) -> Payload:
    return _payload(
        kind,
        event.session_id,
        event_id=str(event.pk),
        stage_id=_text(event.stage_id),
        execution_id=_text(event.execution_id),
        parent_execution_id=_text(event.parent_execution_id),
        event_type=event.event_type,
        status=event.status,
        content=event.content,
        metadata=wire_metadata(event.metadata),
        sequence_number=event.sequence_number,
    )


def wire_metadata(metadata: Mapping[str, Any]) -> Mapping[str, Any]:
    """As the contract has it: the arguments of a call are JSON in a text."""
    arguments = metadata.get("arguments")
    if not isinstance(arguments, dict):
        return metadata
    return {**metadata, "arguments": json.dumps(arguments, ensure_ascii=False)}


def session_status(session_id: uuid.UUID, status: str, **fields: object) -> Payload:
    return _payload("session.status", session_id, status=status, **fields)


def session_updated(session_id: uuid.UUID) -> Payload:
    """The same status, and what a page shows of the session is another: its end is told once."""
    return _payload("session.updated", session_id)


def stage_status(stage: Stage) -> Payload:
    """A running stage is `started` on the wire."""
    status = "started" if stage.status == Stage.Status.ACTIVE else stage.status
    return _payload(
        "stage.status",
        stage.session_id,
        stage_id=str(stage.pk),
        stage_name=stage.stage_name,
        stage_index=stage.stage_index,
        stage_type=stage.stage_type,
        referenced_stage_id=_text(stage.referenced_stage_id),
        status=status,
        error_message=stage.error_message,
    )


def chat_created(session_id: uuid.UUID, chat_id: uuid.UUID, created_by: str) -> Payload:
    return _payload("chat.created", session_id, chat_id=str(chat_id), created_by=created_by)


def interaction_created(
    execution: AgentExecution, interaction_id: uuid.UUID, interaction_type: str
) -> Payload:
    return _payload(
        "interaction.created",
        execution.session_id,
        stage_id=str(execution.stage_id),
        execution_id=str(execution.pk),
        interaction_id=str(interaction_id),
        interaction_type=interaction_type,
    )


def execution_status(execution: AgentExecution) -> Payload:
    """Stored, so that a page that reconnects knows which agents have ended."""
    return _payload(
        "execution.status",
        execution.session_id,
        stage_id=str(execution.stage_id),
        execution_id=str(execution.pk),
        parent_execution_id=_text(execution.parent_execution_id),
        agent_index=execution.agent_index,
        agent_name=execution.agent_name,
        status=execution.status,
        error_message=execution.error_message or None,
    )


def approval_requested(approval: ApprovalRequest) -> Payload:
    """Without the arguments, which may be long: whoever decides reads them at the request."""
    return _approval(
        APPROVAL_REQUESTED,
        approval,
        reason=approval.reason,
        expires_at=approval.expires_at.isoformat(),
    )


def approval_decided(approval: ApprovalRequest) -> Payload:
    """It was approved or denied, or expired with nobody's decision."""
    return _approval(
        APPROVAL_DECIDED,
        approval,
        decided_by=approval.decided_by or None,
        decision_reason=approval.decision_reason or None,
        decided_at=approval.decided_at.isoformat() if approval.decided_at else None,
    )


def _approval(kind: str, approval: ApprovalRequest, **more: object) -> Payload:
    return _payload(
        kind,
        approval.session_id,
        approval_id=str(approval.pk),
        stage_id=str(approval.execution.stage_id),
        execution_id=str(approval.execution_id),
        tool_call_id=approval.tool_call_id,
        tool_number=approval.tool_number,
        server_name=approval.server_name,
        tool_name=approval.tool_name,
        target=approval.target,
        risk=approval.risk,
        status=approval.status,
        **more,
    )


# ---- Transient ----------------------------------------------------------------------------------


def stream_chunk(execution: AgentExecution, event_id: str, offset: int, delta: str) -> Payload:
    """`offset` counts the characters of the block before `delta`."""
    return _payload(
        STREAM_CHUNK,
        execution.session_id,
        event_id=event_id,
        execution_id=str(execution.pk),
        parent_execution_id=_text(execution.parent_execution_id),
        offset=offset,
        delta=delta,
    )


def execution_progress(execution: AgentExecution, phase: str, message: str) -> Payload:
    return _payload(
        "execution.progress",
        execution.session_id,
        stage_id=str(execution.stage_id),
        execution_id=str(execution.pk),
        parent_execution_id=_text(execution.parent_execution_id),
        phase=phase,
        message=message,
    )


def session_progress(session: AlertSession, stage: Stage, *, active_executions: int) -> Payload:
    total = max(session.total_stages, 1)
    return _payload(
        "session.progress",
        session.pk,
        current_stage_name=stage.stage_name,
        current_stage_index=min(stage.stage_index, total),
        total_stages=total,
        active_executions=active_executions,
        status_text=_say_beginning(stage),
    )


def _say_beginning(stage: Stage) -> str:
    """In words that clients of the contract know the phase by."""
    match stage.stage_type:
        case Stage.Type.SYNTHESIS:
            return "Synthesizing..."
        case Stage.Type.EXEC_SUMMARY:
            return "Generating executive summary"
    return f"Starting stage: {stage.stage_name}"


def with_event_id(payload: Mapping[str, Any], seq: int) -> Payload:
    """The stored payload as it goes over the wire."""
    return {**payload, "db_event_id": seq}

"""What an agent's journal asks to be kept: one function, one transaction, for each step."""

import uuid
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

from django.utils import timezone

from agents.our_lines import put_above
from agents.records import (
    CallPlan,
    ClosedBlock,
    LLMCallRecord,
    ModelSwitch,
    PlannedCall,
    ToolCallRecord,
)
from agents.types import JSON, BlockKind, Note, ToolCheck, ToolResult, ToolTarget
from agents.types import Message as AgentMessage
from investigations.models import AgentExecution, MCPInteraction, Stage, TimelineEvent
from investigations.rendering.markdown import render_markdown
from investigations.selectors.changes import (
    changes_of_session,
    was_write_proposed,
    write_changes,
)
from investigations.services.executions import replace_model
from investigations.services.gate_records import SafetyRecord, describe_acts
from investigations.services.ledger import LeaseWrite, lease_write
from investigations.services.step_rows import (
    Mask,
    add_messages,
    add_note,
    describe_call,
    describe_tool_call,
    mask_message,
    mask_note,
    new_event,
)
from investigations.stream_messages import (
    interaction_created,
    timeline_event_completed,
    tool_event_id,
)

MOST_ORDERED = 100
"""Arguments of a call whose order is kept."""


def record_prompt(
    execution: AgentExecution, messages: Sequence[AgentMessage], mask: Mask = str
) -> None:
    # Before the session is locked: a prompt may be long.
    masked = [replace(message, content=mask(message.content)) for message in messages]
    with lease_write(execution) as write:
        add_messages(write, execution, masked)


def open_block(execution: AgentExecution, kind: BlockKind) -> TimelineEvent:
    with lease_write(execution) as write:
        event = new_event(execution, kind)
        write.announce(event)
        write.rows.insert(event)
        return event


def record_llm_call(
    execution: AgentExecution,
    record: LLMCallRecord,
    mask: Mask,
    blocks: Sequence[TimelineEvent] = (),
    acts: Sequence[SafetyRecord] = (),
) -> tuple[TimelineEvent, ...]:
    """Keep a model call with its blocks, its message and its proposed tool calls.

    `blocks` are the events of `record.blocks`, as `open_block` gave them; `acts` is what the gate
    did in the meantime. Returns the event of each proposed call, in order.
    """
    # Masking and rendering take a while: before the session is locked.
    interaction = describe_call(execution, record, mask)
    kept = mask_message(record.message, mask) if record.message else None
    notes = [mask_note(note, mask) for note in record.notes]
    for event, block in zip(blocks, record.blocks, strict=True):
        is_answer = block.kind == "llm_response"
        _close_block(event, block, interaction.pk, mask, record.sent_back if is_answer else "")
        event.metadata = {**event.metadata, **_why_concluded(record)}
    audit = describe_acts(execution, acts)
    with lease_write(execution) as write:
        write.audit += audit
        if kept:
            interaction.last_message_id = add_messages(write, execution, [kept])[-1].pk
        write.rows.insert(interaction)
        for event in blocks:
            write.rows.update(event, _CLOSED_FIELDS)
            write.tell(timeline_event_completed(event))
        proposed = [_propose(write, execution, call) for call in record.planned_calls]
        for note in notes:
            if not _is_repeated_notice(execution, note):
                add_note(write, execution, note.kind, note.content, note.metadata)
        write.tell(interaction_created(execution, interaction.pk, "llm"))
        write.touch()
        return tuple(proposed)


def record_calls(
    execution: AgentExecution, plan: CallPlan, mask: Mask, acts: Sequence[SafetyRecord] = ()
) -> tuple[TimelineEvent, ...]:
    """Keep calls that no model proposed, with the message that they are in. Returns the event of
    each, in order."""
    kept = mask_message(plan.message, mask)
    audit = describe_acts(execution, acts)
    with lease_write(execution) as write:
        write.audit += audit
        add_messages(write, execution, [kept])
        proposed = [_propose(write, execution, call) for call in plan.planned_calls]
        write.touch()
        return tuple(proposed)


_CLOSED_FIELDS = (
    "content", "content_html", "status", "llm_interaction_id", "updated_at", "metadata",
)  # fmt: skip


def _close_block(
    event: TimelineEvent,
    block: ClosedBlock,
    interaction_id: uuid.UUID,
    mask: Mask,
    sent_back: str = "",
) -> None:
    event.content = mask(block.content)
    event.status = block.status
    if sent_back:
        event.metadata = {**event.metadata, "sent_back": mask(sent_back)}
    event.llm_interaction_id = interaction_id
    event.updated_at = timezone.now()
    if block.is_final:
        event.metadata = {**event.metadata, "is_final": True}
    if block.kind == "llm_response":
        event.content_html = render_markdown(event.content)


def _why_concluded(record: LLMCallRecord) -> dict[str, JSON]:
    """Of an answer that the model was made to give, as clients of the contract look for it."""
    if record.interaction_type != "forced_conclusion":
        return {}
    return {
        "forced_conclusion": True,
        "iterations_used": record.iteration,
        "max_iterations": record.max_iterations,
    }


def _propose(write: LeaseWrite, execution: AgentExecution, planned: PlannedCall) -> TimelineEvent:
    number = write.next_tool_number()
    event = new_event(execution, TimelineEvent.Type.LLM_TOOL_CALL)
    event.pk = tool_event_id(execution.pk, number)
    event.metadata = {
        **_describe_target(planned.target),
        "tool_name": planned.target.tool or planned.call.name,
        "tool_number": number,
        "tool_call_id": planned.call.id,
        "may_write": planned.target.may_write,
    }
    write.announce(event)
    write.rows.insert(event)
    return event


def record_tool_call(
    execution: AgentExecution,
    record: ToolCallRecord,
    proposed: TimelineEvent | None = None,
    acts: Sequence[SafetyRecord] = (),
) -> None:
    """Keep a finished tool call: its interaction, its timeline event and its message.

    `proposed` is the call's event; one that an earlier attempt proposed is looked up. `acts` is
    what the gate did about it: it is kept together with the result or not at all.
    """
    interaction = describe_tool_call(execution, record.target, record.result)
    interaction.tool_name = record.target.tool or record.call.name
    interaction.tool_number = record.number
    check = record.result.check
    audit = describe_acts(execution, acts)
    with lease_write(execution) as write:
        event = proposed or execution.timeline_events.get(
            event_type=TimelineEvent.Type.LLM_TOOL_CALL, metadata__tool_number=record.number
        )
        write.audit += audit
        write.rows.insert(interaction)
        add_messages(write, execution, [record.message], tool_number=record.number)
        _complete_tool_event(write, event, record, interaction.pk)
        write.tell(interaction_created(execution, interaction.pk, "mcp"))
        if check is not None:
            _add_check(write, execution, record.number, check)
        write.touch()


def describe_check(
    execution: AgentExecution, number: int, check: ToolCheck
) -> tuple[MCPInteraction, TimelineEvent]:
    """A read that no model proposed, as a call of ours behind the write it is about; the event has
    no number yet, and the caller saves both."""
    interaction = describe_tool_call(
        execution, check.target, check.result,
        check_of=number, status=check.status, reason=check.reason,
    )  # fmt: skip
    event = new_event(execution, TimelineEvent.Type.LLM_TOOL_CALL)
    event.status = TimelineEvent.Status.COMPLETED
    event.content = check.result.stored
    event.mcp_interaction_id = interaction.pk
    event.metadata = {
        **_describe_target(check.target),
        "proposed_by": "tarsy",
        "check_of": number,
        "verification": {"status": check.status, "reason": check.reason},
        **_facts_of(check.result),
    }
    return interaction, event


def _add_check(write: LeaseWrite, execution: AgentExecution, number: int, check: ToolCheck) -> None:
    interaction, event = describe_check(execution, number, check)
    write.rows.insert(interaction)
    write.announce(event)
    write.rows.insert(event)
    write.tell(interaction_created(execution, interaction.pk, "mcp"))


_DONE_FIELDS = ("status", "content", "mcp_interaction_id", "updated_at", "metadata")


def _complete_tool_event(
    write: LeaseWrite, event: TimelineEvent, record: ToolCallRecord, interaction_id: uuid.UUID
) -> None:
    result = record.result
    event.status = TimelineEvent.Status.COMPLETED
    event.content = result.stored
    event.mcp_interaction_id = interaction_id
    event.updated_at = timezone.now()
    event.metadata = {**event.metadata, **_facts_of(result), **_standing_of(result)}
    write.rows.update(event, _DONE_FIELDS)
    write.tell(timeline_event_completed(event))


def _describe_target(target: ToolTarget) -> dict[str, JSON]:
    return {
        "server_name": target.server,
        "tool_name": target.tool,
        "tool_type": target.kind,
        "arguments": dict(target.arguments),
        # The database keeps an object in an order of its own.
        "argument_order": [*islice(target.arguments, MOST_ORDERED)],
    }


def _facts_of(result: ToolResult) -> dict[str, JSON]:
    return {
        "is_error": result.is_error,
        "duration_ms": result.duration_ms,
        "size_bytes": result.size_bytes,
        "given_bytes": len(result.content.encode()),
        "truncated": result.truncated,
        "masked": result.masked,
    }


def _standing_of(result: ToolResult) -> dict[str, JSON]:
    """How the writes of the execution stood when a call had ended, and what a check showed."""
    facts: dict[str, JSON] = {}
    if result.check is not None:
        facts["verification"] = {"status": result.check.status, "reason": result.check.reason}
    if result.writes is not None:
        facts["writes"] = result.writes.to_json()
    return facts


def record_note(execution: AgentExecution, note: Note, mask: Mask) -> None:
    """Put something on the timeline that is neither model text nor a tool call.

    An answer in the chat and a synthesis are reports of their own: they tell what was changed. An
    answer tells that nothing was only where there was a question of it.
    """
    note = mask_note(note, mask)
    if note.kind == "final_analysis":
        note = _head_with_changes(execution, note)
    with lease_write(execution) as write:
        if _is_repeated_analysis(execution, note):
            return
        add_note(write, execution, note.kind, note.content, note.metadata)


def _head_with_changes(execution: AgentExecution, note: Note) -> Note:
    kind = Stage.objects.values_list("stage_type", flat=True).get(pk=execution.stage_id)
    if kind not in (Stage.Type.CHAT, Stage.Type.SYNTHESIS):
        return note
    is_chat = kind == Stage.Type.CHAT
    changes = changes_of_session(execution.session_id, with_chat=is_chat)
    if is_chat and not changes and not _is_change_in_question(execution, note):
        return note
    return replace(note, content=put_above(write_changes(changes), note.content))


def _is_change_in_question(execution: AgentExecution, answer: Note) -> bool:
    """Whether a write was proposed, or the answer spoke of one that never was."""
    return bool(answer.metadata.get("withheld_claims")) or was_write_proposed(execution.session_id)


def record_fallback(execution: AgentExecution, switch: ModelSwitch, mask: Mask) -> None:
    """Show that another model took over, and keep it as the execution's model."""
    with lease_write(execution) as write:
        replace_model(execution, switch)
        before, after = switch.before, switch.after
        text = (
            f"{after.model} of {after.provider_name} goes on in place of {before.model} of "
            f"{before.provider_name}. {switch.reason}"
        )
        metadata = {**switch.metadata, "reason": mask(switch.reason)}
        add_note(write, execution, TimelineEvent.Type.PROVIDER_FALLBACK, mask(text), metadata)


def _is_repeated_analysis(execution: AgentExecution, note: Note) -> bool:
    """A continued execution may tell its conclusion again, if it was told just before the end."""
    if note.kind != "final_analysis":
        return False
    return execution.timeline_events.filter(event_type=note.kind).exists()


def _is_repeated_notice(execution: AgentExecution, note: Note) -> bool:
    """What a continued execution finds out once more, such as a native tool it cannot be given."""
    if note.kind != "notice":
        return False
    told = execution.timeline_events.filter(event_type=note.kind, content=note.content)
    return told.exists()

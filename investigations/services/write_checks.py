"""Looking once more, because a person asks, whether a write of an investigation took effect."""

import json
import uuid
from dataclasses import replace

import redis

from agents.our_lines import put_above, without
from agents.types import CHANGED, UNVERIFIED, ToolCall, ToolCheck, WriteReport, WriteStatus
from investigations.models import AgentExecution, AlertSession, MCPInteraction, TimelineEvent
from investigations.queue import NotSent, enqueue_write_check
from investigations.selectors.changes import Change, changes_of_session, write_changes
from investigations.selectors.open_writes import find_open_write, find_write
from investigations.selectors.system.asked_work import EXPIRES_SECONDS
from investigations.selectors.system.workers import client, live_workers
from investigations.selectors.writes import SessionWrites, read_writes, unsettled_writes
from investigations.services.audit import record_audit
from investigations.services.ledger import SessionWrite, session_write
from investigations.services.recording import describe_check
from investigations.services.step_rows import new_event
from investigations.stream_messages import interaction_created, session_updated
from tarsy.errors import Conflict, NotFound

PAUSE_SECONDS = 20
"""How long after a look was asked for nobody may ask for the next one of that write."""


def ask_for_write_check(session_id: uuid.UUID, number: int, actor: str) -> None:
    """Have a worker look at a write's effect; what it sees comes into the timeline.

    Raises NotFound, and Conflict where nobody can look now, or was just asked to.
    """
    found = find_open_write(session_id, number)
    if found is None:
        raise NotFound(f"no write T{number} of this session is open")
    if found.unreadable:
        raise Conflict(f"It cannot be looked at from here: {found.unreadable}.")
    if not live_workers():
        raise Conflict("No worker was heard of lately, and it takes a worker to look.")
    gate = f"tarsy:write_check:{session_id}:{number}"
    try:
        if not client().set(gate, "1", nx=True, ex=PAUSE_SECONDS):
            raise Conflict("It is being looked at, or was just now. Wait a few seconds.")
        enqueue_write_check(session_id, number, expires_in=EXPIRES_SECONDS)
    except (redis.RedisError, NotSent) as error:
        raise Conflict("Redis does not answer, so no worker can be asked.") from error
    record_audit(actor, "write.check", "session", session_id, call=f"T{number}")


def read_write(session_id: uuid.UUID, number: int) -> tuple[AgentExecution, ToolCall] | None:
    """Who made a write, and its call as it is kept, once its agent has ended."""
    event = (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.LLM_TOOL_CALL,
            metadata__tool_number=number,
            metadata__may_write=True,
            execution__status__in=AgentExecution.TERMINAL,
        )
        .select_related("execution")
        .first()
    )
    if event is None or event.execution is None:
        return None
    data = event.metadata
    name = f"{data.get('server_name')}__{data.get('tool_name')}"
    arguments = json.dumps(data.get("arguments") or {})
    return event.execution, ToolCall(str(data.get("tool_call_id") or ""), name, arguments)


def record_write_check(execution: AgentExecution, number: int, check: ToolCheck) -> None:
    """Keep what a look showed, and let every line about the write say it from now on."""
    session_id = execution.session_id
    interaction, event = describe_check(execution, number, check)
    with session_write(session_id) as write:
        change = find_write(session_id, number)
        writes = read_writes(session_id)
        if change is not None and (report := _report_anew(writes, change, check)):
            event.metadata = {**event.metadata, "writes": report.to_json()}
        _keep(write, event, interaction)
        _tell_anew(write)
        write.tell(interaction_created(execution, interaction.pk, "mcp"))
        write.tell(session_updated(session_id))


def record_no_look(execution: AgentExecution, number: int, reason: str) -> None:
    """Tell that nobody could look, so that who asked does not wait for it."""
    event = new_event(execution, TimelineEvent.Type.NOTICE)
    event.status = TimelineEvent.Status.COMPLETED
    event.content = f"T{number} could not be looked at: {reason}."
    with session_write(execution.session_id) as write:
        write.announce(event)
        write.rows.insert(event)
        write.tell(session_updated(execution.session_id))


def _keep(write: SessionWrite, event: TimelineEvent, interaction: MCPInteraction) -> None:
    # At once, as the lines of the report are written from what the rows say.
    interaction.save(force_insert=True)
    write.announce(event)
    event.save(force_insert=True)


def _report_anew(writes: SessionWrites, change: Change, check: ToolCheck) -> WriteReport | None:
    """How the writes of an execution stand after a look at one of them."""
    if change.place is None:
        return None
    of_it = next(each for each in writes.latest if each.execution_id == change.execution_id)
    steps = [
        _judge(step, check) if place == change.place
        else replace(step, is_settled=True) if _is_made_good(step, place, change, check)
        else step
        for place, step in enumerate(writes.steps_of(of_it))
    ]  # fmt: skip
    at = (of_it.metadata.get("writes") or {}).get("at")
    newer = (at if isinstance(at, int) else 0) + 1
    return WriteReport(newer, tuple(steps), writes.count_left_out(of_it))


def _judge(step: WriteStatus, check: ToolCheck) -> WriteStatus:
    is_verified = check.status == "verified"
    ran = "yes" if is_verified else step.ran
    return replace(step, status=check.status, reason=check.reason, is_settled=is_verified, ran=ran)


def _is_made_good(step: WriteStatus, place: int, change: Change, check: ToolCheck) -> bool:
    """Whether it came before to the same place, which is now known to be as it should be."""
    is_before = change.place is not None and place < change.place
    return check.status == "verified" and is_before and step.target == change.target


def _tell_anew(write: SessionWrite) -> None:
    """The lines of ours above the report and its summary, as the trail is now."""
    session = write.session
    unsettled = tuple(each.write.sentence for each in unsettled_writes(session.pk))
    lines = (*unsettled, *write_changes(changes_of_session(session.pk, with_chat=False)))
    report, summary = (
        put_above(lines, without(UNVERIFIED, without(CHANGED, text)))
        for text in (session.final_analysis, session.executive_summary)
    )
    AlertSession.objects.filter(pk=session.pk).update(
        final_analysis=report, executive_summary=summary
    )

"""The writes of a session whose effect nothing has confirmed, whichever agent made them."""

import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast, get_args

from django.db.models import Q

from agents.types import CheckStatus, Ran, WriteStatus
from investigations.models import ApprovalRequest, TimelineEvent

CUT_SHORT = "it was under way when its agent ended"


@dataclass(frozen=True)
class UnsettledWrite:
    """A write that a report has to name, and the stage it belongs to."""

    stage_id: uuid.UUID | None
    write: WriteStatus


class SessionWrites:
    """What the timeline of a session tells of writes."""

    def __init__(self, events: Sequence[TimelineEvent]) -> None:
        self.events = events

    @cached_property
    def latest(self) -> tuple[TimelineEvent, ...]:
        """Each call tells how the writes of its execution stood when it had ended: of each
        execution the event that told it last."""
        latest: dict[uuid.UUID | None, TimelineEvent] = {}
        for event in self.events:
            known = latest.get(event.execution_id)
            if _moment(event) >= (_moment(known) if known is not None else 0):
                latest[event.execution_id] = event
        return tuple(latest.values())

    def steps_of(self, event: TimelineEvent) -> list[WriteStatus]:
        return _read(event)

    def count_left_out(self, event: TimelineEvent) -> int:
        """Older writes of its execution that it does not tell, as there were too many."""
        number = (event.metadata.get("writes") or {}).get("left_out")
        return number if isinstance(number, int) else 0

    @cached_property
    def cut_short(self) -> list[tuple[TimelineEvent, WriteStatus]]:
        """Writes that were proposed and never ended."""
        return list(_cut_short(self.events))


def read_writes(session_id: uuid.UUID) -> SessionWrites:
    return SessionWrites(list(_telling_events(session_id)))


def unsettled_writes(session_id: uuid.UUID) -> tuple[UnsettledWrite, ...]:
    """What was written and neither verified nor made good by a later write to the same target."""
    writes = read_writes(session_id)
    told = [
        UnsettledWrite(event.stage_id, status)
        for event in writes.latest
        for status in writes.steps_of(event)
        if not status.is_settled
    ]
    cut = [UnsettledWrite(event.stage_id, status) for event, status in writes.cut_short]
    return (*told, *cut)


def _telling_events(session_id: uuid.UUID) -> Iterable[TimelineEvent]:
    tells = Q(metadata__has_key="writes") | Q(metadata__may_write=True)
    kinds = (TimelineEvent.Type.LLM_TOOL_CALL, TimelineEvent.Type.FINAL_ANALYSIS)
    return (
        TimelineEvent.objects.filter(tells, session_id=session_id, event_type__in=kinds)
        .only("session_id", "stage_id", "execution_id", "status", "metadata")
        .order_by("sequence_number")
    )


def _moment(event: TimelineEvent) -> int:
    at = (event.metadata.get("writes") or {}).get("at")
    return at if isinstance(at, int) else -1


def _read(event: TimelineEvent) -> list[WriteStatus]:
    steps = (event.metadata.get("writes") or {}).get("steps")
    whole = steps if isinstance(steps, list) else []
    return [_read_step(step) for step in whole if isinstance(step, dict)]


def _read_step(step: Mapping[str, object]) -> WriteStatus:
    """Settled is only what says so."""
    tool, target, reason = (str(step.get(name) or "") for name in ("tool", "target", "reason"))
    known = step.get("status")
    status = known if known in get_args(CheckStatus) else "unverified"
    said = step.get("ran")
    ran = cast(Ran, said if said in get_args(Ran) else "yes")
    return WriteStatus(
        tool, target, cast(CheckStatus, status), reason, step.get("is_settled") is True, ran
    )


def _cut_short(
    events: Iterable[TimelineEvent],
) -> Iterator[tuple[TimelineEvent, WriteStatus]]:
    """They may have run, unless a person was asked."""
    ended = (TimelineEvent.Status.COMPLETED, TimelineEvent.Status.STREAMING)
    open_ends = [
        event for event in events
        if event.status not in ended and event.metadata.get("may_write")
    ]  # fmt: skip
    unused = _find_unused(open_ends)
    for event in open_ends:
        data = event.metadata
        if _key_of(event) in unused:
            continue
        name = f"{data.get('server_name')}.{data.get('tool_name')}"
        yield event, WriteStatus(name, "", "unverified", CUT_SHORT, is_settled=False, ran="unknown")


Asked = tuple[uuid.UUID | None, str]


def _key_of(event: TimelineEvent) -> Asked:
    return event.execution_id, str(event.metadata.get("tool_call_id") or "")


def _find_unused(events: Sequence[TimelineEvent]) -> set[Asked]:
    """The calls for which an approval was asked and none was used: they never ran."""
    if not events:
        return set()
    executions = {event.execution_id for event in events if event.execution_id is not None}
    calls = {_key_of(event)[1] for event in events}
    rows = list(
        ApprovalRequest.objects.filter(
            execution_id__in=executions, tool_call_id__in=calls
        ).values_list("execution_id", "tool_call_id", "used_at")
    )
    asked: set[Asked] = {(execution, call) for execution, call, _ in rows}
    return asked - {(execution, call) for execution, call, used_at in rows if used_at is not None}

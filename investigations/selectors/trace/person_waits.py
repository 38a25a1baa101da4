"""How long tool calls waited for a person: known from the requests that were asked for them."""

import uuid
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from investigations.models import ApprovalRequest, TimelineEvent

CallKey = tuple[uuid.UUID | None, int | None]
"""An execution and the number of a tool call."""

_FIELDS = (
    "execution_id", "tool_number", "status", "decided_by", "decision_reason", "created_at",
    "decided_at", "used_at",
)  # fmt: skip


@dataclass(frozen=True)
class PersonWait:
    """The requests of one call, in the order they were asked."""

    asked: Sequence[ApprovalRequest]

    @property
    def last(self) -> ApprovalRequest:
        return self.asked[-1]

    @property
    def ended_at(self) -> datetime | None:
        """Since when nobody is waited for; None while somebody is."""
        return self.last.used_at or self.last.decided_at

    @property
    def waited_ms(self) -> int:
        """Until it was let through, or until it was known that it will not be."""
        return round(sum(map(_seconds, self.asked)) * 1000)

    def ran_ms(self, whole_ms: int | None, ended_at: datetime) -> int | None:
        """What is left for the tool of all that a call took; None for one that never ran."""
        if self.last.used_at is None:
            return None
        if whole_ms is not None and whole_ms >= self.waited_ms:
            return whole_ms - self.waited_ms
        # Taken up again by another process, which knows only its own part of the waiting.
        return max(0, round((ended_at - self.last.used_at).total_seconds() * 1000))


def tool_ms(
    wait: PersonWait | None, whole_ms: int | None, ended_at: datetime, *, was_sent: bool
) -> int | None:
    """What the tool itself took of all that a call took; None for a call that was not sent."""
    if wait is not None:
        return wait.ran_ms(whole_ms, ended_at)
    return whole_ms if was_sent else None


def waits_of_events(events: Collection[TimelineEvent]) -> Mapping[CallKey, PersonWait]:
    """The waits of those that may write; asks nothing where there is none."""
    executions = {event.execution_id for event in events if event.metadata.get("may_write")}
    if not executions:
        return {}
    asked = ApprovalRequest.objects.filter(execution_id__in=executions).only(*_FIELDS)
    return waits_of(list(asked))


def waits_of(approvals: Collection[ApprovalRequest]) -> Mapping[CallKey, PersonWait]:
    calls: dict[CallKey, list[ApprovalRequest]] = defaultdict(list)
    for approval in sorted(approvals, key=lambda each: each.created_at):
        if approval.tool_number is not None:
            calls[approval.execution_id, approval.tool_number].append(approval)
    return {key: PersonWait(asked) for key, asked in calls.items()}


def _seconds(approval: ApprovalRequest) -> float:
    end = approval.used_at or approval.decided_at or datetime.now(UTC)
    return (end - approval.created_at).total_seconds()

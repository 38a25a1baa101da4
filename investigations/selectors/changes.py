"""What TARSy changed in a session, by the trail of its gate: never by the word of a model."""

import uuid
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agents.our_lines import as_code, as_words
from agents.types import CHANGED, CheckStatus, Ran
from config.words import count
from investigations.models import ApprovalRequest, Stage, TimelineEvent
from investigations.selectors.writes import SessionWrites, read_writes
from safety.evidence import judge_outcome

NOTHING = f"{CHANGED} TARSy changed nothing."


@dataclass(frozen=True)
class Change:
    """A write that ran, or may have run. `approved_by` is empty where nobody was asked, or
    where the call and so its approval is not known."""

    stage_id: uuid.UUID | None
    number: int | None
    tool: str
    target: str
    ran: Ran
    status: CheckStatus
    reason: str
    approved_by: str = ""
    is_settled: bool = False
    """It needs no mention beside its line: it is verified, or a later write there is."""
    execution_id: uuid.UUID | None = None
    place: int | None = None
    """Which of the writes of its execution it is; None where none of them tells of it."""
    earlier: int = 0
    """Writes of the same execution before it that are too many to be told one by one."""

    @property
    def sentence(self) -> str:
        """One line of Markdown that no text in it breaks out of."""
        cited = f" [T{self.number}]" if self.number is not None else ""
        where = f" on {as_code(self.target)}" if self.target else ""
        did = "has run" if self.ran == "yes" else "may have run"
        shown = "verified" if self.status == "verified" else "not verified"
        what = f"{self.tool} {did}{where}{cited}; {self._who}"
        return f"{CHANGED} {what}; {shown}: {as_words(self.reason)}.{self._before}"

    @property
    def _before(self) -> str:
        if not self.earlier:
            return ""
        return (
            f" Before it came {count(self.earlier, 'write')} more, which only the timeline tells."
        )

    @property
    def _who(self) -> str:
        if self.approved_by:
            return f"approved by {as_words(self.approved_by)}"
        # An approval is known by the number of its call.
        return "nobody was asked" if self.number is not None else "it is not known who was asked"


def changes_of_session(session_id: uuid.UUID, *, with_chat: bool = True) -> tuple[Change, ...]:
    """Every write that was sent to its server, in order, but those that it did not take."""
    found = [each for each in all_changes(session_id) if each.ran != "no"]
    if not with_chat:
        chats = set(
            Stage.objects.filter(session_id=session_id, stage_type=Stage.Type.CHAT).values_list(
                "pk", flat=True
            )
        )
        found = [each for each in found if each.stage_id not in chats]
    return tuple(found)


def was_write_proposed(session_id: uuid.UUID) -> bool:
    """Whether any call of a session may have written, whatever became of it."""
    calls = TimelineEvent.objects.filter(session_id=session_id, metadata__may_write=True)
    return calls.filter(event_type=TimelineEvent.Type.LLM_TOOL_CALL).exists()


def all_changes(session_id: uuid.UUID) -> tuple[Change, ...]:
    """Those that a server did not take as well."""
    writes = read_writes(session_id)
    approvers = _read_approvers(session_id)
    return (*_of_executions(writes, approvers), *_cut_short(writes, approvers))


def write_changes(changes: Sequence[Change]) -> tuple[str, ...]:
    """A line of ours for each change, or the one that says that there was none."""
    return tuple(each.sentence for each in changes) or (NOTHING,)


Sent = tuple[str, int | None]
_UNKNOWN: Sent = ("", None)
Approvers = dict[tuple[uuid.UUID | None, int | None], str]


def _read_approvers(session_id: uuid.UUID) -> Approvers:
    used = ApprovalRequest.objects.filter(
        session_id=session_id, used_at__isnull=False, tool_number__isnull=False
    )
    rows = used.values_list("execution_id", "tool_number", "decided_by")
    return {(execution, number): person for execution, number, person in rows}


def _of_executions(writes: SessionWrites, approvers: Approvers) -> Iterable[Change]:
    calls = _calls_that_were_sent(writes.events)
    for event in writes.latest:
        steps, left_out = writes.steps_of(event), writes.count_left_out(event)
        known = calls[event.execution_id]
        # The report of an execution tells its last writes: the newest are the newest there too.
        placed = known[-len(steps) :] if len(known) >= len(steps) else [_UNKNOWN] * len(steps)
        first = next((place for place, step in enumerate(steps) if step.ran != "no"), 0)
        for place, ((tool, told), step) in enumerate(zip(placed, steps, strict=True)):
            number = told if tool == step.tool else None
            approved_by = approvers.get((event.execution_id, number), "")
            yield Change(
                event.stage_id, number, step.tool, step.target, step.ran, step.status,
                step.reason, approved_by, step.is_settled, event.execution_id, place,
                earlier=left_out if place == first else 0,
            )  # fmt: skip


def _calls_that_were_sent(events: Iterable[TimelineEvent]) -> dict[uuid.UUID | None, list[Sent]]:
    """Tool and number of the writes that were sent and have ended, by execution and in order."""
    calls: dict[uuid.UUID | None, list[Sent]] = defaultdict(list)
    for event in events:
        data = event.metadata
        number = data.get("tool_number")
        if event.status != TimelineEvent.Status.COMPLETED or not data.get("may_write"):
            continue
        # Only an error can say that it was not sent; other texts are long and need not be read.
        is_blocked = (
            data.get("is_error") and judge_outcome(event.content, is_error=True) == "blocked"
        )
        if isinstance(number, int) and not is_blocked:
            tool = f"{data.get('server_name')}.{data.get('tool_name')}"
            calls[event.execution_id].append((tool, number))
    return calls


def _cut_short(writes: SessionWrites, approvers: Approvers) -> Iterable[Change]:
    for event, step in writes.cut_short:
        number = event.metadata.get("tool_number")
        approved_by = approvers.get((event.execution_id, number), "")
        yield Change(
            event.stage_id, number if isinstance(number, int) else None, step.tool, step.target,
            step.ran, step.status, step.reason, approved_by, step.is_settled, event.execution_id,
        )  # fmt: skip

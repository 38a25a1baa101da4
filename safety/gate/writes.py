"""The writes of an execution, and how far each one's effect is confirmed.

A check of ours that confirms makes a write verified; one that shows something else makes it failed.
Where no check is known or none could run, a read does whose answer shows what was written to.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from agents.types import CheckStatus, Ran, WriteStatus
from safety.checks import Check, is_this_check, judge_answer, plan_check
from safety.evidence import Judgement, SettledCall
from safety.gate.looks import shows_state_of
from safety.refusals import read_details
from safety.targets import find_identifiers, find_ops_target

NOT_LOOKED_AT = "nothing has looked at its effect since"
NOT_TAKEN = "its server did not take it"
MAX_REPORTED = 50


@dataclass(frozen=True)
class Write:
    """A write that was sent. `names` are those that a read of its effect has to mention."""

    call: SettledCall
    names: tuple[str, ...]
    check: Check | None
    status: CheckStatus = "unverified"
    reason: str = NOT_LOOKED_AT
    ran: Ran = "yes"

    @property
    def target(self) -> str:
        return ", ".join(self.names)


class Writes:
    """Every write of an execution that was sent, in order."""

    def __init__(self) -> None:
        self._writes: list[Write] = []
        self._due: Write | None = None

    def __iter__(self) -> Iterator[Write]:
        return iter(self._writes)

    def __len__(self) -> int:
        return len(self._writes)

    def add(self, call: SettledCall) -> None:
        write = _read_end(Write(call, _names_of(call), _check_of(call)))
        self._writes.append(write)
        self._due = None if write.ran == "no" else write

    def take_check(self, call_id: str) -> Check | None:
        """The check that is due after this call; None when it was no write, or was taken before."""
        due, self._due = self._due, None
        return due.check if due is not None and due.call.call_id == call_id else None

    def note_check(self, judgement: Judgement) -> None:
        """What our own check of the last write showed."""
        if self._writes:
            self._writes[-1] = _judge(self._writes[-1], judgement)

    def note_read(self, call: SettledCall) -> None:
        """A read of the model's has ended: it may show the effect of writes that ended before."""
        for position, write in enumerate(self._writes[: call.writes_before]):
            if write.status == "verified" or write.ran == "no":
                continue
            if (
                write.check is not None
                and call.outcome == "succeeded"
                and is_this_check(write.check, call.name, call.arguments)
            ):
                self._writes[position] = _judge(write, judge_answer(write.check, call.text))
            elif write.status == "unverified" and _looks_at(call, write):
                shown = Judgement("verified", f"{call.name} has looked at it since")
                self._writes[position] = _judge(write, shown)

    def report(self) -> tuple[WriteStatus, ...]:
        return tuple(
            WriteStatus(
                write.call.name, write.target, write.status, write.reason,
                is_settled=self._is_settled(position), ran=write.ran,
            )
            for position, write in enumerate(self._writes)
        )[-MAX_REPORTED:]  # fmt: skip

    def _is_settled(self, position: int) -> bool:
        write = self._writes[position]
        later = self._writes[position:]
        return any(each.status == "verified" and _is_same_place(each, write) for each in later)


def _read_end(write: Write) -> Write:
    """How far a write is from confirmed when its call has just ended."""
    said = read_details(write.call.text).get("reason")
    match write.call.outcome:
        case "failed":
            return replace(write, status="failed", reason="it reported an error")
        case "not carried out":
            return replace(write, status="failed", reason=str(said or NOT_TAKEN), ran="no")
        case "unknown":
            return replace(write, reason=str(said or NOT_LOOKED_AT), ran="unknown")
    return write


def _check_of(call: SettledCall) -> Check | None:
    return plan_check(
        call.server, call.tool, call.arguments,
        is_own_server=call.is_own_server, verify=call.verify,
    )  # fmt: skip


def _judge(write: Write, judgement: Judgement) -> Write:
    """An error that a tool reported stays one, whatever a look shows afterwards."""
    if write.call.outcome == "failed":
        return replace(write, reason=f"it reported an error; afterwards {judgement.reason}")
    if judgement.status == "unverified" and write.status == "failed":
        return write
    ran: Ran = "yes" if judgement.status == "verified" else write.ran
    reason = judgement.reason
    if ran == "unknown":
        reason = f"{write.reason}; afterwards {reason}"
    return replace(write, status=judgement.status, reason=reason, ran=ran)


def _is_same_place(one: Write, other: Write) -> bool:
    return one.call.server == other.call.server and one.names == other.names


def _names_of(call: SettledCall) -> tuple[str, ...]:
    if call.is_own_server:
        path = call.arguments.get("path")
        named = find_ops_target(call.arguments)
        every = (path if isinstance(path, str) else "", named)
        return tuple(name for name in every if name)
    found = find_identifiers(call.arguments, call.identifies)
    return tuple(each.value for each in found if not each.is_scope)


def _looks_at(call: SettledCall, write: Write) -> bool:
    """Whether a read on the write's server, or on ours, shows how what was written to is."""
    if call.server != write.call.server and not call.is_own_server:
        return False
    if call.is_of_the_past and call.tool != write.call.tool:
        return False
    return call.tool_class != "write" and shows_state_of(call, write.names, write.call)

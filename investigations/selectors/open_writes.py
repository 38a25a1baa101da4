"""The writes of a session that a reader has to know of before anything else it says.

What ran, or may have run, and is not confirmed; what a person denied or nobody decided about; what
its server did not take.
"""

import json
import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agents.our_lines import split_our_lines
from agents.types import Ran
from config import get_config
from investigations.models import AgentExecution, AlertSession, ApprovalRequest, TimelineEvent
from investigations.selectors.changes import Change, all_changes
from investigations.selectors.outcomes import Fact, name_outcome, read_undone_asks
from safety.grounding.claims import MAX_READ
from safety.grounding.denials import Done, find_denials

MOST_ARGUMENTS = 4_000
"""Characters of the arguments of a write that its denial is held against."""
_OWN_SERVER = "ops"
Kind = Literal["unverified", "failed", "denied", "expired", "not_carried_out"]


@dataclass(frozen=True)
class OpenWrite:
    """`reason` is a clause for people. `unreadable` says why nobody can look at its effect from
    here; it is empty where *Check now* can."""

    kind: Kind
    number: int | None
    tool: str
    target: str
    reason: str
    ran: Ran = "yes"
    who: str = ""
    unreadable: str = ""

    @property
    def is_open(self) -> bool:
        """It has changed something, or may have, and nothing has confirmed it."""
        return self.kind in ("unverified", "failed")


@dataclass(frozen=True)
class DeniedChange:
    """What a text says was not done, and the change that the trail has."""

    said: str
    change: Change


@dataclass(frozen=True)
class WritesToTell:
    """`denied_changes` are what the report says was not done, and was."""

    open_writes: Sequence[OpenWrite] = ()
    denied_changes: Sequence[DeniedChange] = ()
    has_change: bool = False
    """Whether any write ran, or may have run, confirmed or not."""

    @property
    def has_open_write(self) -> bool:
        """Whether something was changed, or may have been, that nothing has confirmed."""
        return any(write.is_open for write in self.open_writes)

    @property
    def facts(self) -> frozenset[Fact]:
        """What an outcome is named by."""
        found: dict[Fact, bool] = {"open": self.has_open_write, "changed": self.has_change}
        kinds = {write.kind for write in self.open_writes if not write.is_open}
        found |= {"undone": bool(kinds), "denied": "denied" in kinds, "expired": "expired" in kinds}
        return frozenset(fact for fact, holds in found.items() if holds)


def state_of(session: AlertSession, writes: WritesToTell) -> str:
    """The status to draw of a session, by what became of its writes and of its alerts."""
    return name_outcome(session, writes.facts)


def read_writes_to_tell(session_id: uuid.UUID, report: str = "") -> WritesToTell:
    """Of agents that have ended, in order, and what may have changed something first."""
    ended = set(
        AgentExecution.objects.filter(
            session_id=session_id, status__in=AgentExecution.TERMINAL
        ).values_list("pk", flat=True)
    )
    changes = all_changes(session_id)
    undone = tuple(_undone(session_id))
    unsettled = [
        each for each in changes if not each.is_settled and each.execution_id in ended
    ]  # fmt: skip
    checked = _numbers_looked_at(session_id) if unsettled else frozenset()
    found = [_of_change(each, checked) for each in unsettled]
    return WritesToTell(
        sorted((*found, *undone), key=lambda each: not each.is_open),
        () if undone else _find_denied_changes(session_id, changes, report),
        any(each.ran != "no" for each in changes),
    )


def find_write(session_id: uuid.UUID, number: int) -> Change | None:
    """The write of that number, as the trail tells it."""
    return next((each for each in all_changes(session_id) if each.number == number), None)


def _find_denied_changes(
    session_id: uuid.UUID, changes: Sequence[Change], report: str
) -> tuple[DeniedChange, ...]:
    """Each change once. Where a write was not carried out, the words may be about that one."""
    ran = [each for each in changes if each.ran == "yes"]
    if not report or not ran or any(each.ran == "no" for each in changes):
        return ()
    body = split_our_lines(report)[1]
    asked = _read_arguments(session_id, ran)
    done = [Done(f"{each.tool} {asked.get(each.number, '{}')}", each.tool) for each in ran]
    found: dict[int, DeniedChange] = {}
    for each in find_denials(body[:MAX_READ], done):
        said = " ".join(body[each.start : each.end].split())
        found.setdefault(each.place, DeniedChange(said, ran[each.place]))
    return tuple(found.values())


def _read_arguments(session_id: uuid.UUID, changes: Sequence[Change]) -> dict[int | None, str]:
    """What the call of each change was given, by its number."""
    rows = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__tool_number__in=[each.number for each in changes if each.number is not None],
    ).values_list("metadata__tool_number", "metadata__arguments")
    return {
        number: json.dumps(given or {}, ensure_ascii=False)[:MOST_ARGUMENTS]
        for number, given in rows
    }


def find_open_write(session_id: uuid.UUID, number: int) -> OpenWrite | None:
    """The write of that number where nothing has confirmed it."""
    found = read_writes_to_tell(session_id).open_writes
    return next((each for each in found if each.is_open and each.number == number), None)


def explain_unreadable(change: Change, checked: frozenset[int]) -> str:
    """Why its effect cannot be looked at; empty where it can."""
    if change.number is None:
        return "its call is not known any more"
    server, _, tool = change.tool.partition(".")
    config = get_config().mcp_servers.get(server)
    if config is None:
        return f'the server "{server}" is no longer configured'
    rule = config.tools.get(tool)
    is_known = change.number in checked or server == _OWN_SERVER or change.ran == "unknown"
    if is_known or (rule is not None and rule.verify is not None):
        return ""
    return (
        f"no read is known that shows its effect; mcp_servers.{server}.tools.{tool}.verify "
        "declares one"
    )


def _of_change(change: Change, checked: frozenset[int]) -> OpenWrite:
    kind: Kind = "failed" if change.status == "failed" else "unverified"
    if change.ran == "no":
        kind = "not_carried_out"
    return OpenWrite(
        kind, change.number, change.tool, change.target, change.reason, change.ran,
        change.approved_by, explain_unreadable(change, checked) if change.ran != "no" else "",
    )  # fmt: skip


def _numbers_looked_at(session_id: uuid.UUID) -> frozenset[int]:
    """The writes that a read of ours has looked at, so that it can again."""
    found = TimelineEvent.objects.filter(
        session_id=session_id,
        event_type=TimelineEvent.Type.LLM_TOOL_CALL,
        metadata__has_key="check_of",
    ).values_list("metadata__check_of", flat=True)
    return frozenset(number for number in found if isinstance(number, int))


def _undone(session_id: uuid.UUID) -> Iterator[OpenWrite]:
    for each in read_undone_asks([session_id]).get(session_id, ()):
        is_denied = each.status == ApprovalRequest.Status.DENIED
        yield OpenWrite(
            "denied" if is_denied else "expired", each.tool_number,
            f"{each.server_name}.{each.tool_name}", each.target,
            each.decision_reason or ("no reason was given" if is_denied else "nobody decided"),
            "no", each.decided_by or "",
        )  # fmt: skip

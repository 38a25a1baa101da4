"""Where an execution stands: what follows from its calls, each taken in once it has ended.

The same steps are taken while it runs and when an interrupted execution is rebuilt from what was
stored, so a crash loses nothing that was written down.
"""

from collections.abc import Iterable

from agents.types import JSON, WriteReport
from safety.evidence import Evidence, Judgement, SettledCall
from safety.gate.ops_results import read_resources
from safety.gate.resolved_context import Clock, ResolvedContext
from safety.gate.resources import Resource
from safety.gate.workflow import Workflow
from safety.gate.writes import Writes
from safety.refusals import read_envelope

_SINGLE = {"query": ("get", "config"), "discovery": ("get",)}
"""Calls that ask for one resource, which is then the one that is meant."""


class Standing:
    """The workflow, the resolved resources and the evidence of one execution."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self.workflow = Workflow()
        self.context = ResolvedContext(clock)
        self.evidence = Evidence()
        self.written = Writes()

    @property
    def writes(self) -> int:
        """How many writes were sent and have ended."""
        return len(self.written)

    def report(self) -> WriteReport | None:
        """How its writes stand; None where there was none."""
        if not self.written:
            return None
        told = self.written.report()
        return WriteReport(len(self.evidence), told, len(self.written) - len(told))

    def note(self, call: SettledCall) -> None:
        """Take in a call that has ended."""
        self.evidence.add(call)
        is_current = call.writes_before == self.writes
        if call.judgement is not None:
            self._note_check(call, call.judgement, is_current=is_current)
            return
        if call.tool_class != "write":
            if call.outcome == "succeeded":
                may_show = not call.is_of_the_past or self.workflow.last_write_tool == call.name
                self._note_read(call, verifies=is_current and may_show)
                self._note_meant(call, self._note_resources(call))
            # That it failed may show that what was to be gone is gone.
            self.written.note_read(call)
            return
        if call.was_sent:
            self.written.add(call)
            self.workflow = (
                self.workflow.note_undone() if call.outcome == "not carried out"
                else self.workflow.note_write(call.name, self._clock())
            )  # fmt: skip
        elif is_current and _code_of(call.text) == "FSM_BLOCKED":
            self.workflow = self.workflow.count_block()

    def _note_check(self, call: SettledCall, judgement: Judgement, *, is_current: bool) -> None:
        """A check of ours: only one that confirms lets the execution go on to write."""
        if is_current:
            self.written.note_check(judgement)
        if call.outcome == "succeeded":
            self._note_read(call, verifies=is_current and judgement.status == "verified")
            self._note_resources(call)

    def clear(self, *, keep_pinned: bool = False) -> None:
        """Forget resources and progress together; one without the other would be a lie."""
        self.context.clear(keep_pinned=keep_pinned)
        keeps = keep_pinned and len(self.context) > 0
        self.workflow = self.workflow.reset(keep_progress=keeps)

    def _note_read(self, call: SettledCall, *, verifies: bool) -> None:
        read = self.workflow.note_read(call.name, self._clock(), verifies=verifies)
        self.workflow = read.complete_verification()

    def _note_resources(self, call: SettledCall) -> tuple[Resource, ...]:
        if not call.is_own_server or call.tool_class != "resolve":
            return ()
        found = read_resources(call.text)
        for resource in found:
            self.context.add(resource)
        return found

    def _note_meant(self, call: SettledCall, found: tuple[Resource, ...]) -> None:
        if len(found) == 1 and call.arguments.get("action") in _SINGLE.get(call.tool, ()):
            self.context.mark_explicit(found[0].resource_id)


def rebuild(calls: Iterable[SettledCall], clock: Clock) -> Standing:
    """Where an execution stood when these were all the calls that had ended."""
    standing = Standing(clock)
    standing.context.begin_turn()
    for call in calls:
        standing.note(call)
    return standing


def _code_of(text: str) -> JSON:
    envelope = read_envelope(text)
    error = envelope.get("error") if envelope is not None else None
    return error.get("code") if isinstance(error, dict) else None

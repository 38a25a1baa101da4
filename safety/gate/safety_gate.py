"""The gate of one execution: control level, state, resolution, routing, a person; in that order."""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace

from agents.ports import ProposedAnswer, Review
from agents.types import WriteReport
from safety.checks import Check
from safety.evidence import Judgement, Outcome, SettledCall
from safety.gate.acts import (
    act_of_block,
    act_of_check,
    act_of_end,
    act_of_proposal,
    act_of_recovery,
    act_of_server_block,
    act_of_start,
    act_of_verification,
)
from safety.gate.answer_review import review_answer
from safety.gate.approval.asking_a_person import Ready, WriteClearance
from safety.gate.approval.desk import ApprovalDesk, NoDesk
from safety.gate.events import NoEvents, SafetyEvents
from safety.gate.execution_state import Standing, rebuild
from safety.gate.provenance import Block
from safety.gate.recovery import Recoveries
from safety.gate.resolved_context import Clock
from safety.gate.targeting import Target, find_target
from safety.gate.trust import refuse_stranger_of
from safety.gate_port import (
    ControlLevel,
    GateRequest,
    Look,
    Pass,
    look_at_nothing,
    settled_call,
)
from safety.refusals import Refusal

ReadEarlier = Callable[[], Awaitable[Sequence[SettledCall]]]
"""Brings the calls of a session before an execution, for answers about them."""


class SafetyGate:
    """Decides about the calls and the answer of one execution. Implements `safety.gate_port.Gate`.

    `given` is what the alert, a person and the configuration said; `clock` counts seconds.
    """

    def __init__(
        self,
        level: ControlLevel = "read_only",
        *,
        desk: ApprovalDesk | None = None,
        events: SafetyEvents | None = None,
        given: Sequence[Block] = (),
        clock: Clock = time.monotonic,
        read_earlier: ReadEarlier | None = None,
    ) -> None:
        self._read_earlier = read_earlier
        self._level = level
        self._events = events or NoEvents()
        self._given = tuple(given)
        self._clearance = WriteClearance(level, desk or NoDesk(), self._events, self._given)
        self._clock = clock
        self._recoveries = Recoveries(clock)
        self._interrupted: frozenset[str] = frozenset()
        self._standing = rebuild((), clock)

    @property
    def offers_writes(self) -> bool:
        return self._level != "read_only"

    @property
    def standing(self) -> Standing:
        return self._standing

    def recall(self, calls: Iterable[SettledCall], interrupted: Collection[str] = ()) -> None:
        """Go on where an interrupted execution stood.

        `interrupted` are the calls that were proposed and have no result: a write among them may
        have run.
        """
        self._standing = rebuild(calls, self._clock)
        self._interrupted = frozenset(interrupted)

    def screen(self, request: GateRequest) -> Refusal | None:
        if request.tool_class == "write" and request.is_check:
            return self._note_refusal(request, _refuse_writing_check(request))
        if request.tool_class != "write" or self._level != "read_only":
            return None
        refusal = Refusal(
            "POLICY_BLOCKED",
            f"{request.name} {say_class(request)}, and this investigation is read-only.",
            {
                "tool": request.name,
                "class": "write",
                "is_classed": request.is_classed,
                "control_level": self._level,
            },
            rule="read_only" if request.is_classed else "unclassed",
        )
        self._events.note(act_of_proposal(request))
        return self._note_refusal(request, refusal)

    async def admit(self, request: GateRequest, look: Look = look_at_nothing) -> Pass | Refusal:
        if refusal := self.screen(request):
            return refusal
        if request.tool_class == "write":
            self._events.note(act_of_proposal(request))
        if refusal := self._find_state_block(request):
            return self._note_refusal(request, refusal)
        if refusal := self._find_stranger(request):
            return self._note_refusal(request, refusal)
        target = find_target(request, self._standing)
        if isinstance(target, Refusal):
            return self._note_refusal(request, target)
        writes_before = self._standing.writes
        if request.tool_class != "write":
            return Pass(request, writes_before)
        claimed = await self._claim(request, target, look)
        if isinstance(claimed, Refusal):
            return self._note_refusal(request, claimed)
        return Pass(claimed, writes_before)

    def settle(
        self, passed: Pass, outcome: Outcome, text: str, judgement: Judgement | None = None
    ) -> None:
        request, before = passed.request, self._standing.workflow
        call = settled_call(request, outcome, text, passed.writes_before)
        self._standing.note(replace(call, judgement=judgement))
        if request.tool_class == "write":
            self._events.note(act_of_end(request, outcome))
        if outcome == "failed" and (act := act_of_server_block(request, text)):
            self._events.note(act)
        if judgement is not None:
            self._events.note(act_of_check(request, before, judgement))
        elif before.state == "VERIFYING" and self._standing.workflow.state == "READING":
            self._events.note(act_of_verification(request, before))
        if outcome != "succeeded" or request.is_check:
            return
        if recovered := self._recoveries.note_success(request.name, request.arguments):
            self._events.note(act_of_recovery(request, recovered))

    def take_check(self, call_id: str) -> Check | None:
        return self._standing.written.take_check(call_id)

    def give_up_check(self, judgement: Judgement) -> None:
        self._standing.written.note_check(judgement)

    def report_writes(self) -> WriteReport | None:
        return self._standing.report()

    async def review_answer(self, answer: ProposedAnswer) -> Review:
        earlier = await self._read_earlier() if self._read_earlier else ()
        return await review_answer(answer, self._standing, self._events, earlier=earlier)

    def _find_state_block(self, request: GateRequest) -> Refusal | None:
        workflow = self._standing.workflow
        reason = workflow.find_block(request.tool_class)
        if not reason:
            return None
        return Refusal(
            "FSM_BLOCKED",
            f"{request.name} is a write, and {reason}.",
            {
                "tool": request.name,
                "class": request.tool_class,
                "state": workflow.state,
                "last_write_tool": workflow.last_write_tool,
            },
            retryable=True,
            rule="look_first",
        )

    def _find_stranger(self, request: GateRequest) -> Refusal | None:
        """A read of a machine that only untrusted text names. For a write a person is asked."""
        if request.tool_class == "write" or request.is_check:
            return None
        return refuse_stranger_of(request, self._given, self._standing)

    async def _claim(
        self, request: GateRequest, target: Target, look: Look
    ) -> GateRequest | Refusal:
        """Let one write through, as it runs. Until it is settled no other one is.

        That it starts is kept before it does; where it cannot be kept, it does not start.
        """
        before = self._standing.workflow
        self._standing.workflow = before.begin_write(request.name)
        ready: Ready | Refusal | None = None
        try:
            was_interrupted = request.call_id in self._interrupted
            ready = await self._clearance.clear(
                request, target, look, self._standing, was_interrupted=was_interrupted
            )
            if isinstance(ready, Ready):
                self._events.note(act_of_start(ready.request, ready.target))
                await self._events.commit()
        except BaseException:
            if isinstance(ready, Ready):
                self._events.note(act_of_end(request, "blocked"))
            self._standing.workflow = self._standing.workflow.abandon_write(before)
            raise
        if isinstance(ready, Refusal):
            self._standing.workflow = self._standing.workflow.abandon_write(before)
            return ready
        return ready.request

    def _note_refusal(self, request: GateRequest, refusal: Refusal) -> Refusal:
        """Every refusal is counted, and stands among the calls of this execution."""
        self._events.note(act_of_block(request, refusal))
        if refusal.retryable:
            self._recoveries.note_block(refusal.code, request.name, request.arguments)
        if request.is_check:
            return refusal
        outcome: Outcome = "blocked" if refusal.blocked else "unknown"
        writes = self._standing.writes
        self._standing.note(settled_call(request, outcome, refusal.to_text(), writes))
        return refusal


def say_class(request: GateRequest) -> str:
    """Why a call counts as a write, as the end of a sentence about it."""
    if request.is_classed:
        return "changes things"
    return "is a tool that nobody has classed, so it counts as one that changes things"


def _refuse_writing_check(request: GateRequest) -> Refusal:
    return Refusal(
        "POLICY_BLOCKED",
        f"{request.name} is declared as a check and is no read.",
        {"tool": request.name, "class": "write"},
        rule="writing_check",
    )

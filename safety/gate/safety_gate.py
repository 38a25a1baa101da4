"""The gate of one execution: control level, state, resolution, routing, a person; in that order."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

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
from safety.gate.approvals import ApprovalDesk, Decision, NoDesk, Proposal
from safety.gate.events import NoEvents, SafetyEvents
from safety.gate.file_changes import FileChange, look_at_file
from safety.gate.previews import preview_write
from safety.gate.provenance import Block
from safety.gate.recovery import Recoveries
from safety.gate.resolved_context import Clock
from safety.gate.standing import Standing, rebuild
from safety.gate.target_states import see_state, see_state_again
from safety.gate.targeting import State, Target, find_target
from safety.gate.trust import find_doubts_of, refuse_stranger_of
from safety.refusals import Refusal, leave_open
from safety.requests import (
    ControlLevel,
    GateRequest,
    Look,
    Pass,
    look_at_nothing,
    settled_call,
)


class SafetyGate:
    """Decides about the calls and the answer of one execution. Implements `safety.requests.Gate`.

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
    ) -> None:
        self._level = level
        self._desk = desk or NoDesk()
        self._events = events or NoEvents()
        self._given = tuple(given)
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
        return await review_answer(answer, self._standing, self._events)

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
        ready: _Ready | Refusal | None = None
        try:
            ready = await self._look_and_ask(request, target, look)
            if isinstance(ready, _Ready):
                self._events.note(act_of_start(ready.request, ready.target))
                await self._events.commit()
        except BaseException:
            if isinstance(ready, _Ready):
                self._events.note(act_of_end(request, "blocked"))
            self._standing.workflow = self._standing.workflow.abandon_write(before)
            raise
        if isinstance(ready, Refusal):
            self._standing.workflow = self._standing.workflow.abandon_write(before)
            return ready
        return ready.request

    async def _look_and_ask(
        self, request: GateRequest, target: Target, look: Look
    ) -> "_Ready | Refusal":
        """Doubts are about what the model wrote; a person decides about what then runs."""
        doubts = find_doubts_of(request, target, self._given, self._standing)
        seen = await look_at_file(request, look)
        if isinstance(seen, Refusal):
            # The file may be another one because this very write took effect.
            is_open = request.call_id in self._interrupted
            return _explain_interrupted(request) if is_open else seen
        to_run, change = seen
        if change is not None and change.runner:
            doubts = (*doubts, f"{change.path}: {change.runner}")
        if self._level == "autonomous" and not doubts:
            is_open = request.call_id in self._interrupted
            return _explain_interrupted(request) if is_open else _Ready(to_run, target)
        shown = replace(target, state=await see_state(to_run, target, look))
        ready = _Ready(to_run, shown)
        return await self._ask_person(ready, look, doubts, change) or ready

    async def _ask_person(
        self, ready: "_Ready", look: Look, doubts: tuple[str, ...], change: FileChange | None
    ) -> Refusal | None:
        request, target = ready.request, ready.target
        proposal = Proposal(
            call_id=request.call_id,
            server=request.server,
            tool=request.tool,
            definition_hash=request.definition_hash,
            arguments=request.arguments,
            target=target.name,
            preview=preview_write(request, target, change),
            reasons=doubts,
            state=target.state.bound,
        )
        await self._events.commit()
        decision = await self._desk.request(proposal)
        if decision.verdict == "used":
            return _explain_interrupted(request)
        if decision.verdict == "hidden":
            return _explain_hidden(request, decision.reason)
        if decision.verdict != "approved":
            return _explain_decision(request, target, decision)
        # Minutes may have passed: what was resolved and shown then must still be so.
        again = find_target(request, self._standing)
        if isinstance(again, Refusal):
            return again
        now = target.state
        if now.bound:
            now = await see_state_again(request, target, look, target.state)
        live = replace(proposal, state=now.bound)
        # In another state this fails, and the attempt is on record with both hashes.
        is_used = await self._desk.redeem(decision.approval_id, live.bound_hash)
        if live.state != proposal.state:
            return _explain_change(request, target, now)
        if not is_used:
            return _explain_decision(request, target, replace(decision, verdict="lapsed"))
        return None

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


@dataclass(frozen=True)
class _Ready:
    """A write as it would run and its target as it was seen right before."""

    request: GateRequest
    target: Target


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
    )


_VERDICTS = {
    "expired": "Approval timed out: nobody decided in time, or the approval no longer holds.",
    "lapsed": "The approval no longer holds: it came too late, was withdrawn, or whoever gave it "
    "may not do so any more.",
    "pending": "Approval is pending: a person has not decided yet.",
    "unavailable": "Approval system not available.",
}


def _explain_hidden(request: GateRequest, argument: str) -> Refusal:
    return Refusal(
        "POLICY_BLOCKED",
        f"{argument} holds what looks like a secret and has blanks, quotes or other syntax in it. "
        "Masked, nobody could see what would run, so nobody was asked. Without the secret, or with "
        "one of letters and digits alone, a person can decide.",
        {"tool": request.name, "argument": argument},
    )


def _explain_decision(request: GateRequest, target: Target, decision: Decision) -> Refusal:
    said = _VERDICTS.get(decision.verdict, "")
    if decision.verdict == "denied":
        said = f"Command denied: {(decision.reason or 'no reason was given').rstrip('. ')}."
    return Refusal(
        "APPROVAL_REQUIRED",
        f"{said} {request.name} did not run.",
        {
            "tool": request.name,
            "target": target.name,
            "verdict": decision.verdict,
            "approval_id": decision.approval_id,
            "decided_by": decision.decided_by,
            "reason": decision.reason,
            "do_not_retry": decision.verdict == "denied",
        },
    )


def _explain_change(request: GateRequest, target: Target, now: State) -> Refusal:
    """What a person approved was another act: a restart of what is stopped ends nothing."""
    before, shown = target.state.shown, now.shown
    if shown == before:
        shown = "not the same any more"
    is_now = f"it is {shown}" if shown else "nothing tells how it is"
    return Refusal(
        "APPROVAL_REQUIRED",
        f"The approval no longer holds: {target.name} was {before} when a person was asked, "
        f"and now {is_now}. {request.name} did not run.",
        {
            "tool": request.name,
            "target": target.name,
            "verdict": "outdated",
            "state_when_asked": before,
            "state_now": shown,
            "do_not_retry": False,
        },
        retryable=True,
    )


def _explain_interrupted(request: GateRequest) -> Refusal:
    return leave_open(
        f"{request.name} was interrupted and is not repeated. Whether it took effect is unknown.",
        {"tool": request.name},
    )

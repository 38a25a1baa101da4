"""What has to be so before one write runs: its file and its target seen, a person asked."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from safety.gate.approval.desk import ApprovalDesk, Decision, Proposal, Verdict
from safety.gate.approval.previews import preview_write
from safety.gate.events import SafetyEvents
from safety.gate.execution_state import Standing
from safety.gate.file_changes import FileChange, look_at_file
from safety.gate.provenance import Block, Doubt
from safety.gate.target_states import see_state, see_state_again
from safety.gate.targeting import State, Target, find_target
from safety.gate.trust import find_call_of_target, find_doubts_of
from safety.gate_port import ControlLevel, GateRequest, Look
from safety.refusals import Refusal, leave_open
from safety.ways_out import Rule

ONLY_REPAIRS = "in autonomous, only what repairs runs without a person"


@dataclass(frozen=True)
class Ready:
    """A write as it would run and its target as it was seen right before."""

    request: GateRequest
    target: Target


class WriteClearance:
    """Clears the writes of one execution, or says why one may not run."""

    def __init__(
        self,
        level: ControlLevel,
        desk: ApprovalDesk,
        events: SafetyEvents,
        given: Sequence[Block],
    ) -> None:
        self._level = level
        self._desk = desk
        self._events = events
        self._given = tuple(given)

    async def clear(
        self,
        request: GateRequest,
        target: Target,
        look: Look,
        standing: Standing,
        *,
        was_interrupted: bool,
    ) -> Ready | Refusal:
        """The write as it may run. `was_interrupted`: it may have run before.

        Doubts are about what the model wrote; a person decides about what then runs.
        """
        doubts = self._find_doubts(request, target, standing)
        seen = await look_at_file(request, look)
        if isinstance(seen, Refusal):
            # The file may be another one because this very write took effect.
            return _explain_interrupted(request) if was_interrupted else seen
        to_run, change = seen
        if change is not None and change.runner:
            doubts = (*doubts, Doubt(f"{change.path}: {change.runner}"))
        if self._level == "autonomous" and not doubts:
            return _explain_interrupted(request) if was_interrupted else Ready(to_run, target)
        shown = replace(target, state=await see_state(to_run, target, look))
        ready = Ready(to_run, shown)
        return await self._ask_person(ready, look, standing, doubts, change) or ready

    def _find_doubts(
        self, request: GateRequest, target: Target, standing: Standing
    ) -> tuple[Doubt, ...]:
        """Why the write asks. Where every one does, only what speaks against this one is said."""
        doubts = find_doubts_of(request, target, self._given, standing)
        if self._level != "autonomous" or not request.licence.objection:
            return doubts
        return (Doubt(f"{ONLY_REPAIRS}: {request.licence.objection}"), *doubts)

    async def _ask_person(
        self,
        ready: Ready,
        look: Look,
        standing: Standing,
        doubts: tuple[Doubt, ...],
        change: FileChange | None,
    ) -> Refusal | None:
        request, target = ready.request, ready.target
        proposal = _propose(ready, standing, doubts, change)
        await self._events.commit()
        decision = await self._desk.request(proposal)
        if decision.verdict != "approved":
            return _explain_decision(request, target, decision)
        # Minutes may have passed: what was resolved and shown then must still be so.
        again = find_target(request, standing)
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


def _propose(
    ready: Ready, standing: Standing, doubts: tuple[Doubt, ...], change: FileChange | None
) -> Proposal:
    request, target = ready.request, ready.target
    return Proposal(
        call_id=request.call_id,
        server=request.server,
        tool=request.tool,
        definition_hash=request.definition_hash,
        arguments=request.arguments,
        target=target.name,
        preview=preview_write(request, target, change),
        reasons=doubts,
        found_by=find_call_of_target(target, standing),
        state=target.state.bound,
    )


_VERDICTS = {
    "expired": "Approval timed out: nobody decided in time, or the approval no longer holds.",
    "lapsed": "The approval no longer holds: it came too late, was withdrawn, or whoever gave it "
    "may not do so any more.",
    "pending": "Approval is pending: a person has not decided yet.",
    "unavailable": "Approval system not available.",
}
_RULES: Mapping[Verdict, Rule] = {"denied": "denied", "unavailable": "nobody_to_ask"}


def _explain_hidden(request: GateRequest, argument: str) -> Refusal:
    return Refusal(
        "POLICY_BLOCKED",
        f"{argument} holds what looks like a secret and has blanks, quotes or other syntax in it. "
        "Masked, nobody could see what would run, so nobody was asked. Without the secret, or with "
        "one of letters and digits alone, a person can decide.",
        {"tool": request.name, "argument": argument},
        rule="hidden",
    )


def _explain_decision(request: GateRequest, target: Target, decision: Decision) -> Refusal:
    if decision.verdict == "used":
        return _explain_interrupted(request)
    if decision.verdict == "hidden":
        return _explain_hidden(request, decision.reason)
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
        rule=_RULES.get(decision.verdict, "nobody_decided"),
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
        rule="outdated",
    )


def _explain_interrupted(request: GateRequest) -> Refusal:
    """A write that may have run before is not sent again."""
    return leave_open(
        f"{request.name} was interrupted and is not repeated. Whether it took effect is unknown.",
        {"tool": request.name},
    )

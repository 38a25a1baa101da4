"""The gate of one execution: control level, state, resolution, routing, a person; in that order."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from agents.ports import ProposedAnswer, Review
from agents.types import WriteReport
from mcp_bridge.gate import ControlLevel, GateRequest, Pass, settled_call
from mcp_bridge.safety.answer_review import review_answer
from mcp_bridge.safety.approvals import ApprovalDesk, Decision, NoDesk, Proposal
from mcp_bridge.safety.checks import Check
from mcp_bridge.safety.events import NoEvents, SafetyEvents, make_event
from mcp_bridge.safety.evidence import Judgement, Outcome, SettledCall
from mcp_bridge.safety.provenance import Block
from mcp_bridge.safety.recovery import Recoveries
from mcp_bridge.safety.refusals import Refusal
from mcp_bridge.safety.resolved import Clock
from mcp_bridge.safety.standing import Standing, rebuild
from mcp_bridge.safety.targeting import Target, action_of, find_target
from mcp_bridge.safety.trust import find_doubts_of, refuse_stranger_of


class SafetyGate:
    """Decides about the calls and the answer of one execution. Implements `mcp_bridge.gate.Gate`.

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
            f"{request.name} changes things, or nobody has said that it does not, and this "
            "investigation is read-only.",
            {"tool": request.name, "class": "write", "control_level": self._level},
        )
        return self._note_refusal(request, refusal)

    async def admit(self, request: GateRequest) -> Pass | Refusal:
        if refusal := self.screen(request):
            return refusal
        if refusal := self._find_state_block(request):
            return self._note_refusal(request, refusal)
        if refusal := self._find_stranger(request):
            return self._note_refusal(request, refusal)
        target = find_target(request, self._standing)
        if isinstance(target, Refusal):
            return self._note_refusal(request, target)
        writes_before = self._standing.writes
        if request.tool_class == "write" and (refusal := await self._claim(request, target)):
            return self._note_refusal(request, refusal)
        return Pass(request, writes_before)

    def settle(
        self, passed: Pass, outcome: Outcome, text: str, judgement: Judgement | None = None
    ) -> None:
        call = settled_call(passed.request, outcome, text, passed.writes_before)
        self._standing.note(replace(call, judgement=judgement))
        if outcome != "succeeded" or passed.request.is_check:
            return
        request = passed.request
        if recovered := self._recoveries.note_success(request.name, request.arguments):
            self._events.count(
                make_event(
                    "tarsy_ai_auto_recovery_success_total",
                    error_code=recovered.error_code,
                    tool=recovered.tool,
                )
            )

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

    async def _claim(self, request: GateRequest, target: Target) -> Refusal | None:
        """Let one write through. Until it is settled no other one is, whoever is asked."""
        before = self._standing.workflow
        self._standing.workflow = before.begin_write(request.name)
        try:
            refusal = await self._ask_person(request, target)
        except BaseException:
            self._standing.workflow = self._standing.workflow.abandon_write(before)
            raise
        if refusal is not None:
            self._standing.workflow = self._standing.workflow.abandon_write(before)
        return refusal

    async def _ask_person(self, request: GateRequest, target: Target) -> Refusal | None:
        doubts = find_doubts_of(request, target, self._given, self._standing)
        if self._level == "autonomous" and not doubts:
            is_open = request.call_id in self._interrupted
            return _explain_interrupted(request) if is_open else None
        proposal = Proposal(
            call_id=request.call_id,
            server=request.server,
            tool=request.tool,
            definition_hash=request.definition_hash,
            arguments=request.arguments,
            target=target.name,
            reasons=doubts,
        )
        decision = await self._desk.request(proposal)
        if decision.verdict == "used":
            return _explain_interrupted(request)
        if decision.verdict != "approved":
            return _explain_decision(request, target, decision)
        # Minutes may have passed: what was resolved then must still be.
        again = find_target(request, self._standing)
        if isinstance(again, Refusal):
            return again
        if not await self._desk.redeem(decision.approval_id, proposal.bound_hash):
            return _explain_decision(request, target, Decision("expired", decision.approval_id))
        return None

    def _note_refusal(self, request: GateRequest, refusal: Refusal) -> Refusal:
        """Every refusal is counted, and stands among the calls of this execution."""
        self._count(request, refusal)
        if request.is_check:
            return refusal
        outcome: Outcome = "blocked" if refusal.blocked else "unknown"
        writes = self._standing.writes
        self._standing.note(settled_call(request, outcome, refusal.to_text(), writes))
        return refusal

    def _count(self, request: GateRequest, refusal: Refusal) -> None:
        tool, details = request.name, refusal.details
        match refusal.code:
            case "FSM_BLOCKED":
                event = make_event(
                    "tarsy_ai_fsm_tool_block_total",
                    state=str(details["state"]), tool=tool, kind=request.tool_class,
                )  # fmt: skip
            case "STRICT_RESOLUTION":
                event = make_event(
                    "tarsy_ai_strict_resolution_block_total", tool=tool, action=action_of(request)
                )
            case "ROUTING_MISMATCH":
                ids = details["more_specific_resource_ids"]
                child = str(ids[0]).partition(":")[0] if isinstance(ids, list) else ""
                event = make_event(
                    "tarsy_ai_routing_mismatch_block_total",
                    tool=tool, target_kind="host", child_kind=child,
                )  # fmt: skip
            case "APPROVAL_REQUIRED":
                event = make_event(
                    "tarsy_ai_approval_block_total", tool=tool, verdict=str(details["verdict"])
                )
            case _:
                event = make_event("tarsy_ai_policy_block_total", tool=tool, code=refusal.code)
        self._events.count(event)
        if not refusal.retryable:
            return
        self._recoveries.note_block(refusal.code, tool, request.arguments)
        self._events.count(
            make_event("tarsy_ai_auto_recovery_attempt_total", error_code=refusal.code, tool=tool)
        )


def _refuse_writing_check(request: GateRequest) -> Refusal:
    return Refusal(
        "POLICY_BLOCKED",
        f"{request.name} is declared as a check and is no read.",
        {"tool": request.name, "class": "write"},
    )


_VERDICTS = {
    "denied": "A person denied it",
    "expired": "Nobody decided in time, or the approval no longer holds",
    "pending": "A person has not decided yet",
    "unavailable": "Approvals are not available here",
}


def _explain_decision(request: GateRequest, target: Target, decision: Decision) -> Refusal:
    said = f": {decision.reason}" if decision.reason else ""
    return Refusal(
        "APPROVAL_REQUIRED",
        f"{request.name} did not run. {_VERDICTS[decision.verdict]}{said}.",
        {
            "tool": request.name,
            "target": target.name,
            "verdict": decision.verdict,
            "approval_id": decision.approval_id,
            "decided_by": decision.decided_by,
            "reason": decision.reason,
        },
    )


def _explain_interrupted(request: GateRequest) -> Refusal:
    return Refusal(
        "EXECUTION_FAILED",
        f"{request.name} was interrupted and is not repeated. Whether it took effect is unknown.",
        {"tool": request.name, "outcome": "unknown"},
        blocked=False,
    )

"""Whatever is proposed, decided and interrupted: no write without its approval, none twice, and no
answer over an unverified one."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, replace
from typing import TypeVar

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from agents.ports import ProposedAnswer
from safety.evidence import SettledCall, judge_outcome
from safety.gate.approval.desk import Verdict
from safety.gate.execution_state import rebuild
from safety.gate.safety_gate import SafetyGate
from safety.gate_port import ControlLevel, GateRequest, Pass
from safety.refusals import Refusal
from tests.safety.gate.calls import NGINX, Clock, Desk, listed, own, row

TARGETS = st.sampled_from([NGINX, "service:edge-2:mail", "service:edge-9:unknown"])
VERDICTS = st.sampled_from(["approved", "approved", "approved", "denied", "expired", "pending"])
FOUND = listed(row(NGINX), row("service:edge-2:mail"))
DONE = '{"ok": true, "data": {"job": "done"}}'
T = TypeVar("T")
FAILED = '{"ok": false, "error": {"code": "EXECUTION_FAILED"}}'
SCHEMA = {"properties": {"action": {"enum": ["restart"]}}}


@dataclass
class Stored:
    """A call as the database has it: with a result, or open."""

    request: GateRequest
    text: str | None = None
    is_error: bool = False


class Interrupted(Exception):
    """The worker is gone."""


class GateMachine(RuleBasedStateMachine):
    """An execution, its store and its world. Crashes lose the gate, never the other two."""

    level: ControlLevel = "controlled"

    def __init__(self) -> None:
        super().__init__()
        self.desk = Desk()
        self.clock = Clock()
        self.gate = self.new_gate()
        self.stored: list[Stored] = []
        self.executed: list[GateRequest] = []
        self.is_unverified = False
        self.loop = asyncio.new_event_loop()

    def wait(self, work: Coroutine[object, object, T]) -> T:
        return self.loop.run_until_complete(work)

    def teardown(self) -> None:
        self.wait(self.loop.shutdown_default_executor())
        self.loop.close()

    def new_gate(self) -> SafetyGate:
        return SafetyGate(self.level, desk=self.desk, clock=self.clock)

    # What an agent does

    @rule()
    def resolves(self):
        self.propose(own("query", "resolve", action="list"), FOUND)

    @rule(succeeds=st.booleans())
    def reads(self, succeeds):
        self.propose(own("metrics", "read", action="cpu"), DONE if succeeds else FAILED)

    @rule(place=TARGETS, verdict=VERDICTS, text=st.sampled_from([DONE, FAILED]))
    def writes(self, place, verdict: Verdict, text):
        self.desk.verdict = verdict
        self.propose(restart(place), text)

    @rule(place=TARGETS)
    def repeats_a_write_with_other_arguments(self, place):
        self.desk.verdict = "approved"
        self.propose(restart(place), DONE)
        self.desk.verdict = "pending"
        self.propose(restart("service:edge-2:mail"), DONE)

    @rule(is_last=st.booleans())
    def answers(self, is_last):
        review = self.wait(self.gate.review_answer(ProposedAnswer("Done.", is_last=is_last)))
        # A write that was interrupted may have run, and counts as one that did.
        if not self.is_unverified and self.gate.standing.workflow.may_answer:
            assert review.objection == ""
            assert review.text.endswith("Done.")
        elif is_last:
            assert review.text.startswith("**Unverified:**")
        else:
            assert review.objection

    # What goes wrong

    @rule(place=TARGETS, runs=st.booleans())
    def is_killed_within_a_write(self, place, runs):
        self.desk.verdict = "approved"
        self.propose(restart(place), DONE, dies="after" if runs else "before")
        self.resume()

    @rule(place=TARGETS)
    def is_cancelled_within_a_write(self, place):
        self.desk.verdict = "approved"
        request = restart(place)
        passed = self.wait(self.gate.admit(request))
        if isinstance(passed, Refusal):
            self.keep(Stored(request), passed.to_text(), is_error=True)
            return
        self.run(request)
        self.gate.settle(passed, "unknown", "")
        self.keep(Stored(request), "the call was stopped", is_error=True)

    @precondition(lambda self: self.stored)
    @rule()
    def is_killed_between_calls(self):
        self.resume()

    # The world

    def propose(self, request: GateRequest, text: str, dies: str = "") -> None:
        record = Stored(request)
        self.stored.append(record)
        try:
            self.execute(record, text, dies)
        except Interrupted:
            return

    def execute(self, record: Stored, text: str, dies: str = "") -> None:
        request = record.request
        passed = self.wait(self.gate.admit(request))
        if isinstance(passed, Refusal):
            record.text, record.is_error = passed.to_text(), True
            return
        if dies == "before":
            raise Interrupted
        self.run(request)
        if dies == "after":
            raise Interrupted
        if request.tool_class != "write" and text != FAILED:
            self.is_unverified = False
        assert isinstance(passed, Pass)
        self.gate.settle(passed, judge_outcome(text, is_error=False), text)
        record.text = text

    def run(self, request: GateRequest) -> None:
        if request.tool_class == "write":
            self.executed.append(request)
            self.is_unverified = True

    def keep(self, record: Stored, text: str, *, is_error: bool) -> None:
        record.text, record.is_error = text, is_error
        self.stored.append(record)

    def resume(self) -> None:
        """Another worker: a new gate from the store, then the calls without a result again."""
        self.gate = self.new_gate()
        opened = [each for each in self.stored if each.text is None]
        self.gate.recall(self.settled(), [each.request.call_id for each in opened])
        for each in opened:
            self.execute(each, DONE)

    def settled(self) -> list[SettledCall]:
        calls: list[SettledCall] = []
        writes = 0
        for each in self.stored:
            if each.text is None:
                continue
            request = each.request
            call = SettledCall(
                request.call_id, request.server, request.tool, request.tool_class,
                request.arguments, judge_outcome(each.text, is_error=each.is_error), each.text,
                writes, is_own_server=True,
            )  # fmt: skip
            writes += call.tool_class == "write" and call.was_sent
            calls.append(call)
        return calls

    # What holds

    @invariant()
    def every_write_had_an_approval_of_exactly_its_arguments(self):
        if self.level != "controlled":
            return
        used = {f"{asked.call_id}/{asked.bound_hash}": asked.arguments for asked in self.desk.asked}
        redeemed = {key: used[key] for key in self.desk.redeemed}
        for request in self.executed:
            mine = [key for key in redeemed if key.startswith(f"{request.call_id}/")]
            assert [redeemed[key] for key in mine] == [request.arguments]

    @invariant()
    def no_call_was_executed_twice(self):
        ids = [request.call_id for request in self.executed]
        assert len(ids) == len(set(ids))

    @invariant()
    def only_resolved_resources_were_written_to(self):
        assert all("unknown" not in str(each.arguments) for each in self.executed)

    @invariant()
    def an_unverified_write_is_known_to_the_gate(self):
        assert not self.is_unverified or not self.gate.standing.workflow.may_answer

    @invariant()
    def what_is_stored_leads_to_the_same_state(self):
        live = self.gate.standing
        again = rebuild(self.settled(), self.clock)
        assert again.workflow == live.workflow
        # Which one was used last is a matter of the cache, and lost with it.
        assert set(again.context.resources) == set(live.context.resources)
        assert again.writes == live.writes


class AutonomousMachine(GateMachine):
    level: ControlLevel = "autonomous"


def restart(place: str) -> GateRequest:
    request = own("control", "write", action="restart", resource_id=place)
    return replace(request, schema=SCHEMA)


TestControlled = GateMachine.TestCase
TestControlled.settings = settings(max_examples=40, stateful_step_count=20)
TestAutonomous = AutonomousMachine.TestCase
TestAutonomous.settings = settings(max_examples=30, stateful_step_count=20)

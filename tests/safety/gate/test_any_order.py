"""Whatever is proposed, decided, lost and interrupted, in any order, through the real executor:
no write without a live approval of exactly its arguments, none twice, and no answer over one whose
effect nobody has seen."""

import asyncio
import contextlib
import itertools
import json
from dataclasses import dataclass, field, replace
from typing import Literal
from unittest import mock

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from agents.ports import ProposedAnswer
from agents.types import JSON, ToolCall, ToolResult
from safety import checks
from safety.gate import safety_gate, target_states, workflow
from safety.gate.approval import asking_a_person
from safety.gate.approval.desk import Decision, Proposal
from safety.gate.recovery import canonical
from safety.gate.safety_gate import SafetyGate
from safety.gate.targeting import Target
from safety.gate_port import ControlLevel
from tests.safety.gate.calls import Clock
from tests.safety.gate.world import WRITES, Agent, How, Stored, World

pytestmark = pytest.mark.slow

NGINX, MAIL, UNKNOWN = "service:edge-2:nginx", "service:edge-2:mail", "service:edge-9:db"
RUNNING, STOPPED = ("running", "active"), ("stopped", "failed")
ACTIONS = st.sampled_from(["start", "stop", "restart"])
HOW = st.sampled_from(["answers", "answers", "answers", "errs", "loses", "refuses", "lies"])
Verdict = Literal["approved", "denied", "expired"]


@dataclass
class Request:
    """What a person is asked, and what became of it."""

    proposal: Proposal
    verdict: Verdict | None = None
    used: int = 0
    decided: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass
class WaitingDesk:
    """A desk whose requests outlive the agent that asked; persons decide when the test says so."""

    requests: list[Request] = field(default_factory=list)

    async def request(self, proposal: Proposal) -> Decision:
        asked = self._find(proposal)
        if asked is None:
            asked = Request(proposal)
            self.requests.append(asked)
        if asked.used:
            return Decision("used", self._id(asked))
        await asked.decided.wait()
        return Decision(asked.verdict or "expired", self._id(asked), "mia")

    async def redeem(self, approval_id: str, bound_hash: str) -> bool:
        asked = self.requests[int(approval_id)]
        holds = asked.verdict == "approved" and not asked.used
        if not holds or asked.proposal.bound_hash != bound_hash:
            return False
        asked.used += 1
        await asyncio.sleep(0)
        return True

    def _find(self, proposal: Proposal) -> Request | None:
        """The request of that very call: one that was used, else the latest if it is for this."""
        mine = [each for each in self.requests if each.proposal.call_id == proposal.call_id]
        same = [each for each in mine[-1:] if each.proposal.bound_hash == proposal.bound_hash]
        return next((each for each in mine if each.used), same[-1] if same else None)

    def _id(self, asked: Request) -> str:
        return str(self.requests.index(asked))

    @property
    def waiting(self) -> list[Request]:
        return [each for each in self.requests if each.verdict is None]


class ExecutionMachine(RuleBasedStateMachine):
    """An execution. A crash takes its gate, its executor and what it was waiting for."""

    level: ControlLevel = "controlled"

    def __init__(self) -> None:
        super().__init__()
        self.patches = contextlib.ExitStack()
        at_once = mock.patch.multiple(checks, SOON=(0.0,), IN_A_WHILE=(0.0,))
        self.patches.enter_context(at_once)
        self.patches.enter_context(mock.patch.object(target_states, "AGAIN", (0.0, 0.0)))
        # Everything on one loop, so that a sequence always runs in the same way.
        self.patches.enter_context(mock.patch("asyncio.to_thread", _run_here))
        self.loop = asyncio.new_event_loop()
        self.desk = WaitingDesk()
        self.world = World({NGINX: "running", MAIL: "stopped"}, {"shop": 2})
        self.agent = Agent(self.world, self.new_gate())
        self.tasks: list[asyncio.Task[object]] = []
        self.ids = itertools.count(1)
        self.batch = 0

    def new_gate(self) -> SafetyGate:
        return SafetyGate(self.level, desk=self.desk, clock=Clock())

    def teardown(self) -> None:
        for task in self.tasks:
            task.cancel()
        self.settle()
        self.patches.close()
        self.loop.close()

    # What a model proposes

    @rule()
    def resolves(self) -> None:
        self.propose("ops.query", {"action": "list"})
        self.propose("deployer.list", {})

    @rule(place=st.sampled_from([NGINX, MAIL]))
    def reads(self, place: str) -> None:
        self.propose("ops.query", {"action": "get", "resource_id": place})

    @rule()
    def nothing_can_be_read_or_all_again(self) -> None:
        self.world.reads_fail = not self.world.reads_fail

    @rule(place=st.sampled_from([NGINX, MAIL, UNKNOWN]), action=ACTIONS, how=HOW)
    def writes(self, place: str, action: str, how: How) -> None:
        self.world.how = how
        self.propose("ops.control", {"action": action, "resource_id": place})

    @rule(place=st.sampled_from([NGINX, MAIL]), how=HOW, blind=st.booleans())
    def writes_and_is_approved_at_once(self, place: str, how: How, blind: bool) -> None:
        self.resolves()
        self.world.how, self.world.reads_fail = how, blind
        self.propose("ops.control", {"action": "restart", "resource_id": place})
        for asked in self.desk.waiting[-1:]:
            asked.verdict = "approved"
            asked.decided.set()
        self.settle()

    @rule(app=st.sampled_from(["shop", "bank"]), replicas=st.integers(0, 9), how=HOW)
    def writes_elsewhere(self, app: str, replicas: int, how: How) -> None:
        self.world.how = how
        self.propose("deployer.scale", {"app": app, "replicas": replicas})

    @rule(place=st.sampled_from([NGINX, MAIL]))
    def writes_what_does_not_end(self, place: str) -> None:
        self.world.how = "hangs"
        self.propose("ops.control", {"action": "restart", "resource_id": place})

    @precondition(lambda self: self.tasks)
    @rule()
    def the_slow_write_ends(self) -> None:
        self.world.kept.set()
        self.settle()
        self.world.kept.clear()

    @rule(is_last=st.booleans())
    def answers(self, is_last: bool) -> None:
        review = self.wait(self.agent.gate.review_answer(ProposedAnswer("Done.", is_last=is_last)))
        if not self.is_unverified:
            return
        if is_last:
            assert review.text.startswith("**Unverified:**"), "an unverified write was hidden"
        else:
            assert review.objection, "an answer passed over an unverified write"

    # What persons do

    @precondition(lambda self: self.desk.waiting)
    @rule(data=st.data(), verdict=st.sampled_from(["approved", "approved", "denied", "expired"]))
    def a_person_decides(self, data: st.DataObject, verdict: Verdict) -> None:
        asked = data.draw(st.sampled_from(self.desk.waiting))
        asked.verdict = verdict
        asked.decided.set()
        self.settle()

    @precondition(lambda self: self.desk.waiting)
    @rule()
    def a_person_approves_what_is_no_longer_so(self) -> None:
        for name, state in self.world.services.items():
            is_stopped = state in STOPPED
            self.world.services[name] = "running" if is_stopped else "stopped"
        self.world.replicas["shop"] += 1
        for asked in self.desk.waiting[-1:]:
            asked.verdict = "approved"
            asked.decided.set()
        self.settle()

    @precondition(lambda self: self.desk.waiting)
    @rule(data=st.data())
    def an_approval_expires_before_it_is_used(self, data: st.DataObject) -> None:
        asked = data.draw(st.sampled_from(self.desk.waiting))
        asked.verdict = "approved"
        asked.decided.set()
        self.wait(asyncio.sleep(0))
        if not asked.used:
            asked.verdict = "expired"
        self.settle()

    # What goes wrong

    @rule(place=st.sampled_from([NGINX, MAIL]), state=st.sampled_from(["active", "failed"]))
    def somebody_else_starts_or_stops_a_service(self, place: str, state: str) -> None:
        self.world.services[place] = state

    @rule(replicas=st.integers(0, 3))
    def somebody_else_scales(self, replicas: int) -> None:
        self.world.replicas["shop"] = replicas

    @precondition(lambda self: self.tasks)
    @rule(data=st.data())
    def a_call_is_cut_short(self, data: st.DataObject) -> None:
        """Its iteration is over: the agent goes on, and stores that it was stopped."""
        task = data.draw(st.sampled_from(self.tasks))
        task.cancel()
        self.settle()

    @rule()
    def the_worker_dies_and_another_goes_on(self) -> None:
        lost = self.tasks
        self.tasks = []
        self.agent.gate = self.new_gate()
        opened = [each for each in self.agent.stored if each.result is None]
        self.agent.open()
        for task in lost:
            task.cancel()
        self.settle()
        for each in opened:
            self.begin(each)

    # The machinery

    def propose(self, name: str, arguments: dict[str, JSON]) -> None:
        call = ToolCall(f"c{next(self.ids)}", name, json.dumps(arguments))
        # What is under way at once was proposed in one answer.
        self.batch += not self.tasks
        self.agent.stored.append(Stored(call, self.batch))
        self.begin(self.agent.stored[-1])

    def begin(self, stored: Stored) -> None:
        agent, gate = self.agent, self.agent.gate

        async def run() -> None:
            try:
                result = await agent.executor.execute(stored.call, report_progress=lambda _: None)
            except asyncio.CancelledError:
                if agent.gate is not gate:
                    return  # The worker is dead: nothing is stored.
                result = _stopped()
            if agent.gate is gate:
                stored.result = result

        self.tasks.append(self.loop.create_task(run()))
        self.settle()

    def settle(self) -> None:
        """Go on until everybody waits: for a person, or for a write that does not end."""
        for _ in range(60):
            self.wait(asyncio.sleep(0))
        self.tasks = [task for task in self.tasks if not task.done()]

    def wait(self, work):
        return self.loop.run_until_complete(work)

    @property
    def is_unverified(self) -> bool:
        """Whether a write has reached a server and no read has succeeded since."""
        return bool(self.world.executed) and self.world.looks == 0

    # What holds

    @invariant()
    def every_write_used_up_one_approval_of_exactly_its_arguments(self) -> None:
        if self.level != "controlled":
            return
        used = [
            (f"{each.proposal.server}.{each.proposal.tool}", dict(each.proposal.arguments))
            for each in self.desk.requests
            for _ in range(each.used)
        ]
        approved = all(each.verdict == "approved" for each in self.desk.requests if each.used)
        assert approved, "an approval was used that does not hold"
        for write in self.world.executed:
            assert write in used, f"no approval covers {write}"
            used.remove(write)

    @invariant()
    def every_write_found_its_target_as_it_was_approved(self) -> None:
        if self.level != "controlled":
            return
        used = [each.proposal for each in self.desk.requests if each.used]
        for (name, values), found in zip(self.world.executed, self.world.found, strict=True):
            states = [
                each.state for each in used
                if (f"{each.server}.{each.tool}", dict(each.arguments)) == (name, values)
            ]  # fmt: skip
            assert "" in states or _bound(name, found) in states, "its target had changed"

    @invariant()
    def nothing_that_was_not_resolved_is_written_to(self) -> None:
        told = json.dumps([arguments for _, arguments in self.world.executed])
        assert UNKNOWN not in told
        assert "bank" not in told

    @invariant()
    def no_call_is_sent_twice(self) -> None:
        proposed = [each.call for each in self.agent.stored if each.call.name in WRITES]
        assert len(self.world.executed) <= len(proposed)
        assert all(each.used <= 1 for each in self.desk.requests)

    @invariant()
    def while_a_write_is_unverified_no_other_one_begins(self) -> None:
        assert not self.world.overlapped, "a write began before the one before it was looked at"


class AutonomousMachine(ExecutionMachine):
    level: ControlLevel = "autonomous"


class ReadOnlyMachine(ExecutionMachine):
    level: ControlLevel = "read_only"

    @invariant()
    def nothing_is_written(self) -> None:
        assert self.world.executed == []


def _bound(name: str, found: str) -> str:
    """A state as an approval binds it."""
    if name != "ops.control":
        return f"[{found}]"
    if found in RUNNING:
        return "running"
    return "stopped" if found in STOPPED else canonical(found)


async def _run_here(function, *arguments):
    return function(*arguments)


def _stopped() -> ToolResult:
    return ToolResult("it was stopped", "it was stopped", is_error=True)


TestControlled = ExecutionMachine.TestCase
TestControlled.settings = settings(max_examples=60, stateful_step_count=25)
TestAutonomous = AutonomousMachine.TestCase
TestAutonomous.settings = settings(max_examples=30, stateful_step_count=25)
TestReadOnly = ReadOnlyMachine.TestCase
TestReadOnly.settings = settings(max_examples=10, stateful_step_count=15)


async def _redeem_nothing(self, approval_id: str, bound_hash: str) -> bool:
    return True


async def _see_nothing_again(request, target, look, before):
    return before


async def _ask_nobody(self, request, *more):
    return None


BROKEN = {
    "an approval is not used up": (WaitingDesk, "redeem", _redeem_nothing),
    "nobody is asked": (asking_a_person.WriteClearance, "_ask_person", _ask_nobody),
    "nobody looks again": (asking_a_person, "see_state_again", _see_nothing_again),
    "a write needs no state": (workflow.Workflow, "find_block", lambda self, kind: ""),
    "an answer always passes": (workflow.Workflow, "may_answer", property(lambda self: True)),
    "a write is forgotten": (
        workflow.Workflow,
        "note_write",
        lambda self, tool, at: replace(self, state="READING"),
    ),
    "any name is a target": (safety_gate, "find_target", lambda request, now: _any_target(request)),
}


def _any_target(request):
    return Target(str(request.arguments))


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_gate_is_found(fault: str, monkeypatch: pytest.MonkeyPatch):
    owner, name, broken = BROKEN[fault]
    monkeypatch.setattr(owner, name, broken)
    quick = settings(
        max_examples=400, stateful_step_count=20, database=None,
        phases=[Phase.generate], suppress_health_check=list(HealthCheck), print_blob=False,
    )  # fmt: skip

    with pytest.raises(AssertionError):
        run_state_machine_as_test(ExecutionMachine, settings=quick)

"""A write of a target is approved in the state that was shown; in another one it does not run.

Through the real executor: what is seen are answers of a server, as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from typing_extensions import override

from agents.types import JSON, ToolResult
from safety import checks
from safety.gate import target_states
from safety.gate.approval.desk import Decision, Proposal
from safety.gate.safety_gate import SafetyGate
from safety.gate.target_states import see_state
from safety.gate.targeting import State, Target
from safety.gate_port import GateRequest
from tests.safety.gate.calls import NGINX, Counters, Desk, foreign
from tests.safety.gate.world import Agent, World
from tests.server_plans import ExpectPlan, VerifyPlan


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "SOON", (0.0,))
    monkeypatch.setattr(target_states, "AGAIN", (0.0, 0.0))


@dataclass
class SlowDesk(Desk):
    """Something happens while a person makes up their mind."""

    meanwhile: Callable[[], None] = lambda: None

    @override
    async def request(self, proposal: Proposal) -> Decision:
        decision = await super().request(proposal)
        self.meanwhile()
        return decision


@dataclass
class Estate(World):
    """A world whose service is seen in these states first, one at each look, then as it is."""

    passing: list[str] = field(default_factory=list)

    @override
    def _read(self, server: str, tool: str, values: dict[str, JSON]) -> str:
        if self.passing and values.get("action") == "get":
            before, self.services[NGINX] = self.services[NGINX], self.passing.pop(0)
            text = super()._read(server, tool, values)
            self.services[NGINX] = before
            return text
        return super()._read(server, tool, values)


def make_agent(desk: Desk, state: str = "stopped", trail: Counters | None = None) -> Agent:
    world = Estate(services={NGINX: state}, replicas={"shop": 2})
    return Agent(world, SafetyGate("controlled", desk=desk, events=trail))


async def restart(agent: Agent) -> ToolResult:
    await agent.run("ops.query", {"action": "list"})
    return await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})


async def test_a_service_that_runs_again_is_not_restarted_by_an_approval_for_a_stopped_one():
    desk, trail = SlowDesk(), Counters()
    agent = make_agent(desk, trail=trail)
    desk.meanwhile = lambda: agent.world.services.update({NGINX: "running"})

    result = await restart(agent)

    assert agent.world.executed == []
    assert desk.redeemed == set()
    assert f"{NGINX} was stopped when a person was asked, and now it is running" in result.content
    assert "ops.control did not run" in result.content
    assert [act.kind for act in trail.acts][-2:] == ["call.propose", "call.block"]
    assert agent.gate.standing.workflow.state == "READING"


async def test_a_write_that_is_asked_for_again_shows_the_new_state_and_runs():
    desk = SlowDesk()
    agent = make_agent(desk)
    desk.meanwhile = lambda: agent.world.services.update({NGINX: "running"})
    await restart(agent)

    await restart(agent)

    assert [asked.preview.current_state for asked in desk.asked] == ["stopped", "running"]
    assert len(agent.world.executed) == 1


async def test_what_a_person_is_shown_is_seen_now_and_not_what_was_listed_before():
    desk = Desk()
    agent = make_agent(desk)
    await agent.run("ops.query", {"action": "list"})
    agent.world.services[NGINX] = "failed"

    await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})

    assert desk.asked[0].preview.current_state == "failed"


@pytest.mark.parametrize(("shown", "later"), [("failed", "inactive"), ("running", "Active")])
async def test_another_word_for_the_same_state_keeps_an_approval(shown: str, later: str):
    desk = SlowDesk()
    agent = make_agent(desk, shown)
    desk.meanwhile = lambda: agent.world.services.update({NGINX: later})

    await restart(agent)

    assert len(agent.world.executed) == 1


async def test_what_starts_and_fails_in_turn_is_caught_in_the_state_that_was_shown():
    desk = SlowDesk()
    agent = make_agent(desk, "failed")
    desk.meanwhile = lambda: agent.world.passing.append("activating")

    await restart(agent)

    assert len(agent.world.executed) == 1


async def test_what_nobody_could_see_before_is_asked_about_without_a_state():
    desk = SlowDesk()
    agent = make_agent(desk)
    await agent.run("ops.query", {"action": "list"})
    agent.world.reads_fail = True
    desk.meanwhile = lambda: agent.world.services.update({NGINX: "running"})

    await agent.run("ops.control", {"action": "restart", "resource_id": NGINX})

    assert desk.asked[0].preview.current_state == ""
    assert len(agent.world.executed) == 1


async def test_a_state_that_cannot_be_seen_again_is_not_taken_for_the_one_that_was_shown():
    desk = SlowDesk()
    agent = make_agent(desk)
    desk.meanwhile = lambda: setattr(agent.world, "reads_fail", True)

    result = await restart(agent)

    assert agent.world.executed == []
    assert "and now nothing tells how it is" in result.content


async def test_the_read_that_an_operator_declared_shows_another_servers_state():
    desk = SlowDesk()
    agent = make_agent(desk)
    desk.meanwhile = lambda: agent.world.replicas.update({"shop": 5})
    await agent.run("deployer.list", {})

    result = await agent.run("deployer.scale", {"app": "shop", "replicas": 3})

    assert desk.asked[0].preview.current_state == "2"
    assert "was 2 when a person was asked, and now it is 5" in result.content
    assert agent.world.replicas == {"shop": 5}


async def test_a_look_at_a_target_is_no_evidence_for_a_report():
    agent = make_agent(Desk("denied"))

    await restart(agent)

    assert agent.world.looks == 2
    assert [call.name for call in agent.gate.standing.evidence] == ["ops.query", "ops.control"]


def scale(expect: ExpectPlan) -> GateRequest:
    return replace(
        foreign("scale", "write", app="shop"),
        verify=VerifyPlan("status", {"app": "$app"}, expect),
    )


async def see(answer: JSON, expect: ExpectPlan | None = None) -> State:
    async def look(read: checks.Check) -> JSON:
        return answer

    request = scale(expect or ExpectPlan("state", "running"))
    return await see_state(request, Target("shop"), look)


@pytest.mark.parametrize(
    ("shown", "later"),
    [
        ({"state": "stopped " + "a" * 80}, {"state": "RUNNING " + "b" * 80}),
        ({"state": list(range(99))}, {"state": [*range(98), 100]}),
        ({"state": "created"}, {"state": "failed"}),
        ({"state": None}, {"state": "null"}),
        ({"state": ""}, {"state": "locked"}),
        ({"state": "up"}, {}),
        ({"state": "up"}, None),
    ],
)
async def test_all_of_a_foreign_state_is_bound_however_little_of_it_is_shown(shown, later):
    assert (await see(shown)).bound != (await see(later)).bound


async def test_how_many_there_are_of_each_belongs_to_a_state():
    each = ExpectPlan("pods.*.state", "running")
    one = {"pods": [{"state": "running"}, {"state": "stopped"}, {"state": "stopped"}]}
    three = {"pods": [{"state": "running"}, {"state": "running"}, {"state": "stopped"}]}

    assert (await see(one, each)).bound != (await see(three, each)).bound
    assert (await see([{"state": "a"}], ExpectPlan("0.state", "a"))).bound


async def test_what_counts_up_the_seconds_is_the_same_where_only_a_word_of_it_matters():
    is_up = ExpectPlan("state", contains="Up")

    assert (await see({"state": "Up 1 s"}, is_up)).bound == (
        await see({"state": "Up 9 s"}, is_up)
    ).bound
    assert (await see({"state": "Exited"}, is_up)).bound != (
        await see({"state": "Up 9 s"}, is_up)
    ).bound


async def test_a_state_is_shown_in_one_short_line_that_every_store_takes():
    state = await see({"state": "stopped\n\ud800\x00" + "long " * 99})

    assert len(state.shown) <= 80
    state.shown.encode()
    assert state.shown.isprintable()


async def test_an_approval_that_ended_meanwhile_is_not_called_undecided():
    class LateDesk(Desk):
        @override
        async def redeem(self, approval_id: str, bound_hash: str) -> bool:
            return False

    agent = make_agent(LateDesk())

    result = await restart(agent)

    assert agent.world.executed == []
    assert "The approval no longer holds: it came too late, was withdrawn" in result.content
    assert '"verdict": "lapsed"' in result.content

"""The built-in script for a service that is down, against the real ops server and the real gate."""

import json
from collections.abc import Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import pytest

from agents.ports import ProposedAnswer
from agents.rehearsal.loading import BUILTIN_SCRIPTS, load_scripts
from agents.types import ToolCall
from mcp_bridge.toolbox import open_toolbox
from ops.server import build_server
from ops.services.declaration import DeclaredService
from ops.services.running import changing, read_state, start, stop
from ops.settings import OpsSettings
from safety.gate import target_states
from safety.gate.approval.desk import Decision, Proposal
from safety.gate.safety_gate import SafetyGate
from tests.agents.rehearsal.asking import Spoken, called, listen_to, offer, result, system, user
from tests.safety.gate.calls import Desk
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.slow

ALERT = "The demo service is stopped"


@pytest.fixture
def service(tmp_path) -> Iterator[DeclaredService]:
    (tmp_path / "log").mkdir()
    declared = DeclaredService(
        name="demo-service",
        argv=("/bin/sh", "-c", "echo heartbeat 1; sleep 600 & wait"),
        pid_file=tmp_path / "demo.pid",
        log_file=tmp_path / "demo.log",
        stop_seconds=1.0,
    )
    yield declared
    with changing(declared):
        stop(declared)


@dataclass
class Played:
    """What came of an investigation."""

    report: str
    calls: list[tuple[str, Spoken]] = field(default_factory=list)
    objection: str = ""
    unsupported: list[object] = field(default_factory=list)

    @property
    def writes(self) -> list[Spoken]:
        return [arguments for name, arguments in self.calls if name == "ops__control"]


@pytest.fixture
async def play(rehearse, connect, service, tmp_path):
    """Investigate as the loop of an agent does: every call and the answer through the gate."""
    client = await connect(rehearse(load_scripts(BUILTIN_SCRIPTS), pace=0))
    settings = OpsSettings(
        host="web-1",
        docker_sockets=(),
        log_directory=tmp_path / "log",
        systemd_directory=tmp_path / "none",
        journalctl="no-such-journalctl",
        services=(service,),
    )

    async def investigate(gate: SafetyGate, alert: str = ALERT, agent: str = "ServiceAgent"):
        async with AsyncExitStack() as stack:
            toolbox = await stack.enter_async_context(
                open_toolbox(
                    {"ops": ServerPlan(TransportPlan("in_process"))},
                    gate=gate,
                    in_process={"ops": lambda: build_server(settings)},
                )
            )
            return await _play(client, toolbox, [system(agent), user(alert)], alert)

    return investigate


async def _play(client, toolbox, messages: list[Spoken], alert: str) -> Played:
    played = Played("")
    tools = offer(*(spec.name.replace(".", "__") for spec in toolbox.specs))
    for _ in range(8):
        heard = await listen_to(client, messages, tools=tools)
        if not heard.calls:
            played.report = heard.text
            review = await toolbox.review_answer(
                ProposedAnswer(heard.text, given=(("alert", alert),), is_last=False)
            )
            played.objection = review.objection
            played.unsupported = list(review.metadata.get("unsupported", ()))
            return played
        spoken = [called(c["id"], c["name"], c["arguments"]) for c in heard.calls]
        messages.append({**spoken[0], "tool_calls": [c["tool_calls"][0] for c in spoken]})
        for call in heard.calls:
            played.calls.append((call["name"], json.loads(call["arguments"])))
            proposed = ToolCall(call["id"], call["name"], call["arguments"])
            answer = await toolbox.execute(proposed, report_progress=lambda text: None)
            number = len(played.calls)
            messages.append(result(call["id"], f"[T{number}]\n{answer.content}"))
    raise AssertionError("the agent came to no report within 8 turns")


async def test_an_approved_restart_runs_once_is_read_back_and_reported(play, service):
    desk = Desk()

    played = await play(SafetyGate("controlled", desk=desk))

    state = read_state(service)
    assert state.process is not None
    assert service.log_file.read_text().count("heartbeat") == 1
    assert played.writes == [
        {"type": "service", "action": "restart", "resource_id": "service:web-1:demo-service"}
    ]
    assert [asked.target for asked in desk.asked] == ["service:web-1:demo-service"]
    assert "demo-service was restarted after a person approved it, and it is running" in (
        played.report
    )
    assert f"as process {state.process.pid} [T4]" in played.report
    assert f'running as process {state.process.pid} [T5 "status: running"]' in played.report
    assert (played.objection, played.unsupported) == ("", [])


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        ("denied", "The restart was denied by a person"),
        ("expired", "The restart was not decided in time"),
        ("unavailable", "The restart was not approved"),
    ],
)
async def test_without_an_approval_nothing_runs_and_the_report_says_so(
    play, service, verdict, words
):
    played = await play(SafetyGate("controlled", desk=Desk(verdict)))

    assert read_state(service).status == "stopped"
    assert not service.log_file.exists()
    assert len(played.writes) == 1
    assert "demo-service is stopped" in played.report
    assert words in played.report
    assert "was restarted" not in played.report
    assert (played.objection, played.unsupported) == ("", [])


async def test_a_restart_that_was_approved_for_a_stopped_service_leaves_a_running_one_alone(
    play, service, monkeypatch
):
    monkeypatch.setattr(target_states, "AGAIN", (0.0,))

    class SlowDesk(Desk):
        async def request(self, proposal: Proposal) -> Decision:
            with changing(service):
                start(service)
            return await super().request(proposal)

    played = await play(SafetyGate("controlled", desk=SlowDesk()))

    assert service.log_file.read_text().count("heartbeat") == 1
    assert "demo-service is running. The restart was approved for another state of it" in (
        played.report
    )
    assert "and did not run, so nothing was changed" in played.report
    assert (played.objection, played.unsupported) == ("", [])


async def test_a_service_that_is_up_is_left_alone(play, service):
    with changing(service):
        start(service)

    played = await play(SafetyGate("controlled", desk=Desk()))

    assert played.writes == []
    assert "demo-service is running, so nothing was changed" in played.report
    assert (played.objection, played.unsupported) == ("", [])


async def test_where_writes_are_not_offered_none_is_proposed(play, service):
    played = await play(SafetyGate("read_only"))

    assert played.writes == []
    assert "This investigation may change nothing" in played.report
    assert (played.objection, played.unsupported) == ("", [])


async def test_a_service_that_the_alert_does_not_name_is_found_by_its_state(play, service):
    played = await play(SafetyGate("controlled", desk=Desk()), alert="something is down")

    assert played.writes[0]["resource_id"] == "service:web-1:demo-service"
    assert read_state(service).status == "running"


async def test_a_service_that_cannot_be_started_is_reported_as_it_stands(play, service):
    service.log_file.mkdir()

    played = await play(SafetyGate("controlled", desk=Desk()))

    assert len(played.writes) == 1
    assert "The restart failed" in played.report
    assert "the state of demo-service is stopped" in played.report
    assert played.objection == ""


async def test_in_autonomous_a_restart_of_what_was_found_needs_nobody(play, service):
    desk = Desk("denied")

    played = await play(SafetyGate("autonomous", desk=desk))

    assert len(played.writes) == 1
    assert desk.asked == []
    assert read_state(service).status == "running"


async def test_other_agents_keep_their_script(play):
    played = await play(SafetyGate("controlled", desk=Desk()), agent="DiskAgent")

    assert "ops__storage" in [name for name, _ in played.calls]
    assert played.writes == []

"""A write of a file from the model's wish to the read that shows it, on a real server and files."""

import hashlib
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agents.ports import ProposedAnswer
from agents.types import ToolCall, ToolResult
from mcp_bridge.toolbox import OpenToolbox, open_toolbox
from ops.server import build_server
from ops.settings import OpsSettings
from safety.commands.running import PATH
from safety.gate.approval.desk import Decision, Proposal
from safety.gate.file_changes import FileChange
from safety.gate.provenance import Block, Provenance
from safety.gate.safety_gate import SafetyGate
from tests.mcp_bridge.conftest import quick
from tests.ops.fake_docker import run_fake_docker
from tests.safety.gate.calls import Counters, Desk
from tests.server_plans import ServerPlan, TransportPlan

pytestmark = pytest.mark.slow

_ids = itertools.count(1)
HOST = "host:web-1"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


class Agent:
    """Calls tools as an agent does, each call under an id of its own."""

    def __init__(self, toolbox: OpenToolbox, gate: SafetyGate) -> None:
        self.toolbox = toolbox
        self.gate = gate

    async def call(self, tool: str, **arguments: Any) -> ToolResult:
        call = ToolCall(f"c{next(_ids)}", f"ops.{tool}", json.dumps(arguments))
        return await self.toolbox.execute(call, report_progress=lambda _: None)

    async def find_host(self) -> None:
        await self.call("query", action="get", resource_id=HOST)

    async def edit(self, action: str, path: Path | str, content: str, **more: Any) -> ToolResult:
        return await self.call(
            "file_edit",
            **{
                "action": action,
                "path": str(path),
                "content": content,
                "resource_id": HOST,
                **more,
            },
        )


class MeddlingDesk(Desk):
    """Somebody changes the file while a person makes up their mind."""

    def __init__(self, meddle: Any) -> None:
        super().__init__()
        self.meddle = meddle

    async def request(self, proposal: Proposal) -> Decision:
        decision = await super().request(proposal)
        self.meddle()
        return decision


@pytest.fixture
def conf(tmp_path: Path) -> Path:
    file = tmp_path / "app.conf"
    file.write_text("a=1\nb=2\n")
    return file


@pytest.fixture
def open_agent(tmp_path: Path):
    settings = OpsSettings(
        host="web-1", docker_sockets=(tmp_path / "docker.sock",), log_directory=tmp_path,
        systemd_directory=tmp_path / "no-systemd", path=PATH,
    )  # fmt: skip

    async def open_with(gate: SafetyGate) -> AsyncIterator[Agent]:
        async with open_toolbox(
            {"ops": ServerPlan(TransportPlan("in_process"))},
            in_process={"ops": partial(build_server, settings)},
            deadlines=quick(),
            gate=gate,
        ) as toolbox:
            yield Agent(toolbox, gate)

    return open_with


async def test_a_write_is_seen_approved_made_once_and_read_back(open_agent, conf):
    desk, trail = Desk(), Counters()
    async for agent in open_agent(SafetyGate("controlled", desk=desk, events=trail)):
        await agent.find_host()

        result = await agent.edit("write", conf, "a=1\nb=3\n")

        [proposal] = desk.asked
        assert (proposal.target, proposal.arguments["expected_sha256"]) == (HOST, sha("a=1\nb=2\n"))
        change = proposal.preview.change
        assert change is not None
        assert (change.before, change.after) == ("a=1\nb=2\n", "a=1\nb=3\n")
        assert conf.read_text() == "a=1\nb=3\n"
        assert result.check is not None
        assert result.check.status == "verified"
        assert result.check.target.arguments["max_bytes"] == 0
        assert agent.gate.standing.workflow.state == "READING"
        [start] = [act for act in trail.acts if act.kind == "call.start"]
        assert start.facts["hash"] == proposal.bound_hash


async def test_what_is_appended_is_checked_against_all_that_was_there(open_agent, conf):
    async for agent in open_agent(SafetyGate("controlled", desk=Desk())):
        await agent.find_host()

        result = await agent.edit("append", conf, "c=3\n")

        assert conf.read_text() == "a=1\nb=2\nc=3\n"
        assert result.check is not None
        assert result.check.status == "verified"
        assert "data.head_sha256" in result.check.reason


async def test_a_large_file_is_appended_to_and_its_end_is_what_is_shown(open_agent, conf):
    whole = "".join(f"line {number}\n" for number in range(50_000))
    conf.write_text(whole)
    desk = Desk()
    async for agent in open_agent(SafetyGate("controlled", desk=desk)):
        await agent.find_host()

        result = await agent.edit("append", conf, "end\n")

        change = desk.asked[0].preview.change
        assert change is not None
        assert change.before.endswith("line 49999\n")
        assert change.before.startswith(f"line {change.first_line - 1}\n")
        assert change.size_after == len(whole) + 4
        assert result.check is not None
        assert result.check.status == "verified"


@pytest.mark.parametrize("action", ["write", "append"])
async def test_a_file_that_changes_while_a_person_decides_is_left_alone(open_agent, conf, action):
    desk = MeddlingDesk(lambda: conf.write_text("theirs\n"))
    async for agent in open_agent(SafetyGate("controlled", desk=desk)):
        await agent.find_host()

        result = await agent.edit(action, conf, "ours\n")

        assert result.is_error
        assert '"retryable": true' in result.content
        assert "has changed since it was looked at. Nothing was written" in result.content
        assert conf.read_text() == "theirs\n"
        assert result.check is not None
        assert result.check.status == "failed"


async def test_a_link_that_is_swapped_in_while_a_person_decides_is_not_followed(open_agent, conf):
    other = conf.with_name("other.conf")
    other.write_text(conf.read_text())

    def swap() -> None:
        conf.unlink()
        conf.symlink_to(other)

    async for agent in open_agent(SafetyGate("controlled", desk=MeddlingDesk(swap))):
        await agent.find_host()

        result = await agent.edit("write", conf, "ours\n")

        assert result.is_error
        assert other.read_text() == "a=1\nb=2\n"


async def test_a_person_decides_about_the_file_that_a_link_leads_to(open_agent, conf):
    link = conf.with_name("link.conf")
    link.symlink_to(conf)
    desk = Desk()
    async for agent in open_agent(SafetyGate("controlled", desk=desk)):
        await agent.find_host()

        result = await agent.edit("write", link, "new\n")

        assert desk.asked[0].arguments["path"] == str(conf)
        assert desk.asked[0].preview.change.asked_path == str(link)
        assert not result.is_error
        assert link.is_symlink()
        assert conf.read_text() == "new\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"path": "/etc/shadow"}, "POLICY_BLOCKED"),
        ({"path": "/etc/passwd"}, "POLICY_BLOCKED"),
        ({"path": "/etc/pam.d/none"}, "POLICY_BLOCKED"),
        ({"path": "/nowhere/at/all"}, "NOT_FOUND"),
        ({"path": "relative"}, "INVALID_INPUT"),
        ({"expected_sha256": "0" * 64}, "EXECUTION_FAILED"),
        ({"expected_sha256": "absent"}, "EXECUTION_FAILED"),
        ({"content": None}, "INVALID_INPUT"),
    ],
)
async def test_nobody_is_asked_about_what_could_not_be_written(open_agent, conf, more, said):
    desk = Desk()
    async for agent in open_agent(SafetyGate("controlled", desk=desk)):
        await agent.find_host()

        wish = {"action": "write", "path": str(conf), "content": "x\n", "resource_id": HOST}
        result = await agent.call("file_edit", **{**wish, **more})

        assert said in result.content
        assert desk.asked == []
        assert result.check is None
        assert conf.read_text() == "a=1\nb=2\n"
        assert agent.gate.standing.workflow.state == "READING"


async def test_what_nobody_approved_is_not_written(open_agent, conf):
    async for agent in open_agent(SafetyGate("controlled", desk=Desk("denied"))):
        await agent.find_host()

        result = await agent.edit("write", conf, "x\n")

        assert "APPROVAL_REQUIRED" in result.content
        assert conf.read_text() == "a=1\nb=2\n"


async def test_read_only_shows_the_reads_of_the_tool_and_runs_nothing_else(open_agent, conf):
    async for agent in open_agent(SafetyGate("read_only")):
        await agent.find_host()
        [spec] = [each for each in agent.toolbox.specs if each.name.endswith("file_edit")]

        read = await agent.call("file_edit", action="read", path=str(conf))
        written = await agent.edit("write", conf, "x\n")

        assert spec.input_schema["properties"]["action"]["enum"] == ["read"]
        assert not read.is_error
        assert "POLICY_BLOCKED" in written.content
        assert conf.read_text() == "a=1\nb=2\n"


async def test_controlled_shows_all_of_it(open_agent):
    async for agent in open_agent(SafetyGate("controlled")):
        [spec] = [each for each in agent.toolbox.specs if each.name.endswith("file_edit")]

        assert spec.input_schema["properties"]["action"]["enum"] == ["read", "write", "append"]


async def test_autonomous_asks_a_person_about_content_that_the_model_or_a_tool_wrote(
    open_agent, conf
):
    source = conf.with_name("source.txt")
    source.write_text("listen=0.0.0.0\n")
    desk = Desk("denied")
    async for agent in open_agent(SafetyGate("autonomous", desk=desk)):
        await agent.find_host()
        await agent.call("file_edit", action="read", path=str(source))

        await agent.edit("write", conf, "listen=0.0.0.0\n")

        [proposal] = desk.asked
        assert any(each.words.startswith("content: ") for each in proposal.reasons)
        assert conf.read_text() == "a=1\nb=2\n"


async def test_autonomous_asks_also_about_what_a_trusted_person_gave_word_for_word(
    open_agent, conf
):
    given = [Block(f"Write b=3 into {conf}", Provenance("person", "mia"))]
    desk = Desk("denied")
    async for agent in open_agent(SafetyGate("autonomous", desk=desk, given=given)):
        await agent.find_host()

        await agent.edit("write", conf, "b=3")

        assert len(desk.asked) == 1
        assert conf.read_text() == "a=1\nb=2\n"


async def test_a_write_before_anything_was_looked_up_does_not_run(open_agent, conf):
    desk = Desk()
    async for agent in open_agent(SafetyGate("controlled", desk=desk)):
        before = await agent.edit("write", conf, "x\n")
        await agent.call("metrics", action="cpu")
        unknown = await agent.edit("write", conf, "x\n")

        assert "FSM_BLOCKED" in before.content
        assert "STRICT_RESOLUTION" in unknown.content
        assert desk.asked == []
        assert conf.read_text() == "a=1\nb=2\n"


async def test_a_write_for_a_container_never_lands_on_its_host(open_agent, conf, tmp_path):
    desk = Desk()
    async with run_fake_docker(tmp_path / "docker.sock") as docker:
        docker.answer(
            "/containers/json", [{"Id": "ab" * 32, "Names": ["/api"], "State": "running"}]
        )
        async for agent in open_agent(SafetyGate("controlled", desk=desk)):
            await agent.find_host()
            await agent.call("query", action="get", resource_id="container:web-1:abababababab")

            result = await agent.edit("write", conf, "x\n")

            assert "ROUTING_MISMATCH" in result.content
            assert desk.asked == []
            assert conf.read_text() == "a=1\nb=2\n"


async def test_a_refused_write_is_made_good_by_one_that_saw_the_file_anew(open_agent, conf):
    async for agent in open_agent(SafetyGate("controlled", desk=Desk())):
        await agent.find_host()
        agent.gate._desk = MeddlingDesk(lambda: conf.write_text("theirs\n"))
        await agent.edit("write", conf, "ours\n")
        agent.gate._desk = Desk()
        await agent.call("file_edit", action="read", path=str(conf), resource_id=HOST)

        result = await agent.edit("write", conf, "ours\n")
        review = await agent.gate.review_answer(ProposedAnswer("It is resolved."))

        assert result.check is not None
        assert result.check.status == "verified"
        assert "**Unverified:**" not in review.text


@pytest.mark.parametrize("named", [{}, {"expected_sha256": sha("a=1\nb=2\n")}])
async def test_a_write_that_was_made_when_its_worker_died_is_not_made_again(
    open_agent, conf, named
):
    desk = Desk()
    wish = {"action": "write", "path": str(conf), "content": "x\n", "resource_id": HOST, **named}
    call = ToolCall("cut-off", "ops.file_edit", json.dumps(wish))
    gate = SafetyGate("controlled", desk=desk)
    async for agent in open_agent(gate):
        await agent.find_host()
        conf.write_text("x\n")  # what it wrote before it died
        gate._interrupted = frozenset({"cut-off"})
        desk.verdict = "used"

        result = await agent.toolbox.execute(call, report_progress=lambda _: None)

        assert "interrupted and is not repeated" in result.content
        assert result.check is not None
        assert result.check.status == "verified"
        assert gate.standing.workflow.state == "READING"


async def test_autonomous_asks_about_a_file_that_runs_by_itself_and_says_when(open_agent, tmp_path):
    profile, desk = tmp_path / ".bashrc", Desk()
    given = [Block(f"Write x=1 into {profile}", Provenance("person", "mia"))]
    async for agent in open_agent(SafetyGate("autonomous", desk=desk, given=given)):
        await agent.find_host()

        await agent.edit("write", profile, "x=1")

        [proposal] = desk.asked
        assert proposal.preview.risk == "high"
        assert any("every shell or session that starts reads it" in each.words
                   for each in proposal.reasons)  # fmt: skip


def test_a_person_is_told_what_a_rewrite_would_lose():
    facts: dict[str, Any] = {"size_bytes": 1, "keeps_attributes": False}
    rewrite = FileChange("/a", "/a", "x", "y", facts, 1)

    assert "access control lists" in rewrite.state
    assert "access control lists" not in replace(rewrite, is_rewrite=False).state

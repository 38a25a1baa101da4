"""Writes of other people's tool servers, from the model's wish to the read that shows them.

Nothing is configured of these servers but how they are started: their classes and the reads that
show an effect come from the reviewed table.
"""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
import redis
import yaml
from django.conf import settings
from django.test import Client

from investigations.models import AlertSession, ApprovalRequest, MCPInteraction, TimelineEvent
from tests.e2e.conftest import Play, StartWith, submit
from tests.investigations.approving import acts, make_decider
from tests.mcp_peers.backends import Backends, run_backends
from tests.mcp_peers.peers import PEERS, Place, furnish
from tests.processes import wait_for

pytestmark = [pytest.mark.worker, pytest.mark.timeout(400)]

BY_NAME = {peer.name: peer for peer in PEERS}
REPORT = "## Conclusion\nAll of it was done. Confidence: high\n"
KEY = "tarsy:test:known-servers"


@dataclass(frozen=True)
class Act:
    """What the model asks for: a look at what is there, by any server, a write, and perhaps another
    look.

    `check` is the tool that TARSy itself asks afterwards; empty, the model has to look.
    """

    server: str
    name: str
    look: tuple[str, str, dict[str, Any]]
    write: tuple[str, dict[str, Any]]
    check: str


def acts_at(place: Place) -> tuple[Act, ...]:
    folder = str(place.folder)
    notes = f"{folder}/notes.txt"
    web = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "namespace": "default"}
    entity = {"name": "web", "entityType": "deployment", "observations": ["scaled"]}
    return (
        Act("files", "secure-filesystem-server",
            ("files", "search_files", {"path": folder, "pattern": "*.txt"}),
            ("write_file", {"path": notes, "content": "the disk was cleaned\n"}),
            "read_text_file"),
        Act("git", "mcp-git", ("files", "list_allowed_directories", {}),
            ("git_create_branch", {"repo_path": folder, "branch_name": "fix"}), "git_show"),
        Act("redis", "redis", ("redis", "list", {"pattern": f"{KEY}*"}),
            ("set", {"key": KEY, "value": "cleaned"}), "get"),
        Act("k8s", "kubernetes-mcp-server", ("k8s", "resources_get", web),
            ("resources_scale", {**web, "scale": 3}), "resources_get"),
        Act("gitlab", "zereight-gitlab-mcp-server",
            ("gitlab", "get_project", {"project_id": "shop"}),
            ("create_branch", {"project_id": "shop", "branch": "fix", "ref": "main"}),
            "get_branch"),
        Act("memory", "memory-server", ("memory", "read_graph", {}),
            ("create_entities", {"entities": [entity]}), ""),
    )  # fmt: skip


@pytest.fixture
def backends() -> Iterator[tuple[Backends, str]]:
    with run_backends() as running:
        yield running


@pytest.fixture
def place(tmp_path: Path, backends: tuple[Backends, str]) -> Place:
    folder = tmp_path / "place"
    folder.mkdir()
    furnish(folder, backends[1])
    return Place(folder, backends[1], "", settings.REDIS_URL)


@pytest.fixture
def keys() -> Iterator[redis.Redis]:
    """The database that the server is pointed at."""
    # A database in the address would count more than one that is given beside it.
    address = urlsplit(settings.REDIS_URL)._replace(path="").geturl()
    with redis.Redis.from_url(address, decode_responses=True) as client:
        client.set(f"{KEY}:seen", "yes")
        yield client
        client.delete(KEY, f"{KEY}:seen")


@pytest.fixture
def decider(live_db: None) -> Iterator[Client]:
    user = make_decider()
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    yield client
    user.delete()


def test_a_write_of_each_known_server_is_asked_about_runs_once_and_is_shown_by_a_read(
    configured_workers: StartWith,
    decider: Client,
    play: Play,
    place: Place,
    backends: tuple[Backends, str],
    keys: redis.Redis,
):
    wanted = acts_at(place)
    play(write_script(wanted))
    configured_workers(write_configuration(wanted, place))()

    session = decide_until_ended(decider, submit("single"))

    assert (session.status, session.error_message) == ("completed", "")
    asked = {each.server_name: each for each in ApprovalRequest.objects.filter(session=session)}
    assert sorted(asked) == sorted(act.server for act in wanted)
    for approval in asked.values():
        assert acts(approval) == ["approval.request", "approval.approve", "approval.use"]
    for act in wanted:
        rows = MCPInteraction.objects.filter(session=session, server_name=act.server)
        assert rows.filter(tool_name=act.write[0]).count() == 1, act
        assert [each.tool_name for each in rows if is_check(each)] == [act.check] * bool(act.check)
    told = TimelineEvent.objects.filter(session=session, metadata__has_key="check_of")
    assert {event.metadata["verification"]["status"] for event in told} == {"verified"}
    assert "Unverified" not in session.final_analysis
    assert (place.folder / "notes.txt").read_text() == "the disk was cleaned\n"
    assert "fix" in run_git(place.folder, "branch", "--list", "fix")
    assert keys.get(KEY) == "cleaned"
    assert "scaled" in (place.folder / "memory.jsonl").read_text()
    assert sorted(path.rpartition("/")[2] for path in backends[0].writes) == ["fix", "scale"]


def write_script(wanted: tuple[Act, ...]) -> str:
    calls = []
    for act in wanted:
        calls += [act.look, (act.server, *act.write)]
        if not act.check:
            calls.append(act.look)
    rules: list[dict[str, Any]] = [
        {"when": {"agent": "^ExecSummaryAgent"}, "reply": {"text": "All of it was done."}}
    ]
    for turn, (server, tool, arguments) in enumerate(calls):
        call = {"name": f"{server}__{tool}", "arguments": arguments}
        rules.append({"when": {"turn": turn}, "reply": {"text": "On.", "tool_calls": [call]}})
    return yaml.safe_dump({"rules": [*rules, {"reply": {"text": REPORT}}]})


def write_configuration(wanted: tuple[Act, ...], place: Place) -> str:
    servers = {act.server: {"transport": start_of(act, place)} for act in wanted}
    agent = {"description": "Mends", "mcp_servers": list(servers)}
    stage = {"name": "mend", "agents": [{"name": "Mender"}]}
    return yaml.safe_dump({
        "mcp_servers": servers,
        "agents": {"Mender": agent},
        "agent_chains": {"single": {"alert_types": ["single"], "stages": [stage]}},
        "defaults": {"alert_type": "single", "llm_provider": "rehearsal",
                     "control_level": "controlled", "max_iterations": 20},
        "queue": {"poll_interval": "500ms", "poll_interval_jitter": "100ms"},
    })  # fmt: skip


def start_of(act: Act, place: Place) -> dict[str, Any]:
    program = BY_NAME[act.name].start(place)
    return {"type": "stdio", "command": program.command, "args": list(program.args),
            "env": dict(program.env)}  # fmt: skip


def decide_until_ended(decider: Client, session: AlertSession) -> AlertSession:
    """Approve whatever is asked."""

    def look() -> bool:
        pending = ApprovalRequest.objects.filter(session=session, status="pending")
        for approval in pending:
            answer = decider.post(
                f"/api/v1/approvals/{approval.pk}/approve", "{}", content_type="application/json"
            )
            assert answer.status_code == 200
        session.refresh_from_db()
        return session.is_terminal

    wait_for(look, within=240, what="the end of the session")
    return session


def is_check(row: MCPInteraction) -> bool:
    return "check_of" in (row.tool_result or {})


def run_git(folder: Path, *words: str) -> str:
    done = subprocess.run(("git", "-C", str(folder), *words), capture_output=True, text=True)
    return done.stdout

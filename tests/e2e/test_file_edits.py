"""A file is changed by an agent: a real worker, our real server, a decision over the API."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from investigations.models import AlertSession, ApprovalRequest, MCPInteraction
from tests.e2e.conftest import Play, StartWith, StartWorker, submit, wait_until_ended
from tests.e2e.test_approvals import decide, wait_for_request
from tests.investigations.approving import make_decider
from tests.processes import wait_for

pytestmark = pytest.mark.worker

CONFIG = """
agents:
  Alpha: {description: Edits, mcp_servers: [ops]}
agent_chains:
  single: {alert_types: [single], stages: [{name: look, agents: [{name: Alpha}]}]}
defaults:
  alert_type: single
  llm_provider: rehearsal
  control_level: controlled
  max_iterations: 8
queue: {poll_interval: 500ms, poll_interval_jitter: 100ms, approval_timeout: 1m}
"""
SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The limit was too low.}
  - when: {turn: 0}
    reply: {tool_calls: [{name: ops__query, arguments: {action: list, kind: host}}]}
  - when: {turn: 1}
    reply:
      text: The limit is too low, so I raise it.
      tool_calls:
        - name: ops__file_edit
          arguments:
            action: write
            path: %(path)s
            resource_id: "{{ results[0].json.data.resources[0].id }}"
            content: "limit=20\\ntoken_file=/srv/t\\nnote=a\u200bb\\n"
  - when: {turn: 2}
    reply: {tool_calls: [{name: ops__file_edit, arguments: {action: read, path: %(path)s}}]}
  - reply:
      text: |
        ## Conclusion
        The limit was looked at. Confidence: high

        ## Evidence
        1. The file says so. [T{{ results[-1].number }}]
"""
BEFORE = "limit=10\ntoken_file=/srv/t\n"
AFTER = "limit=20\ntoken_file=/srv/t\nnote=a\u200bb\n"


@pytest.fixture
def conf(tmp_path_factory) -> Path:
    # Not beside the configuration: that is the product's own.
    file: Path = tmp_path_factory.mktemp("service") / "app.conf"
    file.write_text(BEFORE)
    file.chmod(0o640)
    return file


@pytest.fixture
def start(configured_workers: StartWith) -> StartWorker:
    return configured_workers(CONFIG)


@pytest.fixture
def decider(live_db: None) -> Iterator[Client]:
    user = make_decider()
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    yield client
    user.delete()


def begin(conf: Path, play: Play, start: StartWorker) -> tuple[AlertSession, ApprovalRequest]:
    play(SCRIPT % {"path": conf})
    start()
    session = submit("single")
    return session, wait_for_request(session)


def test_an_approved_change_is_written_once_read_back_and_verified(start, decider, conf, play):
    session, approval = begin(conf, play, start)
    assert conf.read_text() == BEFORE
    inode = conf.stat().st_ino
    told = decider.get(f"/api/v1/approvals/{approval.pk}").json()
    change = told["preview"]["change"]
    expected = hashlib.sha256(BEFORE.encode()).hexdigest()

    assert decide(decider, approval, "approve") == 200

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")
    assert conf.read_text() == AFTER
    assert conf.stat().st_ino != inode
    assert conf.stat().st_mode & 0o777 == 0o640
    assert told["arguments"]["content"] == AFTER
    assert told["arguments"]["expected_sha256"] == expected == change["facts"]["sha256"]
    assert [(row["kind"], row["text"]) for row in change["rows"]] == [
        ("del", "limit=10"), ("add", "limit=20"), ("same", "token_file=/srv/t"),
        ("add", "note=a\u200bb"),
    ]  # fmt: skip
    assert (change["added"], change["removed"], change["facts"]["mode"]) == (2, 1, "0640")
    assert told["preview"]["verification"][0].startswith("TARSy calls ops.file_edit (")
    detail = decider.get(f"/api/v1/sessions/{session.pk}").json()
    assert detail["unverified_writes"] == []
    checks = MCPInteraction.objects.filter(session=session, tool_result__has_key="check_of")
    assert [row.tool_name for row in checks] == ["file_edit"]
    approval.refresh_from_db()
    assert approval.used_at is not None


def test_a_denied_change_leaves_the_file_alone(start, decider, conf, play):
    session, approval = begin(conf, play, start)

    assert decide(decider, approval, "deny", reason="not tonight") == 200

    assert wait_until_ended(session).status == "completed"
    assert conf.read_text() == BEFORE


def test_a_file_that_changes_while_a_person_decides_is_left_alone_and_the_report_says_so(
    start, decider, conf, play
):
    session, approval = begin(conf, play, start)
    conf.write_text("limit=15\n")

    assert decide(decider, approval, "approve") == 200

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert conf.read_text() == "limit=15\n"
    row = MCPInteraction.objects.get(session=session, tool_number=2)
    assert "has changed since it was looked at. Nothing was written" in json.dumps(row.tool_result)
    assert "**Unverified:** ops.file_edit" in session.final_analysis


def test_a_change_that_was_approved_while_its_worker_was_dead_is_made_once(
    configured_workers, decider, conf, play
):
    begin_worker = configured_workers(CONFIG)
    play(SCRIPT % {"path": conf})
    first = begin_worker()
    session = submit("single")
    approval = wait_for_request(session)

    first.kill()
    assert decide(decider, approval, "approve") == 200
    begin_worker()

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert conf.read_text() == AFTER
    assert ApprovalRequest.objects.filter(session=session).count() == 1


def test_a_file_that_changed_while_its_worker_was_dead_is_asked_about_anew(
    configured_workers, decider, conf, play
):
    begin_worker = configured_workers(CONFIG)
    play(SCRIPT % {"path": conf})
    first = begin_worker()
    session = submit("single")
    approval = wait_for_request(session)

    first.kill()
    assert decide(decider, approval, "approve") == 200
    conf.write_text("limit=15\n")
    begin_worker()

    def second() -> ApprovalRequest | None:
        return ApprovalRequest.objects.filter(session=session).exclude(pk=approval.pk).first()

    anew = wait_for(second, within=60, what="another request")
    assert conf.read_text() == "limit=15\n"
    assert decide(decider, anew, "deny") == 200
    assert wait_until_ended(session).status == "completed"
    assert conf.read_text() == "limit=15\n"

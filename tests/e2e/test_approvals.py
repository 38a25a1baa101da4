"""A write from the model's wish to what became of it: real worker, real server, real decision."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client

from investigations.models import AlertSession, ApprovalRequest, MCPInteraction
from investigations.services.sessions import cancel_session
from tests.e2e.conftest import Play, StartWith, StartWorker, submit, wait_until_ended
from tests.investigations.approving import acts, make_decider, told
from tests.processes import wait_for

pytestmark = pytest.mark.worker

SERVER = Path(__file__).with_name("writing_server.py")
CONFIG = """
mcp_servers:
  jobs:
    transport: {{type: stdio, command: {python}, args: [-u, {server}, {ledger}]}}
    tools: {{jobs_list: resolve, job_restart: {{default: write, identifies: [name]}}}}
agents:
  Alpha: {{description: Looks, mcp_servers: [jobs]}}
agent_chains:
  single: {{alert_types: [single], stages: [{{name: look, agents: [{{name: Alpha}}]}}]}}
defaults:
  alert_type: single
  llm_provider: rehearsal
  control_level: controlled
  max_iterations: 8
queue: {{poll_interval: 500ms, poll_interval_jitter: 100ms, approval_timeout: {timeout}}}
"""
CHECKED = CONFIG.replace(
    "identifies: [name]",
    "identifies: [name], verify: {{tool: job_get, arguments: {{name: $name}}, "
    "expect: {{path: restarts, equals: '1'}}}}",
).replace("jobs_list: resolve", "jobs_list: resolve, job_get: read")
SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The import hung.}
  - when: {turn: 0}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - when: {turn: 1}
    reply:
      text: The import hangs, so I restart it.
      tool_calls: [{name: jobs__job_restart, arguments: {name: import}}]
  - when: {turn: 2}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - reply:
      text: |
        ## Conclusion
        The import was looked at. Confidence: high

        ## Evidence
        1. The list says so. [T{{ results[0].number }}]
"""


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "restarts"


@pytest.fixture
def configure(configured_workers: StartWith, ledger: Path) -> StartWith:
    """Takes the time for a decision and gives a function that starts a worker."""
    return lambda timeout: configured_workers(
        CONFIG.format(python=sys.executable, server=SERVER, ledger=ledger, timeout=timeout)
    )


@pytest.fixture
def start(configure: StartWith) -> StartWorker:
    return configure("1m")


@pytest.fixture
def decider(live_db: None) -> Iterator[Client]:
    user = make_decider()
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    yield client
    user.delete()


def wait_for_request(session: AlertSession) -> ApprovalRequest:
    def find() -> ApprovalRequest | None:
        return ApprovalRequest.objects.filter(session=session).first()

    found = wait_for(find, within=40, what="a request for approval")
    assert found is not None
    return found


def decide(client: Client, approval: ApprovalRequest, verb: str, **body: str) -> int:
    answer = client.post(
        f"/api/v1/approvals/{approval.pk}/{verb}", json.dumps(body), content_type="application/json"
    )
    return int(answer.status_code)


def restarts(ledger: Path) -> int:
    return len(ledger.read_text().split()) if ledger.exists() else 0


def result_of_write(session: AlertSession) -> str:
    row = MCPInteraction.objects.get(session=session, tool_name="job_restart")
    return str(row.tool_result["content"])


def test_an_approved_write_runs_exactly_once(start, decider, ledger, play: Play):
    play(SCRIPT)
    start()
    session = submit("single")
    approval = wait_for_request(session)
    assert restarts(ledger) == 0
    assert approval.reason == "The import hangs, so I restart it."
    assert (approval.target, approval.arguments) == ("import", {"name": "import"})

    assert decide(decider, approval, "approve") == 200

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")
    assert restarts(ledger) == 1
    assert result_of_write(session) == "import restarted"
    approval.refresh_from_db()
    assert approval.used_at is not None
    assert acts(approval) == ["approval.request", "approval.approve", "approval.use"]
    assert told(approval) == [("approval.requested", "pending"), ("approval.decided", "approved")]
    assert decide(decider, approval, "deny") == 409


def test_an_approval_is_no_good_for_a_target_that_has_changed_since(
    configured_workers: StartWith, decider, ledger: Path, play: Play
):
    play(SCRIPT)
    configured_workers(
        CHECKED.format(python=sys.executable, server=SERVER, ledger=ledger, timeout="1m")
    )()
    session = submit("single")
    approval = wait_for_request(session)
    assert approval.preview["current_state"] == "0"
    ledger.write_text("import\n")  # somebody else restarts it meanwhile

    assert decide(decider, approval, "approve") == 200

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")
    assert restarts(ledger) == 1
    assert "import was 0 when a person was asked, and now it is 1" in result_of_write(session)
    approval.refresh_from_db()
    assert approval.used_at is None
    assert acts(approval) == ["approval.request", "approval.approve", "approval.refuse_use"]


def test_a_denied_write_does_not_run_and_the_model_is_told(start, decider, ledger, play: Play):
    rehearsal = play(SCRIPT)
    start()
    session = submit("single")

    assert decide(decider, wait_for_request(session), "deny", reason="Not now") == 200

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert restarts(ledger) == 0
    assert "Command denied: Not now. jobs.job_restart did not run." in result_of_write(session)
    told_model = next(r for r in rehearsal.requests if r.agent == "Alpha" and r.turn == 2)
    assert "Command denied: Not now." in json.dumps(told_model.body)


def test_a_write_nobody_decides_about_expires(configure, ledger, play: Play):
    play(SCRIPT)
    configure("1s")()
    session = submit("single")

    session = wait_until_ended(session)

    assert session.status == "completed"
    assert restarts(ledger) == 0
    assert "Approval timed out" in result_of_write(session)
    assert ApprovalRequest.objects.get(session=session).status == "expired"


def test_a_cancelled_session_takes_its_request_along(start, decider, ledger, play: Play):
    play(SCRIPT)
    start()
    session = submit("single")
    approval = wait_for_request(session)

    cancel_session(session.pk, "ben")

    assert wait_until_ended(session).status == "cancelled"
    assert decide(decider, approval, "approve") == 409
    assert restarts(ledger) == 0


def test_a_request_outlives_its_worker_and_runs_once_when_it_is_approved(
    start, decider, ledger, play: Play
):
    play(SCRIPT)
    first = start()
    session = submit("single")
    approval = wait_for_request(session)

    first.kill()
    assert decide(decider, approval, "approve") == 200
    start()

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert restarts(ledger) == 1
    assert session.executions.get(agent_name="Alpha").attempt == 2
    assert ApprovalRequest.objects.filter(session=session).count() == 1


def test_a_worker_that_is_told_to_stop_leaves_its_request_to_the_next(
    start, decider, ledger, play: Play
):
    play(SCRIPT)
    first = start()
    session = submit("single")
    approval = wait_for_request(session)

    assert first.stop(within=5) == 0, first.output[-3000:]
    start()
    wait_for(
        lambda: session.executions.get(agent_name="Alpha").status == "active",
        within=40, what="another worker",
    )  # fmt: skip
    assert decide(decider, approval, "approve") == 200

    assert wait_until_ended(session).status == "completed"
    assert restarts(ledger) == 1


def test_a_write_that_was_sent_when_its_worker_died_is_never_sent_again(
    start, decider, ledger, play: Play
):
    play(SCRIPT)
    hold = ledger.with_name("hold")
    hold.touch()
    first = start()
    session = submit("single")
    approval = wait_for_request(session)
    assert decide(decider, approval, "approve") == 200
    wait_for(lambda: restarts(ledger) == 1, within=20, what="the write")

    first.kill()
    hold.unlink()
    start()

    session = wait_until_ended(session)
    assert session.status == "completed"
    assert restarts(ledger) == 1
    assert "Whether it took effect is unknown" in result_of_write(session)
    assert ApprovalRequest.objects.filter(session=session).count() == 1

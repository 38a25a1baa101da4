"""What a session leaves behind: rows of the audit trail, counters, and evidence."""

import sys

import pytest
from django.test import Client

from investigations.models import AlertSession, AuditEvent
from investigations.selectors.audit import check_trail
from investigations.selectors.system.prometheus_metrics import read_metrics
from tests.e2e.conftest import TOOL_SERVER, Play, StartWith, submit, wait_until_ended

pytestmark = pytest.mark.worker

CONFIG = """
mcp_servers:
  jobs:
    transport: {{type: stdio, command: {python}, args: [-u, {server}, jobs]}}
    tools: {{jobs_list: resolve, job_restart: {{repairs: true}}}}
agents:
  Alpha: {{description: Looks, mcp_servers: [jobs]}}
agent_chains:
  single:
    alert_types: [single]
    stages: [{{name: look, agents: [{{name: Alpha}}]}}]
defaults:
  alert_type: single
  llm_provider: rehearsal
  control_level: {level}
  max_iterations: 8
queue: {{poll_interval: 500ms, poll_interval_jitter: 100ms}}
"""
SCRIPT = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The import hung.}
  - when: {turn: 0}
    reply: {tool_calls: [{name: jobs__job_restart, arguments: {name: import}}]}
  - when: {turn: 1}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - when: {turn: 2}
    reply: {tool_calls: [{name: jobs__job_restart, arguments: {name: import}}]}
  - when: {turn: 3}
    reply: {tool_calls: [{name: jobs__jobs_list}]}
  - reply:
      text: |
        ## Conclusion
        The import job was restarted 3 times. Confidence: high

        ## Evidence
        1. The job import has 3 restarts. [T2]
        2. The job import has 9 restarts. [T4]
        3. Nobody looked at the disk. [T77]
"""


@pytest.fixture
def prepare(configured_workers: StartWith) -> StartWith:
    """Takes a control level and gives a function that starts a worker."""
    return lambda level: configured_workers(
        CONFIG.format(python=sys.executable, server=TOOL_SERVER, level=level)
    )


def trail_of(session: AlertSession) -> list[AuditEvent]:
    return list(AuditEvent.objects.filter(target_id=str(session.pk)).order_by("id"))


def count(name: str, *labels: str) -> float:
    found = [series for family, each in read_metrics().items() if family.name == name
             for series in each if series.labels == labels]  # fmt: skip
    return sum(series.value for series in found)


def test_a_refused_write_and_one_that_ran_leave_their_rows_in_order(prepare: StartWith, play: Play):
    prepare("autonomous")()
    play(SCRIPT)

    session = wait_until_ended(submit("single"))

    assert session.error_message == ""
    rows = trail_of(session)
    assert [(row.action, row.details["call"], row.actor) for row in rows] == [
        ("call.propose", 1, "agent Alpha"),
        ("call.block", 1, "tarsy"),
        ("call.propose", 3, "agent Alpha"),
        ("call.start", 3, "tarsy"),
        ("call.end", 3, "tarsy"),
        ("call.recover", 3, "tarsy"),
        ("call.verify", 4, "tarsy"),
    ]
    assert rows[1].details["code"] == "FSM_BLOCKED"
    assert rows[3].details["target"] == "import"
    assert rows[4].details["outcome"] == "succeeded"
    assert rows[6].details["write"] == "jobs.job_restart"
    assert rows[0].details["arguments_hash"] == rows[2].details["arguments_hash"]
    assert check_trail().faults == ()


def test_each_claim_of_a_report_leads_to_the_words_it_rests_on(
    prepare: StartWith, play: Play, settings
):
    settings.TARSY_AUTH = "none"
    prepare("autonomous")()
    play(SCRIPT)
    session = wait_until_ended(submit("single"))

    answer = Client(headers={"host": "localhost"}).get(f"/api/v1/sessions/{session.pk}/evidence")

    assert answer.status_code == 200
    told = answer.json()
    assert {claim["text"]: claim["status"] for claim in told["claims"]} == {
        "The job import has 3 restarts.": "cited",
        "The job import has 9 restarts.": "cited",
        "Nobody looked at the disk.": "uncited",
    }
    by_text = {claim["text"]: claim for claim in told["claims"]}
    for text, claim in by_text.items():
        assert session.final_analysis[claim["start"] : claim["end"]] == text
    (call,) = by_text["The job import has 3 restarts."]["calls"]
    event = session.timeline_events.get(pk=call["event_id"])
    assert (call["number"], call["server_name"], call["tool_name"]) == (2, "jobs", "jobs_list")
    assert event.content[call["quote_start"] : call["quote_end"]] == call["quote"]
    assert '{"name": "import", "restarts": 3}' in call["quote"]
    (span,) = by_text["The job import has 9 restarts."]["unsupported"]
    assert (span["kind"], session.final_analysis[span["start"] : span["end"]]) == (
        "number",
        "9 restarts",
    )
    assert by_text["Nobody looked at the disk."]["reason"].endswith("finished tool call T77")


def test_counters_go_on_when_one_process_ends_and_another_begins(prepare: StartWith, play: Play):
    start = prepare("read_only")
    play(SCRIPT)
    name, labels = "tarsy_ai_policy_block_total", ("jobs.job_restart", "POLICY_BLOCKED")
    turns, model = "tarsy_ai_agentic_iterations_total", ("rehearsal", "rehearsal")
    before, turns_before = count(name, *labels), count(turns, *model)

    first = start()
    wait_until_ended(submit("single"))
    first.stop()
    start()
    wait_until_ended(submit("single"))

    assert count(name, *labels) == before + 4
    assert count(turns, *model) == turns_before + 10

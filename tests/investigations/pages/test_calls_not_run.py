"""A call that did not run says why in words, and what a person took counts as nobody's work."""

import json
import re
from datetime import timedelta

import pytest
from django.utils import timezone

from investigations.models import TimelineEvent
from investigations.selectors.session_page.event_previews import read_cited_tools
from investigations.stream.fragments import fragment_for
from investigations.stream_messages import approval_decided, approval_requested
from tests.factories import (
    ApprovalRequestFactory,
    ExecutionFactory,
    MCPInteractionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_tool_call

pytestmark = pytest.mark.django_db


def refuse(code, message, *, blocked=True, **details):
    """As the safety gate writes it."""
    error = {
        "code": code, "message": message, "blocked": blocked, "failed": not blocked,
        "retryable": False, "details": details,
    }  # fmt: skip
    return json.dumps({"ok": False, "data": None, "error": error, "meta": {}})


DENIED = refuse(
    "APPROVAL_REQUIRED", "Command denied: not at noon. ops.control did not run.",
    verdict="denied", decided_by="ana", reason="not at noon",
)  # fmt: skip
EXPIRED = refuse("APPROVAL_REQUIRED", "Approval timed out.", verdict="expired", reason="")
OUTDATED = refuse(
    "APPROVAL_REQUIRED", "The approval no longer holds. ops.control did not run.",
    verdict="outdated", state_when_asked="stopped", state_now="running",
)  # fmt: skip
BLOCKED = refuse("FSM_BLOCKED", "ops.control is a write, and one is still open.")
INTERRUPTED = refuse(
    "EXECUTION_FAILED", "Whether it took effect is unknown.", blocked=False, outcome="unknown"
)

UNDONE = refuse(
    "EXECUTION_FAILED", "k8s.scale was not carried out.", blocked=False,
    outcome="not carried out", reason="the server answered with HTTP status 403: ask Ana",
)  # fmt: skip


def read_row(viewer, session):
    """The row of the second tool call, and what stands inside it."""
    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    start = page.rindex("<details", 0, page.index('id="T2"'))
    row = page[start : page.index("</details>", start)]
    return row[: row.index("</summary>")], row


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (DENIED, "Denied by ana: not at noon"),
        (EXPIRED, "Expired: nobody decided in time"),
        (
            OUTDATED,
            "The approval no longer held: its target was stopped when a person was asked, and now "
            "it is running",
        ),
        (BLOCKED, "Blocked by the safety gate, the change before it has to be looked at first"),
        (INTERRUPTED, "Interrupted: Whether it took effect is unknown."),
        (UNDONE, "Not carried out: the server answered with HTTP status 403: ask Ana"),
    ],
)
def test_a_call_that_was_refused_says_so_in_words_and_is_no_failure(viewer, running, answer, words):
    add_tool_call(running.executions.get(), 2, answer, is_error=True, may_write=True)

    summary, row = read_row(viewer, running)

    assert words in summary
    assert "t-call--bad" not in summary
    assert "Failed" not in summary
    assert "&quot;ok&quot;" not in row
    assert "data-raw" in row


def test_an_error_in_an_envelope_of_a_server_begins_with_its_words(viewer, running):
    failed = refuse("EXECUTION_FAILED", "The command did not end.", blocked=False)
    text = f"ops.read reported an error.\nYou asked: ops__read {{}}\nIt answered:\n{failed}"
    add_tool_call(running.executions.get(), 2, text, is_error=True)

    summary, _ = read_row(viewer, running)

    assert "The command did not end." in summary
    assert "&quot;ok&quot;" not in summary
    assert "t-call--bad" in summary


@pytest.mark.parametrize(
    ("answer", "title"),
    [
        (DENIED, "Denied by ana"),
        (EXPIRED, "Expired"),
        (OUTDATED, "The approval no longer held"),
        (BLOCKED, "Blocked by the safety gate, the change before it has to be looked at first"),
        (INTERRUPTED, "Interrupted"),
        (UNDONE, "Not carried out"),
    ],
)
def test_a_chip_of_a_call_that_was_refused_says_so_and_is_not_red(viewer, answer, title):
    analysis = "## Conclusion\nIt is down. Confidence: low\n\n## Evidence\n1. Nothing ran [T2].\n"
    session = SessionFactory(completed=True, final_analysis=analysis)
    execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
    add_tool_call(execution, 2, answer, is_error=True, may_write=True)

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()

    told = f'title="Show tool call T2, query. {title}"'
    assert f'<a class="t-ev t-ev--held" href="#T2" {told}>' in page
    assert "t-ev--bad" not in page


def test_a_chip_of_a_write_whose_agent_ended_before_anybody_decided_is_not_red(running):
    execution = running.executions.get()
    add_tool_call(execution, 2, "", may_write=True)
    TimelineEvent.objects.filter(metadata__tool_number=2).update(status="failed")
    now = timezone.now()
    ApprovalRequestFactory(
        execution=execution, session=running, tool_number=2, status="expired", decided_at=now
    )

    assert read_cited_tools(running.pk)[2].not_run == "Expired"


@pytest.mark.parametrize("number", [None, "two", [2]])
def test_an_event_whose_number_is_none_keeps_no_page_from_opening(viewer, running, number):
    execution = running.executions.get()
    add_tool_call(execution, 2, "", is_error=True)
    TimelineEvent.objects.filter(metadata__tool_number=2).update(
        status="failed", metadata={"tool_number": number, "is_error": True}
    )
    ApprovalRequestFactory(execution=execution, session=running, tool_number=2)

    assert read_cited_tools(running.pk).keys() <= {1}
    assert viewer.get(f"/sessions/{running.pk}/").status_code == 200


def test_a_tool_that_answers_with_an_error_is_still_a_failure(viewer, running):
    add_tool_call(running.executions.get(), 2, "no such pod", is_error=True)

    summary, _ = read_row(viewer, running)

    assert "t-call--bad" in summary
    assert "Failed" in summary


def test_a_write_whose_agent_ended_before_anybody_decided_was_cancelled(viewer, running):
    execution = running.executions.get()
    add_tool_call(execution, 2, "", may_write=True)
    TimelineEvent.objects.filter(metadata__tool_number=2).update(status="failed")
    now = timezone.now()
    ApprovalRequestFactory(
        execution=execution, session=running, tool_number=2, status="expired", decided_at=now,
        created_at=now - timedelta(seconds=70), decision_reason="its agent has ended",
    )  # fmt: skip

    summary, _ = read_row(viewer, running)

    assert "Cancelled undecided: its agent has ended" in summary
    assert "waited 1 min 10 s" in summary
    assert "t-call--bad" not in summary


def let_through(execution, *, waited, took):
    """The second call of an execution, approved after so many seconds."""
    now = timezone.now()
    asked_at = now - timedelta(seconds=took)
    used_at = asked_at + timedelta(seconds=waited)
    duration = round(took * 1000)
    add_tool_call(execution, 2, "restarted", may_write=True, duration_ms=duration)
    ApprovalRequestFactory(
        execution=execution, session=execution.session, tool_number=2, approved=True,
        created_at=asked_at, decided_at=used_at, used_at=used_at,
    )  # fmt: skip
    return now


def test_waiting_for_a_person_and_running_are_told_apart(viewer, running):
    let_through(running.executions.get(), waited=250, took=250.8)

    summary, _ = read_row(viewer, running)

    assert "waited 4 min 10 s, ran 0.80 s" in summary


def test_a_call_that_runs_is_counted_from_the_approval_in_its_agents_line_as_well(viewer, running):
    execution = running.executions.get()
    decided_at = let_through(execution, waited=14, took=16) - timedelta(seconds=2)
    TimelineEvent.objects.filter(metadata__tool_number=2).update(status="streaming")

    page = viewer.get(f"/sessions/{running.pk}/").content.decode()

    now = re.search(r'id="since-[^"]+">(.*?)</span>', page, re.DOTALL)
    assert now
    assert f'datetime="{decided_at.strftime("%Y-%m-%dT%H:%M:%S")}' in now[1]


def test_a_call_that_waits_for_a_person_is_not_called_running(viewer, running):
    execution = running.executions.get()
    event = add_tool_call(execution, 2, "", may_write=True)
    TimelineEvent.objects.filter(pk=event.pk).update(status="streaming")
    ApprovalRequestFactory(execution=execution, session=running, tool_number=2)

    summary, row = read_row(viewer, running)

    assert "waiting" in summary
    assert "Needs approval, </span>T2" in summary
    assert "Waits for a person since" in row
    assert "Running since" not in row


def test_the_trace_counts_the_waiting_in_its_own_row_and_not_as_the_tools_time(viewer, running):
    execution = running.executions.get()
    now = let_through(execution, waited=250, took=250.8)
    call = MCPInteractionFactory(
        execution=execution, tool_number=2, tool_name="control", duration_ms=250_800,
        tool_result={"content": "restarted", "is_error": False}, created_at=now,
    )  # fmt: skip

    page = viewer.get(f"/sessions/{running.pk}/trace/").content.decode()
    opened = viewer.get(f"/sessions/{running.pk}/trace/tools/{call.pk}/").content.decode()

    start = page.index('id="T2"')
    row = page[start : page.index("</summary>", start)]
    assert "0.80 s" in row
    assert "4:10" not in row
    assert "4:10" in page
    assert "Waited for a person</dt><dd>4 min 10 s" in opened
    assert "Ran</dt><dd>0.80 s" in opened


def test_the_trace_says_in_words_that_a_call_was_denied(viewer, running):
    execution = running.executions.get()
    call = MCPInteractionFactory(
        execution=execution, tool_number=2, duration_ms=20, error_message=DENIED,
        tool_result={"content": DENIED, "is_error": True},
    )  # fmt: skip

    page = viewer.get(f"/sessions/{running.pk}/trace/").content.decode()
    opened = viewer.get(f"/sessions/{running.pk}/trace/tools/{call.pk}/").content.decode()

    assert "Denied by ana: not at noon" in page
    assert "Denied by ana." in opened
    assert "did not run" in opened
    assert "&quot;ok&quot;" not in opened.split("What the safety gate did")[0]


def test_the_row_of_a_call_comes_anew_when_a_person_is_asked_and_when_one_has_decided(running):
    execution = running.executions.get()
    event = add_tool_call(execution, 2, "", may_write=True)
    TimelineEvent.objects.filter(pk=event.pk).update(status="streaming")
    approval = ApprovalRequestFactory(execution=execution, session=running, tool_number=2)

    asked = fragment_for(approval_requested(approval))
    now = timezone.now()
    type(approval).objects.update(status="approved", decided_by="ana", decided_at=now)
    approval.refresh_from_db()
    decided = fragment_for(approval_decided(approval))

    assert "Waits for a person since" in asked
    assert "Running since" in decided
    assert "Waits for a person since" not in decided

"""What a session came to is told by what was done and by how its alerts are, wherever it stands."""

import re

import pytest
from django.utils import timezone

from agents.types import CHANGED
from investigations.models import AlertSession, ApprovalRequest, Incident
from tarsy.terminal_news import News
from tests.factories import (
    ApprovalRequestFactory,
    ExecutionFactory,
    IncidentFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.pages.conftest import add_tool_call

pytestmark = pytest.mark.django_db

REPORT = (
    f"{CHANGED} TARSy changed nothing.\n\n## Conclusion\nRelease 42 leaks connections. "
    "Confidence: high\n\n## Evidence\n1. Eight are idle [T1].\n"
)


def end_with_denied_write(**about: object) -> tuple[AlertSession, ApprovalRequest]:
    """A session that found the cause and asked for one write."""
    session = SessionFactory(completed=True, final_analysis=REPORT, **about)
    execution = ExecutionFactory(
        stage=StageFactory(session=session, completed=True), completed=True
    )
    add_tool_call(execution, 1, "8 connections are idle in transaction")
    add_tool_call(execution, 2, "", may_write=True)
    asked = ApprovalRequestFactory(
        execution=execution, tool_number=2, status="denied", decided_by="ana",
        decided_at=timezone.now(),
    )  # fmt: skip
    return session, asked


def _let_run(asked: ApprovalRequest, **about: object) -> None:
    """One more that the same agent asked for, which somebody let run."""
    ApprovalRequestFactory(
        execution=asked.execution, approved=True, used_at=timezone.now(), tool_number=3, **about
    )


def _head(viewer, session) -> tuple[str, str, str]:
    """The status, the colour and the words with which a page ends."""
    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    head = re.search(r'id="session-head"[^>]* data-word="([^"]*)" data-tone="([^"]*)"', page)
    pill = re.search(r't-pill--l">.*?</svg>([^<]*)</span>', page)
    assert head
    assert pill
    return pill[1], head[2], head[1]


def _row(viewer):
    (row,) = viewer.get("/").context["recent"].rows
    return row


@pytest.mark.parametrize("decision", ["denied", "expired"])
def test_a_cause_that_was_found_and_not_repaired_is_not_told_as_if_all_were_well(viewer, decision):
    session, asked = end_with_denied_write(incident=IncidentFactory())
    ApprovalRequest.objects.filter(pk=asked.pk).update(status=decision)

    assert _head(viewer, session) == (
        "Not repaired", "doubt", "Not repaired. The alert still fires.",
    )  # fmt: skip
    row = _row(viewer)
    assert (row.state, row.confidence, row.still_fires) == ("not_repaired", "", True)
    listed = viewer.get("/").content.decode()
    assert "Not repaired</span>" in listed
    assert "still firing" in listed
    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    assert "Nothing was changed: what was asked for was not done" in page
    assert "<title>(!) " in page


def test_an_alert_that_is_over_leaves_nothing_to_be_repaired(viewer):
    session, _asked = end_with_denied_write(incident=IncidentFactory(recovered=True))

    assert _head(viewer, session) == ("Completed", "ok", "Completed. The alert is over.")
    assert (_row(viewer).state, _row(viewer).still_fires) == ("completed", False)


def test_what_was_denied_first_and_then_let_run_was_done(viewer):
    session, asked = end_with_denied_write()
    _let_run(asked, argument_hash=asked.argument_hash)

    assert _head(viewer, session)[0] == "Completed"
    assert _row(viewer).state == "completed"


def test_what_was_denied_stays_undone_where_something_else_was_done_to_the_same_unit(viewer):
    session, asked = end_with_denied_write()
    _let_run(asked, arguments={"action": "stop", "target": "nginx.service"})

    assert _head(viewer, session)[0] == "Not repaired"
    assert _row(viewer).state == "not_repaired"


def test_an_end_is_not_green_while_the_alert_fires_however_sure_the_report_is(viewer):
    session = SessionFactory(completed=True, final_analysis=REPORT, incident=IncidentFactory())

    assert _head(viewer, session) == ("Completed", "doubt", "Completed. The alert still fires.")


def test_an_end_of_which_nobody_tells_how_the_alert_is_goes_by_the_investigation(viewer):
    plain = IncidentFactory(kind=Incident.Kind.ALERT)
    session = SessionFactory(completed=True, final_analysis=REPORT, incident=plain)

    assert _head(viewer, session) == ("Completed", "ok", "Completed.")
    assert _head(viewer, SessionFactory(failed=True))[1] == "bad"


def test_the_terminal_tells_the_same():
    news = News("http://localhost:8000")
    session, _ = end_with_denied_write(incident=IncidentFactory(), title="orders fail")

    assert "Not repaired, and the alert still fires: orders fail" in list(news.read())

    assert list(news.read()) == []
    Incident.objects.filter(pk=session.incident_id).update(
        state=Incident.State.RECOVERED, firing_count=0, recovered_at=timezone.now()
    )
    assert list(news.read()) == ["The alert is over: orders fail"]
    assert list(news.read()) == []

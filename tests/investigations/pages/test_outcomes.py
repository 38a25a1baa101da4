"""What a session came to is told by what was done and by how its alerts are, wherever it stands."""

import re

import pytest
from django.utils import timezone

from agents.types import CHANGED, INCONCLUSIVE, NOT_CARRIED_OUT, UNVERIFIED
from investigations.models import AlertSession, ApprovalRequest, Incident
from investigations.rendering.state_colours import look_of
from investigations.selectors.outcomes import OUTCOMES
from investigations.selectors.session_list.rows import RecentRow, read_recent
from investigations.selectors.sessions import SessionFilter
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

RUNNING = ("pending", "in_progress", "cancelling")
REPORT = (
    f"{CHANGED} TARSy changed nothing.\n\n## Conclusion\nRelease 42 leaks connections. "
    "Confidence: high\n\n## Evidence\n1. Eight are idle [T1].\n"
)


def end_with_denied_write(
    report: str = REPORT, **about: object
) -> tuple[AlertSession, ApprovalRequest]:
    """A session that found the cause and asked for one write."""
    session = SessionFactory(completed=True, final_analysis=report, **about)
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
    return _row_of(viewer, "/")


def _row_of(viewer, address: str):
    (row,) = viewer.get(address).context["recent"].rows
    return row


@pytest.mark.parametrize("decision", ["denied", "expired"])
def test_a_cause_that_was_found_and_not_repaired_is_not_told_as_if_all_were_well(viewer, decision):
    session, asked = end_with_denied_write(incident=IncidentFactory())
    ApprovalRequest.objects.filter(pk=asked.pk).update(status=decision)

    assert _head(viewer, session) == (
        "Not repaired", "doubt", "Not repaired. The alert still fires.",
    )  # fmt: skip
    row = _row(viewer)
    assert (row.state, row.confidence, row.still_fires) == ("not_repaired", "high", True)
    listed = viewer.get("/").content.decode()
    assert "Not repaired</span>" in listed
    assert "still firing" in listed
    assert "high confidence" in listed
    page = viewer.get(f"/sessions/{session.pk}/").content.decode()
    assert "Nothing was changed: what was asked for was not done" in page
    assert "High confidence" in page
    assert "<title>(!) " in page


@pytest.mark.parametrize(
    ("decision", "state", "word"),
    [
        ("denied", "change_denied", "Change denied"),
        ("expired", "change_expired", "Change expired"),
    ],
)
def test_a_change_that_nobody_let_run_is_told_after_the_alert_is_over(
    viewer, decision, state, word
):
    session, asked = end_with_denied_write(incident=IncidentFactory(recovered=True))
    ApprovalRequest.objects.filter(pk=asked.pk).update(status=decision)

    assert _head(viewer, session) == (word, "doubt", f"{word}. The alert is over.")
    assert (_row(viewer).state, _row(viewer).still_fires) == (state, False)


def test_what_was_done_beside_a_denied_change_makes_it_partly_done_whatever_the_alert_does(viewer):
    report = REPORT.replace("TARSy changed nothing.", "`ops.control` has run.")
    over = IncidentFactory(recovered=True)
    _session, asked = end_with_denied_write(incident=over, report=report)
    _let_run(asked, arguments={"action": "stop"})
    add_tool_call(asked.execution, 3, "stopped", may_write=True, is_write=True)

    assert _row(viewer).state == "partly_done"


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


def _end_in_every_way() -> None:
    """Sessions with each outcome, and with more than one reason for some."""
    plain = "## Conclusion\nIt is full. Confidence: high\n"
    changed = f"{CHANGED} `ops.control` has run."
    undone = f"{NOT_CARRIED_OUT} `ops.control`: refused."
    over = {"incident": IncidentFactory(recovered=True)}
    for about in ({}, {"incident": IncidentFactory()}, over):
        for lines in ((), (changed,), (undone,), (undone, changed), (f"{UNVERIFIED} x.", changed)):
            above = "\n\n".join(lines)
            SessionFactory(completed=True, final_analysis=f"{above}\n\n{plain}", **about)
            _session, asked = end_with_denied_write(f"{above}\n\n{plain}", **about)
            again, _ = end_with_denied_write(plain, **about)
            expired = ApprovalRequest.objects.filter(execution__session=again)
            expired.update(status="expired")
            if lines:
                _let_run(asked, argument_hash=asked.argument_hash)
    SessionFactory(completed=True, final_analysis=f"{INCONCLUSIVE} Nothing.\n\n{plain}")
    for status in ("failed", "timed_out", "cancelled"):
        SessionFactory(**{status: True})


def test_each_outcome_that_a_row_tells_is_a_filter_that_keeps_exactly_those_rows(viewer):
    _end_in_every_way()
    rows = SessionFilter(statuses=AlertSession.TERMINAL)
    found = {each.session.pk: each.state for each in _read_all(rows)}

    assert set(found.values()) == {each for each in OUTCOMES if each not in RUNNING}
    for outcome in OUTCOMES:
        kept = _read_all(SessionFilter(statuses=[outcome], by_outcome=True))
        assert {each.session.pk for each in kept} == {
            pk for pk, state in found.items() if state == outcome
        }, outcome
    pair = SessionFilter(statuses=["completed", "not_repaired"], by_outcome=True)
    assert {each.state for each in _read_all(pair)} == {"completed", "not_repaired"}


def _read_all(wanted: SessionFilter) -> list[RecentRow]:
    """On every page."""
    rows: list[RecentRow] = []
    page = read_recent(wanted)
    while page.next_cursor:
        rows += page.rows
        page = read_recent(wanted, page.next_cursor)
    return [*rows, *page.rows]


def test_the_list_offers_every_outcome_that_it_tells_by_its_word(viewer):
    end_with_denied_write(incident=IncidentFactory())
    SessionFactory(completed=True)

    page = viewer.get("/?status=not_repaired").content.decode()

    offered = re.findall(r'name="status" value="([a-z_]+)"[^>]*>(?:<svg.*?</svg>)([^<]+)', page)
    assert dict(offered) == {each: look_of(each)[2] for each in OUTCOMES}
    assert _row_of(viewer, "/?status=not_repaired").state == "not_repaired"
    assert 'aria-label="Remove filter Not repaired"' in page
    assert [each.state for each in viewer.get("/?status=completed").context["recent"].rows] == [
        "completed"
    ]


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


REPAIRED = REPORT.replace("TARSy changed nothing.", "`restart` on `shop-web` ran and was verified.")


def test_the_terminal_reads_no_failure_into_an_alert_that_fired_before_the_repair():
    news = News("http://localhost:8000")
    about = {"completed": True, "final_analysis": REPAIRED, "title": "orders fail"}
    session = SessionFactory(incident=IncidentFactory(), **about)

    first, *_ = news.read()

    assert first == "Completed, waiting to hear that the alert is over: orders fail"
    Incident.objects.filter(pk=session.incident_id).update(
        state=Incident.State.RECOVERED, firing_count=0, recovered_at=timezone.now()
    )
    assert list(news.read()) == ["The alert is over: orders fail"]


def test_the_terminal_says_that_an_alert_is_over_that_was_over_first():
    news = News("http://localhost:8000")
    SessionFactory(
        completed=True, final_analysis=REPAIRED, title="orders fail",
        incident=IncidentFactory(recovered=True),
    )  # fmt: skip

    assert next(iter(news.read())) == "Completed, and the alert is over: orders fail"
    assert list(news.read()) == []

"""Quotes in reports, from the model's words to the page, the API and Slack's text."""

import json

import pytest
from django.test import Client

from investigations.models import AlertSession, LLMInteraction, Message, TimelineEvent
from investigations.services.notices import outcome_of
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.factories import UserFactory
from tests.processes import Process

pytestmark = pytest.mark.worker

SCRIPT = """
rules:
  - when: {{agent: ^ExecSummaryAgent}}
    reply: {{text: The load is normal.}}
  - when: {{turn: 0}}
    reply: {{tool_calls: [{{name: ops__metrics, arguments: {{action: load}}}}]}}
  - when: {{turn: 1}}
    reply: {{text: {first}}}
  - when: {{turn: 2+}}
    reply: {{text: {second}}}
"""
REPORT = """## Conclusion
The load is normal. Confidence: high

## Evidence
1. The host answered [T1 "{}"].
"""


def investigate(play: Play, first: str, second: str) -> AlertSession:
    """A session whose model reports twice, with these quotes."""
    reports = [json.dumps(REPORT.format(quote)) for quote in (first, second)]
    play(SCRIPT.format(first=reports[0], second=reports[1]))
    return wait_until_ended(submit("single"))


def viewer() -> Client:
    client = Client()
    client.force_login(UserFactory())
    return client


def test_a_model_that_misquotes_once_is_told_and_puts_it_right(worker: Process, play: Play):
    session = investigate(play, "the load is 99", "load")

    (told,) = Message.objects.filter(session=session, role="user", content__contains="does not say")
    assert "\u201cthe load is 99\u201d: T1 does not say" in told.content
    assert "99" not in session.final_analysis
    counts = viewer().get(f"/api/v1/sessions/{session.pk}").json()["claims"]
    assert counts["misquoted"] == 0
    errors = TimelineEvent.objects.filter(session=session, event_type="error")
    assert [error.metadata["error_code"] for error in errors] == ["answer_not_accepted"]


def test_a_quote_that_is_repeated_stands_marked_wherever_the_report_is_read(
    worker: Process, play: Play
):
    session = investigate(play, "the load is 99", "the load is 99")

    asked = LLMInteraction.objects.filter(session=session, interaction_type="iteration").count()
    assert asked == 2  # The tool, the first answer; the second is the final analysis.
    assert 'The host answered [T1 "the load is 99"].' in session.final_analysis
    client = viewer()
    evidence = client.get(f"/api/v1/sessions/{session.pk}/evidence").json()
    _headline, claim = evidence["claims"]
    assert (claim["status"], claim["reason"]) == (
        "misquoted", "T1 does not say \u201cthe load is 99\u201d",
    )  # fmt: skip
    assert evidence["counts"]["words"] == "1 misquoted, 1 uncited"
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "1 misquoted, 1 uncited." in page
    assert "metrics does not say: the load is 99" in page
    assert "1 misquoted" in client.get("/").content.decode()
    assert "Claims: 1 misquoted, 1 uncited." in outcome_of(session)

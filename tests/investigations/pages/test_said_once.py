"""A session's page says each thing once, and leads from words to the calls they are about."""

import re

import pytest

from investigations.models import AlertSession, Stage, TimelineEvent
from tests.factories import ApprovalRequestFactory
from tests.investigations.pages.conftest import add_event

pytestmark = pytest.mark.django_db


def test_calls_that_an_agent_names_in_its_own_words_are_links_where_there_are_such(viewer, running):
    execution = running.executions.get()
    add_event(execution, TimelineEvent.Type.LLM_THINKING, "As [T1] <b>says</b>, unlike [T99].")
    ApprovalRequestFactory(execution=execution, session=running, reason="Free since [T1].")

    page = viewer.get(f"/sessions/{running.pk}/").content.decode()

    assert "&lt;b&gt;says&lt;/b&gt;, unlike [T99]." in page
    assert "[T1]" not in page
    assert page.count('href="#T1"') == 2


def test_the_reason_why_a_session_failed_is_said_once(viewer, finished):
    reason = "The provider answered 401 to every model."
    execution = finished.executions.first()
    add_event(execution, TimelineEvent.Type.ERROR, reason)
    type(execution).objects.filter(pk=execution.pk).update(status="failed", error_message=reason)
    Stage.objects.filter(pk=execution.stage_id).update(status="failed", error_message=reason)
    AlertSession.objects.filter(pk=finished.pk).update(
        status="failed", final_analysis="", error_message=f'stage "Investigate" failed: {reason}'
    )

    page = viewer.get(f"/sessions/{finished.pk}/").content.decode()

    assert page.count(reason) == 1
    assert page.count("The reason stands at the top") == 1


def test_that_passages_are_unsupported_is_said_once_with_their_number(viewer, finished):
    report = finished.final_analysis
    named = [
        {"start": report.index(words), "end": report.index(words) + len(words), "text": words,
         "kind": "number", "reason": "no result says so"}
        for words in ("exit code 137", "on Monday", "--limits=memory=1Gi")
    ]  # fmt: skip
    kind = TimelineEvent.Type.FINAL_ANALYSIS
    add_event(finished.executions.last(), kind, report, unsupported=named)

    page = viewer.get(f"/sessions/{finished.pk}/").content.decode()
    card = page[page.index('id="conclusion"') : page.index('id="summary-text"')]

    assert re.sub(r'title="[^"]*"', "", card).lower().count("unsupported:") == 1
    assert "3 passages of the report are marked as unsupported" in card
    assert "Treat it as a guess" not in card

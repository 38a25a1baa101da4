"""What a row of the timeline says first: why an answer was sent back, what a server answered, and
what a call is about."""

import json

import pytest

from agents.answers import Failure
from agents.types import ToolTarget
from investigations.models import TimelineEvent
from investigations.selectors.session_page.event_view import EventView
from investigations.selectors.session_page.tool_call_view import ToolCallView
from investigations.selectors.trace.not_run import say_error
from investigations.services.recording import _describe_target
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = pytest.mark.django_db

ANSWER = "## Conclusion\nThe rollback was not done. Confidence: high"
WHY = "T1 does not say “revision 41”."


def test_an_answer_that_was_sent_back_is_one_line_with_its_reason(viewer, running):
    execution = running.executions.get()
    for _ in range(4):
        add_event(execution, TimelineEvent.Type.LLM_RESPONSE, ANSWER, sent_back=WHY)
        add_event(execution, TimelineEvent.Type.ERROR, WHY, about="answer",
                  error_code=Failure("answer_not_accepted", "").code)  # fmt: skip

    page = viewer.get(f"/sessions/{running.pk}/").content.decode()

    assert page.count('<details class="t-sentback"') == 4
    assert page.count("<b>Sent back:</b>") == 4
    assert "<b>Error.</b>" not in page


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        ({}, ""),
        ({"forced_because": "limit", "iterations_used": 20}, "stopped at the limit of 20 steps"),
        (
            {"forced_because": "not_accepted", "iterations_used": 7},
            "at step 7, as its answers were",
        ),
        # As an earlier version has written it.
        ({"iterations_used": 7}, "made to conclude at step 7"),
        ({"iterations_used": 20}, "stopped at the limit of 20 steps"),
    ],
)
def test_a_forced_conclusion_says_its_true_reason(metadata, words):
    forced = {"forced_conclusion": True, "max_iterations": 20} if metadata else {}
    view = EventView(TimelineEvent(metadata={**forced, **metadata}), "", 0)

    assert words in view.forced_words
    assert bool(view.forced_words) is bool(words)


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (
            'k8s.get reported an error.\nYou asked: k8s__get {"a": 1}\nIt answered:\nnot found',
            "not found",
        ),
        ("It answered:\nnot found", "It answered:\nnot found"),
        ("x reported an error.\nIt answered:\nno", "x reported an error.\nIt answered:\nno"),
        (json.dumps({"ok": False, "error": {"message": "a rule"}}), "a rule"),
    ],
)
def test_a_failure_begins_with_what_the_server_said(stored, said):
    assert say_error(stored) == said


def test_arguments_stand_in_the_order_in_which_they_were_described(viewer, running):
    given = {"action": "largest", "path": "/var", "limit": 5}
    target = _describe_target(ToolTarget("ops", "storage", given))
    event = add_tool_call(running.executions.get(), 1, **target)
    # As the database gives it back: by the length of the names.
    event.refresh_from_db()
    assert list(event.metadata["arguments"]) == ["path", "limit", "action"]

    view = ToolCallView(event, "", 0)

    assert view.key_argument == "action=largest path=/var limit=5"
    assert [name for name, _ in view.arguments] == ["action", "path", "limit"]

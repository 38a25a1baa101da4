"""The marks of a review stay with a report whatever lines of ours come above it."""

import pytest

from agents.our_lines import put_above
from agents.types import INCONCLUSIVE, UNVERIFIED
from investigations.models import Stage, TimelineEvent
from investigations.selectors.changes import NOTHING
from investigations.selectors.session_page.unsupported import unsupported_of_session
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.conftest import add_event

pytestmark = pytest.mark.django_db

BODY = "It has 3 errors, then 77 errors, and later 77 errors."
WORDS = "77 errors"


def keep(content: str, **facts: object) -> object:
    session = SessionFactory(running=True)
    execution = ExecutionFactory(stage=StageFactory(session=session, **facts))
    start = content.rindex(WORDS)
    span = {"start": start, "end": start + len(WORDS), "text": WORDS, "kind": "number",
            "reason": "no result has it"}  # fmt: skip
    add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, content, unsupported=[span])
    return session.pk


@pytest.mark.parametrize("line", [f"{INCONCLUSIVE} nothing.", f"{UNVERIFIED} it has run."])
def test_marks_are_found_where_lines_of_ours_came_between(line):
    session_id = keep(f"{line}\n\n{BODY}")
    report = put_above([NOTHING], f"{line}\n\n{BODY}")

    (span,) = unsupported_of_session(session_id, report)

    assert (span.start, span.end) == (report.rindex(WORDS), report.rindex(WORDS) + len(WORDS))


def test_marks_are_found_where_a_line_of_ours_was_replaced():
    session_id = keep(f"{NOTHING}\n\n{BODY}")

    assert len(unsupported_of_session(session_id, f"**Changed:** it has run.\n\n{BODY}")) == 1


@pytest.mark.parametrize("kind", [Stage.Type.CHAT, Stage.Type.EXEC_SUMMARY])
def test_marks_of_another_text_with_the_same_words_are_not_taken(kind):
    session_id = keep(f"{NOTHING}\n\n{BODY}", stage_type=kind)

    assert unsupported_of_session(session_id, f"{BODY}\n\nMore.") == ()

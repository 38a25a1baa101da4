"""What a person copies from a page hides nothing: not where it is pasted into a terminal either."""

import re

import pytest
from django.test import Client

from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
    TimelineEventFactory,
)

pytestmark = pytest.mark.django_db
HIDING = "a\u202eb\u2066c\u200bd\x1b[31me\x07f\x85g"
HIDDEN = re.compile("[\u202e\u2066\u200b\x1b\x07\x85]")


@pytest.fixture
def viewer(settings) -> Client:
    settings.TARSY_AUTH = "none"
    return Client(headers={"host": "localhost"})


def test_the_copies_of_a_report_hide_nothing(viewer):
    session = SessionFactory(
        completed=True, title=HIDING, final_analysis=f"## Conclusion\n{HIDING}",
        executive_summary=HIDING, alert_data=HIDING,
    )  # fmt: skip

    page = viewer.get(f"/sessions/{session.pk}/").content.decode()

    assert 'id="report-text"' in page
    assert [page[max(0, found.start() - 60) : found.end()] for found in HIDDEN.finditer(page)] == []


def test_texts_that_are_fetched_to_be_copied_hide_nothing(viewer):
    execution = ExecutionFactory(active=True)
    of = {"execution": execution}
    event = TimelineEventFactory(**of, content=HIDING)
    message = MessageFactory(**of, content=HIDING)
    call = LLMInteractionFactory(**of, last_message_id=message.pk)
    tool = MCPInteractionFactory(
        **of, tool_arguments={"a": HIDING}, tool_result={"content": HIDING}
    )
    page = f"/sessions/{execution.session_id}"
    addresses = [
        f"{page}/events/{event.pk}/content/", f"{page}/trace/tools/{tool.pk}/arguments/",
        f"{page}/trace/tools/{tool.pk}/result/", f"{page}/trace/llm/{call.pk}/messages/1/",
    ]  # fmt: skip

    answers = [viewer.get(address) for address in addresses]

    assert [answer.status_code for answer in answers] == [200] * 4
    assert [HIDDEN.findall(answer.content.decode()) for answer in answers] == [[]] * 4
    assert "[U+202E]" in answers[0].content.decode()

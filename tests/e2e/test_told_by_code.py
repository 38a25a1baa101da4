"""What a reader is told by code, whatever the model says: of changes, and of texts about others."""

import pytest

from investigations.models import Message
from investigations.selectors.changes import NOTHING
from investigations.services.notices import outcome_of
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.test_quotes import viewer
from tests.processes import Process

pytestmark = pytest.mark.worker

CLAIMS_A_RESTART = """
rules:
  - when: {agent: ^SynthesisAgent}
    reply: {text: "I restarted the nginx service. The load is normal [T1]."}
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: "The load is normal. It was at 97 % at 04:12."}
  - when: {turn: 0}
    reply: {tool_calls: [{name: ops__metrics, arguments: {action: load}}]}
  - when: {turn: 1+}
    reply: {text: "The load is normal [T1]."}
"""
NO_LOOK = """
rules:
  - when: {agent: ^ExecSummaryAgent}
    reply: {text: The disk is full.}
  - reply: {text: "## Conclusion\\nThe disk is full. Confidence: high"}
"""


def test_an_act_that_never_was_is_sent_back_and_stands_beside_what_was_changed(
    worker: Process, play: Play
):
    play(CLAIMS_A_RESTART)

    session = wait_until_ended(submit("parallel"))

    sent_back = Message.objects.filter(
        session=session, role="user", content__contains="I restarted the nginx service"
    )
    assert sent_back.count() == 1
    assert session.final_analysis.startswith(NOTHING)
    assert "I restarted" not in session.final_analysis
    client = viewer()
    detail = client.get(f"/api/v1/sessions/{session.pk}").json()
    assert detail["changes"] == []
    assert "TARSy changed nothing." in client.get(f"/sessions/{session.pk}/").content.decode()
    assert NOTHING in outcome_of(session)


def test_a_summary_loses_the_sentence_that_its_report_does_not_bear_out(
    worker: Process, play: Play
):
    play(CLAIMS_A_RESTART)

    session = wait_until_ended(submit("parallel"))

    summary = session.executive_summary
    assert "The load is normal." in summary
    assert "It was at 97 %" not in summary
    assert "**Left out:** 1 sentence of the model's summary" in summary
    assert "97 %" in summary.partition("**Left out:**")[2]


def test_what_rests_on_no_call_is_inconclusive_wherever_it_is_read(worker: Process, play: Play):
    play(NO_LOOK)

    session = wait_until_ended(submit("single"))

    assert session.final_analysis.startswith("**Inconclusive:** no tool call")
    assert session.executive_summary.startswith("**Inconclusive:** no tool call")
    client = viewer()
    page = client.get(f"/sessions/{session.pk}/").content.decode()
    assert "<b>Inconclusive:</b>" in page
    assert "High confidence" not in page
    listed = client.get("/").content.decode()
    assert "Rests on no tool result" in listed
    assert "Inconclusive. The disk is full." in listed
    assert client.get(f"/api/v1/sessions/{session.pk}").json()["claims"]["uncited"] == 1
    assert outcome_of(session).startswith("Claims: 1 uncited.\n\n**Inconclusive:**")

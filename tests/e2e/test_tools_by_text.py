"""Agents whose model cannot call tools: they write their calls as text."""

from collections.abc import Callable

import pytest

from agents.rehearsal.loading import BUILTIN_SCRIPT
from investigations.models import LLMInteraction, MCPInteraction, Message, TimelineEvent
from investigations.services.chat import ask_question
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_BY_TEXT
from tests.e2e.test_chat import wait_for_stage
from tests.processes import Process

pytestmark = pytest.mark.worker


def test_tools_called_by_text_lead_to_a_report(worker: Process, play: Play):
    rehearsal = play(TOOLS_BY_TEXT)

    session = wait_until_ended(submit("by-text"))

    assert (session.status, session.error_message) == ("completed", "")
    assert "## Conclusion\nAlpha found the load to be normal" in session.final_analysis
    assert "[T1] [T2]" in session.final_analysis
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    calls = calls.order_by("tool_number")
    assert list(calls.values_list("server_name", "tool_name", "tool_arguments")) == [
        ("ops", "metrics", {"action": "load"}),
        ("ops", "storage", {"action": "usage"}),
    ]
    messages = Message.objects.filter(execution__agent_name="Alpha", session=session)
    assert list(messages.order_by("sequence_number").values_list("role", "tool_number")) == [
        ("system", None),
        ("user", None),
        ("assistant", None),
        ("user", 1),
        ("user", None),
        ("assistant", None),
        ("user", 2),
        ("assistant", None),
    ]
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
    assert not TimelineEvent.objects.filter(session=session, content__contains="is 99").exists()
    for request in rehearsal.requests:
        assert "tools" not in request.body
        roles = [message["role"] for message in request.body["messages"]]
        assert roles == ["system", *(["user", "assistant"] * len(roles))[: len(roles) - 1]]
        assert not any("tool_calls" in message for message in request.body["messages"])


def test_a_killed_worker_leaves_an_investigation_by_text_to_another(
    own_workers: Callable[[], Process], play: Play
):
    held = TOOLS_BY_TEXT.replace(
        "turn: 2+, tools: []}\n    reply:", "turn: 2+}\n    reply:\n      hold: end"
    )
    rehearsal = play(held)
    first = own_workers()
    session = submit("by-text")
    rehearsal.wait_until_held("end", timeout=20)

    first.kill()
    rehearsal.release("end")
    own_workers()

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", "")
    assert "[T1] [T2]" in session.final_analysis
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert calls.count() == 2
    asked = LLMInteraction.objects.filter(session=session, execution__agent_name="Alpha")
    assert asked.count() == 4


def test_the_built_in_rehearsal_investigates_by_text(worker: Process, play: Play):
    play(BUILTIN_SCRIPT.read_text(encoding="utf-8"))

    session = wait_until_ended(submit("by-text"))

    assert (session.status, session.error_message) == ("completed", "")
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    assert calls.filter(error_message="").count() == 3
    assert "## Evidence" in session.final_analysis
    assert "[T3]" in session.final_analysis


def test_a_question_is_answered_with_tools_called_by_text(worker: Process, play: Play):
    play(TOOLS_BY_TEXT)
    session = wait_until_ended(submit("by-text"))

    stage = wait_for_stage(ask_question(session.pk, "Is it still so?", author="ana"))

    assert stage.status == "completed"
    answer = TimelineEvent.objects.get(stage=stage, event_type="final_analysis").content
    assert "ChatAgent found the load to be normal" in answer
    assert "[T3] [T4]" in answer

"""Whole investigations: from the alert to the report, through a real worker."""

import pytest

from investigations.models import (
    AgentExecution,
    Event,
    LLMInteraction,
    MCPInteraction,
    Message,
    TimelineEvent,
)
from investigations.selectors.changes import NOTHING
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import TOOLS_THEN_REPORT
from tests.processes import Process

pytestmark = pytest.mark.worker


def test_an_alert_becomes_a_report_with_every_layer_of_history(worker: Process, play: Play):
    play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("single"))

    assert session.error_message == ""
    assert session.status == "completed"
    assert "Alpha found the load to be normal" in session.final_analysis
    assert session.executive_summary == f"{NOTHING}\n\nThe load was normal."
    assert list(session.stages.values_list("stage_name", "stage_type", "status")) == [
        ("look", "investigation", "completed"),
        ("Executive Summary", "exec_summary", "completed"),
    ]
    roles = Message.objects.filter(
        execution=session.executions.get(agent_name="Alpha")
    ).values_list("role", flat=True)
    assert list(roles) == ["system", "user", "assistant", "tool", "tool", "assistant"]
    assert LLMInteraction.objects.filter(session=session).count() == 3
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    calls = calls.order_by("tool_number")
    assert list(calls.values_list("tool_number", "server_name", "tool_name", "error_message")) == [
        (1, "ops", "metrics", ""),
        (2, "ops", "storage", ""),
    ]
    (offered,) = MCPInteraction.objects.filter(session=session, interaction_type="tool_list")
    assert {"metrics", "storage"} <= {tool["name"] for tool in offered.available_tools}
    assert {tool["reason"] for tool in offered.hidden_tools} == {"write"}
    assert not TimelineEvent.objects.filter(session=session, event_type="notice").exists()
    assert not TimelineEvent.objects.filter(session=session, status="streaming").exists()
    seqs = list(Event.objects.filter(session=session).values_list("seq", flat=True))
    assert seqs == list(range(1, session.last_seq + 1))


def test_agents_of_one_stage_work_at_once_and_are_synthesised(worker: Process, play: Play):
    play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("parallel"))

    assert session.error_message == ""
    assert list(session.stages.values_list("stage_name", "stage_type", "status")) == [
        ("look", "investigation", "completed"),
        ("look - Synthesis", "synthesis", "completed"),
        ("Executive Summary", "exec_summary", "completed"),
    ]
    assert "Both agree" in session.final_analysis
    synthesis = session.stages.get(stage_type="synthesis")
    assert synthesis.referenced_stage.stage_name == "look"
    calls = MCPInteraction.objects.filter(session=session, interaction_type="tool_call")
    numbers = calls.values_list("tool_number", flat=True)
    assert sorted(numbers) == [1, 2, 3, 4]


def test_replicas_get_numbered_names(worker: Process, play: Play):
    play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("replicated"))

    stage = session.stages.get(stage_index=1)
    names = AgentExecution.objects.filter(stage=stage).values_list("agent_name", flat=True)
    assert sorted(names) == ["Alpha-1", "Alpha-2", "Alpha-3"]
    assert (stage.parallel_type, stage.status) == ("replica", "completed")


def test_a_later_stage_is_told_what_the_first_one_found(worker: Process, play: Play):
    rehearsal = play(TOOLS_THEN_REPORT)

    session = wait_until_ended(submit("two-stages"))

    assert session.status == "completed"
    [first] = [r for r in rehearsal.requests if r.agent == "Beta" and r.turn == 0]
    assert "Alpha found the load to be normal" in first.body["messages"][1]["content"]

"""The trace: which calls a session made, and each one as it was."""

import uuid
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from investigations.models import AgentExecution, LLMInteraction, Message
from investigations.selectors.trace.calls import get_llm_trace, get_session_trace, get_tool_trace
from tarsy.errors import NotFound
from tests.factories import (
    AuditEventFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
)

pytestmark = pytest.mark.django_db


def say(execution: AgentExecution, *roles: str) -> list[Message]:
    return [
        MessageFactory(execution=execution, role=role, content=f"{role} speaks") for role in roles
    ]


def test_the_list_orders_calls_below_agents_below_stages():
    session = SessionFactory(completed=True)
    first, second = StageFactory.create_batch(2, session=session, completed=True)
    agent = ExecutionFactory(stage=first, completed=True)
    helper = ExecutionFactory(stage=first, completed=True, parent_execution=agent)
    now = timezone.now()
    late, early = (
        LLMInteractionFactory(execution=agent, created_at=now - timedelta(seconds=n))
        for n in (1, 2)
    )
    tool = MCPInteractionFactory(execution=helper)
    summary = LLMInteractionFactory(execution=agent, stage=first, session=session)
    LLMInteraction.objects.filter(pk=summary.pk).update(execution=None)

    trace = get_session_trace(session.pk)

    assert [each.stage for each in trace.stages] == [first, second]
    (shown,) = trace.stages[0].executions
    assert shown.execution == agent
    assert [call.id for call in shown.llm_interactions] == [early.pk, late.pk]
    assert shown.mcp_interactions == []
    assert [[call.id for call in each.mcp_interactions] for each in shown.sub_agents] == [[tool.pk]]
    assert trace.stages[1].executions == []
    assert [call.id for call in trace.session_interactions] == [summary.pk]


def test_a_check_stands_behind_the_write_it_was_stored_with():
    execution = ExecutionFactory(active=True)
    told = timezone.now()
    server = {"execution": execution, "created_at": told}
    checks = [MCPInteractionFactory(**server, tool_number=None, server_name="a") for _ in range(3)]
    writes = [MCPInteractionFactory(**server, tool_number=n, server_name="b") for n in (2, 1)]

    (stage,) = get_session_trace(execution.session_id).stages

    shown = [call.id for call in stage.executions[0].mcp_interactions]
    assert shown[:2] == [writes[1].pk, writes[0].pk]
    assert set(shown[2:]) == {check.pk for check in checks}


def test_the_list_reads_no_bodies_and_costs_the_same_for_any_number_of_agents():
    counts = []
    for agents in (1, 4):
        stage = StageFactory(session=SessionFactory(completed=True), completed=True)
        for execution in ExecutionFactory.create_batch(agents, stage=stage, completed=True):
            LLMInteractionFactory(execution=execution)
            MCPInteractionFactory(execution=execution)
        with CaptureQueriesContext(connection) as queries:
            get_session_trace(stage.session_id)
        counts.append(len(queries))
        for body in ("thinking_content", "llm_request", "tool_result", "available_tools"):
            assert not [query for query in queries if body in query["sql"]]

    assert counts[0] == counts[1]


def test_a_call_shows_what_was_said_up_to_its_answer():
    execution = ExecutionFactory(active=True)
    said = say(execution, "system", "user", "assistant")
    say(execution, "tool", "assistant")
    say(ExecutionFactory(stage=execution.stage, active=True), "system")
    call = LLMInteractionFactory(execution=execution, last_message_id=said[-1].pk)

    trace = get_llm_trace(execution.session_id, call.pk)

    assert [turn.role for turn in trace.conversation] == ["system", "user", "assistant"]
    assert trace.interaction == call


def test_a_failed_call_shows_what_was_asked_by_then():
    execution = ExecutionFactory(active=True)
    say(execution, "system", "user")
    call = LLMInteractionFactory(execution=execution, error_message="503")
    say(execution, "assistant")

    trace = get_llm_trace(execution.session_id, call.pk)

    assert [turn.role for turn in trace.conversation] == ["system", "user"]


def test_tool_calls_results_and_what_was_shortened_are_told():
    execution = ExecutionFactory(active=True)
    proposed = [{"id": "call_1", "name": "ops__query", "arguments": '{"kind": "pods"}'}]
    MessageFactory(execution=execution, tool_calls=proposed)
    for number in (1, 2):
        MessageFactory(
            execution=execution, role="tool", tool_call_id="call_1", tool_number=number,
            tool_name="ops.query",
        )  # fmt: skip
    last = MessageFactory(execution=execution)
    call = LLMInteractionFactory(
        execution=execution, last_message_id=last.pk, llm_request={"compacted": [1]}
    )

    conversation = get_llm_trace(execution.session_id, call.pk).conversation

    (asked,) = conversation[0].tool_calls
    assert (asked.id, asked.name, asked.arguments) == ("call_1", "ops__query", '{"kind": "pods"}')
    assert [turn.is_shortened for turn in conversation] == [False, True, False, False]
    assert conversation[1].tool_name == "ops.query"


def test_a_summary_shows_the_conversation_that_is_kept_with_it():
    turns = [{"role": "user", "content": "Shorten this."}, {"role": "assistant", "content": "ok"}]
    call = LLMInteractionFactory(llm_request={"conversation": turns})
    say(call.execution, "system")

    conversation = get_llm_trace(call.session_id, call.pk).conversation

    assert [(turn.role, turn.content) for turn in conversation] == [
        ("user", "Shorten this."),
        ("assistant", "ok"),
    ]


def test_a_tool_call_comes_with_its_event_and_the_acts_of_the_gate():
    call = MCPInteractionFactory(tool_number=3)
    event = TimelineEventFactory(
        execution=call.execution, tool_call=True, mcp_interaction_id=call.pk
    )
    about = {"execution": str(call.execution_id), "call": 3}
    target = {"target_type": "session", "target_id": str(call.session_id)}
    acts = [AuditEventFactory(action=a, details=about, **target) for a in ("call.propose", "x")]
    AuditEventFactory(action="call.propose", details={**about, "call": 4}, **target)

    trace = get_tool_trace(call.session_id, call.pk)

    assert (trace.interaction, trace.event) == (call, event)
    assert list(trace.acts) == acts


@pytest.mark.parametrize("read", [get_llm_trace, get_tool_trace])
def test_a_call_of_another_or_a_deleted_session_is_not_found(read):
    make = LLMInteractionFactory if read is get_llm_trace else MCPInteractionFactory
    call = make()
    other = make()
    deleted = SessionFactory(deleted_at=timezone.now())

    for session_id in (other.session_id, deleted.pk, uuid.uuid4()):
        with pytest.raises(NotFound):
            read(session_id, call.pk)
    with pytest.raises(NotFound):
        get_session_trace(deleted.pk)

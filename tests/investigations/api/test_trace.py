"""The trace over REST: field names, and no interaction under a session it does not belong to."""

import uuid

import pytest
from django.utils import timezone

from tests.factories import (
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
)

SESSIONS = "/api/v1/sessions"
LLM_FIELDS = {
    "id", "interaction_type", "model_name", "input_tokens", "output_tokens", "total_tokens",
    "duration_ms", "error_message", "created_at",
}  # fmt: skip
TOOL_FIELDS = {
    "id", "interaction_type", "server_name", "tool_name", "duration_ms", "error_message",
    "created_at",
}  # fmt: skip


def test_the_list_has_the_fields_of_the_contract_and_no_bodies(api):
    model = LLMInteractionFactory(thinking_content="a secret thought")
    MCPInteractionFactory(execution=model.execution)

    body = api.get(f"{SESSIONS}/{model.session_id}/trace").json()

    (stage,) = body["stages"]
    assert set(stage) == {
        "stage_id", "stage_name", "stage_type", "referenced_stage_id", "executions",
    }  # fmt: skip
    (execution,) = stage["executions"]
    assert set(execution) == {
        "execution_id", "agent_name", "llm_interactions", "mcp_interactions", "sub_agents",
    }  # fmt: skip
    assert set(execution["llm_interactions"][0]) >= LLM_FIELDS
    assert set(execution["mcp_interactions"][0]) >= TOOL_FIELDS
    assert body["session_interactions"] == []
    assert "a secret thought" not in str(body)
    assert "tool_result" not in execution["mcp_interactions"][0]


def test_a_model_call_has_the_conversation_in_the_shape_of_the_contract(api):
    asked = MessageFactory(role="user", content="why?")
    proposed = [{"id": "call_1", "name": "ops__query", "arguments": "{}"}]
    answer = MessageFactory(execution=asked.execution, tool_calls=proposed)
    call = LLMInteractionFactory(
        execution=asked.execution, last_message_id=answer.pk, thinking_content="hm"
    )

    body = api.get(f"{SESSIONS}/{call.session_id}/trace/llm/{call.pk}").json()

    assert set(body) >= LLM_FIELDS | {
        "thinking_content", "llm_request", "llm_response", "response_metadata", "conversation",
    }  # fmt: skip
    assert body["llm_request"] == {"messages_count": 2, "tools_count": 0, "iteration": 1}
    assert body["llm_response"] == {"text_length": 25, "tool_calls_count": 0}
    assert [turn["role"] for turn in body["conversation"]] == ["user", "assistant"]
    assert body["conversation"][1]["tool_calls"] == proposed
    assert body["estimated_cost_usd"] is None


def test_a_tool_call_has_arguments_and_result(api):
    call = MCPInteractionFactory()

    body = api.get(f"{SESSIONS}/{call.session_id}/trace/mcp/{call.pk}").json()

    assert set(body) >= TOOL_FIELDS | {"tool_arguments", "tool_result", "available_tools"}
    assert body["tool_arguments"] == {"kind": "pods", "namespace": "checkout"}
    assert body["tool_result"] == {
        "content": "basket-7d9f-x2x1v CrashLoopBackOff", "is_error": False,
    }  # fmt: skip
    assert body["available_tools"] is None


def test_a_call_that_never_answered_and_a_list_of_tools_are_shown(api):
    tools = [{"name": "look", "description": "Looks."}]
    call = MCPInteractionFactory(
        tool_arguments=None, tool_result=None, available_tools=tools, error_message="gone"
    )

    body = api.get(f"{SESSIONS}/{call.session_id}/trace/mcp/{call.pk}").json()

    assert (body["tool_arguments"], body["tool_result"]) == (None, None)
    assert (body["available_tools"], body["error_message"]) == (tools, "gone")


@pytest.mark.parametrize(
    ("kind", "make"), [("llm", LLMInteractionFactory), ("mcp", MCPInteractionFactory)]
)
def test_an_interaction_is_found_under_its_own_session_only(api, kind, make):
    call = make()
    deleted = make(execution__session=SessionFactory(running=True, deleted_at=timezone.now()))
    other = SessionFactory()

    assert api.get(f"{SESSIONS}/{call.session_id}/trace/{kind}/{call.pk}").status_code == 200
    for session_id, interaction_id in (
        (other.pk, call.pk),
        (call.session_id, uuid.uuid4()),
        (deleted.session_id, deleted.pk),
    ):
        answer = api.get(f"{SESSIONS}/{session_id}/trace/{kind}/{interaction_id}")
        assert (answer.status_code, bool(answer.json()["message"])) == (404, True)


def test_without_cost_estimation_a_call_has_no_price(api, reconfigure):
    call = LLMInteractionFactory(estimated_cost_usd=0.5)
    url = f"{SESSIONS}/{call.session_id}/trace/llm/{call.pk}"
    assert api.get(url).json()["estimated_cost_usd"] == 0.5

    reconfigure("system: {cost_estimation: {enabled: false}}\n")

    assert "estimated_cost_usd" not in api.get(url).json()

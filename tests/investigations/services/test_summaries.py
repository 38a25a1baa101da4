"""Summaries on the database: one transaction, nothing left open, nothing asked twice."""

import uuid

import pytest

from agents.records import LLMCallRecord, PlannedCall, SummaryLabel, SummaryRecord, ToolCallRecord
from agents.types import AgentOutcome, Message, ModelName, ToolCall, ToolResult, ToolTarget, Usage
from investigations.models import LLMInteraction, TimelineEvent
from investigations.selectors.tool_results import read_tool_result
from investigations.services import recording
from investigations.services.executions import (
    Claim,
    claim_execution,
    finish_execution,
    release_execution,
)
from investigations.services.sessions import cancel_session
from investigations.services.summaries import open_summary, record_summary
from tarsy.errors import LeaseLost
from tests.factories import SessionFactory
from tests.investigations.engine import current_stage, executions_of, seqs, start_session

pytestmark = pytest.mark.django_db

CALL = ToolCall("call_0", "ops__logs", "{}")
TARGET = ToolTarget("ops", "logs", {"unit": "web"})
LABEL = SummaryLabel(1, TARGET, 7_900, ModelName("cheap", "langchain", "cheap-1"))
ASKED = (Message("system", "Summarize."), Message("user", "the result"))


@pytest.fixture
def claim() -> Claim:
    """An execution whose only tool call has just been written down."""
    execution = executions_of(current_stage(start_session("single")))[0]
    claim = claim_execution(execution.pk, "worker-1")
    assert claim is not None
    call = LLMCallRecord(
        "iteration", 1, "rehearsal", "rehearsal", 1, 1, (),
        Message("assistant", "I look.", (CALL,)), (PlannedCall(CALL, TARGET),),
    )  # fmt: skip
    recording.record_prompt(claim.execution, [Message("user", "why?")])
    recording.record_llm_call(claim.execution, call, str)
    result = ToolResult("raw and kept", "raw and shown", size_bytes=31_600)
    message = Message("tool", "[T1] raw", tool_call_id=CALL.id, tool_name=CALL.name)
    recording.record_tool_call(claim.execution, ToolCallRecord(1, CALL, TARGET, result, message))
    return claim


def attempt(block_id: object, status: str = "completed", **more: object) -> SummaryRecord:
    is_good = status == "completed"
    call = LLMCallRecord(
        "summarization", 1, "cheap", "cheap-1", 2, 0, (),
        Message("assistant", "the disk is full") if is_good else None,
        usage=Usage(700, 9), duration_ms=40, error="" if is_good else "It failed.", asked=ASKED,
    )  # fmt: skip
    message = Message("tool", "[T1] summary", tool_call_id=CALL.id) if is_good else None
    values = {"call": call, "message": message, "content": "the **disk** is full", **more}
    return SummaryRecord(str(block_id), LABEL, status=status, **values)


def summary_of(claim: Claim) -> TimelineEvent:
    return TimelineEvent.objects.get(execution=claim.execution, event_type="mcp_tool_summary")


def result_message(claim: Claim) -> str:
    return claim.execution.messages.get(tool_number=1).content


def test_a_summary_streams_from_the_moment_it_is_asked_for(claim: Claim):
    open_summary(claim.execution, LABEL)

    event = summary_of(claim)
    assert event.status == "streaming"
    assert event.metadata == {
        "server_name": "ops",
        "tool_name": "logs",
        "tool_number": 1,
        "original_tokens": 7_900,
        "summarization_model": "cheap-1",
        "summarization_provider": "cheap",
    }


def test_a_good_summary_takes_the_place_of_the_result_in_the_conversation(claim: Claim):
    event = open_summary(claim.execution, LABEL)

    record_summary(claim.execution, attempt(event.pk), str)

    assert result_message(claim) == "[T1] summary"
    event = summary_of(claim)
    assert (event.status, event.content) == ("completed", "the **disk** is full")
    assert "<strong>disk</strong>" in event.content_html
    interaction = LLMInteraction.objects.get(pk=event.llm_interaction_id)
    assert interaction.interaction_type == "summarization"
    assert (interaction.input_tokens, interaction.duration_ms) == (700, 40)
    assert interaction.llm_request["conversation"] == [
        {"role": "system", "content": "Summarize."},
        {"role": "user", "content": "the result"},
        {"role": "assistant", "content": "the disk is full"},
    ]
    assert interaction.last_message_id is None
    tool_call = claim.execution.timeline_events.get(event_type="llm_tool_call")
    assert tool_call.content == "raw and shown"
    assert len(seqs(claim.session.pk)) == seqs(claim.session.pk)[-1]


def test_secrets_that_a_summarizer_repeats_are_masked_everywhere(claim: Claim):
    event = open_summary(claim.execution, LABEL)

    record_summary(claim.execution, attempt(event.pk), lambda text: text.replace("disk", "[X]"))

    assert "disk" not in summary_of(claim).content
    assert "disk" not in str(LLMInteraction.objects.latest("created_at").llm_request)


def test_a_failed_attempt_leaves_the_result_and_says_why(claim: Claim):
    event = open_summary(claim.execution, LABEL)

    record_summary(claim.execution, attempt(event.pk, "failed", content="It failed."), str)

    assert result_message(claim) == "[T1] raw"
    assert (summary_of(claim).status, summary_of(claim).content) == ("failed", "It failed.")
    assert LLMInteraction.objects.latest("created_at").error_message == "It failed."


def test_an_attempt_that_another_follows_is_kept_and_leaves_the_summary_open(claim: Claim):
    event = open_summary(claim.execution, LABEL)

    record_summary(claim.execution, attempt(event.pk, "streaming"), str)

    assert summary_of(claim).status == "streaming"
    assert LLMInteraction.objects.filter(interaction_type="summarization").count() == 1


def test_who_finds_the_execution_without_its_summary_finds_the_result(claim: Claim):
    open_summary(claim.execution, LABEL)
    release_execution(claim)

    again = claim_execution(claim.execution.pk, "worker-2")

    assert again is not None
    assert [message.content for message in again.messages] == ["why?", "I look.", "[T1] raw"]
    assert again.open_numbers == {}
    assert summary_of(claim).status == "cancelled"


def test_a_summary_ends_with_a_cancelled_execution(claim: Claim):
    open_summary(claim.execution, LABEL)
    cancel_session(claim.session.pk, "ana")

    release_execution(claim)

    assert summary_of(claim).status == "cancelled"


def test_a_worker_that_lost_its_lease_writes_no_summary(claim: Claim):
    event = open_summary(claim.execution, LABEL)
    release_execution(claim)
    assert claim_execution(claim.execution.pk, "worker-2") is not None

    with pytest.raises(LeaseLost):
        record_summary(claim.execution, attempt(event.pk), str)
    with pytest.raises(LeaseLost):
        open_summary(claim.execution, LABEL)

    assert result_message(claim) == "[T1] raw"


def test_results_are_found_by_their_number_in_their_own_session_only(claim: Claim):
    stranger = SessionFactory()

    found = read_tool_result(claim.session.pk, 1)

    assert found is not None
    assert (found.name, found.text) == ("ops.logs", "raw and kept")
    assert read_tool_result(claim.session.pk, 2) is None
    assert read_tool_result(stranger.pk, 1) is None
    assert read_tool_result(uuid.uuid4(), 1) is None


def test_a_call_that_runs_is_known_and_has_no_result_yet(claim: Claim):
    call = LLMCallRecord(
        "iteration", 2, "rehearsal", "rehearsal", 1, 1, (),
        Message("assistant", "", (CALL,)), (PlannedCall(CALL, TARGET),),
    )  # fmt: skip
    recording.record_llm_call(claim.execution, call, str)

    found = read_tool_result(claim.session.pk, 2)

    assert found is not None
    assert (found.name, found.text) == ("ops.logs", None)


def test_the_question_that_was_shortened_says_so_in_its_row(claim: Claim):
    call = LLMCallRecord(
        "iteration", 2, "rehearsal", "rehearsal", 9, 1, (), Message("assistant", "done"),
        estimated_tokens=4_200, compacted=(1, 3),
    )  # fmt: skip

    recording.record_llm_call(claim.execution, call, str)

    request = LLMInteraction.objects.latest("created_at").llm_request
    assert (request["estimated_tokens"], request["compacted"]) == (4_200, [1, 3])


def test_nothing_is_left_streaming_when_the_execution_ends(claim: Claim):
    open_summary(claim.execution, LABEL)

    finish_execution(claim, AgentOutcome("timed_out", error="too late"))

    assert summary_of(claim).status == "timed_out"

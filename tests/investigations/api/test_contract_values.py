"""Values that a client written for the contract reads and that were not what it expects."""

import json

import pytest

from agents.records import ClosedBlock, LLMCallRecord
from agents.types import Message
from investigations.models import Stage, TimelineEvent
from investigations.services.executions import claim_execution
from investigations.services.recording import open_block, record_llm_call
from investigations.stream_messages import session_progress, timeline_event_created
from tests.factories import (
    ExecutionFactory,
    LLMInteractionFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
)

LIST = "/api/v1/sessions"


def read(api, session):
    return api.get(f"{LIST}/{session.pk}").json()


def test_stages_of_an_ended_session_are_counted_as_there_were(api):
    session = SessionFactory(completed=True, total_stages=2)
    for index in range(4):
        StageFactory(session=session, stage_index=index + 1, completed=True)

    detail, summary = read(api, session), api.get(f"{LIST}/{session.pk}/summary").json()
    item = api.get(LIST).json()["sessions"][0]

    for counts in (detail, item, summary["chain_statistics"]):
        assert (counts["total_stages"], counts["completed_stages"]) == (4, 4)


def test_a_session_that_failed_early_had_the_stages_that_began(api):
    session = SessionFactory(failed=True, total_stages=5)
    StageFactory(session=session, failed=True)

    assert read(api, session)["total_stages"] == 1


def test_a_running_session_has_the_stages_that_are_planned(api):
    session = SessionFactory(running=True, total_stages=5)
    StageFactory(session=session, active=True)

    assert read(api, session)["total_stages"] == 5


def test_money_and_feedback_are_never_null(api):
    execution = ExecutionFactory(completed=True)
    LLMInteractionFactory(execution=execution, estimated_cost_usd=None)

    detail = read(api, execution.session)

    [agent] = detail["stages"][0]["executions"]
    for costs in (detail, agent):
        assert (costs["estimated_cost_usd"], costs["cost_completeness"]) == (0.0, "none")
        assert costs["unpriced_interaction_count"] == 1
    assert detail["feedback_edited"] is False


def test_the_system_page_of_a_client_finds_where_prices_come_from(api):
    system = api.get("/api/v1/system/config").json()["system"]

    catalog = system["cost_estimation"]["catalog"]

    assert catalog["source"] == "snapshot"
    assert catalog["entry_count"] > 100


@pytest.mark.parametrize("status", ["failed", "timed_out"])
def test_an_earlier_stage_is_not_told_as_the_conclusion_of_a_session_that_failed(api, status):
    session = SessionFactory(completed=True, status=status, final_analysis="The first stage says.")

    assert read(api, session)["final_analysis"] is None
    assert api.get(f"{LIST}/{session.pk}/status").json()["final_analysis"] is None


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Stage.Type.INVESTIGATION, "Starting stage: look"),
        (Stage.Type.SYNTHESIS, "Synthesizing..."),
        (Stage.Type.EXEC_SUMMARY, "Generating executive summary"),
    ],
)
def test_progress_is_told_in_the_words_by_which_clients_know_the_phase(db, kind, text):
    stage = StageFactory(stage_type=kind, stage_name="look", active=True)

    told = session_progress(stage.session, stage, active_executions=1)

    assert told["status_text"] == text


def test_arguments_of_a_call_are_json_in_a_text_on_the_wire(api):
    event = TimelineEventFactory(
        event_type=TimelineEvent.Type.LLM_TOOL_CALL, metadata={"arguments": {"path": "/värde"}}
    )

    [listed] = api.get(f"{LIST}/{event.session_id}/timeline").json()
    told = timeline_event_created(event)

    for metadata in (listed["metadata"], told["metadata"]):
        assert json.loads(metadata["arguments"]) == {"path": "/värde"}


def test_a_forced_conclusion_is_marked_on_its_thinking_and_its_answer(db):
    execution = ExecutionFactory(stage=StageFactory(session=SessionFactory(running=True)))
    claim = claim_execution(execution.pk, "worker-1")
    kinds = ("llm_thinking", "llm_response")
    blocks = [open_block(claim.execution, kind) for kind in kinds]
    record = LLMCallRecord(
        interaction_type="forced_conclusion",
        iteration=3,
        max_iterations=3,
        provider_name="lab",
        model="lab-1",
        messages_count=2,
        tools_count=0,
        blocks=tuple(
            ClosedBlock(str(block.pk), kind, "so", "completed", is_final=False)
            for block, kind in zip(blocks, kinds, strict=True)
        ),
        message=Message("assistant", "so"),
    )

    record_llm_call(claim.execution, record, str, blocks)

    for event in TimelineEvent.objects.filter(execution=execution):
        assert event.metadata["forced_conclusion"] is True
        assert (event.metadata["iterations_used"], event.metadata["max_iterations"]) == (3, 3)

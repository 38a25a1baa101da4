"""Who owns an execution, and what one that lost it may still do: nothing."""

import threading
import time
import uuid
from contextlib import nullcontext
from dataclasses import replace
from typing import cast

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.conf import settings
from django.db import connection
from django.utils import timezone
from pytest_django import DjangoAssertNumQueries

from agents.records import LLMCallRecord, OffersRecord, PlannedCall, ToolCallRecord
from agents.types import (
    AgentOutcome,
    ListedTool,
    Message,
    ModelName,
    Note,
    ServerOffer,
    ToolCall,
    ToolResult,
    ToolTarget,
    Usage,
)
from investigations.engine.journal import ExecutionJournal
from investigations.maskers import product_masker
from investigations.models import (
    AgentExecution,
    AlertSession,
    LLMInteraction,
    MCPInteraction,
    Stage,
    TimelineEvent,
)
from investigations.selectors.changes import NOTHING
from investigations.selectors.costs import costs_of_session
from investigations.selectors.offers import offers_of_execution, offers_of_session
from investigations.selectors.past_calls import past_calls
from investigations.services import offers, recording
from investigations.services.executions import (
    Claim,
    claim_execution,
    find_cancelling,
    finish_execution,
    keep_model,
    release_execution,
    renew_leases,
)
from investigations.services.ledger import session_write
from investigations.services.sessions import cancel_session
from investigations.stream_messages import tool_event_id
from tarsy.aio import WorkerLoop
from tarsy.errors import LeaseLost
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.conftest import Configure
from tests.investigations.engine import (
    committed,
    current_stage,
    executions_of,
    grow_old,
    run_at_once,
    sent,
    seqs,
    start_session,
)
from tests.investigations.pages.conftest import add_tool_call
from tests.processes import wait_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def claim() -> Claim:
    """The only execution of a running session, claimed."""
    session = start_session("single")
    claim = claim_execution(executions_of(current_stage(session))[0].pk, "worker-1")
    assert claim is not None
    return claim


def row_of(claim: Claim) -> AgentExecution:
    return AgentExecution.objects.get(pk=claim.execution.pk)


def take_away(claim: Claim) -> Claim:
    """Another worker owns the execution now."""
    AgentExecution.objects.filter(pk=claim.execution.pk).update(status="pending", lease_token=None)
    taken = claim_execution(claim.execution.pk, "worker-2")
    assert taken is not None
    return taken


CALL = ToolCall(id="call_0", name="ops__query", arguments="{}")
TARGET = ToolTarget("ops", "query", {})


def llm_call(*calls: ToolCall) -> LLMCallRecord:
    return LLMCallRecord(
        interaction_type="iteration",
        iteration=1,
        provider_name="rehearsal",
        model="rehearsal",
        messages_count=1,
        tools_count=1,
        blocks=(),
        message=Message(role="assistant", content="I look.", tool_calls=calls),
        planned_calls=tuple(PlannedCall(call, TARGET) for call in calls),
    )


def tool_call(number: int) -> ToolCallRecord:
    result = ToolResult(content="fine", stored="fine")
    message = Message(role="tool", content="fine", tool_call_id=CALL.id, tool_name=CALL.name)
    return ToolCallRecord(number, CALL, TARGET, result, message)


@committed
def test_one_of_many_claimers_gets_the_execution():
    session = start_session("single")
    execution = executions_of(current_stage(session))[0]

    claims = run_at_once(
        *[lambda name=f"worker-{n}": claim_execution(execution.pk, name) for n in range(6)]
    )

    won = [each for each in claims if each is not None]
    assert len(won) == 1
    execution.refresh_from_db()
    assert (execution.status, execution.attempt) == ("active", 1)
    assert execution.lease_token == won[0].lease_token


@pytest.mark.parametrize("status", ["completed", "cancelled"])
def test_an_execution_of_a_session_that_has_ended_cannot_be_claimed(status: str):
    session = SessionFactory(**{status: True})
    execution = ExecutionFactory(stage=StageFactory(session=session, active=True))

    assert claim_execution(execution.pk, "worker-1") is None

    execution.refresh_from_db()
    assert execution.status == "cancelled"


def test_an_unknown_execution_cannot_be_claimed():
    assert claim_execution(uuid.uuid4(), "worker-1") is None


OFFERED = ServerOffer(
    "ops",
    (
        ListedTool("control", "", "write"),
        ListedTool("query", "Asks."),
        ListedTool("x", "", "unclassed"),
    ),
)
AWAY = ServerOffer("db", error="nothing answers")
OFFERS = OffersRecord((OFFERED, AWAY), Note("notice", "db is not available"), None)


WRITES = {
    "prompt": lambda c: recording.record_prompt(c.execution, [Message(role="user", content="?")]),
    "block": lambda c: recording.open_block(c.execution, "llm_response"),
    "model call": lambda c: recording.record_llm_call(c.execution, llm_call(CALL), str),
    "tool call": lambda c: recording.record_tool_call(c.execution, tool_call(1)),
    "offers": lambda c: offers.record_offers(c.execution, OFFERS, str),
    "note": lambda c: recording.record_note(c.execution, Note("final_analysis", "x"), str),
    "finish": lambda c: finish_execution(c, AgentOutcome("completed")),
    "release": release_execution,
}


class DatabaseOfTheTest:
    """The loop of a worker, as far as a journal calls the database through it."""

    async def db(self, function, *args):
        return await sync_to_async(function)(*args)


@pytest.mark.parametrize("is_lost", [True, False], ids=["lost", "kept"])
def test_a_worker_that_was_stopped_asks_whether_the_execution_is_still_its_own(
    claim: Claim, monkeypatch: pytest.MonkeyPatch, is_lost: bool
):
    journal = ExecutionJournal(
        claim.execution, cast(WorkerLoop, DatabaseOfTheTest()), product_masker()
    )
    if is_lost:
        take_away(claim)
    clock = time.clock_gettime
    monkeypatch.setattr(
        time, "clock_gettime", lambda which: clock(which) + settings.LEASE_STALE_SECONDS
    )

    with pytest.raises(LeaseLost) if is_lost else nullcontext():
        async_to_sync(journal.confirm_lease)()


def test_a_worker_that_was_stopped_before_it_began_asks_no_model(
    claim: Claim, monkeypatch: pytest.MonkeyPatch
):
    # An attempt that goes on from a stored conversation writes nothing before it asks.
    clock = time.clock_gettime
    monkeypatch.setattr(
        time, "clock_gettime", lambda which: clock(which) + settings.LEASE_STALE_SECONDS
    )
    take_away(claim)

    journal = ExecutionJournal(
        claim.execution, cast(WorkerLoop, DatabaseOfTheTest()), product_masker()
    )

    with pytest.raises(LeaseLost):
        async_to_sync(journal.confirm_lease)()


def test_a_write_under_a_lease_that_was_not_renewed_for_long_promises_nothing_for_later(
    claim: Claim,
):
    journal = ExecutionJournal(
        claim.execution, cast(WorkerLoop, DatabaseOfTheTest()), product_masker()
    )
    grow_old(claim.execution, by=-1)
    async_to_sync(journal.record_note)(Note("error", "slow", {}))
    take_away(claim)

    with pytest.raises(LeaseLost):
        async_to_sync(journal.confirm_lease)()


def test_a_lease_that_is_confirmed_late_is_renewed(claim: Claim):
    journal = ExecutionJournal(
        claim.execution, cast(WorkerLoop, DatabaseOfTheTest()), product_masker()
    )
    grow_old(claim.execution, by=-1)
    async_to_sync(journal.record_note)(Note("error", "slow", {}))

    async_to_sync(journal.confirm_lease)()

    silent = timezone.now() - row_of(claim).heartbeat_at
    assert silent.total_seconds() < settings.LEASE_STALE_SECONDS / 2


def test_a_worker_that_has_just_written_asks_nothing(
    claim: Claim, django_assert_num_queries: DjangoAssertNumQueries
):
    journal = ExecutionJournal(
        claim.execution, cast(WorkerLoop, DatabaseOfTheTest()), product_masker()
    )

    with django_assert_num_queries(0):
        async_to_sync(journal.confirm_lease)()


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
def test_a_worker_that_lost_its_lease_writes_nothing(claim: Claim, write):
    taken = take_away(claim)
    before = seqs(claim.session.pk)

    with pytest.raises(LeaseLost):
        write(claim)

    row = row_of(claim)
    assert (row.status, row.lease_token, row.worker_id) == ("active", taken.lease_token, "worker-2")
    assert not row.messages.exists()
    assert seqs(claim.session.pk) == before


@pytest.mark.parametrize(
    ("may_write", "metadata", "says_so"),
    [(False, {}, False), (True, {}, True), (False, {"withheld_claims": [{}]}, True)],
    ids=["nothing was asked for", "a write was proposed", "it spoke of one"],
)
def test_an_answer_in_the_chat_says_that_nothing_was_changed_where_there_is_a_question_of_it(
    claim: Claim, may_write, metadata, says_so
):
    Stage.objects.filter(pk=claim.execution.stage_id).update(stage_type=Stage.Type.CHAT)
    add_tool_call(claim.execution, 1, is_error=True, may_write=may_write)

    recording.record_note(claim.execution, Note("final_analysis", "It is well.", metadata), str)

    answer = TimelineEvent.objects.get(event_type="final_analysis").content
    assert answer == (f"{NOTHING}\n\nIt is well." if says_so else "It is well.")


@committed
def test_a_lease_that_is_lost_while_its_worker_waits_for_the_session_counts_no_more(claim: Claim):
    is_locked = threading.Event()

    def take_away_once_the_other_waits():
        with session_write(claim.session.pk):
            is_locked.set()
            wait_for(_is_somebody_waiting, what="the worker to wait for the lock")
            row = AgentExecution.objects.filter(pk=claim.execution.pk)
            row.update(lease_token=uuid.uuid4(), worker_id="worker-2")

    def write():
        assert is_locked.wait(20)
        recording.record_note(claim.execution, Note("final_analysis", "x"), str)

    taken, written = run_at_once(take_away_once_the_other_waits, write)

    assert taken is None
    assert isinstance(written, LeaseLost)
    assert not TimelineEvent.objects.exists()


def _is_somebody_waiting() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT 1 FROM pg_locks"
            " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
        )
        return cursor.fetchone() is not None


def test_the_model_of_a_lost_execution_stays_as_it_was(claim: Claim):
    take_away(claim)

    keep_model(claim, ModelName(provider_name="stale", backend="langchain", model="stale"))

    assert row_of(claim).model_name == ""


def test_a_cancel_closes_what_an_execution_that_was_handed_back_left_open(claim: Claim):
    recording.record_llm_call(claim.execution, llm_call(CALL), str)
    release_execution(claim)

    cancel_session(claim.session.pk, "ana")

    [proposed] = claim.execution.timeline_events.filter(event_type="llm_tool_call")
    assert proposed.status == "cancelled"
    assert row_of(claim).status == "cancelled"


def test_an_execution_finishes_once(claim: Claim):
    finish_execution(claim, AgentOutcome("completed"))

    with pytest.raises(LeaseLost):
        finish_execution(claim, AgentOutcome("failed", error="again"))

    row = row_of(claim)
    assert (row.status, row.error_message, row.lease_token) == ("completed", "", None)
    assert row.duration_ms is not None


@pytest.mark.parametrize(
    ("outcome", "fate"),
    [("completed", "failed"), ("failed", "failed"), ("cancelled", "cancelled"),
     ("timed_out", "timed_out")],
)  # fmt: skip
def test_nothing_streams_after_the_end(claim: Claim, outcome: str, fate: str):
    block = recording.open_block(claim.execution, "llm_response")

    finish_execution(claim, AgentOutcome(outcome))

    block.refresh_from_db()
    assert block.status == fate


@committed
def test_what_is_handed_back_is_sent_again_and_counts_no_attempt(claim: Claim, clean_redis):
    text = recording.open_block(claim.execution, "llm_response")
    recording.record_llm_call(claim.execution, llm_call(CALL), str)
    clean_redis.delete("celery")

    release_execution(claim)

    row = row_of(claim)
    assert (row.status, row.lease_token, row.worker_id, row.attempt) == ("pending", None, "", 0)
    assert sent(clean_redis) == [("run_execution", str(row.pk))]
    text.refresh_from_db()
    assert text.status == "cancelled"
    proposed = TimelineEvent.objects.get(execution=row, event_type="llm_tool_call")
    assert proposed.status == "streaming"


@committed
def test_what_is_handed_back_while_its_session_is_cancelled_ends(claim: Claim, clean_redis):
    cancel_session(claim.session.pk, "ana")
    clean_redis.delete("celery")

    release_execution(claim)

    assert row_of(claim).status == "cancelled"
    assert AlertSession.objects.get(pk=claim.session.pk).status == "cancelled"
    assert sent(clean_redis) == []


def test_the_next_worker_gets_the_conversation_and_the_numbers_of_open_calls(claim: Claim):
    recording.record_prompt(claim.execution, [Message(role="user", content="why?")])
    (proposed,) = recording.record_llm_call(claim.execution, llm_call(CALL), str)
    number = proposed.metadata["tool_number"]
    first_token = claim.lease_token
    release_execution(claim)

    again = claim_execution(claim.execution.pk, "worker-2")

    assert again is not None
    assert [message.role for message in again.messages] == ["user", "assistant"]
    assert again.open_numbers == {"call_0": number}
    assert TimelineEvent.objects.filter(pk=tool_event_id(claim.execution.pk, number)).exists()
    assert again.lease_token != first_token
    assert row_of(claim).attempt == 1


def test_a_call_id_that_a_model_uses_twice_is_open_again(claim: Claim):
    """Some OpenAI-compatible servers number the calls of each answer from zero."""
    (first,) = recording.record_llm_call(claim.execution, llm_call(CALL), str)
    recording.record_tool_call(claim.execution, tool_call(first.metadata["tool_number"]), first)
    (second,) = recording.record_llm_call(claim.execution, llm_call(CALL), str)
    release_execution(claim)

    again = claim_execution(claim.execution.pk, "worker-2")

    assert again is not None
    assert again.open_numbers == {"call_0": second.metadata["tool_number"]}


def test_the_calls_made_so_far_are_told_with_their_results_and_those_that_are_open(claim: Claim):
    """By the order of proposals: a model that uses an id twice mixes nothing up."""
    (first,) = recording.record_llm_call(claim.execution, llm_call(CALL), str)
    result = tool_call(first.metadata["tool_number"])
    recording.record_tool_call(claim.execution, result, first)
    recording.record_llm_call(claim.execution, llm_call(CALL), str)
    release_execution(claim)
    again = claim_execution(claim.execution.pk, "worker-2")
    assert again is not None

    done, opened = past_calls(again.execution, again.messages)

    assert done.call == opened.call == CALL
    assert done.batch < opened.batch
    assert done.result is not None
    assert done.result.stored == result.result.stored
    assert opened.result is None


# ---- Heartbeats ----------------------------------------------------------------------------------


def test_only_the_leases_of_what_runs_are_renewed(claim: Claim):
    other = claim_execution(executions_of(current_stage(start_session("single")))[0].pk, "worker-1")
    assert other is not None
    for each in (claim, other):
        grow_old(each.execution)
    before = row_of(other).heartbeat_at

    held = renew_leases("worker-1", [str(claim.lease_token)])

    assert [lease.lease_token for lease in held] == [str(claim.lease_token)]
    assert row_of(other).heartbeat_at == before
    assert row_of(claim).heartbeat_at > before


def test_a_lease_that_was_taken_away_is_not_renewed(claim: Claim):
    taken = take_away(claim)

    assert renew_leases("worker-1", [str(claim.lease_token)]) == []
    assert len(renew_leases("worker-2", [str(taken.lease_token)])) == 1
    assert renew_leases("worker-2", []) == []


def test_heartbeats_hear_of_a_cancel(claim: Claim):
    assert [each.is_cancelling for each in renew_leases("worker-1", [str(claim.lease_token)])] == [
        False
    ]
    assert find_cancelling("worker-1") == []

    cancel_session(claim.session.pk, "ana")

    assert [each.is_cancelling for each in renew_leases("worker-1", [str(claim.lease_token)])] == [
        True
    ]
    assert find_cancelling("worker-1") == [str(claim.lease_token)]
    assert find_cancelling("worker-2") == []


def test_renewing_needs_as_many_statements_for_many_as_for_one(
    claim: Claim, django_assert_num_queries
):
    tokens = [str(claim.lease_token), *(str(uuid.uuid4()) for _ in range(50))]
    with django_assert_num_queries(1):
        renew_leases("worker-1", tokens)


@pytest.mark.parametrize(("enabled", "kept"), [("true", 0.25), ("false", None)])
def test_what_a_call_cost_is_kept_where_costs_are_estimated(
    claim: Claim, reconfigure: Configure, enabled: str, kept: float | None
):
    reconfigure(f"system: {{cost_estimation: {{enabled: {enabled}}}}}\n")

    record = replace(llm_call(), usage=Usage(10, 5, 2, cost_usd=0.25))
    recording.record_llm_call(claim.execution, record, str)

    row = LLMInteraction.objects.get()
    assert (row.estimated_cost_usd, row.thinking_tokens) == (kept, 2)


def test_what_a_script_that_stands_in_for_a_model_says_it_took_counts_nowhere(
    claim: Claim, reconfigure: Configure
):
    reconfigure("defaults: {alert_type: kubernetes}\n")

    record = replace(llm_call(), usage=Usage(700, 90, 20))
    recording.record_llm_call(claim.execution, record, str)

    row = LLMInteraction.objects.get()
    assert (row.input_tokens, row.output_tokens, row.total_tokens) == (0, 0, 0)
    assert (row.thinking_tokens, row.estimated_cost_usd) == (None, 0.0)
    assert costs_of_session(claim.execution.session_id).is_scripted


def test_a_provider_that_says_it_took_nothing_has_told_nothing(claim: Claim):
    recording.record_llm_call(claim.execution, replace(llm_call(), usage=Usage(0, 0)), str)

    costs = costs_of_session(claim.execution.session_id)
    assert (costs.is_uncounted, costs.is_scripted) == (True, False)


@pytest.mark.parametrize("tokens", [None, 0])
def test_what_a_provider_charged_counts_without_a_count_of_tokens(claim: Claim, tokens: int | None):
    record = replace(llm_call(), usage=Usage(tokens, tokens, cost_usd=0.25))
    recording.record_llm_call(claim.execution, record, str)

    row = LLMInteraction.objects.get()
    assert (row.total_tokens, row.estimated_cost_usd) == (None, 0.25)


def test_the_rates_of_the_operator_count_before_what_the_client_knew(
    claim: Claim, reconfigure: Configure
):
    record = replace(llm_call(), usage=Usage(1_000, 200, cost_usd=0.25))
    rates = f"{{{record.model}: {{input_per_million: 2, output_per_million: 10}}}}"
    reconfigure(f"system: {{cost_estimation: {{model_rates: {rates}}}}}\n")

    recording.record_llm_call(claim.execution, record, str)
    untold = replace(record, usage=Usage(), iteration=2)
    recording.record_llm_call(claim.execution, untold, str)

    first, second = LLMInteraction.objects.order_by("created_at")
    assert first.estimated_cost_usd == pytest.approx(0.004)
    assert second.estimated_cost_usd is None


@committed
def test_what_servers_give_is_kept_and_read_again_as_it_was():
    session = start_session("single")
    claim = claim_execution(executions_of(current_stage(session))[0].pk, "worker-1")
    assert claim is not None

    offers.record_offers(claim.execution, OFFERS, str)
    back = replace(AWAY, error="", tools=(ListedTool("query", "Asks."),))
    offers.record_offers(claim.execution, OffersRecord((back,)), str)

    kept = {each.server: each for each in offers_of_execution(claim.execution)}
    (db, ops) = offers_of_session(claim.session.pk)

    assert kept == {"ops": OFFERED, "db": back}
    assert (ops.offered_count, ops.tool_count, ops.unclassed_count) == (1, 3, 1)
    assert (db.offer.is_away, db.was_there) == (False, True)
    (notice,) = claim.execution.timeline_events.filter(event_type="notice")
    assert notice.content == "db is not available"


@committed
def test_of_lists_that_change_without_end_the_first_and_the_newest_are_kept_and_that_is_said():
    session = start_session("single")
    claim = claim_execution(executions_of(current_stage(session))[0].pk, "worker-1")
    assert claim is not None

    def tell(number: int, offer: ServerOffer) -> None:
        note = Note("notice", f"change {number}")
        offers.record_offers(claim.execution, OffersRecord((offer,), note), str)

    tell(0, AWAY)
    for number in range(1, 13):
        offer = replace(AWAY, error="", tools=(ListedTool(f"query_{number}", "Asks."),))
        tell(number, offer)

    lists = MCPInteraction.objects.filter(interaction_type="tool_list", error_message="")
    kept = [row.available_tools[0]["name"] for row in lists.order_by("created_at")]
    assert kept == [*(f"query_{n}" for n in range(1, offers.MOST_LISTS)), "query_12"]
    (resumed,) = offers_of_execution(claim.execution)
    assert [each.name for each in resumed.tools] == ["query_12"]
    notes = claim.execution.timeline_events.filter(event_type="notice").order_by("sequence_number")
    said = [note.content for note in notes]
    assert said[offers.MOST_LISTS] == f"change {offers.MOST_LISTS}"
    assert "the newest" in said[offers.MOST_LISTS + 1]
    assert len(said) == 13


def test_a_notice_that_a_continued_execution_finds_again_stands_once(claim: Claim):
    record = replace(llm_call(), notes=(Note("notice", "not offered", {"is_offered": False}),))

    recording.record_llm_call(claim.execution, record, str)
    recording.record_llm_call(claim.execution, record, str)

    assert claim.execution.timeline_events.filter(event_type="notice").count() == 1

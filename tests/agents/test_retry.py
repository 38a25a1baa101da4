"""When a model call is tried again, and the whole loop over the real wire."""

from unittest.mock import AsyncMock

import pytest

from agents.llm import ProviderSettings, make_llm
from agents.llm import retry as retry_module
from agents.llm.retry import choose_delay, stream_with_retries
from agents.llm_events import AnswerFinished, TextDelta
from agents.ports import LLMOptions, NotSent
from agents.run import run_agent
from agents.task import AgentTask
from agents.types import Message
from tarsy.errors import LeaseLost, LLMError
from tests.agents.doubles import MemoryJournal, ScriptedLLM, ScriptedToolbox, say
from tests.agents.wire_server import chunk, cut, fragment, refuse, stream, usage_chunk

DOWN = LLMError("provider_error", "The provider answered 500.", retryable=True)

ANYHOW = LLMOptions()


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(retry_module, "BACKOFF", (0.0, 0.0, 0.0))


async def play(llm, options=ANYHOW, *, max_retries=2):
    retries, waits = [], []

    async def keep(retry):
        retries.append(retry)

    async def keep_wait(error):
        waits.append(error.retry_after)

    events = []
    error = None
    try:
        async for event in stream_with_retries(
            lambda: llm.stream((), (), options),
            max_retries=max_retries,
            on_retry=keep,
            wait=keep_wait,
        ):
            events.append(event)
    except LLMError as caught:
        error = caught
    return events, waits or retries, error


async def test_a_failed_start_is_tried_again_until_it_answers(at_once):
    llm = ScriptedLLM([[DOWN], [DOWN], say("hi")])

    events, retries, error = await play(llm)

    assert events == [TextDelta("hi"), AnswerFinished("stop")]
    assert [retry.attempt for retry in retries] == [1, 2]
    assert error is None
    assert llm.closed == 3


async def test_nothing_is_tried_again_once_text_was_shown(at_once):
    llm = ScriptedLLM([[TextDelta("so"), DOWN], say("never")])

    events, retries, error = await play(llm)

    assert events == [TextDelta("so")]
    assert retries == []
    assert (error.code, error.partial) == ("partial_stream_error", True)


async def test_what_holds_a_later_attempt_back_ends_them_all(at_once):
    llm = ScriptedLLM([[DOWN], say("paid for twice")])
    confirm = AsyncMock(side_effect=[None, NotSent()])

    with pytest.raises(NotSent):
        await play(llm, LLMOptions(before_request=confirm))

    assert len(llm.asked) == 1


async def test_an_agent_asks_before_each_attempt_whether_its_execution_is_its_own(at_once, wire):
    wire.plays = [refuse(503, "busy"), stream(chunk({"content": "Yes."}), chunk({}, "stop"))]
    journal = MemoryJournal()
    seen = []
    record_note = journal.record_note

    async def lose_lease(note):
        await record_note(note)
        seen.append(note.metadata["error_code"])
        journal.lease_error = LeaseLost("it is another's")

    journal.record_note = lose_lease
    task = AgentTask("function_calling", "Triage", (Message("user", "The disk is full."),))
    llm = make_llm(ProviderSettings("lab", "openai", "lab-1", base_url=wire.base_url))

    with pytest.raises(LeaseLost):
        await run_agent(task, llm=llm, toolbox=ScriptedToolbox(), journal=journal)

    assert seen == ["provider_error"]
    assert len(wire.requests) == 1


@pytest.mark.parametrize(("max_retries", "told"), [(0, "tried once"), (4, "tried 5 times")])
async def test_a_provider_is_tried_as_often_as_its_rule_says(at_once, max_retries, told):
    llm = ScriptedLLM([[DOWN]])

    _, retries, error = await play(llm, max_retries=max_retries)

    assert (error.code, len(llm.asked)) == ("max_retries", max_retries + 1)
    assert told in str(error)
    assert len(retries) == max_retries


async def test_what_follows_a_wait_that_was_asked_for_counts_as_no_further_try(at_once):
    busy = LLMError("rate_limit", "busy", retryable=True, retry_after=30.0)
    llm = ScriptedLLM([[busy], [busy], [busy], [busy], say("hi")])

    events, waits, error = await play(llm)

    assert events == [TextDelta("hi"), AnswerFinished("stop")]
    assert (waits, error) == ([30.0] * 4, None)


async def test_a_provider_that_asks_for_time_without_end_is_given_up():
    busy = LLMError("rate_limit", "busy", retryable=True, retry_after=1.0)

    _, waits, error = await play(ScriptedLLM([[busy]]))

    assert len(waits) == retry_module.MAX_WAITS
    assert error.code == "max_retries"


def test_the_first_wait_is_about_a_second_and_a_given_time_is_kept():
    given = LLMError("rate_limit", "busy", retryable=True, retry_after=7.5)

    assert 1.0 <= (choose_delay(DOWN, 1) or 0) <= 1.25
    assert 4.0 <= (choose_delay(DOWN, 3) or 0) <= 5.0
    assert choose_delay(given, 1) == 7.5


async def test_an_investigation_runs_over_the_wire_through_its_troubles(at_once, wire):
    wire.plays = [
        refuse(503, "<html>busy</html>"),
        stream(
            chunk({"reasoning_content": "look first"}),
            chunk(fragment(0, '{"path": "/var"}', call_id="call_1", name="ops__read")),
            chunk({}, "tool_calls"),
            usage_chunk(100, 10, 4),
        ),
        cut(chunk({"content": "## Concl"})),
        stream(chunk({"content": "## Conclusion\n/var is full [T1]."}), chunk({}, "stop")),
    ]
    journal = MemoryJournal()
    task = AgentTask("function_calling", "Triage", (Message("user", "The disk is full."),))
    llm = make_llm(ProviderSettings("lab", "openai", "lab-1", base_url=wire.base_url))

    outcome = await run_agent(
        task, llm=llm, toolbox=ScriptedToolbox({"read": "94 %"}), journal=journal
    )

    assert outcome.status == "completed"
    assert outcome.final_analysis == "## Conclusion\n/var is full [T1]."
    assert [record.error_code for record in journal.llm_calls] == ["", "partial_stream_error", ""]
    assert journal.llm_calls[0].usage.thinking_tokens == 4
    assert [note.metadata.get("error_code") for note in journal.notes] == [
        "provider_error",
        "partial_stream_error",
        None,
    ]
    answered = wire.requests[-1]["messages"]
    assert [message["role"] for message in answered] == ["user", "assistant", "tool", "user"]
    assert "94 %" in answered[2]["content"]


async def test_a_refused_key_ends_the_investigation_without_showing_it(wire):
    key = "sk-secret-4711-abcdef"
    wire.plays = [refuse(401, {"error": {"message": f"Incorrect API key provided: {key}"}})]
    journal = MemoryJournal()
    task = AgentTask("function_calling", "Triage", (Message("user", "The disk is full."),))
    settings = ProviderSettings(
        "lab", "openai", "lab-1", api_key=key, api_key_env="LAB_KEY", base_url=wire.base_url
    )

    outcome = await run_agent(
        task, llm=make_llm(settings), toolbox=ScriptedToolbox(), journal=journal
    )

    assert outcome.status == "failed"
    assert "LAB_KEY" in outcome.error
    assert key not in repr((outcome, journal))

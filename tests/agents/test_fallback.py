"""When another provider takes over: the rules as tables, then the loop that follows them."""

import asyncio
from dataclasses import replace

import pytest

from agents.answers import Failure
from agents.fallback import Fallback, FallbackPlan, FallbackState
from agents.llm_events import AnswerFinished, NativeToolTold
from agents.run import run_agent
from agents.task import AgentTask, Limits
from agents.types import Message, ModelName, Note
from tarsy.errors import AgentError, LLMError
from tests.agents.doubles import (
    MemoryJournal,
    ScriptedLLM,
    ScriptedToolbox,
    call,
    say,
    tool,
)

OPENING = (Message("system", "Investigate."), Message("user", "The disk is full."))
TASK = AgentTask("function_calling", "Triage", OPENING)
SINGLE = AgentTask("single_call", "Summary", OPENING)
PRIMARY = ModelName("primary", "google-native", "gemini-x")
REFUSED = LLMError("credentials", "The provider refused the key (401).")
BAD_REQUEST = LLMError("invalid_request", "The provider refused the request (400).")
LATE = LLMError("initial_response_timeout", "The model did not begin to answer.")
LOOP = "spinning round and round without end, " * 200


def entry(name, backend="langchain", llm=None, *, native_tools=(), reason=""):
    def open_llm():
        if reason:
            raise AgentError(reason)
        return llm or ScriptedLLM([say(f"{name} says")], name, f"{name}-model")

    return Fallback(ModelName(name, backend, f"{name}-model"), open_llm, frozenset(native_tools))


def make_state(*entries, is_single_shot=False, **plan):
    return FallbackState(FallbackPlan(PRIMARY, entries, **plan), is_single_shot=is_single_shot)


@pytest.mark.parametrize(
    ("codes", "iterating", "single"),
    [
        (["max_retries"], True, True),
        (["credentials"], True, True),
        (["rate_limit"], True, True),
        (["context_window"], True, True),
        (["provider_error"], False, True),
        (["invalid_request"], False, True),
        (["initial_response_timeout"], False, True),
        (["iteration_timeout"], False, True),
        (["never heard of"], False, True),
        (["partial_stream_error"], False, True),
        (["stall_timeout"], False, True),
        (["repetition"], False, False),
        (["provider_error", "invalid_request"], True, True),
        (["initial_response_timeout", "provider_error"], True, True),
        (["partial_stream_error", "stall_timeout"], True, True),
        (["provider_error", "partial_stream_error"], False, True),
        (["partial_stream_error", "provider_error"], False, True),
        (["provider_error", "repetition", "provider_error"], False, True),
        (["repetition", "repetition", "repetition"], False, False),
        (["provider_error", "answer", "provider_error"], False, True),
        (["stall_timeout", "answer", "stall_timeout"], False, True),
    ],
)
def test_it_depends_on_the_failures_in_a_row_whether_another_provider_is_due(
    codes, iterating, single
):
    for is_single_shot, expected in ((False, iterating), (True, single)):
        state = make_state(entry("b"), is_single_shot=is_single_shot)
        due = False
        for code in codes:
            if code == "answer":
                state.note_success()
            else:
                due = state.note_failure(code)
        assert due is expected


@pytest.mark.parametrize(
    ("entries", "needs_native_tools", "chosen", "incompatible", "unusable"),
    [
        ([entry("b"), entry("c")], False, "b", [], []),
        ([entry("primary"), entry("c")], False, "c", [], []),
        ([entry("b"), entry("c", "google-native")], True, "c", ["b"], []),
        ([entry("b"), entry("c")], True, None, ["b", "c"], []),
        ([entry("b", reason="set B_KEY."), entry("c")], False, "c", [], ["b"]),
        ([entry("b", reason="set B_KEY.")], False, None, [], ["b"]),
        ([entry("primary")], False, None, [], []),
        ([], False, None, [], []),
    ],
)
def test_the_next_provider_is_the_first_that_is_another_one_and_can_be_used(
    entries, needs_native_tools, chosen, incompatible, unusable
):
    state = make_state(*entries, needs_native_tools=needs_native_tools)

    takeover = state.take_next(Failure("max_retries", "It failed."))

    assert (takeover and takeover.llm.provider_name) == chosen
    if takeover:
        assert takeover.switch.metadata["skipped_incompatible"] == incompatible
        assert list(takeover.switch.metadata["skipped_unusable"]) == unusable
    else:
        explained = state.explain("It failed.")
        assert all(name in explained for name in [*incompatible, *unusable])
        assert state.has_next is False


def test_a_switch_says_from_what_to_what_and_why():
    state = make_state(
        entry("b", "langchain", native_tools=["url_context"]),
        native_tools=frozenset({"url_context", "google_search"}),
    )

    takeover = state.take_next(Failure("provider_error", "It answered 503.", retryable=True))

    assert takeover.switch.metadata == {
        "original_provider": "primary",
        "original_backend": "google-native",
        "original_model": "gemini-x",
        "fallback_provider": "b",
        "fallback_backend": "langchain",
        "fallback_model": "b-model",
        "reason": "It answered 503.",
        "attempt": 1,
        "error_code": "provider_error",
        "error_retryable": True,
        "native_tools_dropped": ["google_search"],
        "skipped_incompatible": [],
        "skipped_unusable": {},
    }


def test_there_is_no_way_back_to_an_earlier_provider():
    entries = [entry(name) for name in ("b", "primary", "c", "b", "before")]
    state = make_state(*entries, tried=frozenset({"before"}))

    names = []
    while takeover := state.take_next(Failure("credentials", "x")):
        names.append(takeover.switch.after.provider_name)

    assert names == ["b", "c"]


# The loop


@pytest.fixture
def journal():
    return MemoryJournal()


async def run(llm, journal, *entries, task=TASK, **plan):
    return await run_agent(
        task,
        llm=llm,
        toolbox=ScriptedToolbox({"read": "94 % used"}),
        journal=journal,
        fallbacks=FallbackPlan(PRIMARY, entries, **plan),
    )


def scripted(*answers, name="b"):
    return ScriptedLLM(list(answers), name, f"{name}-model")


async def test_a_refused_key_lets_the_next_provider_answer_the_same_question(journal):
    second = scripted(say("logs filled the disk"))
    first = scripted([REFUSED], name="primary")

    outcome = await run(first, journal, entry("b", llm=second))

    assert (outcome.status, outcome.final_analysis) == ("completed", "logs filled the disk")
    assert outcome.iterations_used == 1
    assert second.asked == first.asked
    assert [call.provider_name for call in journal.llm_calls] == ["primary", "b"]
    assert [call.iteration for call in journal.llm_calls] == [1, 1]
    assert journal.log.index("llm iteration") < journal.log.index("note provider_fallback")


async def test_a_refused_request_is_asked_once_more_before_another_takes_over(journal):
    first = scripted([BAD_REQUEST], name="primary")

    outcome = await run(first, journal, entry("b"))

    assert outcome.status == "completed"
    assert len(first.asked) == 2
    assert journal.switches[0].metadata["error_code"] == "invalid_request"


async def test_without_another_provider_a_refused_request_fails_at_once(journal):
    first = scripted([BAD_REQUEST], name="primary")

    outcome = await run(first, journal, entry("primary"))

    assert (outcome.status, outcome.error) == ("failed", str(BAD_REQUEST))
    assert len(first.asked) == 1


async def test_one_timeout_and_an_answer_keep_the_provider(journal):
    first = scripted([LATE], call(tool("read")), [LATE], say("done"), name="primary")

    outcome = await run(first, journal, entry("b"))

    assert outcome.final_analysis == "done"
    assert journal.switches == []


async def test_two_timeouts_bring_the_next_provider_instead_of_the_end(journal):
    outcome = await run(scripted([LATE], name="primary"), journal, entry("b"))

    assert outcome.status == "completed"
    assert journal.switches[0].after.provider_name == "b"


async def test_two_broken_answers_bring_the_next_provider_which_sees_what_was_said(journal):
    error = LLMError("partial_stream_error", "The answer broke off.", partial=True)
    broken = [*say("the disk is")[:-1], error]
    second = scripted(say("done"))

    await run(scripted(broken, name="primary"), journal, entry("b", llm=second))

    assert "The answer broke off." in second.asked[0][0][-1].content
    assert journal.switches[0].metadata["error_code"] == "partial_stream_error"


async def test_a_model_that_repeats_itself_is_never_replaced(journal):
    outcome = await run(scripted(say(LOOP), name="primary"), journal, entry("b"))

    assert (outcome.status, outcome.error_code) == ("failed", "repetition")
    assert journal.switches == []


async def test_a_summary_falls_back_at_the_first_failure_and_again(journal):
    outcome = await run(
        scripted([LATE], name="primary"),
        journal,
        entry("b", llm=scripted([BAD_REQUEST])),
        entry("c"),
        task=SINGLE,
    )

    assert outcome.final_analysis == "c says"
    chain = [(s.before.provider_name, s.after.provider_name) for s in journal.switches]
    assert chain == [("primary", "b"), ("b", "c")]
    assert [s.metadata["attempt"] for s in journal.switches] == [1, 2]


async def test_when_all_fail_the_reason_names_who_could_not_take_over(journal):
    outcome = await run(
        scripted([REFUSED], name="primary"),
        journal,
        entry("b", llm=scripted([REFUSED])),
        entry("c", reason="set C_KEY."),
    )

    assert outcome.status == "failed"
    assert outcome.error == f"{REFUSED} No other provider could take over: c: set C_KEY."
    assert len(journal.switches) == 1


async def test_an_agent_that_needs_native_tools_stays_with_its_provider_and_fails(journal):
    outcome = await run(
        scripted([REFUSED], name="primary"), journal, entry("b"), needs_native_tools=True
    )

    assert outcome.status == "failed"
    assert "b: no native tools, which this agent needs" in outcome.error
    assert journal.switches == []


async def test_a_failed_forced_conclusion_is_asked_of_the_next_provider(journal):
    task = AgentTask("function_calling", "Triage", OPENING, max_iterations=1)
    first = scripted(call(tool("read")), [LATE], name="primary")

    outcome = await run(first, journal, entry("b"), task=task)

    assert (outcome.status, outcome.final_analysis) == ("completed", "b says")
    assert outcome.is_forced
    assert outcome.iterations_used == 1


ABSENT = [LLMError("credentials", "set KEY.")]
BROKEN = [*say("the disk is")[:-1], LLMError("partial_stream_error", "It broke.", partial=True)]


@pytest.mark.parametrize(
    ("answers", "is_without_provider"),
    [
        ([[REFUSED]], True),
        ([ABSENT], True),
        ([[LATE]], True),
        ([BROKEN], True),
        ([[BAD_REQUEST]], True),
        ([[LLMError("max_retries", "It answered 503 four times.")]], True),
        ([call(tool("read")), [REFUSED]], True),
        ([say(LOOP)], False),
        ([[AnswerFinished("stop")]], False),
        ([call(tool("read")), say(LOOP)], False),
    ],
    ids=[
        "refused", "absent", "late", "broken", "bad_request", "away", "refused_later", "repeats",
        "empty", "repeats_later",
    ],
)  # fmt: skip
@pytest.mark.parametrize("has_other", [False, True])
async def test_an_agent_is_without_provider_where_each_has_failed_and_not_over_what_one_said(
    journal, answers, is_without_provider, has_other
):
    others = [entry("b", llm=scripted(*answers))] if has_other else []

    outcome = await run(scripted(*answers, name="primary"), journal, *others)

    assert outcome.status != "completed"
    assert outcome.is_without_provider is is_without_provider
    assert [each.after.provider_name for each in journal.switches] == (
        ["b"] if has_other and is_without_provider else []
    )


async def test_tools_that_are_late_leave_no_agent_without_provider(journal):
    async def never(_):
        await asyncio.Event().wait()
        raise AssertionError

    task = replace(TASK, limits=Limits(iteration=0.05))
    llm = scripted(*[call(tool("read", f"c{number}")) for number in range(9)], name="primary")

    outcome = await run_agent(
        task, llm=llm, toolbox=ScriptedToolbox({"read": never}), journal=journal
    )

    assert outcome.error_code == "iteration_timeout"
    assert outcome.is_without_provider is False


@pytest.mark.parametrize(
    ("has_stand_in", "answers", "expected"),
    [
        (False, [[REFUSED]], ("completed", False)),
        (True, [[REFUSED]], ("failed", True)),
        (True, [[AnswerFinished("stop")]], ("completed", False)),
        (True, [say(LOOP)], ("completed", False)),
    ],
    ids=["nobody_stands_in", "somebody_does", "empty", "repeats"],
)
async def test_where_somebody_stands_in_no_list_of_results_is_made_in_place_of_a_conclusion(
    journal, has_stand_in, answers, expected
):
    task = replace(TASK, max_iterations=1, has_stand_in=has_stand_in)
    llm = scripted(call(tool("read")), *answers, name="primary")

    outcome = await run(llm, journal, task=task)

    assert (outcome.status, outcome.is_without_provider) == expected


async def test_what_native_tools_cannot_do_is_told_once(journal):
    withheld = NativeToolTold(Note("google_search_result", "not offered"))
    llm = scripted([withheld, *call(tool("read"))], [withheld, *say("done")], name="primary")

    await run(llm, journal)

    assert [call.notes for call in journal.llm_calls] == [(withheld.note,), ()]

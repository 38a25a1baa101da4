"""A provider that asks for time gets it, where nobody else can be asked and there is time left."""

import asyncio

import pytest

from agents.answers import Failure
from agents.fallback import Fallback, FallbackPlan, FallbackState
from agents.llm import ProviderSettings, make_llm
from agents.llm import retry as retry_module
from agents.ports import RetryRule
from agents.run import run_agent
from agents.task import AgentTask, Limits
from agents.types import Message, ModelName, OpenWait
from tarsy.errors import AgentError, LLMError
from tests.agents.doubles import MemoryJournal, ScriptedLLM, ScriptedToolbox, call, say, tool
from tests.agents.wire_server import chunk, refuse, stream

OPENING = (Message("system", "Investigate."), Message("user", "The disk is full."))
PRIMARY = ModelName("primary", "langchain", "primary-model")


@pytest.fixture(autouse=True)
def short_waits(monkeypatch):
    """Waits of a few hundredths of a second are waits here."""
    monkeypatch.setattr(retry_module, "SHORTEST_WAIT", 0.01)


@pytest.fixture
def journal():
    return MemoryJournal()


def busy(seconds, code="rate_limit"):
    reason = f"The provider answered 429. It asks to wait {seconds} s."
    return [LLMError(code, reason, retryable=True, retry_after=seconds)]


def scripted(name, *answers, longest_wait=0.03):
    rule = RetryRule(longest_wait=longest_wait)
    return ScriptedLLM(list(answers), name, f"{name}-model", retry_rule=rule)


def entry(name, *answers, **rule):
    llm = scripted(name, *answers, **rule)
    return Fallback(ModelName(name, "langchain", f"{name}-model"), lambda: llm)


def make_task(*, seconds=3000.0, iteration=360.0, controller="function_calling", **more):
    ends_at = asyncio.get_running_loop().time() + seconds
    limits = Limits(iteration=iteration, ends_at=ends_at)
    return AgentTask(controller, "Triage", OPENING, limits=limits, **more)


async def run(llm, journal, *entries, task=None):
    return await run_agent(
        task or make_task(),
        llm=llm,
        toolbox=ScriptedToolbox({"read": "94 % used"}),
        journal=journal,
        fallbacks=FallbackPlan(PRIMARY, entries),
    )


async def test_a_provider_that_nobody_can_stand_in_for_is_waited_for_as_often_as_it_asks(journal):
    llm = scripted("primary", *[busy(0.05)] * 5, say("logs filled the disk"))

    outcome = await run(llm, journal)

    assert outcome.status == "completed"
    assert [wait.seconds for wait in journal.waits] == [0.05] * 5
    assert journal.ended_waits["w1"] == (
        "The provider answered 429. It asks to wait 0.05 s. After that it was asked again."
    )
    assert [note.kind for note in journal.notes] == ["final_analysis"]


async def test_a_wait_over_the_wire_is_as_long_as_the_header_says(journal, wire):
    wire.plays = [
        refuse(429, {"error": {"message": "slow down"}}, retry_after_ms="60"),
        stream(chunk({"content": "## Conclusion\nFull."}), chunk({}, "stop")),
    ]
    llm = make_llm(ProviderSettings("lab", "openai", "lab-1", base_url=wire.base_url))

    outcome = await run(llm, journal)

    assert outcome.status == "completed"
    [wait] = journal.waits
    assert (wait.provider_name, wait.model, wait.seconds) == ("lab", "lab-1", 0.06)
    assert (
        wait.reason
        == "The provider lab (model lab-1) answered 429 (too many requests): slow down. "
        "It asks to wait 0.06 s."
    )


async def test_a_wait_counts_against_no_time_of_the_iteration_nor_of_its_tools(journal):
    asked = tool("read")
    llm = scripted("primary", busy(1.2), call(asked), say("logs filled the disk"))

    outcome = await run(llm, journal, task=make_task(iteration=1.0))

    assert outcome.status == "completed"
    assert journal.tool_calls[0].result.content == "94 % used"
    assert all(record.duration_ms < 1000 for record in journal.llm_calls)


async def test_providers_that_ask_for_a_little_time_for_ever_are_given_up_in_the_end(journal):
    llm = scripted("primary", *[busy(0.01)] * 200, longest_wait=0.0)
    other = entry("second", *[busy(0.01)] * 200, longest_wait=0.0)

    outcome = await run(llm, journal, other)

    assert outcome.status == "failed"
    assert outcome.error.endswith("It was waited for 100 times.")
    assert len(journal.waits) <= retry_module.MAX_WAITS


async def test_a_wait_longer_than_the_time_left_ends_at_once_and_says_both(journal):
    llm = scripted("primary", busy(7200))

    outcome = await run(llm, journal, task=make_task(seconds=1500))

    assert (outcome.status, len(llm.asked)) == ("failed", 1)
    assert outcome.error == (
        "The provider answered 429. It asks to wait 7200 s, and 25 min are left of the session's "
        "time."
    )
    assert journal.waits == []


async def test_another_provider_is_asked_before_a_long_wait_and_after_many_short_ones(journal):
    first = scripted("primary", busy(0.02), busy(0.02), say("never"))

    outcome = await run(first, journal, entry("b", say("logs filled the disk")))

    assert outcome.status == "completed"
    assert [wait.seconds for wait in journal.waits] == [0.02]
    [switch] = journal.switches
    assert (switch.before.provider_name, switch.after.provider_name) == ("primary", "b")
    assert switch.reason == "The provider answered 429. It asks to wait 0.02 s."
    assert [record.iteration for record in journal.llm_calls] == [1, 1]


@pytest.mark.parametrize("code", ["rate_limit", "provider_error"])
async def test_another_provider_is_asked_at_once_whatever_the_status_was(journal, code):
    first = scripted("primary", busy(3600, code), say("never"))

    outcome = await run(first, journal, entry("b", say("logs filled the disk")))

    assert (outcome.status, len(first.asked)) == ("completed", 1)
    assert journal.waits == []


async def test_where_all_ask_for_time_the_one_is_asked_that_may_be_first(journal):
    first = scripted("primary", busy(1.0), say("logs filled the disk"))

    outcome = await run(first, journal, entry("b", busy(600)), entry("c", busy(300)))

    assert outcome.status == "completed"
    assert [each.after.provider_name for each in journal.switches] == ["b", "c", "primary"]
    [wait] = journal.waits
    assert wait.provider_name == "primary"
    assert 0 < wait.seconds <= 1.0


async def test_where_all_ask_for_time_the_last_one_may_be_the_first(journal):
    last = entry("b", busy(0.1), say("logs filled the disk"))

    outcome = await run(scripted("primary", busy(600)), journal, last)

    assert outcome.status == "completed"
    assert [each.after.provider_name for each in journal.switches] == ["b"]
    assert [wait.provider_name for wait in journal.waits] == ["b"]


async def test_where_nobody_else_can_be_used_the_provider_is_waited_for(journal):
    def refuse():
        raise AgentError("set B_KEY.")

    unusable = Fallback(ModelName("b", "langchain", "b-model"), refuse)
    llm = scripted("primary", busy(0.1), busy(0.1), say("logs filled the disk"))

    outcome = await run(llm, journal, unusable)

    assert outcome.status == "completed"
    assert [wait.provider_name for wait in journal.waits] == ["primary"] * 2
    assert journal.switches == []


async def test_where_all_ask_for_more_time_than_there_is_the_work_ends(journal):
    outcome = await run(scripted("primary", busy(3600)), journal, entry("b", busy(5400)))

    assert outcome.status == "failed"
    assert outcome.error.endswith(
        "It asks to wait 5400 s, and 50 min are left of the session's time."
    )
    assert journal.waits == []


async def test_a_provider_that_asked_for_time_is_asked_again_when_the_next_one_is_no_help(journal):
    first = scripted("primary", busy(0.1), say("logs filled the disk"))
    refused = [LLMError("credentials", "The provider refused the key (401).")]

    outcome = await run(first, journal, entry("b", refused))

    assert outcome.status == "completed"
    assert [each.after.provider_name for each in journal.switches] == ["b", "primary"]


async def test_a_conclusion_that_is_forced_waits_as_well(journal):
    llm = scripted("primary", call(tool("read")), busy(0.05), say("## Conclusion\nFull [T1]."))

    outcome = await run(llm, journal, task=make_task(max_iterations=1))

    assert (outcome.status, outcome.is_forced) == ("completed", True)
    assert len(journal.waits) == 1


@pytest.mark.parametrize("others", [0, 1])
async def test_a_forced_conclusion_goes_on_with_the_next_provider_or_ends_by_code(journal, others):
    llm = scripted("primary", call(tool("read")), busy(3600))
    entries = [entry("b", say("## Conclusion\nFull [T1]."))][:others]

    outcome = await run(llm, journal, *entries, task=make_task(max_iterations=1))

    assert outcome.status == "completed"
    assert len(journal.switches) == others
    assert ("50 min are left of the session's time" in outcome.final_analysis) is (others == 0)


async def test_a_stop_ends_a_wait_at_once(journal):
    working = asyncio.create_task(run(scripted("primary", busy(600)), journal))
    await journal.waiting.wait()

    working.cancel()
    done, _ = await asyncio.wait({working}, timeout=10)

    assert working in done
    assert working.cancelled()
    assert journal.ended_waits == {}


async def test_an_interrupted_wait_is_waited_out_before_the_provider_is_asked(journal):
    llm = scripted("primary", say("logs filled the disk"))
    asked_after = []
    confirm = journal.confirm_lease

    async def note_when():
        asked_after.append(dict(journal.ended_waits))
        await confirm()

    journal.confirm_lease = note_when
    open_waits = (
        OpenWait("w7", "primary", 0.05, "It asks to wait 90 s."),
        OpenWait("w8", "gone", 600.0, "It asks to wait 10 min."),
    )
    task = make_task(history=OPENING, open_waits=open_waits)

    outcome = await run(llm, journal, task=task)

    assert outcome.status == "completed"
    assert asked_after == [
        {
            "w7": "It asks to wait 90 s. After that it was asked again.",
            "w8": "It asks to wait 10 min. Another one was asked.",
        }
    ]


def test_the_way_back_is_closed_to_a_provider_that_asks_for_longer_than_there_is_time():
    state = FallbackState(FallbackPlan(PRIMARY, (entry("b"),)), is_single_shot=False)
    reason = Failure("rate_limit", "busy", asked_wait=600.0)
    state.note_wait(scripted("primary"), 600.0, reason)
    state.take_next(reason)

    assert state.has_others
    assert state.take_rested(reason, latest=599.0) is None
    assert state.take_rested(reason, latest=601.0).ready_at == 600.0
    assert not state.has_others

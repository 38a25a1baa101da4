"""The loop, against doubles of its three ports."""

import asyncio
from dataclasses import replace

import pytest

from agents.call_time import asking_a_person
from agents.empty_toolbox import EmptyToolbox
from agents.fencing import fence
from agents.llm_events import AnswerFinished, CallProposed, TextDelta, ThinkingDelta, UsageReported
from agents.ports import Review
from agents.run import run_agent
from agents.task import AgentTask, Limits
from agents.types import Message, ToolCall, Usage
from tarsy.errors import LeaseLost, LLMError
from tests.agents.doubles import (
    HANG,
    Answer,
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
REFUSED = LLMError("credentials", "The provider refused the key (401).")
BUSY = LLMError("rate_limit", "The model answered 429.", retryable=True, retry_after=0)


@pytest.fixture
def journal():
    return MemoryJournal()


async def run(llm, journal, *, task=TASK, tools=None):
    toolbox = ScriptedToolbox(tools if tools is not None else {"read": "94 % used"})
    return await run_agent(task, llm=llm, toolbox=toolbox, journal=journal)


async def test_an_answer_without_tool_calls_is_the_final_analysis(journal):
    outcome = await run(ScriptedLLM([say("logs filled the disk")]), journal)

    assert outcome.status == "completed"
    assert outcome.final_analysis == "logs filled the disk"
    assert outcome.iterations_used == 1
    assert journal.log == [
        "prompt",
        "open llm_response",
        "llm final_analysis",
        "note final_analysis",
    ]
    [block] = journal.llm_calls[0].blocks
    assert (block.content, block.is_final) == ("logs filled the disk", True)
    assert journal.notes[0].metadata == {}


async def test_a_worker_that_lost_its_execution_asks_no_model(journal):
    journal.lease_error = LeaseLost("taken over")
    llm = ScriptedLLM([say("done")])

    with pytest.raises(LeaseLost):
        await run(llm, journal)

    assert llm.asked == []


async def test_a_tool_result_reaches_the_model_numbered_and_fenced(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])

    await run(llm, journal)

    result = llm.asked[1][0][-1]
    assert result.role == "tool"
    assert result.tool_call_id == "c1"
    assert result.content.startswith("[T1] ops.read\n<<<outside ")
    assert "94 % used" in result.content
    assert journal.tool_calls[0].message == result
    assert journal.tool_progress == [(1, "working")]


async def test_calls_of_one_answer_run_side_by_side_and_are_answered_in_their_order(journal):
    second_ran = asyncio.Event()

    async def first(_: ToolCall) -> str:
        await asyncio.wait_for(second_ran.wait(), 5)
        return "first"

    async def second(_: ToolCall) -> str:
        second_ran.set()
        return "second"

    llm = ScriptedLLM([call(tool("first", "a"), tool("second", "b")), say("done")])
    await run(llm, journal, tools={"first": first, "second": second})

    assert [record.number for record in journal.tool_calls] == [2, 1]
    assert [m.tool_call_id for m in llm.asked[1][0] if m.role == "tool"] == ["a", "b"]


async def test_every_proposed_call_gets_a_result_even_an_unknown_one(journal):
    llm = ScriptedLLM([call(tool("read", "a"), tool("wish", "b")), say("done")])

    await run(llm, journal)

    results = [m for m in llm.asked[1][0] if m.role == "tool"]
    assert [m.tool_call_id for m in results] == ["a", "b"]
    assert results[1].content.startswith("[T2] ops.wish failed")


async def test_calls_with_the_same_or_no_id_are_told_apart(journal):
    llm = ScriptedLLM([call(tool("read", ""), tool("read", "x"), tool("read", "x")), say("done")])

    await run(llm, journal)

    proposed = llm.asked[1][0][2].tool_calls
    answered = [m.tool_call_id for m in llm.asked[1][0] if m.role == "tool"]
    assert len({c.id for c in proposed}) == 3
    assert answered == [c.id for c in proposed]


async def test_the_fourth_identical_call_is_refused_with_a_reason(journal):
    same = [call(tool("read", f"c{n}", '{"a": 1, "b": 2}')) for n in range(3)]
    fourth = call(tool("read", "c4", '{"b":2,"a":1}'))
    toolbox = ScriptedToolbox({"read": "same"})

    llm = ScriptedLLM([*same, fourth, say("done")])
    outcome = await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.status == "completed"
    assert len(toolbox.executed) == 3
    assert journal.tool_calls[3].result.is_error
    assert "already called 3 times" in journal.tool_calls[3].message.content


async def test_of_four_identical_calls_in_one_answer_three_are_made(journal):
    toolbox = ScriptedToolbox({"read": "same"})
    llm = ScriptedLLM([call(*(tool("read", f"c{n}") for n in range(4))), say("done")])

    await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert [c.id for c in toolbox.executed] == ["c0", "c1", "c2"]


async def test_the_last_iteration_is_followed_by_a_conclusion_without_tools(journal):
    different = [call(tool("read", f"c{n}", f'{{"n": {n}}}')) for n in range(2)]
    llm = ScriptedLLM([*different, say("probably the logs")])

    outcome = await run(llm, journal, task=replace(TASK, max_iterations=2))

    assert outcome.status == "completed"
    assert outcome.is_forced
    assert outcome.iterations_used == 2
    assert llm.asked[2][1] == ()
    assert llm.asked[2][0][-1].role == "user"
    assert journal.llm_calls[-1].interaction_type == "forced_conclusion"
    assert journal.llm_calls[-1].blocks[0].is_final
    assert journal.notes[-1].metadata == {
        "forced_conclusion": True,
        "forced_because": "limit",
        "iterations_used": 2,
        "max_iterations": 2,
    }


async def test_a_conclusion_is_forced_even_when_the_last_iteration_failed(journal):
    broken: Answer = [TextDelta("so"), LLMError("connection", "The line broke.", retryable=True)]
    llm = ScriptedLLM([broken, say("what I have")])

    outcome = await run(llm, journal, task=replace(TASK, max_iterations=1))

    assert (outcome.status, outcome.is_forced) == ("completed", True)


async def test_a_forced_conclusion_that_fails_leaves_what_the_tools_brought(journal):
    llm = ScriptedLLM([call(tool("read", arguments='{"path": "/"}')), [REFUSED]])

    outcome = await run(llm, journal, task=replace(TASK, max_iterations=1))

    assert (outcome.status, outcome.is_forced) == ("completed", True)
    report = outcome.final_analysis
    assert report.startswith("## Conclusion\n**Written by code, not by a model:**")
    assert "After 1 iteration no conclusion could be had." in report
    assert str(REFUSED) in report
    assert '1. [T1] ops.read with `{"path": "/"}`\n   ```\n   94 % used\n   ```' in report
    assert journal.notes[-1].metadata["written_by_code"] is True
    assert journal.notes[-2].content == str(REFUSED)


async def test_a_forced_conclusion_that_fails_without_any_result_is_a_failure(journal):
    broken: Answer = [TextDelta("so"), LLMError("connection", "The line broke.", retryable=True)]

    outcome = await run(
        ScriptedLLM([broken, [REFUSED]]), journal, task=replace(TASK, max_iterations=1)
    )

    assert (outcome.status, outcome.error_code) == ("failed", "credentials")
    assert "After 1 iteration " in outcome.error


async def test_an_empty_answer_is_asked_again_twice(journal):
    llm = ScriptedLLM([[AnswerFinished("stop")], [AnswerFinished("stop")], say("found it")])

    outcome = await run(llm, journal)

    assert outcome.final_analysis == "found it"
    assert len(journal.prompts) == 3
    assert [m.role for m in llm.asked[2][0]] == ["system", "user", "user", "user"]


@pytest.mark.parametrize("task", [TASK, SINGLE])
async def test_three_empty_answers_in_a_row_fail_with_a_reason(journal, task):
    llm = ScriptedLLM([[AnswerFinished("length")]])

    outcome = await run(llm, journal, task=task)

    assert outcome.status == "failed"
    assert outcome.error_code == "empty_answer"
    assert "output limit" in outcome.error
    assert len(llm.asked) == 3


async def test_an_answer_that_repeats_itself_is_cut_and_asked_again(journal):
    sentence = "I will look at the disk usage of the host once more. "
    endless: Answer = [TextDelta(sentence) for _ in range(1000)]
    llm = ScriptedLLM([endless, say("enough")])

    outcome = await run(llm, journal)

    assert outcome.final_analysis == "enough"
    assert llm.closed == 2
    assert journal.llm_calls[0].error_code == "repetition"
    assert journal.llm_calls[0].message is None
    assert journal.llm_calls[0].blocks[0].content == sentence
    assert sentence.strip() in llm.asked[1][0][-1].content


async def test_retries_are_visible_and_lead_to_the_answer(journal):
    llm = ScriptedLLM([[BUSY], [BUSY], say("found it")])

    outcome = await run(llm, journal)

    assert outcome.status == "completed"
    assert [n.kind for n in journal.notes] == ["error", "error", "final_analysis"]
    assert journal.notes[0].content == "The model answered 429. Trying again in 0 s."
    assert journal.notes[1].metadata["attempt"] == 2
    assert len(journal.llm_calls) == 1


async def test_a_model_that_stays_busy_fails_the_execution_after_three_tries(journal):
    llm = ScriptedLLM([[BUSY]])

    outcome = await run(llm, journal)

    assert outcome.status == "failed"
    assert outcome.error_code == "max_retries"
    assert "tried 3 times" in outcome.error
    assert len(llm.asked) == 3
    assert journal.llm_calls[0].error_code == "max_retries"


async def test_a_refused_key_fails_at_once_with_its_reason(journal):
    llm = ScriptedLLM([[REFUSED]])

    outcome = await run(llm, journal)

    assert (outcome.status, outcome.error) == ("failed", str(REFUSED))
    assert len(llm.asked) == 1
    assert [note.content for note in journal.notes] == [str(REFUSED)]


async def test_an_answer_that_breaks_off_is_asked_for_again_with_what_arrived(journal):
    cut: Answer = [TextDelta("The disk"), LLMError("connection", "The line broke.", retryable=True)]
    llm = ScriptedLLM([cut, say("The disk is full")])

    outcome = await run(llm, journal)

    assert outcome.final_analysis == "The disk is full"
    assert journal.llm_calls[0].message is None
    assert journal.llm_calls[0].blocks[0].status == "failed"
    assert journal.llm_calls[0].error_code == "partial_stream_error"
    assert "The disk\n" in llm.asked[1][0][-1].content


@pytest.mark.parametrize("task", [TASK, SINGLE])
async def test_an_answer_that_breaks_off_three_times_fails_the_execution(journal, task):
    cut: Answer = [TextDelta("The disk"), LLMError("connection", "The line broke.", retryable=True)]
    llm = ScriptedLLM([cut])

    outcome = await run(llm, journal, task=task)

    assert (outcome.status, outcome.error_code) == ("failed", "partial_stream_error")
    assert len(llm.asked) == 3


async def test_two_iterations_that_run_out_of_time_end_as_timed_out(journal):
    llm = ScriptedLLM([[TextDelta("well"), HANG]])
    task = replace(TASK, limits=Limits(iteration=0.05))

    outcome = await run(llm, journal, task=task)

    assert outcome.status == "timed_out"
    assert outcome.error_code == "iteration_timeout"
    assert (len(llm.asked), llm.closed) == (2, 2)
    assert [r.blocks[0].status for r in journal.llm_calls] == ["timed_out", "timed_out"]


async def test_one_timeout_is_forgiven(journal):
    llm = ScriptedLLM([[HANG], call(tool("read")), [HANG], say("found it")])
    task = replace(TASK, limits=Limits(iteration=0.2))

    outcome = await run(llm, journal, task=task)

    assert outcome.final_analysis == "found it"


async def test_a_silent_model_counts_as_a_timeout(journal):
    silent = LLMError("initial_response_timeout", "The model did not begin to answer.")

    outcome = await run(ScriptedLLM([[silent]]), journal)

    assert outcome.status == "timed_out"
    assert outcome.error == "The model did not begin to answer."


async def test_a_tool_that_outlasts_the_iteration_still_gets_a_result(journal):
    async def hang(_: ToolCall) -> str:
        await asyncio.Event().wait()
        return ""

    llm = ScriptedLLM([call(tool("slow", "a"), tool("read", "b")), say("done")])
    outcome = await run(
        llm,
        journal,
        task=replace(TASK, limits=Limits(iteration=0.05)),
        tools={"slow": hang, "read": "ok"},
    )

    assert outcome.status == "completed"
    results = [m for m in llm.asked[1][0] if m.role == "tool"]
    assert "not known whether the call had an effect" in results[0].content
    assert "ok" in results[1].content


async def test_what_a_person_takes_is_no_time_of_the_iteration(journal):
    async def ask(_: ToolCall) -> str:
        with asking_a_person():
            await asyncio.sleep(0.3)
        return "approved and done"

    async def hang(_: ToolCall) -> str:
        with asking_a_person():
            await asyncio.sleep(0.1)
        await asyncio.Event().wait()
        return ""

    llm = ScriptedLLM([call(tool("write", "a"), tool("slow", "b")), say("done")])
    outcome = await run(
        llm,
        journal,
        task=replace(TASK, limits=Limits(iteration=0.1)),
        tools={"write": ask, "slow": hang},
    )

    assert outcome.status == "completed"
    written, slow = [m for m in llm.asked[1][0] if m.role == "tool"]
    assert "approved and done" in written.content
    assert "not known whether the call had an effect" in slow.content


async def test_usage_thinking_and_text_are_written_with_the_call(journal):
    usage = Usage(50, 20, 8)
    answer: Answer = [
        ThinkingDelta("hm"),
        TextDelta("look"),
        UsageReported(usage),
        CallProposed(tool("read")),
        AnswerFinished("tool_calls", {"sealed": "x"}),
    ]
    llm = ScriptedLLM([answer, say("done")])

    await run(llm, journal)

    record = journal.llm_calls[0]
    assert (record.usage, record.thinking) == (usage, "hm")
    assert [(b.kind, b.content) for b in record.blocks] == [
        ("llm_thinking", "hm"),
        ("llm_response", "look"),
    ]
    assert [p.target.tool for p in record.planned_calls] == ["read"]
    assert llm.asked[1][0][2].provider_fields == {"sealed": "x"}
    assert journal.join_deltas("llm_thinking") == "hm"


async def test_blank_text_beside_tool_calls_opens_no_block(journal):
    llm = ScriptedLLM([call(tool("read"), text="\n \n"), say("done")])

    await run(llm, journal)

    assert journal.llm_calls[0].blocks == ()
    assert len(journal.blocks) == 1


async def test_blank_text_before_an_answer_is_shown_with_it(journal):
    await run(ScriptedLLM([[TextDelta("\n"), *say("the disk")]]), journal)

    assert journal.join_deltas("llm_response") == "\nthe disk"


async def test_a_single_call_offers_no_tools_and_returns_the_text(journal):
    llm = ScriptedLLM([say("disk full; delete logs")])

    outcome = await run_agent(SINGLE, llm=llm, toolbox=EmptyToolbox(), journal=journal)

    assert outcome.final_analysis == "disk full; delete logs"
    assert llm.asked[0][1] == ()
    assert journal.llm_calls[0].interaction_type == "executive_summary"


async def test_a_synthesis_that_asks_for_tools_is_told_there_are_none(journal):
    llm = ScriptedLLM([call(tool("read")), say("one report")])
    task = AgentTask("synthesis", "Synthesis", OPENING)

    outcome = await run_agent(task, llm=llm, toolbox=EmptyToolbox(), journal=journal)

    assert outcome.final_analysis == "one report"
    assert journal.tool_calls == []
    assert "no tool can be called" in llm.asked[1][0][-1].content
    assert journal.progress[0][0] == "synthesizing"


async def test_an_answer_cut_at_the_output_limit_is_kept_and_said_to_be_cut(journal):
    outcome = await run(ScriptedLLM([say("the disk is", reason="length")]), journal)

    assert outcome.status == "completed"
    assert journal.notes[0].metadata == {"error_code": "output_limit", "provider": "scripted"}


async def test_cancelling_closes_the_model_call_and_writes_nothing_more(journal):
    llm = ScriptedLLM([[TextDelta("well"), HANG]])
    task = asyncio.create_task(run(llm, journal))
    await asyncio.wait_for(llm.hanging.wait(), 5)

    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert llm.closed == 1
    assert journal.llm_calls == []


async def test_cancelling_stops_running_tools(journal):
    started, stopped = asyncio.Event(), asyncio.Event()

    async def hang(_: ToolCall) -> str:
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()
        return ""

    task = asyncio.create_task(
        run(ScriptedLLM([call(tool("slow"))]), journal, tools={"slow": hang})
    )
    await asyncio.wait_for(started.wait(), 5)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert stopped.is_set()
    assert journal.tool_calls == []


async def test_a_lost_lease_while_tools_are_written_stops_the_loop(journal):
    journal.raise_on_tool_call = LeaseLost("another worker owns this")

    with pytest.raises(LeaseLost):
        await run(ScriptedLLM([call(tool("read", "a"), tool("read", "b"))]), journal)


async def test_a_lost_lease_while_text_streams_stops_the_loop(journal):
    journal.raise_on_delta = LeaseLost("another worker owns this")

    with pytest.raises(LeaseLost):
        await run(ScriptedLLM([say("hello there")]), journal)


# Going on after an interruption


def interrupted(*messages: Message, numbers: dict[str, int] | None = None) -> AgentTask:
    return replace(TASK, history=(*OPENING, *messages), open_numbers=numbers or {})


async def test_open_calls_of_an_interrupted_run_are_made_first(journal):
    first, second = tool("read", "a"), tool("read", "b", '{"x": 1}')
    task = interrupted(
        Message("assistant", "", (first, second)),
        Message("tool", "[T5] ops.read\nold", tool_call_id="b", tool_name="ops__read"),
        numbers={"a": 4},
    )
    toolbox = ScriptedToolbox({"read": "fresh"})
    llm = ScriptedLLM([say("done")])

    outcome = await run_agent(task, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.status == "completed"
    assert toolbox.executed == [first]
    assert [r.number for r in journal.tool_calls] == [4]
    assert [m.tool_call_id for m in llm.asked[0][0] if m.role == "tool"] == ["a", "b"]
    assert journal.prompts == []
    assert outcome.iterations_used == 2


async def test_an_answer_given_before_the_interruption_is_not_asked_for_again(journal):
    llm = ScriptedLLM([say("never")])

    outcome = await run(llm, journal, task=interrupted(Message("assistant", "the disk")))

    assert outcome.final_analysis == "the disk"
    assert llm.asked == []
    assert journal.log == ["note final_analysis"]


async def test_a_forced_conclusion_is_not_asked_for_twice_after_an_interruption(journal):
    llm = ScriptedLLM([call(tool("read")), [TextDelta("so"), HANG]])
    task = replace(TASK, max_iterations=1)
    first = asyncio.create_task(run(llm, journal, task=task))
    await asyncio.wait_for(llm.hanging.wait(), 5)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    prompt, forced = journal.prompts
    history = (*prompt, journal.llm_calls[0].message, journal.tool_calls[0].message, *forced)

    later = MemoryJournal()
    again = ScriptedLLM([say("concluded")])
    outcome = await run(again, later, task=replace(task, history=history))

    assert (outcome.final_analysis, outcome.is_forced) == ("concluded", True)
    assert later.prompts == []
    assert len(again.asked) == 1
    assert later.notes[-1].metadata["iterations_used"] == 1


async def test_identical_calls_are_counted_across_an_interruption(journal):
    earlier = []
    for n in range(3):
        earlier += [
            Message("assistant", "", (tool("read", f"c{n}"),)),
            Message("tool", "same", tool_call_id=f"c{n}"),
        ]
    toolbox = ScriptedToolbox({"read": "same"})
    llm = ScriptedLLM([call(tool("read", "c4")), say("done")])

    await run_agent(interrupted(*earlier), llm=llm, toolbox=toolbox, journal=journal)

    assert toolbox.executed == []


# ---- Answers that do not count yet ---------------------------------------------------------------


OBJECTION = Review("", objection="ops.control is unverified.", reason="It came too early.")
UNVERIFIED = Review("**Unverified.** All done.", metadata={"unverified": {"tool": "ops.control"}})


async def test_an_answer_that_is_not_accepted_goes_back_with_the_reason_and_the_work_goes_on(
    journal,
):
    toolbox = ScriptedToolbox({"read": "active"}, reviews=[OBJECTION, Review("")])
    llm = ScriptedLLM([say("All done."), call(tool("read")), say("Verified.")])

    outcome = await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert (outcome.status, outcome.final_analysis) == ("completed", "Verified.")
    assert outcome.iterations_used == 3
    assert llm.asked[1][0][-1] == Message("user", "ops.control is unverified.")
    assert llm.asked[1][1] != ()
    assert [note.content for note in journal.notes] == ["It came too early.", "Verified."]
    assert [block.is_final for record in journal.llm_calls for block in record.blocks] == [
        False,
        True,
    ]


async def test_asking_again_and_again_ends_in_a_conclusion_that_says_unverified(journal):
    class Toolbox(ScriptedToolbox):
        async def review_answer(self, answer):
            self.proposed.append(answer)
            return UNVERIFIED if answer.is_last else OBJECTION

    toolbox = Toolbox({"read": "active"})
    llm = ScriptedLLM([say("All done.")])

    outcome = await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.final_analysis == "**Unverified.** All done."
    assert outcome.is_forced
    assert [answer.is_last for answer in toolbox.proposed] == [False] * 4 + [True]
    assert llm.asked[-1][1] == ()
    assert journal.notes[-1].metadata["unverified"] == {"tool": "ops.control"}
    assert journal.notes[-1].metadata["forced_conclusion"] is True


async def test_words_with_a_withheld_sentence_stay_on_the_timeline_but_are_not_final(journal):
    withheld = Review(
        "It is slow. (A sentence is withheld.)",
        metadata={"withheld_claims": [{"text": "I restarted it"}]},
    )
    toolbox = ScriptedToolbox({}, reviews=[withheld])

    outcome = await run_agent(
        TASK,
        llm=ScriptedLLM([say("It is slow. I restarted it.")]),
        toolbox=toolbox,
        journal=journal,
    )

    assert outcome.final_analysis == withheld.text
    [block] = journal.llm_calls[0].blocks
    assert (block.content, block.is_final) == ("It is slow. I restarted it.", False)
    assert journal.notes[-1].content == withheld.text


async def test_an_answer_found_after_an_interruption_is_reviewed_as_well(journal):
    toolbox = ScriptedToolbox({"read": "active"}, reviews=[OBJECTION, Review("")])
    llm = ScriptedLLM([say("Verified.")])
    task = interrupted(Message("assistant", "All done."))

    outcome = await run_agent(task, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.final_analysis == "Verified."
    assert [answer.text for answer in toolbox.proposed] == ["All done.", "Verified."]
    assert llm.asked[0][0][-1] == Message("user", "ops.control is unverified.")


async def test_a_review_is_told_what_the_task_brought_from_outside(journal):
    alert = fence("disk is full", "alert data")
    opening = (Message("system", "Investigate."), Message("user", f"## Alert\n{alert}"))
    toolbox = ScriptedToolbox({"read": "active"})

    await run_agent(
        replace(TASK, opening=opening),
        llm=ScriptedLLM([call(tool("read")), say("done")]),
        toolbox=toolbox,
        journal=journal,
    )

    [answer] = toolbox.proposed
    assert answer.given == (("alert data", "disk is full"),)
    assert (answer.provider_name, answer.model) == ("scripted", "rehearsed-1")

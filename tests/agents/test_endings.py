"""Whatever a model does when it has to conclude, what its tools brought is not lost."""

from dataclasses import replace

import pytest

from agents.fallback import Fallback, FallbackPlan
from agents.llm_events import AnswerFinished, TextDelta
from agents.ports import Review
from agents.run import run_agent
from agents.task import AgentTask
from agents.types import Message, ModelName
from tarsy.errors import LLMError
from tests.agents.doubles import MemoryJournal, ScriptedLLM, ScriptedToolbox, call, say, tool

TASK = AgentTask(
    "function_calling",
    "Agent",
    (Message("system", "Find out."), Message("user", "The disk is full.")),
    max_iterations=1,
)
LOOK = call(tool("read"))
REFUSED = LLMError("invalid_request", "Unexpected role 'user' after role 'tool'.")
NO_TOOLS = LLMError("no_tool_calling", "The model cannot be given tools to call.")


async def work(*answers, task=TASK, results="94 % used"):
    llm, journal = ScriptedLLM(list(answers)), MemoryJournal()
    toolbox = ScriptedToolbox({"read": results})
    outcome = await run_agent(task, llm=llm, toolbox=toolbox, journal=journal)
    return outcome, llm, journal, toolbox


@pytest.mark.parametrize(
    "bad",
    [
        call(tool("read", "c9")),
        call(tool("read", "c9"), text="I look once more."),
        [AnswerFinished("stop")],
        [REFUSED],
        say('{"name": "ops__read", "arguments": {}}'),
        say("I will now call ops__read to be sure."),
    ],
    ids=["calls", "calls_and_text", "empty", "refused", "written_call", "announcement"],
)
async def test_a_conclusion_that_is_none_is_asked_for_again_as_text(bad):
    outcome, llm, _, toolbox = await work(LOOK, bad, say("The disk is full [T1]."))

    assert (outcome.status, outcome.final_analysis) == ("completed", "The disk is full [T1].")
    assert len(toolbox.executed) == 1
    messages, tools = llm.asked[2]
    assert tools == ()
    assert [message.role for message in messages] == ["system", "user", "assistant", "user"]
    assert messages[2].content == "Action: ops__read\nAction Input: {}"
    assert messages[3].content.startswith("Observation: [T1] ops.read\n")
    assert not any(message.tool_calls for message in messages)


async def test_a_conclusion_that_was_cut_is_asked_for_once_more_in_fewer_words():
    outcome, llm, _, _ = await work(LOOK, say("The disk i", reason="length"), say("Full [T1]."))

    assert outcome.final_analysis == "Full [T1]."
    assert "at most half the words" in llm.asked[2][0][-1].content


async def test_of_a_conclusion_that_stays_cut_the_last_one_counts():
    outcome, _, journal, _ = await work(LOOK, say("The disk i", reason="length"))

    assert (outcome.status, outcome.final_analysis) == ("completed", "The disk i")
    assert [n.kind for n in journal.notes] == ["error", "error", "final_analysis"]


@pytest.mark.parametrize("reason", ["MAX_TOKENS", "max_tokens", "model_length"])
async def test_a_cut_is_known_by_the_word_of_each_provider(reason):
    outcome, _, _, _ = await work(LOOK, say("The disk i", reason=reason), say("Full [T1]."))

    assert outcome.final_analysis == "Full [T1]."


@pytest.mark.parametrize("reason", ["content_filter", "SAFETY", "refusal"])
async def test_an_answer_that_a_filter_ended_is_called_that(reason):
    said = say("The disk is full, and", reason=reason)

    outcome, _, journal, _ = await work(said, task=replace(TASK, max_iterations=5))

    assert (outcome.status, outcome.final_analysis) == ("completed", "The disk is full, and")
    assert "content filter ended this answer" in journal.notes[0].content


async def test_a_cut_conclusion_stands_where_no_better_one_comes():
    cut = say("The disk i", reason="length")

    outcome, _, _, _ = await work(LOOK, cut, [AnswerFinished("stop")])

    assert (outcome.status, outcome.final_analysis) == ("completed", "The disk i")


async def test_a_model_that_never_concludes_leaves_a_list_by_code():
    results = "``` looks like a fence\n" + "line\n" * 400

    outcome, llm, journal, _ = await work(LOOK, call(tool("read", "c9")), results=results)

    assert (outcome.status, outcome.is_forced, len(llm.asked)) == ("completed", True, 4)
    assert "**Written by code, not by a model:**" in outcome.final_analysis
    assert "   ````\n   ``` looks like a fence\n   line" in outcome.final_analysis
    assert len(outcome.final_analysis) < 2_000
    assert journal.notes[-1].metadata["written_by_code"] is True


async def test_a_model_that_knows_no_calls_of_functions_goes_on_by_text():
    action = say("Thought: look\nAction: ops.read\nAction Input: {}")

    outcome, llm, journal, toolbox = await work(
        [NO_TOOLS], action, say("Final Answer: full [T1]"), task=replace(TASK, max_iterations=5)
    )

    assert (outcome.final_analysis, outcome.is_forced) == ("full [T1]", False)
    assert [call.name for call in toolbox.executed] == ["ops.read"]
    assert [bool(tools) for _, tools in llm.asked] == [True, False, False]
    told = llm.asked[1][0][-1].content
    assert "Action Input" in told
    assert "ops.read: Does read" in told
    [note] = [note for note in journal.notes if note.kind == "notice"]
    assert note.content == f"{NO_TOOLS} From here on it calls them by text."
    assert [record.error_code for record in journal.llm_calls] == ["no_tool_calling", "", ""]


async def test_after_an_interruption_it_still_calls_by_text():
    _, _, journal, _ = await work(
        [NO_TOOLS],
        say("Thought: look\nAction: ops.read\nAction Input: {}"),
        say("Final Answer: full"),
        task=replace(TASK, max_iterations=5),
    )
    opening, told = journal.prompts
    history = (*opening, *told, journal.llm_calls[1].message, journal.tool_calls[0].message)

    outcome, llm, _, _ = await work(
        say("Final Answer: full [T1]"), task=replace(TASK, history=history, max_iterations=5)
    )

    assert outcome.final_analysis == "full [T1]"
    assert llm.asked[0][1] == ()


async def test_a_broken_conclusion_is_asked_for_again():
    broken = [TextDelta("The disk"), LLMError("connection", "The line broke.", retryable=True)]

    outcome, _, _, _ = await work(LOOK, broken, say("The disk is full [T1]."))

    assert outcome.final_analysis == "The disk is full [T1]."


async def test_a_report_that_broke_off_stands_where_no_better_one_comes():
    report = "## Conclusion\nThe disk is full [T1]."
    broken = [TextDelta(report), LLMError("connection", "The line broke.", retryable=True)]

    outcome, _, _, _ = await work(LOOK, broken, [AnswerFinished("stop")])

    assert outcome.final_analysis == report


WITHHELD = Review(
    "**Unverified:** ops.control\n\nIt is slow. (A sentence is withheld.)",
    metadata={"withheld_claims": [{"text": "I restarted it"}], "writes": {"at": 1}},
)


async def test_a_cut_conclusion_with_a_withheld_sentence_is_not_published_whole_all_the_same():
    llm = ScriptedLLM([LOOK, say("I restarted it", reason="length"), [AnswerFinished("stop")]])
    journal = MemoryJournal()
    toolbox = ScriptedToolbox({"read": "94 %"}, reviews=[WITHHELD])

    outcome = await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.final_analysis == WITHHELD.text
    assert journal.notes[-1].metadata["writes"] == {"at": 1}


async def test_a_report_by_code_is_reviewed_as_one_and_keeps_its_head():
    llm = ScriptedLLM([LOOK, call(tool("read", "c9"))])
    journal = MemoryJournal()
    headed = Review("**Unverified:** ops.control", metadata={"writes": {"at": 1}})
    toolbox = ScriptedToolbox({"read": "94 %"}, reviews=[headed])

    outcome = await run_agent(TASK, llm=llm, toolbox=toolbox, journal=journal)

    assert outcome.final_analysis == headed.text
    assert [answer.is_by_code for answer in toolbox.proposed] == [True]
    assert journal.notes[-1].metadata["written_by_code"] is True
    assert journal.notes[-1].metadata["writes"] == {"at": 1}


async def test_another_model_is_asked_before_one_goes_on_by_text():
    other = ScriptedLLM([LOOK, say("The disk is full [T1].")], provider_name="other")
    plan = FallbackPlan(
        ModelName("scripted", "", "rehearsed-1"),
        (Fallback(ModelName("other", "", "rehearsed-1"), lambda: other),),
    )
    journal = MemoryJournal()

    outcome = await run_agent(
        replace(TASK, max_iterations=5),
        llm=ScriptedLLM([[NO_TOOLS]]),
        toolbox=ScriptedToolbox({"read": "94 %"}),
        journal=journal,
        fallbacks=plan,
    )

    assert outcome.final_analysis == "The disk is full [T1]."
    assert [bool(tools) for _, tools in other.asked] == [True, True]
    assert len(journal.switches) == 1

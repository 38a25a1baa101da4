"""Summaries of large results and questions that have to fit, through the loop."""

import asyncio
from dataclasses import replace

import pytest

from agents.fallback import Fallback, FallbackPlan
from agents.llm_events import AnswerFinished, TextDelta, ThinkingDelta, UsageReported
from agents.recall import RECALL
from agents.run import run_agent
from agents.summaries import SummaryPlan, SummaryRule
from agents.task import AgentTask, Limits
from agents.types import Message, ModelName, StoredResult, ToolCall, Usage
from tarsy.errors import AgentError, LeaseLost, LLMError
from tests.agents.doubles import (
    HANG,
    MemoryJournal,
    MemoryResults,
    ScriptedLLM,
    ScriptedToolbox,
    call,
    say,
    tool,
)

OPENING = (Message("system", "Investigate."), Message("user", "The disk is full."))
TASK = AgentTask("function_calling", "Triage", OPENING)
LARGE = "a row of many figures\n" * 100
OWN = ModelName("scripted", "", "rehearsed-1")
REFUSED = LLMError("credentials", "The provider refused the key (401).")
BUSY = LLMError("provider_error", "The model answered 500.")
TOO_LONG = LLMError("context_window", "The conversation is too long for this model.")


@pytest.fixture
def journal():
    return MemoryJournal()


def offer(llm: ScriptedLLM, *, unusable: str = "") -> Fallback:
    def open_llm():
        if unusable:
            raise AgentError(unusable)
        return llm

    return Fallback(ModelName(llm.provider_name, "", llm.model), open_llm)


def named(name: str, *answers) -> ScriptedLLM:
    return ScriptedLLM(list(answers), name, f"{name}-model")


def plan(*models: Fallback, by: Fallback | None = None, threshold: int = 200) -> SummaryPlan:
    return SummaryPlan({"ops": SummaryRule(threshold, 100, by)}, models)


async def run(llm, journal, summaries, *, task=TASK, tools=None, results=None, fallbacks=None):
    toolbox = ScriptedToolbox({"read": LARGE} if tools is None else tools)
    return await run_agent(
        task, llm=llm, toolbox=toolbox, journal=journal, summaries=summaries,
        results=results or MemoryResults(), fallbacks=fallbacks,
    )  # fmt: skip


def result_of(llm: ScriptedLLM, question: int = 1) -> str:
    return llm.asked[question][0][-1].content


async def test_a_large_result_reaches_the_model_as_its_summary(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    own = ScriptedLLM([[*say("94 % of /var is used"), UsageReported(Usage(700, 9))]])

    outcome = await run(llm, journal, plan(offer(own)))

    assert outcome.status == "completed"
    head, note, *_ = result_of(llm).split("\n")
    assert head == "[T1] ops.read"
    assert note.startswith("NOTE: This is a summary. The result had about 550 tokens.")
    assert "recall_result with number 1" in note
    assert "94 % of /var is used" in result_of(llm)
    assert "a row of many figures" not in result_of(llm)
    assert journal.log[2:7] == [
        "tool 1",
        "open summary",
        "summary completed",
        "open llm_response",
        "llm final_analysis",
    ]


async def test_the_call_is_written_down_with_its_result_before_the_summary_is_asked_for(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])

    await run(llm, journal, plan(offer(ScriptedLLM([say("short")]))))

    assert "a row of many figures" in journal.tool_calls[0].message.content
    [summary] = journal.summaries
    assert summary.message is not None
    assert summary.message.tool_call_id == journal.tool_calls[0].message.tool_call_id
    assert summary.message.content == result_of(llm)


async def test_a_summary_streams_is_priced_and_carries_its_own_question(journal):
    llm = ScriptedLLM([call(tool("read", arguments='{"path": "/var"}'), text="Look."), say("done")])
    own = ScriptedLLM(
        [[ThinkingDelta("hm"), TextDelta("94"), TextDelta(" %"), UsageReported(Usage(700, 9)),
          AnswerFinished("stop")]]
    )  # fmt: skip

    await run(llm, journal, plan(offer(own)))

    [record] = journal.summaries
    assert "".join(delta for _, delta in journal.deltas[record.block_id]) == "94 %"
    assert (record.status, record.content) == ("completed", "94 %")
    assert (record.label.number, record.label.target.name) == (1, "ops.read")
    assert (record.label.original_tokens, record.label.is_fallback) == (550, False)
    assert record.call is not None
    assert record.call.interaction_type == "summarization"
    assert record.call.usage == Usage(700, 9)
    assert record.call.thinking == "hm"
    system, user = record.call.asked
    assert "`read`" in system.content
    assert "100 tokens" in system.content
    assert "The disk is full." in user.content
    assert "Look." in user.content
    assert LARGE.strip() in user.content
    assert own.asked[0][1] == ()
    assert ("distilling", "Summarizing the result of T1") in journal.progress


@pytest.mark.parametrize(
    ("size", "server", "is_summarized"),
    [(800, "ops", False), (801, "ops", True), (9000, "", False)],
)
async def test_only_results_above_the_threshold_of_a_server_are_summarized(
    journal, size, server, is_summarized
):
    llm = ScriptedLLM([call(ToolCall("c1", "ops__read", "{}")), say("done")])
    rules = plan(offer(ScriptedLLM([say("short")])))
    if not server:
        rules = replace(rules, rules={})

    await run(llm, journal, rules, tools={"read": "x" * size})

    assert bool(journal.summaries) is is_summarized


async def test_an_error_is_never_summarized(journal):
    llm = ScriptedLLM([call(tool("missing" * 900)), say("done")])

    await run(llm, journal, plan(offer(ScriptedLLM([say("short")])), threshold=1))

    assert journal.summaries == []


async def test_summaries_of_one_answer_are_made_side_by_side(journal):
    both = asyncio.Event()

    class Waiting(ScriptedLLM):
        async def _play(self, answer):
            if len(self.asked) == 2:
                both.set()
            await asyncio.wait_for(both.wait(), 5)
            async for event in super()._play(answer):
                yield event

    llm = ScriptedLLM([call(tool("read", "a"), tool("read", "b")), say("done")])

    await run(llm, journal, plan(offer(Waiting([say("first"), say("second")]))))

    assert [m.tool_call_id for m in llm.asked[1][0] if m.role == "tool"] == ["a", "b"]
    assert [record.status for record in journal.summaries] == ["completed"] * 2


@pytest.mark.parametrize(
    ("answer", "reason", "status"),
    [
        ([REFUSED], "refused the key", "failed"),
        (say("  "), "empty answer", "failed"),
        ([AnswerFinished("length")], "output limit", "failed"),
        ([LLMError("stall_timeout", "It fell silent.")], "fell silent", "timed_out"),
        ([TextDelta("half a"), BUSY], "broke off", "failed"),
        (say("round and round without any end at all, " * 200), "repeat itself", "failed"),
    ],
)
async def test_without_a_summary_the_agent_goes_on_with_the_result(journal, answer, reason, status):
    llm = ScriptedLLM([call(tool("read")), say("done")])

    outcome = await run(llm, journal, plan(offer(ScriptedLLM([answer]))))

    assert outcome.status == "completed"
    assert "a row of many figures" in result_of(llm)
    [record] = journal.summaries
    assert record.message is None
    assert record.status == status
    assert reason in record.content
    assert record.call is not None
    assert record.call.error
    assert journal.notes[-1].kind == "final_analysis"


async def test_a_summary_ends_with_its_iteration_and_nothing_counts_as_late(journal):
    llm = ScriptedLLM([call(tool("read")), call(tool("read", "c2")), say("done")])
    task = replace(TASK, limits=Limits(iteration=0.2))
    other = named("other", say("never asked"))

    outcome = await run(llm, journal, plan(offer(ScriptedLLM([[HANG]])), offer(other)), task=task)

    assert outcome.status == "completed"
    assert [record.status for record in journal.summaries] == ["timed_out"] * 2
    assert other.asked == []


async def test_the_named_model_summarizes_and_the_executions_own_is_left_alone(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    summarizer = named("cheap", say("by the cheap one"))

    await run(llm, journal, plan(offer(ScriptedLLM([BUSY])), by=offer(summarizer)))

    assert "by the cheap one" in result_of(llm)
    assert journal.summaries[0].label.model == ModelName("cheap", "", "cheap-model")
    assert journal.summaries[0].label.is_fallback is False


async def test_who_answers_in_place_of_the_named_model_is_asked_first_from_then_on(journal):
    llm = ScriptedLLM([call(tool("read")), call(tool("read", "c2")), say("done")])
    cheap = named("cheap", [REFUSED])
    second, third = named("second", [REFUSED]), named("third", say("by the third"))

    await run(
        llm,
        journal,
        plan(offer(ScriptedLLM([BUSY])), offer(second), offer(third), by=offer(cheap)),
    )

    assert [len(each.asked) for each in (cheap, second, third)] == [1, 1, 2]
    told = [(r.status, r.label.model.provider_name, r.label.is_fallback) for r in journal.summaries]
    assert told == [
        ("streaming", "cheap", False),
        ("streaming", "second", True),
        ("completed", "third", True),
        ("completed", "third", True),
    ]
    assert len({record.block_id for record in journal.summaries[:3]}) == 1
    assert journal.switches == []
    assert llm.asked[-1][0]


async def test_a_summary_that_broke_off_is_closed_and_the_next_one_begins_anew(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    broken = named("cheap", [TextDelta("The disk"), BUSY])

    await run(llm, journal, plan(offer(ScriptedLLM([say("whole")])), by=offer(broken)))

    first, second = journal.summaries
    assert (first.status, second.status) == ("failed", "completed")
    assert first.block_id != second.block_id
    assert journal.deltas[second.block_id] == [(0, "whole")]


async def test_a_model_that_cannot_be_used_here_is_passed_over(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    unusable = offer(named("cheap"), unusable="set CHEAP_KEY.")

    await run(llm, journal, plan(offer(ScriptedLLM([say("short")])), by=unusable))

    assert journal.summaries[0].status == "completed"


async def test_where_no_model_can_be_used_the_reason_is_told(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    unusable = offer(named("cheap"), unusable="set CHEAP_KEY.")

    outcome = await run(llm, journal, plan(by=unusable))

    assert outcome.status == "completed"
    [record] = journal.summaries
    assert (record.status, record.call) == ("failed", None)
    assert "set CHEAP_KEY." in record.content


async def test_after_a_switch_the_model_that_took_over_summarizes(journal):
    first = ScriptedLLM([[REFUSED]])
    second = named("second", call(tool("read")), say("done"))
    plain = named("second", say("by the second"))
    fallbacks = FallbackPlan(OWN, (offer(second),))

    await run(first, journal, plan(offer(ScriptedLLM([BUSY])), offer(plain)), fallbacks=fallbacks)

    assert "by the second" in result_of(second)
    assert journal.summaries[0].label.is_fallback is False


async def test_a_summary_far_longer_than_asked_for_is_stopped_and_cut(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    words = [TextDelta(f"figure {n} of the disk\n") for n in range(5000)]

    await run(llm, journal, plan(offer(ScriptedLLM([[*words, AnswerFinished("stop")]]))))

    [record] = journal.summaries
    assert record.status == "completed"
    assert len(record.content) < 900
    assert record.content.endswith("\n[the summary was cut here]")


async def test_a_result_too_long_for_the_summarizer_is_cut_for_it(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])
    small = replace(named("small", say("short")), input_limit=2_000)

    await run(llm, journal, plan(by=offer(small)), tools={"read": LARGE * 50})

    question = small.asked[0][0][1].content
    assert len(question) < 2_000 * 3
    assert "[cut here: " in question


async def test_losing_the_lease_while_summarizing_stops_everything(journal):
    llm = ScriptedLLM([call(tool("read")), say("done")])

    async def lose(record):
        raise LeaseLost("taken")

    journal.record_summary = lose

    with pytest.raises(LeaseLost):
        await run(llm, journal, plan(offer(ScriptedLLM([say("short")]))))


async def test_an_interrupted_execution_asks_for_no_summary_again(journal):
    own = ScriptedLLM([say("short")])
    await run(ScriptedLLM([call(tool("read")), [REFUSED]]), journal, plan())
    stored = tuple(journal.read_stored_messages())
    resumed = MemoryJournal(numbered=1)

    task = replace(TASK, history=stored)
    llm = ScriptedLLM([say("done")])
    outcome = await run(llm, resumed, plan(offer(own)), task=task)

    assert outcome.status == "completed"
    assert own.asked == []
    assert "a row of many figures" in result_of(llm, 0)


# Questions that have to fit


def reads(count: int):
    return [call(tool("read", f"c{n}", f'{{"page": {n}}}')) for n in range(1, count + 1)]


async def test_old_results_are_shortened_and_can_be_recalled(journal):
    recall = call(ToolCall("r1", RECALL, '{"number": 1}'))
    llm = replace(ScriptedLLM([*reads(6), recall, say("done")]), input_limit=4_500)
    results = MemoryResults({1: StoredResult("ops.read", "what T1 said")})

    outcome = await run(llm, journal, plan(), results=results)

    assert outcome.status == "completed"
    before, after = llm.asked[5], llm.asked[6]
    assert RECALL not in [spec.name for spec in before[1]]
    assert RECALL in [spec.name for spec in after[1]]
    assert "[compacted: about" in after[0][3].content
    assert "what T1 said" in llm.asked[7][0][-1].content
    assert journal.tool_calls[-1].number == 7
    assert journal.llm_calls[6].compacted == (1, 2, 3)
    assert journal.llm_calls[6].estimated_tokens <= 4_500
    assert all("compacted" not in m.content for m in journal.read_stored_messages())


async def test_a_resumed_execution_presents_the_same_conversation(journal):
    llm = replace(ScriptedLLM([*reads(8), say("done")]), input_limit=4_500)
    await run(llm, journal, plan())
    stored = [m for prompt in journal.prompts for m in prompt]
    for record, result in zip(journal.llm_calls[:7], journal.tool_calls, strict=False):
        stored += [record.message, result.message]

    again = replace(ScriptedLLM([say("done")]), input_limit=4_500)
    task = replace(TASK, history=tuple(stored))
    await run(again, MemoryJournal(numbered=7), plan(), task=task)

    assert again.asked[0] == llm.asked[7]


async def test_a_model_that_finds_the_question_too_long_gets_a_shorter_one_once(journal):
    llm = ScriptedLLM([*reads(5), [TOO_LONG], say("done")])

    outcome = await run(llm, journal, plan())

    assert outcome.status == "completed"
    refused, shorter = llm.asked[5][0], llm.asked[6][0]
    assert sum(len(m.content) for m in shorter) < sum(len(m.content) for m in refused)
    assert [record.error_code for record in journal.llm_calls[5:]] == ["context_window", ""]
    assert journal.llm_calls[6].compacted
    assert outcome.iterations_used == 6


async def test_where_shortening_does_not_help_the_next_model_is_asked(journal):
    llm = ScriptedLLM([*reads(5), [TOO_LONG]])
    second = named("second", say("by the second"))

    outcome = await run(llm, journal, plan(), fallbacks=FallbackPlan(OWN, (offer(second),)))

    assert outcome.final_analysis == "by the second"
    assert len(llm.asked) == 7
    assert len(journal.switches) == 1


async def test_an_opening_that_fits_no_model_fails_with_what_to_do(journal):
    llm = replace(ScriptedLLM([say("done")]), input_limit=1_000)
    task = replace(TASK, opening=(OPENING[0], Message("user", "x" * 9_000)))

    outcome = await run(llm, journal, plan(), task=task)

    assert (outcome.status, outcome.error_code) == ("failed", "context_window")
    assert "set context_window for the provider scripted" in outcome.error
    assert llm.asked == []


async def test_a_conclusion_by_force_is_fitted_too(journal):
    llm = replace(ScriptedLLM([*reads(6), say("done")]), input_limit=4_500)

    outcome = await run(llm, journal, plan(), task=replace(TASK, max_iterations=6))

    assert outcome.is_forced
    assert "[compacted: about" in llm.asked[6][0][3].content
    assert llm.asked[6][1] == ()


async def test_a_call_whose_result_got_short_is_still_refused_the_fourth_time(journal):
    same = [call(tool("read", f"c{n}")) for n in range(8)]
    llm = replace(ScriptedLLM([*same, say("done")]), input_limit=3_000)

    outcome = await run(llm, journal, plan())

    assert outcome.status == "completed"
    refused = [record for record in journal.tool_calls if record.result.is_error]
    assert len(refused) == 5
    assert f"{RECALL} brings back" in refused[0].result.content


async def test_results_of_the_session_can_be_recalled_from_the_start_where_that_is_wanted(journal):
    llm = ScriptedLLM([call(ToolCall("r1", RECALL, '{"number": 3}')), say("done")])
    results = MemoryResults({3: StoredResult("ops.read", "of an earlier stage")})

    await run(llm, journal, plan(), results=results, task=replace(TASK, recalls_session=True))

    assert RECALL in [spec.name for spec in llm.asked[0][1]]
    assert "of an earlier stage" in result_of(llm)
    assert journal.tool_calls[0].target.kind == "recall"


async def test_a_model_without_tool_calling_recalls_by_text(journal):
    def act(name, arguments):
        return say(f"Thought: look\nAction: {name}\nAction Input: {arguments}")

    turns = [act("ops.read", f'{{"page": {n}}}') for n in range(5)]
    final = say("Thought: enough\nFinal Answer: done")
    llm = replace(ScriptedLLM([*turns, act(RECALL, '{"number": 1}'), final]), input_limit=3_500)
    results = MemoryResults({1: StoredResult("ops.read", "what T1 said")})

    class ByName(ScriptedToolbox):
        def identify(self, call):
            return super().identify(replace(call, name=call.name.replace(".", "__")))

        async def execute(self, call, *, report_progress):
            named = replace(call, name=call.name.replace(".", "__"))
            return await super().execute(named, report_progress=report_progress)

    outcome = await run_agent(
        replace(TASK, controller="react"), llm=llm, toolbox=ByName({"read": LARGE}),
        journal=journal, results=results,
    )  # fmt: skip

    assert outcome.final_analysis == "done"
    assert "[compacted: about" in llm.asked[5][0][3].content
    assert "what T1 said" in llm.asked[6][0][-1].content

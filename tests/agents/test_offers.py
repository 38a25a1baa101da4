"""What tool servers give: kept when it changes, and told to the model behind its prompt."""

from dataclasses import replace

import pytest

from agents.fencing import find_fenced
from agents.offers import OfferBook
from agents.records import IncidentNews
from agents.report import parse_report, write_not_checked
from agents.run import run_agent
from agents.task import AgentTask
from agents.types import AgentOutcome, ListedTool, Message, ServerOffer
from tests.agents.doubles import (
    MemoryJournal,
    ScriptedLLM,
    ScriptedToolbox,
    call,
    say,
    tool,
)

OPENING = (Message("system", "Investigate."), Message("user", "The disk is full."))
TASK = AgentTask("function_calling", "Tester", OPENING)
OPS = ServerOffer("ops", (ListedTool("look", "Looks."),))
AWAY = ServerOffer("db", error="nothing answers")
BACK = ServerOffer("db", (ListedTool("query", "Asks."),))
BLIND = ServerOffer("db", (ListedTool("query", "", "unclassed"), ListedTool("drop", "", "write")))


class Toolbox(ScriptedToolbox):
    """Whose review puts the lines of ours on top, as the gate does."""

    async def review_answer(self, answer):
        review = await super().review_answer(answer)
        return replace(review, text="\n\n".join((*answer.not_checked, review.text)))


def box(*news: tuple[ServerOffer, ...]) -> Toolbox:
    return Toolbox({"look": "fine"}, news=list(news))


async def run(
    toolbox: Toolbox, journal: MemoryJournal, *answers, task: AgentTask = TASK
) -> tuple[AgentOutcome, ScriptedLLM]:
    llm = ScriptedLLM(list(answers))
    return await run_agent(task, llm=llm, toolbox=toolbox, journal=journal), llm


async def test_what_is_given_is_kept_before_the_prompt_and_nothing_is_said_where_all_is_there():
    journal = MemoryJournal()

    await run(box((OPS,)), journal, say("Done."))

    assert journal.log[:2] == ["offers", "prompt"]
    (record,) = journal.offers
    assert (record.offers, record.note, record.message) == ((OPS,), None, None)


@pytest.mark.parametrize(
    ("offer", "said"),
    [
        (AWAY, "db is not available: nothing answers"),
        (BLIND, "db gives 0 of 2 tools; 1 that nobody has classed: not offered; 1 known to write"),
        (replace(BLIND, tools=BLIND.tools[1:]), "db gives 0 of 1 tool; 1 known to write"),
    ],
)
async def test_what_is_missing_from_the_start_is_told_to_people_and_not_twice(offer, said):
    journal = MemoryJournal()

    await run(box((OPS, offer)), journal, call(tool("look")), say("Done."))

    (record,) = journal.offers
    assert record.note is not None
    assert said in record.note.content
    assert record.message is None


async def test_a_server_that_is_back_is_told_to_the_model_with_its_next_question():
    journal = MemoryJournal()
    toolbox = box((OPS, AWAY), (OPS, AWAY), (OPS, BACK))

    outcome, llm = await run(toolbox, journal, call(tool("look")), say("Done."))

    opening, change = journal.offers
    assert opening.offers == (OPS, AWAY)
    assert change.offers == (BACK,)
    assert change.note is not None
    assert "db is available now" in change.note.content
    assert llm.asked[0][0] == OPENING
    assert llm.asked[1][0][-1] == change.message
    assert "The tool server db can be reached now" in llm.asked[1][0][-1].content
    assert outcome.final_analysis == "Done."


async def test_a_server_that_went_away_is_told_and_named_in_the_report():
    toolbox = box((OPS, BACK), (OPS, BACK), (OPS, AWAY))

    outcome, llm = await run(toolbox, MemoryJournal(), call(tool("look")), say("Done."))

    assert "db cannot be reached any more" in llm.asked[1][0][-1].content
    line = "**Not checked:** `db` was not available any more when this was written."
    assert outcome.final_analysis == f"{line}\n\nDone."


async def test_tools_that_are_new_or_gone_are_told_by_name():
    grown = ServerOffer("ops", (ListedTool("peek", ""), ListedTool("look", "", "removed")))
    toolbox = Toolbox({"look": "fine", "peek": "fine"}, news=[(OPS,), (OPS,), (grown,)])
    journal = MemoryJournal()

    _, llm = await run(toolbox, journal, call(tool("look")), say("Done."))

    said = llm.asked[1][0][-1].content
    assert "can be called from now on: ops__peek." in said
    assert "can no longer be called: look." in said
    assert "new are peek; no longer offered are look" in journal.offers[1].note.content


async def test_a_resumed_execution_hears_only_what_has_changed_since():
    history = (*OPENING, Message("assistant", "", (tool("look"),)),
               Message("tool", "fine", tool_call_id="c1", tool_name="ops__look"))  # fmt: skip
    task = replace(TASK, history=history, known_offers=(OPS, AWAY))
    same, changed = MemoryJournal(), MemoryJournal()

    await run(box((OPS, AWAY)), same, say("Done."), task=task)
    _, llm = await run(box((OPS, BACK)), changed, say("Done."), task=task)

    assert same.offers == []
    assert [record.offers for record in changed.offers] == [(BACK,)]
    assert "db can be reached now" in llm.asked[0][0][-1].content


async def test_news_of_tools_cost_a_resumed_execution_no_iteration():
    journal = MemoryJournal()
    toolbox = box((OPS, AWAY), (OPS, AWAY), (OPS, BACK))
    await run(toolbox, journal, call(tool("look")), say("Done."))
    answer = Message("assistant", "", (tool("look"),))
    result = Message("tool", "fine", tool_call_id="c1", tool_name="ops__look")
    history = (*OPENING, answer, result, journal.offers[1].message)
    task = replace(TASK, history=history, known_offers=(OPS, BACK), max_iterations=2)

    outcome, llm = await run(box((OPS, BACK)), MemoryJournal(), say("Done."), task=task)

    assert (outcome.final_analysis, outcome.is_forced, len(llm.asked)) == ("Done.", False, 1)


def test_lines_of_ours_leave_the_report_below_them_readable():
    lines = write_not_checked([OPS, AWAY, replace(BLIND, server="we`ird")], set())

    report = parse_report("\n\n".join((*lines, "## Conclusion\nThe disk is full.")))

    assert lines == (
        "**Not checked:** `db` was not available.",
        "**Not checked:** 1 server, 1 tool that nobody has classed: not offered (`we ird`).",
    )
    assert report is not None
    assert report.conclusion == "The disk is full."
    assert report.not_checked == ()


@pytest.mark.parametrize(("is_by_text", "prefix"), [(False, "ops__"), (True, "ops.")])
async def test_a_list_that_changes_at_every_question_is_told_in_bounds_and_counted(
    is_by_text, prefix
):
    rounds = [
        (ServerOffer("ops", tuple(ListedTool(f"tool_{each}_{n}", "") for n in range(900))),)
        for each in range(6)
    ]
    toolbox = Toolbox(
        {tool.name: "fine" for (offer,) in rounds for tool in offer.tools}, news=[*rounds]
    )
    journal = MemoryJournal()
    book = OfferBook((), toolbox, journal, is_by_text=is_by_text, mask=str)

    told = []
    for _ in rounds:
        told.append(await book.record(tells_model=True))
        await toolbox.refresh()

    texts = [message.content for message in told if message]
    notes = [record.note.content for record in journal.offers if record.note]
    assert len(texts) == len(notes) == 5
    assert f"{prefix}tool_1_0" in texts[0]
    assert all(len(note) < 3_000 for note in notes)
    assert "and 880 more" in notes[-1]
    assert f"{prefix}tool_5_0" not in texts[-1]
    assert "900 more" in texts[-1]
    assert sum(map(len, texts)) < 2 * len(texts[0]) + 5_000


async def test_what_became_of_the_alerts_is_told_before_the_next_question_as_text_from_outside():
    joined = IncidentNews(7, joined=("Disk b is full",), more_joined=3, firing=5)
    over = IncidentNews(9, resolved=("Disk b is full",), over_since="2026-11-21 08:00:00 UTC")
    journal = MemoryJournal(news=[joined, over])

    _, llm = await run(box((OPS,)), journal, call(tool("look")), say("Done."))

    first, second = [question[0][-1].content for question in llm.asked]
    assert [news for news, _ in journal.told_news] == [joined, over]
    assert "Disk b is full\n3 more of this kind" in dict(find_fenced(first))["alerts"]
    assert "5 of them fire now" in first
    assert "All alerts of this incident are over now since 2026-11-21 08:00:00 UTC" in second
    assert "Conclude now" not in second

"""What opens a conversation is bounded by what its model can read."""

from datetime import UTC, datetime

import pytest

from agents.estimating import find_cap, weigh_messages
from agents.prompts import (
    AgentFindings,
    Alert,
    ChatInput,
    ChatStage,
    Exchange,
    PromptInput,
    StageResult,
    SynthesisInput,
    TimelineItem,
    build_chat,
    build_investigation,
    build_synthesis,
)
from agents.prompts.fitting import fit_chat, fit_findings, fit_investigation, fit_synthesis

NOW = datetime(2026, 3, 2, tzinfo=UTC)
LIMIT = 20_000
LONG = "a line of figures that nobody will miss\n" * 5_000
SMALL = Alert("disk", "The disk of web-1 is full.")
HUGE = Alert("disk", LONG)


def worker(name: str, *texts: tuple[str, str]) -> AgentFindings:
    items = tuple(TimelineItem(kind, text) for kind, text in texts)
    return AgentFindings(name, "langchain", "m", "completed", items)


BUSY = worker(
    "Alpha", ("tool_call", f"[T1] ops.logs\n{LONG}"), ("thinking", LONG),
    ("final_analysis", "The disk is full of logs [T1]."),
)  # fmt: skip


def investigation(alert: Alert, **more: object) -> PromptInput:
    return PromptInput("Triage", NOW, alert, **more)


def synthesis(alert: Alert, *findings: AgentFindings) -> SynthesisInput:
    return SynthesisInput("Joiner", NOW, alert, "look", findings, runbook=alert.data)


def chat(alert: Alert, *findings: AgentFindings) -> ChatInput:
    stages = (ChatStage("look", "completed", findings), ChatStage("act", "completed", findings))
    exchanges = (Exchange("ana", "Why?", alert.data),)
    return ChatInput("Chat", NOW, alert, stages, "ana", "And now?", exchanges)


def test_what_fits_is_left_as_it_is():
    small = worker("Alpha", ("final_analysis", "The disk is full."))

    assert fit_investigation(prompt := investigation(SMALL), LIMIT) is prompt
    assert fit_synthesis(prompt := synthesis(SMALL, small), LIMIT) is prompt
    assert fit_chat(prompt := chat(SMALL, small), LIMIT) is prompt


@pytest.mark.parametrize("limit", [20_000, 100_000])
def test_whatever_is_too_long_the_opening_stays_within_the_limit(limit):
    stages = (StageResult("first", LONG), StageResult("second", "short"))
    openings = [
        build_investigation(
            fit_investigation(investigation(HUGE, runbook=LONG, previous_stages=stages), limit)
        ),
        build_synthesis(fit_synthesis(synthesis(HUGE, BUSY, BUSY, BUSY), limit)),
        build_chat(fit_chat(chat(HUGE, BUSY, BUSY), limit)),
    ]

    assert all(weigh_messages(opening) < limit for opening in openings)


def test_every_cut_says_how_much_is_missing():
    fitted = fit_investigation(investigation(HUGE), LIMIT)

    assert fitted.alert.data.startswith("a line of figures")
    assert fitted.alert.data.endswith(f"of {len(LONG):,} characters are shown]")


def test_long_steps_are_cut_before_conclusions():
    alpha, beta = fit_findings([BUSY, worker("Beta", ("final_analysis", "No."))], 6_000)

    tool_call, thinking, final = alpha.items
    assert final == BUSY.items[2]
    assert tool_call.text.startswith("[T1] ops.logs\n")
    assert len(tool_call.text) < 3_500 > len(thinking.text)
    assert beta.items[0].text == "No."


def test_the_question_of_a_chat_is_never_cut():
    fitted = fit_chat(chat(HUGE, BUSY), LIMIT)

    assert fitted.question == "And now?"
    assert [len(stage.agents) for stage in fitted.stages] == [1, 1]


@pytest.mark.parametrize(
    ("sizes", "room", "cap"),
    [([10, 10], 100, 10), ([10, 100], 60, 50), ([100, 100], 60, 30), ([5, 5], 0, 0), ([], 9, 0)],
)
def test_the_cap_lets_the_small_ones_be_and_the_large_ones_share(sizes, room, cap):
    assert find_cap(sizes, room) == cap

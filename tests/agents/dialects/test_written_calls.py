"""A call that a model only writes is run or asked for again, and never becomes the report.

A case is a text that came as an answer to an agent that has tools. `call` is run, `nudge` is asked
about again, `final` is the report as it stands.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typing_extensions import override

from agents.llm.http import close_sessions
from agents.run import run_agent
from agents.task import AgentTask
from agents.types import AgentOutcome, ToolResult, ToolSpec
from tests.agents.dialects.playing import QUESTION, make_llm, make_specs
from tests.agents.doubles import MemoryJournal, ScriptedToolbox
from tests.agents.wire_server import chunk, fragment, run_wire_server, stream
from tests.cases import for_each

pytestmark = pytest.mark.slow

LINES = (Path(__file__).parent / "written.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES]
LAST = "Nothing else was found [T1]."
PIECE = 7


class Network(ScriptedToolbox):
    """Has every tool of the cases."""

    @property
    @override
    def specs(self) -> tuple[ToolSpec, ...]:
        return make_specs()

    @override
    async def execute(self, call, *, report_progress) -> ToolResult:
        self.executed.append(call)
        return ToolResult("ok", "ok")


@for_each(CASES, name=lambda case: f"{case['id']} ({case['kind']})")
def test_a_text_is_a_report_or_something_to_go_on_with(case: dict[str, Any]):
    outcome, toolbox, journal, asked = asyncio.run(_work(case["text"]))

    expected = case["expect"]
    ran = [(call.name, json.loads(call.arguments)) for call in toolbox.executed]
    wanted = [(call["name"], call["arguments"]) for call in expected.get("calls", ())]
    assert ran == wanted
    is_final = expected["is"] == "final"
    assert (asked == 1) is is_final
    assert outcome.final_analysis == (expected["text"] if is_final else LAST)
    if "thinking" in expected:
        assert journal.llm_calls[0].thinking.strip() == expected["thinking"]


@for_each(CASES, name=lambda case: f"{case['id']} ({case['kind']})")
def test_it_is_no_conclusion_either_when_one_is_demanded(case: dict[str, Any]):
    outcome, toolbox, _, _ = asyncio.run(_work(case["text"], is_forced=True))

    is_final = case["expect"]["is"] == "final"
    assert outcome.final_analysis == (case["expect"]["text"] if is_final else LAST)
    assert len(toolbox.executed) == 1


async def test_a_written_call_is_marked_as_such():
    _, _, journal, _ = await _work('{"name": "net__routes", "arguments": {}}')

    [note] = [note for note in journal.llm_calls[0].notes if note.kind == "notice"]
    assert note.content == (
        "The model wrote its call of net__routes as text. It was read there and run as a call."
    )
    [planned] = journal.llm_calls[0].planned_calls
    assert note.metadata == {"written_calls": [planned.call.id]}
    message = journal.llm_calls[0].message
    assert message is not None
    assert (message.content, len(message.tool_calls)) == ("", 1)


async def test_arguments_that_are_no_object_are_refused_and_not_guessed():
    call = fragment(0, '{"host": "gw', call_id="c", name="net__ping")

    _, toolbox, journal, _ = await _work(None, opening=chunk(call, "length"))

    assert toolbox.executed == []
    assert "its arguments are no JSON object" in journal.tool_calls[0].result.content


async def _work(
    text: str | None, *, is_forced: bool = False, opening: dict[str, Any] | None = None
) -> tuple[AgentOutcome, Network, MemoryJournal, int]:
    """What an agent makes of a text, and how often its model was asked."""
    call = chunk(fragment(0, "{}", call_id="c", name="net__routes"), "tool_calls")
    said = [text[at : at + PIECE] for at in range(0, len(text or ""), PIECE)] if text else []
    answers = [[chunk({"content": piece}) for piece in said] + [chunk({}, "stop")]] if said else []
    answers = [[call], *answers] if is_forced else answers
    answers = [[opening], *answers] if opening else answers
    toolbox, journal = Network(), MemoryJournal()
    async with run_wire_server() as wire:
        wire.plays = [stream(*answer) for answer in answers]
        wire.plays.append(stream(chunk({"content": LAST}), chunk({}, "stop")))
        outcome = await run_agent(
            AgentTask("function_calling", "Agent", QUESTION, max_iterations=1 if is_forced else 20),
            llm=make_llm(wire),
            toolbox=toolbox,
            journal=journal,
        )
        await close_sessions()
    return outcome, toolbox, journal, len(wire.requests)

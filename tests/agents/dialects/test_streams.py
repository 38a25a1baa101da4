"""What servers send as an answer, in every shape their users have told of, is read for what it is.

A case has the `events` of a stream, or the bytes of its packets, or a body that came in one piece,
and what is to be read from it.
"""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from agents.llm import chunks, wanted_back
from agents.llm.http import close_sessions
from agents.llm_events import AnswerFinished
from tarsy.errors import LLMError
from tests.agents.dialects.playing import QUESTION, judge_stream, make_llm, play_case
from tests.agents.dialects.playing import ask as ask_llm
from tests.agents.wire_server import Wire, chunk, fragment, run_wire_server, stream
from tests.cases import for_each

pytestmark = pytest.mark.slow

LINES = (Path(__file__).parent / "streams.jsonl").read_text(encoding="utf-8").splitlines()
CASES: list[dict[str, Any]] = [json.loads(line) for line in LINES]


@for_each(CASES, name=lambda case: f"{case['id']} ({case['kind']})")
def test_an_answer_is_read_whatever_shape_it_comes_in(case: dict[str, Any]):
    assert asyncio.run(_judge(case)) == []


async def _judge(case: dict[str, Any]) -> list[str]:
    async with run_wire_server() as wire:
        wrong = await judge_stream(case, wire)
        await close_sessions()
    return wrong


async def test_chunks_with_nothing_in_them_end_one_day(wire, monkeypatch):
    monkeypatch.setattr(chunks, "MAX_EMPTY_CHUNKS", 50)
    wire.plays = [stream(*[chunk({})] * 60, chunk({"content": "late"}, "stop"))]

    with pytest.raises(LLMError, match="50 chunks in a row with nothing in them") as caught:
        await ask_llm(make_llm(wire), QUESTION)

    assert caught.value.code == "endless_answer"


async def test_arguments_without_end_are_stopped(wire, monkeypatch):
    monkeypatch.setattr(chunks, "MAX_CHARACTERS", 2_000)
    pieces = [chunk(fragment(0, '"aaaaaaaaaaaa')) for _ in range(300)]
    wire.plays = [stream(chunk(fragment(0, "{", call_id="a", name="net__ping")), *pieces)]

    with pytest.raises(LLMError, match="grew too long") as caught:
        await ask_llm(make_llm(wire), QUESTION)

    assert caught.value.code == "endless_answer"


async def test_details_without_end_are_left_out_and_nothing_else_is(wire, monkeypatch):
    monkeypatch.setattr(wanted_back, "MOST_CHARACTERS", 2_000)
    detail = {"reasoning_details": [{"type": "reasoning.encrypted", "data": "x" * 500}]}
    call = fragment(0, "{}", call_id="a", name="net__routes")
    wire.plays = [stream(*[chunk(detail)] * 9, chunk(call), chunk({}, "tool_calls"))]

    events = await ask_llm(make_llm(wire), QUESTION)

    assert events[-1] == AnswerFinished("tool_calls", {"provider": "lab"})


async def test_a_refusal_is_read_whole_in_whatever_pieces_it_comes(wire):
    said = {"error": {"message": "maximum context length is 4096 tokens, however you asked for 9"}}

    async def refuse_slowly(playing: Wire) -> None:
        await playing.send_head(400, "application/json")
        for character in json.dumps(said):
            await playing.send(character)
            await asyncio.sleep(0)
        await playing.end()

    wire.plays = [refuse_slowly]
    with pytest.raises(LLMError) as caught:
        await ask_llm(make_llm(wire), QUESTION)

    assert caught.value.code == "context_window"


async def test_a_refusal_without_end_is_read_as_far_as_it_came(wire):
    async def refuse_for_ever(playing: Wire) -> None:
        await playing.send_head(401, "text/plain")
        await playing.send("This key is not known.")
        await asyncio.Event().wait()

    wire.plays = [refuse_for_ever]
    with pytest.raises(LLMError, match="This key is not known") as caught:
        await ask_llm(make_llm(wire), QUESTION)

    assert caught.value.code == "credentials"


async def test_an_address_that_leads_back_to_itself_is_told_as_such(wire):
    async def lead_back(playing: Wire) -> None:
        await playing.send_head(307, "text/plain", location="/v1/chat/completions")
        await playing.end()

    wire.plays = [lead_back]
    with pytest.raises(LLMError, match=r"from one address to the next\. Check base_url"):
        await ask_llm(make_llm(wire), QUESTION)


async def test_a_page_is_quoted_by_its_title_and_not_whole(wire):
    page = "<html><title>Sign in</title>" + "<p>word</p>" * 100_000
    wire.plays = [play_case({"body": page, "headers": {"content-type": "text/html"}})]

    with pytest.raises(LLMError, match="no answer of a model: Sign in") as caught:
        await ask_llm(make_llm(wire), QUESTION)

    assert len(str(caught.value)) < 400

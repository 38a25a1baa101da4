"""What a server sends beyond all measure or form costs an answer at most, and never the worker."""

import json
from contextlib import suppress
from dataclasses import replace

import pytest

from agents.llm.bodies import BodyReader
from agents.llm.chunks import MAX_CHARACTERS, ChunkReader
from agents.llm.classify import classify
from agents.llm.error_bodies import read_error
from agents.llm.head_thoughts import MOST_BLANKS, HeadThoughts
from agents.llm.http import Refused
from agents.llm.openai_compatible import OpenAICompatible
from agents.llm.settings import ProviderSettings
from agents.llm.wanted_back import WantedBack
from agents.llm_events import CallProposed, TextDelta
from agents.ports import LLMOptions
from agents.types import Message
from tarsy.errors import LLMError
from tests.agents.wire_server import chunk, fragment, stream
from tests.cases import for_each

SETTINGS = ProviderSettings("lab", "openai", "lab-1", base_url="http://lab/v1")


def read_all(*chunks):
    reader = ChunkReader("lab-1")
    events = [event for each in chunks for event in reader.read(each)]
    events += reader.finish()
    text = "".join(event.text for event in events if isinstance(event, TextDelta))
    return text, [event.call for event in events if isinstance(event, CallProposed)]


def whole(text, **members):
    message = {"role": "assistant", "content": text, **members}
    return {"choices": [{"delta": {}, "message": message, "finish_reason": "stop"}]}


def test_a_message_behind_the_deltas_says_nothing_twice():
    call = fragment(0, "{}", call_id="c", name="net__ping")
    last = whole("Hello", **call)
    for closing in (last, {"choices": [last["choices"][0] | {"delta": None}]}):
        text, calls = read_all(chunk({"content": "Hello"}), chunk(call), closing)

        assert (text, len(calls)) == ("Hello", 1)


def test_a_message_behind_a_delta_that_names_only_the_role_is_the_answer():
    text, _ = read_all(chunk({"role": "assistant", "content": ""}), whole("Hello"))

    assert text == "Hello"


def test_blanks_before_a_thought_are_waited_through_only_so_long():
    head = HeadThoughts()

    held = head.feed(" " * MOST_BLANKS)
    shown = head.feed(" ")

    assert held == []
    assert shown == [(False, " " * (MOST_BLANKS + 1))]
    assert head.feed("<think>") == [(False, "<think>")]


def test_blanks_at_the_head_count_like_any_text():
    reader = ChunkReader("lab-1")

    half = chunk({"content": "\n" * (MAX_CHARACTERS // 2)})
    reader.read(half)
    reader.read(half)

    with pytest.raises(LLMError, match="grew too long"):
        reader.read(half)


def test_a_text_behind_the_head_is_counted_once():
    text, _ = read_all(chunk({"content": "x" * (MAX_CHARACTERS - 10)}), chunk({}, "stop"))

    assert len(text) == MAX_CHARACTERS - 10


def test_blanks_before_a_body_are_not_kept():
    for mark in (b"", b"\xef\xbb\xbf"):
        body = BodyReader()
        body.feed(mark)
        for _ in range(100):
            body.feed(b" \n" * 1_000)

        kept = len(body._head)
        events = body.feed(b'data: {"choices": []}\n\n')

        assert kept <= 3
        assert events == [{"choices": []}]


def test_a_list_of_summaries_is_kept_as_it_came():
    wanted = WantedBack()
    detail = {"type": "reasoning.summary", "summary": [{"text": "a"}], "index": 0}

    wanted.take({"reasoning_details": [detail]})

    assert wanted.collect(has_calls=True)["reasoning_details"] == [detail]


def test_pieces_of_a_summary_are_joined():
    wanted = WantedBack()

    for piece in ("on", "ce"):
        wanted.take({"reasoning_details": [{"type": "t", "summary": piece}]})

    assert wanted.collect(has_calls=True)["reasoning_details"] == [{"type": "t", "summary": "once"}]


def nest(levels: int) -> object:
    value: object = "x"
    for _ in range(levels):
        value = [value]
    return value


NOT_READ = {
    "an index without end": {"tool_calls": [{"index": float("inf"), "function": {"name": "a"}}]},
    "an extra too deep to keep": {
        "tool_calls": [{"index": 0, "function": {"name": "a"}, "extra": nest(700)}]
    },
    "marks too deep to keep": {"content": "a", "extra_content": nest(700)},
}


@pytest.mark.parametrize("name", NOT_READ)
async def test_what_cannot_be_read_is_an_error_of_the_model_at_most(wire, name):
    wire.plays = [stream(chunk(NOT_READ[name]), chunk({}, "stop"))]
    llm = OpenAICompatible(replace(SETTINGS, base_url=wire.base_url))

    with suppress(LLMError):
        assert [event async for event in llm.stream((Message("user", "?"),), (), LLMOptions())]


def test_what_a_provider_says_can_be_stored():
    refused = Refused(json.dumps({"error": {"message": "no \x00 and \ud800"}}), status=400)

    said = str(classify(refused, SETTINGS))

    assert "no \ufffd and \ufffd" in said


BUSY = [
    (503, "too many tokens in flight", "provider_error"),
    (500, "request too large for the queue", "provider_error"),
    (503, "the prompt is longer than the context length", "context_window"),
    (400, "too many tokens", "context_window"),
]


@for_each(BUSY)
def test_a_server_that_is_full_is_no_question_that_is_too_long(case):
    status, said, expected = case

    error = classify(Refused(json.dumps({"error": {"message": said}}), status=status), SETTINGS)

    assert error.code == expected


@for_each(
    [
        "Unsupported parameter: 'tools[0].function.strict'",
        "Unsupported value: 'tools.0.function.parameters'",
    ]
)
def test_a_member_of_a_tool_that_is_refused_says_nothing_of_tools(said):
    assert not read_error({"error": {"message": said}}, "").lacks_tool_calling

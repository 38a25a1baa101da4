"""Both clients against a real socket: the same answers, whole and broken, must mean the same."""

import asyncio
import json
import subprocess
import sys
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from agents.llm import ProviderSettings
from agents.llm.openai_compatible import OpenAICompatible
from agents.llm.quirks import forget_lessons
from agents.llm.settings import CallTimes
from agents.llm.via_litellm import ViaLitellm
from agents.llm_events import AnswerFinished, CallProposed, TextDelta, ThinkingDelta, UsageReported
from agents.ports import LLMOptions, NotSent
from agents.types import Message, ToolCall, ToolSpec
from tarsy.errors import LLMError
from tests.agents.doubles import READ_ONLY
from tests.agents.wire_server import (
    chunk,
    cut,
    drip,
    end_early,
    fall_silent,
    fragment,
    keep_alive,
    refuse,
    stream,
    usage_chunk,
)

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

KEY = "sk-secret-4711-abcdef"
BUSY = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
QUESTION = (Message("system", "Be brief."), Message("user", "What is full?"))
FAST = LLMOptions(first_chunk_timeout=20, stall_timeout=20, call_timeout=30)
READ = ToolSpec(
    "ops.read",
    "ops__read",
    "Reads",
    {"type": "object", "properties": {"path": {"type": "string"}}},
)


@pytest.fixture(params=[OpenAICompatible, ViaLitellm], ids=["direct", "litellm"])
def llm(request, wire):
    settings = ProviderSettings(
        "lab", "openai", "lab-1", api_key=KEY, api_key_env="LAB_KEY", base_url=wire.base_url
    )
    return request.param(settings)


def make_settings(kind, model, wire):
    return ProviderSettings("lab", kind, model, api_key=KEY, base_url=wire.base_url)


async def collect(llm, *, messages=QUESTION, tools=(), options=FAST):
    async with aclosing(llm.stream(messages, tools, options)) as events:
        return [event async for event in events]


@pytest.fixture(autouse=True)
def new_process():
    forget_lessons()
    yield
    forget_lessons()


def join(events, kind):
    return "".join(event.text for event in events if isinstance(event, kind))


async def fail(llm, *, options=FAST):
    with pytest.raises(LLMError) as caught:
        await collect(llm, options=options)
    assert KEY not in str(caught.value)
    return caught.value


async def test_text_and_thinking_stream_and_usage_comes_without_choices(llm, wire):
    wire.plays = [
        stream(
            chunk({"role": "assistant", "content": ""}),
            chunk({"reasoning_content": "let me "}),
            chunk({"reasoning_content": "see"}),
            chunk({"content": "the "}),
            chunk({"content": "disk"}),
            chunk({}, "stop"),
            usage_chunk(50, 20, 8),
        )
    ]

    events = await collect(llm)

    assert join(events, ThinkingDelta) == "let me see"
    assert join(events, TextDelta) == "the disk"
    usage = [event.usage for event in events if isinstance(event, UsageReported)][-1]
    assert (usage.input_tokens, usage.output_tokens, usage.thinking_tokens) == (50, 20, 8)
    assert usage.cost_usd is None
    assert isinstance(events[-1], AnswerFinished)
    assert events[-1].reason == "stop"


async def test_a_request_that_is_held_back_at_the_last_moment_never_leaves(llm, wire):
    wire.plays = [stream(chunk({"content": "paid for twice"}, "stop"))]

    async def hold_back():
        raise NotSent

    with pytest.raises(NotSent):
        await collect(llm, options=replace(FAST, before_request=hold_back))

    assert wire.requests == []


async def test_the_last_moment_comes_behind_the_connecting(wire):
    wire.plays = [stream(chunk({"content": "ok"}, "stop"))]
    llm = OpenAICompatible(
        ProviderSettings("lab", "openai", "lab-1", api_key=KEY, base_url=wire.base_url)
    )

    events = await collect(llm, options=replace(FAST, before_request=wire.connected.wait))

    assert join(events, TextDelta) == "ok"


async def test_the_request_says_what_was_asked(llm, wire):
    wire.plays = [stream(chunk({"content": "ok"}, "stop"))]
    call = ToolCall("call_1", "ops__read", '{"path": "/"}')
    history = (
        *QUESTION,
        Message("assistant", "", (call,)),
        Message("tool", "[T1] full", tool_call_id=call.id, tool_name=call.name),
    )

    await collect(llm, messages=history, tools=(READ,))

    body = wire.requests[0]
    assert wire.paths == ["/v1/chat/completions"]
    assert wire.headers[0]["authorization"] == f"Bearer {KEY}"
    assert body["model"] == "lab-1"
    assert body["stream_options"] == {"include_usage": True}
    assert body["tools"][0]["function"]["name"] == "ops__read"
    assert body["messages"][2]["tool_calls"][0]["id"] == call.id
    assert body["messages"][3]["tool_call_id"] == call.id


async def test_interleaved_fragments_become_whole_calls(llm, wire):
    wire.plays = [
        stream(
            chunk(fragment(0, "", call_id="a", name="ops__read")),
            chunk(fragment(1, '{"pa', call_id="b", name="ops__find")),
            chunk(fragment(0, '{"path": ')),
            chunk(fragment(1, 'th": "/b"}')),
            chunk(fragment(0, '"/a"}')),
            chunk({}, "tool_calls"),
        )
    ]

    events = await collect(llm, tools=(READ,))

    assert [event.call for event in events if isinstance(event, CallProposed)] == [
        ToolCall("a", "ops__read", '{"path": "/a"}'),
        ToolCall("b", "ops__find", '{"path": "/b"}'),
    ]
    assert events[-1].reason == "tool_calls"


async def test_an_empty_answer_brings_neither_text_nor_an_invented_usage(llm, wire):
    wire.plays = [stream(chunk({"role": "assistant", "content": ""}), chunk({}, "stop"))]

    events = await collect(llm)

    assert [type(event) for event in events] == [AnswerFinished]


async def test_a_refused_key_names_the_variable_to_set(llm, wire):
    said = f"Incorrect API key provided: {KEY}"
    wire.plays = [refuse(401, {"error": {"message": said, "code": "invalid_api_key"}})]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("credentials", False)
    assert "lab" in str(error)
    assert "Set LAB_KEY" in str(error)
    assert len(wire.requests) == 1


async def test_a_key_without_rights_says_what_the_provider_said(llm, wire):
    wire.plays = [refuse(403, {"error": {"message": "Billing is off for this project."}})]

    error = await fail(llm)

    assert error.code == "credentials"
    assert "Billing is off" in str(error)
    assert "LAB_KEY" in str(error)


async def test_too_many_requests_can_be_tried_again_after_the_time_asked_for(llm, wire):
    wire.plays = [refuse(429, {"error": {"message": "slow down"}}, retry_after="7")]

    error = await fail(llm)

    assert (error.code, error.retryable, error.retry_after) == ("rate_limit", True, 7.0)
    assert len(wire.requests) == 1


async def test_a_date_to_wait_for_is_understood(llm, wire):
    until = format_datetime(datetime.now(UTC) + timedelta(seconds=300), usegmt=True)
    wire.plays = [refuse(429, {"error": {"message": "slow down"}}, retry_after=until)]

    error = await fail(llm)

    assert error.retry_after is not None
    assert 200 < error.retry_after <= 300


async def test_the_limit_that_is_used_up_says_how_long_where_nothing_else_does(llm, wire):
    wire.plays = [
        refuse(
            429,
            {"error": {"message": "slow down"}},
            x_ratelimit_remaining_tokens="0",
            x_ratelimit_reset_tokens="6m0s",
        )
    ]

    error = await fail(llm)

    assert (error.code, error.retryable, error.retry_after) == ("rate_limit", True, 360.0)


NONSENSE = ("-30", "NaN", "1e309", "", "Thu, 01 Jan 1970 00:00:00 GMT", "9" * 5000, "later, 20")


async def test_a_time_to_wait_that_cannot_be_meant_is_as_if_none_was_said(llm, wire):
    wire.plays = [refuse(429, BUSY, retry_after=value) for value in NONSENSE]

    errors = [await fail(llm) for _ in NONSENSE]

    said = [(error.code, error.retryable, error.retry_after) for error in errors]
    assert said == [("rate_limit", True, None)] * len(NONSENSE)


async def test_a_header_without_end_is_a_broken_connection_or_says_nothing(llm, wire):
    wire.plays = [refuse(429, BUSY, retry_after="9" * 10_000)]

    error = await fail(llm)

    assert (error.retryable, error.retry_after) == (True, None)
    assert error.code in ("rate_limit", "connection")


async def test_google_says_in_the_body_how_long_to_wait(wire):
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "45.837906927s"}
    body = {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "Quota.", "details": [info]}
    wire.plays = [refuse(429, json.dumps({"error": body}, indent=2))]
    llm = ViaLitellm(make_settings("google", "gemini-3.7-flash", wire))

    error = await fail(llm)

    assert (error.code, error.retryable, error.retry_after) == ("rate_limit", True, 45.837906927)
    assert "answered 429 (too many requests): Quota. RESOURCE_EXHAUSTED. It asks" in str(error)


@pytest.mark.parametrize(
    ("kind", "model"),
    [("anthropic", "claude-sonnet-5"), ("google", "gemini-3.7-flash"), ("xai", "grok-4")],
)
async def test_headers_say_how_long_to_wait_whoever_is_asked(wire, kind, model):
    reset = (datetime.now(UTC) + timedelta(seconds=75)).isoformat(timespec="seconds")
    wire.plays = [
        refuse(429, BUSY, retry_after="33"),
        refuse(
            429,
            BUSY,
            anthropic_ratelimit_input_tokens_remaining="0",
            anthropic_ratelimit_input_tokens_reset=reset,
        ),
    ]
    llm = ViaLitellm(make_settings(kind, model, wire))

    plain, own = await fail(llm), await fail(llm)

    assert (plain.code, plain.retryable, plain.retry_after) == ("rate_limit", True, 33.0)
    assert 60 < own.retry_after <= 75
    assert "answered 429 (too many requests): slow down rate_limit_error. It asks" in str(own)


async def test_an_account_without_credit_is_not_asked_again(llm, wire):
    wire.plays = [refuse(429, {"error": {"message": "no", "code": "insufficient_quota"}})]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("rate_limit", False)
    assert "credit" in str(error)


async def test_a_failing_server_can_be_tried_again(llm, wire):
    wire.plays = [refuse(500, {"error": {"message": f"see http://h/?key={KEY} {KEY}"}})]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("provider_error", True)
    assert len(wire.requests) == 1


async def test_an_unknown_model_is_named(llm, wire):
    wire.plays = [refuse(404, {"error": {"message": "no such model"}})]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("invalid_request", False)
    assert "lab-1" in str(error)


async def test_a_conversation_that_is_too_long_is_recognised(llm, wire):
    said = "This model's maximum context length is 8192 tokens."
    wire.plays = [refuse(400, {"error": {"message": said, "code": "context_length_exceeded"}})]

    error = await fail(llm)

    assert error.code == "context_window"


@pytest.mark.parametrize("end", [cut, end_early])
async def test_a_stream_that_is_cut_is_an_error_and_never_a_finished_answer(llm, wire, end):
    wire.plays = [end(chunk({"role": "assistant", "content": "The dis"}))]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("connection", True)


async def test_the_word_that_this_is_all_is_as_good_as_a_reason_to_end(llm, wire):
    wire.plays = [stream(chunk({"role": "assistant", "content": "It is up."}))]

    events = await collect(llm)

    assert join(events, TextDelta) == "It is up."
    assert events[-1].reason == "stop"


async def test_a_model_that_says_the_word_has_not_ended_its_answer(llm, wire):
    wire.plays = [end_early(chunk({"content": "It ends with\ndata: [DONE]\n\n"}))]

    assert (await fail(llm)).code == "connection"


async def test_what_a_refusal_teaches_is_kept_to_by_the_next_request(llm, wire):
    said = "Function tools with reasoning_effort are not supported. Set reasoning_effort to 'none'."
    fine = stream(chunk({"content": "ok"}), chunk({}, "stop"))
    wire.plays = [refuse(400, {"error": {"message": said, "param": "reasoning_effort"}}), fine]

    with pytest.raises(LLMError, match="without thinking where it has tools") as caught:
        await collect(llm, tools=(READ,))
    await collect(llm, tools=(READ,))
    await collect(llm)

    assert (caught.value.retryable, caught.value.is_taught) == (True, True)
    efforts = [request.get("reasoning_effort") for request in wire.requests]
    assert efforts == [None, "none", None]


async def test_a_stream_cut_within_a_tool_call_proposes_nothing(llm, wire):
    wire.plays = [cut(chunk(fragment(0, '{"path": "/et', call_id="a", name="ops__read")))]

    error = await fail(llm)

    assert error.retryable


async def test_a_server_that_never_answers_runs_into_the_first_deadline(llm, wire):
    wire.plays = [fall_silent()]

    error = await fail(llm, options=LLMOptions(first_chunk_timeout=0.3))

    assert error.code == "initial_response_timeout"
    await asyncio.wait_for(wire.hung_up.wait(), 5)


async def test_a_stream_that_falls_silent_is_a_stall(llm, wire):
    wire.plays = [fall_silent(chunk({"content": "The"}), chunk({"content": " dis"}))]

    error = await fail(llm, options=LLMOptions(first_chunk_timeout=20, stall_timeout=0.3))

    assert error.code == "stall_timeout"
    await asyncio.wait_for(wire.hung_up.wait(), 5)


async def test_comments_are_signs_of_life_before_the_first_word_and_between_two(llm, wire):
    wire.plays = [keep_alive(40, chunk({"content": "Up"}), chunk({"content": "."}, "stop"))]
    options = LLMOptions(first_chunk_timeout=1, stall_timeout=1, call_timeout=60)

    events = await collect(llm, options=options)

    assert join(events, TextDelta) == "Up."


async def test_comments_do_not_prolong_the_whole_call(llm, wire):
    wire.plays = [keep_alive(10_000, chunk({"content": "Up."}))]

    error = await fail(llm, options=LLMOptions(first_chunk_timeout=20, call_timeout=0.5))

    assert error.code == "initial_response_timeout"
    await asyncio.wait_for(wire.hung_up.wait(), 5)


@pytest.mark.parametrize("client", [OpenAICompatible, ViaLitellm])
async def test_a_provider_has_times_of_its_own(client, wire):
    wire.plays = [fall_silent(chunk({"content": "The"}))]
    times = CallTimes(call=30, first_chunk=20, stall=0.3)
    settings = ProviderSettings(
        "lab", "openai", "lab-1", api_key=KEY, base_url=wire.base_url, times=times
    )

    error = await fail(client(settings), options=LLMOptions())

    assert error.code == "stall_timeout"
    assert "silent for 0.3 s" in str(error)


@pytest.mark.parametrize(("status", "code"), [(429, "rate_limit"), (503, "provider_error")])
async def test_how_long_a_provider_asks_to_wait_is_kept_and_told_whatever_it_is(
    llm, wire, status, code
):
    wire.plays = [refuse(status, {"error": {"message": "slow down"}}, retry_after="5400")]

    error = await fail(llm)

    assert (error.code, error.retryable, error.retry_after) == (code, True, 5400.0)
    assert str(error).endswith("It asks to wait 90 min.")


async def test_an_answer_without_end_runs_into_the_last_deadline(llm, wire):
    wire.plays = [drip(chunk({"content": "more "}))]

    error = await fail(llm, options=LLMOptions(call_timeout=0.5))

    assert error.code == "stall_timeout"
    assert "did not finish" in str(error)
    await asyncio.wait_for(wire.hung_up.wait(), 5)


async def test_a_chunk_that_is_no_json_is_an_error_of_the_provider(llm, wire):
    wire.plays = [stream(chunk({"content": "The"}), '{"choices": [{"delta"')]

    error = await fail(llm)

    assert (error.code, error.retryable) == ("provider_error", True)


async def test_a_chunk_of_the_wrong_shape_is_an_error_of_the_provider(llm, wire):
    wire.plays = [stream({"choices": [{"delta": {"content": {"no": "text"}}}]})]

    error = await fail(llm)

    assert error.code in ("provider_error", "connection")


async def test_an_error_inside_the_stream_is_reported(llm, wire):
    wire.plays = [stream(chunk({"content": "The"}), {"error": {"message": "overloaded"}})]

    error = await fail(llm)

    assert error.code == "provider_error"
    assert "overloaded" in str(error)


async def test_closing_the_answer_hangs_up(llm, wire):
    wire.plays = [fall_silent(chunk({"content": "The"}), chunk({"content": " dis"}))]
    events = llm.stream(QUESTION, (), FAST)
    await anext(events)

    await events.aclose()

    await asyncio.wait_for(wire.hung_up.wait(), 5)


async def test_a_server_that_is_not_there_is_a_connection_error(wire):
    settings = ProviderSettings(
        "lab", "openai", "lab-1", api_key=KEY, base_url="http://u:pw@127.0.0.1:9/v1?key=hidden"
    )

    for client in (OpenAICompatible(settings), ViaLitellm(settings)):
        error = await fail(client)
        assert (error.code, error.retryable) == ("connection", True)
        assert "127.0.0.1:9/v1" in str(error)
        assert "hidden" not in str(error)
        assert "pw" not in str(error)


async def test_parallel_calls_that_all_claim_index_zero_are_told_apart(wire):
    wire.plays = [
        stream(
            chunk(fragment(0, "{}", call_id="a", name="ops__read")),
            chunk(fragment(0, "{}", call_id="b", name="ops__find")),
            chunk({}, "tool_calls"),
        )
    ]
    settings = ProviderSettings("lab", "openai", "lab-1", base_url=wire.base_url)

    events = await collect(OpenAICompatible(settings))

    calls = [event.call for event in events if isinstance(event, CallProposed)]
    assert calls == [ToolCall("a", "ops__read", "{}"), ToolCall("b", "ops__find", "{}")]


def test_settings_do_not_show_the_key():
    assert KEY not in repr(ProviderSettings("lab", "openai", "lab-1", api_key=KEY))


async def test_an_emoji_torn_between_two_chunks_is_whole_again(llm, wire):
    wire.plays = [
        stream(
            chunk({"content": "disk \ud83d"}), chunk({"content": "\ude00 full"}),
            chunk({"content": " \ud83d"}), chunk({}, finish="stop"),
        )
    ]  # fmt: skip

    assert join(await collect(llm), TextDelta) == "disk \U0001f600 full \ufffd"


ASK_ONCE = """
import asyncio, sys
from agents.llm import ProviderSettings
from agents.llm.via_litellm import ViaLitellm
from agents.ports import LLMOptions
from agents.types import Message

async def ask():
    settings = ProviderSettings(
        "lab", "openai", sys.argv[2], api_key="k", api_key_env="LAB_KEY", base_url=sys.argv[1]
    )
    options = LLMOptions(first_chunk_timeout=90, stall_timeout=90, call_timeout=90)
    answers = ViaLitellm(settings).stream((Message("user", "What is full?"),), (), options)
    return [event async for event in answers]

assert asyncio.run(ask())
print([name for name in sys.modules if name.endswith("default_encoding")])
"""


@pytest.mark.parametrize("model", ["gpt-5", "claude-sonnet-4-5"])
async def test_a_call_through_litellm_loads_no_tokenizer(wire, model):
    """Each is tens of megabytes in every worker, and some are fetched."""
    wire.plays = [stream(chunk({"content": "The disk"}), chunk({}, "stop"))]
    asked = await asyncio.to_thread(
        subprocess.run,
        [sys.executable, "-c", ASK_ONCE, wire.base_url, model],
        capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert asked.stdout.splitlines()[-1] == "[]"

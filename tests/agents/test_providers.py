"""What goes to Google and Anthropic, and comes back, on the real wire."""

import json
import subprocess
import sys
from contextlib import aclosing, suppress

import pytest

from agents.llm import ProviderSettings, make_llm
from agents.llm.openai_compatible import OpenAICompatible
from agents.llm.via_litellm import ViaLitellm
from agents.llm_events import AnswerFinished, CallProposed, TextDelta, ThinkingDelta, UsageReported
from agents.ports import LLMOptions
from agents.types import JSON, Message, ToolCall, ToolSpec
from tarsy.errors import LLMError
from tests.agents.doubles import READ_ONLY
from tests.agents.wire_server import named_events, refuse, stream

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

QUESTION = (Message("system", "Be brief."), Message("user", "What is full?"))
READ = ToolSpec("ops.read", "ops__read", "Reads", {"type": "object", "properties": {}})
OPTIONS = LLMOptions(first_chunk_timeout=20, stall_timeout=20, call_timeout=30)


async def collect(llm, messages=QUESTION, tools=()):
    async with aclosing(llm.stream(messages, tools, OPTIONS)) as events:
        return [event async for event in events]


def continue_with(events, text=""):
    """The conversation after an answer with one tool call."""
    calls = tuple(event.call for event in events if isinstance(event, CallProposed))
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    return (
        *QUESTION,
        Message("assistant", text, calls, provider_fields=finished.provider_fields),
        Message("tool", "[T1] full", tool_call_id=calls[0].id, tool_name=calls[0].name),
    )


def candidate(*parts, **more):
    return {
        "candidates": [{"content": {"parts": list(parts), "role": "model"}, "index": 0, **more}],
        "usageMetadata": {
            "promptTokenCount": 10,
            "candidatesTokenCount": 5,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 18,
        },
    }


@pytest.fixture
def gemini(wire):
    return make_llm(
        ProviderSettings(
            "google-default",
            "google",
            "gemini-3-flash-preview",
            api_key="g-key",
            base_url=wire.base_url,
            backend="google-native",
            native_tools=frozenset({"google_search"}),
        )
    )


@pytest.fixture
def claude(wire):
    return make_llm(
        ProviderSettings(
            "anthropic-default",
            "anthropic",
            "claude-sonnet-4-5",
            api_key="a-key",
            base_url=wire.base_url.removesuffix("/v1"),
            reasoning_effort="medium",
        )
    )


async def test_gemini_gets_its_own_thought_signature_back(gemini, wire):
    wire.plays = [
        stream(
            candidate({"text": "pondering", "thought": True}),
            candidate(
                {
                    "functionCall": {"name": "ops__read", "args": {"path": "/"}},
                    "thoughtSignature": "c2lnbmF0dXJl",
                }
            ),
            candidate({"text": ""}, finishReason="STOP"),
        )
    ]

    events = await collect(gemini, tools=(READ,))
    await collect(gemini, continue_with(events), (READ,))

    assert [e.text for e in events if isinstance(e, ThinkingDelta)] == ["pondering"]
    usage = [e.usage for e in events if isinstance(e, UsageReported)][-1]
    assert (usage.input_tokens, usage.output_tokens, usage.thinking_tokens) == (10, 8, 3)
    first, second = wire.requests
    assert first["generationConfig"]["thinkingConfig"]["includeThoughts"] is True
    assert "googleSearch" not in str(first["tools"])
    replayed = second["contents"][1]["parts"][0]
    assert replayed["thoughtSignature"] == "c2lnbmF0dXJl"
    assert replayed["function_call"]["args"] == {"path": "/"}


async def test_native_tools_are_offered_only_to_agents_without_others(gemini, wire):
    wire.plays = [stream(candidate({"text": "done"}, finishReason="STOP"))]
    used = (
        *QUESTION,
        Message("assistant", "", (ToolCall("c", "ops__read", "{}"),)),
        Message("tool", "full", tool_call_id="c", tool_name="ops__read"),
    )

    await collect(gemini)
    await collect(gemini, used)

    assert wire.requests[0]["tools"] == [{"googleSearch": {}}]
    assert "googleSearch" not in str(wire.requests[1])


async def test_claude_gets_its_signed_thinking_back_and_can_conclude_without_tools(claude, wire):
    def delta(index, **fields):
        return {"type": "content_block_delta", "index": index, "delta": fields}

    def start(index, **block):
        return {"type": "content_block_start", "index": index, "content_block": block}

    message = {"id": "m", "type": "message", "role": "assistant", "content": [], "model": "c"}
    wire.plays = [
        named_events(
            {"type": "message_start", "message": message | {"usage": {"input_tokens": 25}}},
            start(0, type="thinking", thinking="", signature=""),
            delta(0, type="thinking_delta", thinking="let me "),
            delta(0, type="thinking_delta", thinking="see"),
            delta(0, type="signature_delta", signature="c2ln"),
            {"type": "content_block_stop", "index": 0},
            start(1, type="text", text=""),
            delta(1, type="text_delta", text="I look"),
            {"type": "content_block_stop", "index": 1},
            start(2, type="tool_use", id="toolu_1", name="ops__read", input={}),
            delta(2, type="input_json_delta", partial_json='{"path":'),
            delta(2, type="input_json_delta", partial_json=' "/"}'),
            {"type": "content_block_stop", "index": 2},
            {
                "type": "message_delta",
                "delta": {"stop_reason": "tool_use"},
                "usage": {"output_tokens": 42},
            },
            {"type": "message_stop"},
        )
    ]

    events = await collect(claude, tools=(READ,))
    await collect(claude, continue_with(events, "I look"))

    assert "".join(e.text for e in events if isinstance(e, ThinkingDelta)) == "let me see"
    assert "".join(e.text for e in events if isinstance(e, TextDelta)) == "I look"
    assert [e.call for e in events if isinstance(e, CallProposed)] == [
        ToolCall("toolu_1", "ops__read", '{"path": "/"}')
    ]
    replayed = wire.requests[1]["messages"][1]["content"]
    assert replayed[0] == {"type": "thinking", "thinking": "let me see", "signature": "c2ln"}
    assert replayed[2]["id"] == "toolu_1"


@pytest.mark.parametrize("name", ["gemini", "claude"])
async def test_arguments_that_were_cut_do_not_end_a_conversation(name, wire, request):
    """Both take arguments as objects, so litellm reads them before anything is sent."""
    wire.plays = [stream(candidate({"text": "done"}, finishReason="STOP"))]
    cut = ToolCall("c1", "ops__read", '{"path": "/et')
    history = (
        *QUESTION,
        Message("assistant", "", (cut,), provider_fields={"provider": "elsewhere"}),
        Message("tool", "[T1] refused", tool_call_id=cut.id, tool_name=cut.name),
    )

    with suppress(LLMError):  # what is played is Google's answer, which Claude's client refuses
        await collect(request.getfixturevalue(name), history, (READ,))

    assert json.dumps({"invalid_arguments": cut.arguments}) in json.dumps(wire.requests[0])


@pytest.mark.parametrize("name", ["gemini", "claude"])
async def test_an_error_is_told_in_the_words_of_the_provider_alone(name, wire, request):
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": "it's bad"}}
    wire.plays = [refuse(400, body)]

    with pytest.raises(LLMError) as caught:
        await collect(request.getfixturevalue(name))

    assert str(caught.value).endswith("refused the request (400): it's bad invalid_request_error.")


async def test_a_key_that_google_calls_an_invalid_argument_is_a_refused_key(gemini, wire):
    said = "API key not valid. Please pass a valid API key."
    body = {"error": {"code": 400, "message": said, "status": "INVALID_ARGUMENT"}}
    wire.plays = [refuse(400, body)]

    with pytest.raises(LLMError, match="refused the key") as caught:
        await collect(gemini)

    assert caught.value.code == "credentials"


async def test_a_missing_key_is_named_without_asking_anybody(monkeypatch):
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a key of somebody else")
    llm = make_llm(ProviderSettings("claude", "anthropic", "c", api_key_env="MY_KEY"))

    with pytest.raises(LLMError, match=r"needs a key\. Put it into MY_KEY"):
        await collect(llm)


async def test_a_price_is_found_for_a_known_model_and_none_for_an_unknown_one(gemini, wire):
    wire.plays = [stream(candidate({"text": "done"}, finishReason="STOP"))]
    unknown = make_llm(
        ProviderSettings("g", "google", "gemini-of-tomorrow", base_url=wire.base_url, api_key="k")
    )

    costs = []
    for llm in (gemini, unknown):
        usages = [e.usage for e in await collect(llm) if isinstance(e, UsageReported)]
        costs.append(usages[-1].cost_usd)

    assert costs[0] is not None
    assert costs[0] > 0
    assert costs[1] is None


async def test_what_a_model_thinks_costs_as_much_as_what_it_says(gemini, wire):
    costs = []
    for said, thought in ((100, 0), (0, 100), (50, 50)):
        usage = {
            "promptTokenCount": 10,
            "candidatesTokenCount": said,
            "thoughtsTokenCount": thought,
            "totalTokenCount": 110,
        }
        answer = candidate({"text": "done"}, finishReason="STOP") | {"usageMetadata": usage}
        wire.plays = [stream(answer)]
        usages = [e.usage for e in await collect(gemini) if isinstance(e, UsageReported)]
        assert (usages[-1].output_tokens, usages[-1].thinking_tokens or 0) == (100, thought)
        costs.append(usages[-1].cost_usd)

    assert costs[0] > 0
    assert costs == [costs[0]] * 3


async def test_fields_of_one_provider_are_not_shown_to_another(gemini, wire):
    wire.plays = [stream(candidate({"text": "done"}, finishReason="STOP"))]
    foreign: dict[str, JSON] = {
        "provider": "anthropic-default",
        "fields": {"thinking_blocks": [{"x": "c2ln"}]},
    }
    history = (*QUESTION, Message("assistant", "hm", provider_fields=foreign))

    await collect(gemini, (*history, Message("user", "and?")))

    assert "c2ln" not in str(wire.requests[0])


def test_only_openai_with_an_address_is_asked_directly():
    def choose(**fields):
        return type(make_llm(ProviderSettings("p", model="m", api_key="k", **fields)))

    assert choose(type="openai", base_url="http://lab/v1") is OpenAICompatible
    assert choose(type="openai") is ViaLitellm
    assert choose(type="xai", base_url="http://lab/v1") is ViaLitellm


def test_nothing_heavy_is_imported_before_a_model_is_asked():
    code = (
        "import sys, agents.run, agents.prompts, agents.report, agents.llm\n"
        "sys.exit(bool({'litellm', 'openai', 'aiohttp', 'django'} & set(sys.modules)))"
    )

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""What is written for an endpoint by what is known of it, what it refused, and what YAML says."""

import json
from collections.abc import Mapping
from dataclasses import replace
from unittest.mock import AsyncMock

import pytest

from agents.llm.error_bodies import read_error
from agents.llm.openai_compatible import OpenAICompatible
from agents.llm.quirks import Quirks, find_quirks, forget_lessons, learn, list_lessons
from agents.llm.retry import stream_with_retries
from agents.llm.settings import CallTimes, ProviderSettings
from agents.llm.wire import seal_fields, write_messages
from agents.llm_events import AnswerFinished
from agents.ports import LLMOptions
from agents.types import JSON, Message, ToolCall
from tarsy.errors import LLMError
from tests.agents.doubles import READ_ONLY
from tests.agents.wire_server import chunk, refuse, stream
from tests.cases import for_each

pytestmark = pytest.mark.filterwarnings(READ_ONLY)

CALL = ToolCall("call_0123456789", "net__ping", '{"host": "a"}')
BY_OTHER = {"provider": "elsewhere"}
HISTORY = (
    Message("system", "Be brief."),
    Message("user", "What is up?"),
    Message("assistant", "", (CALL,), provider_fields=BY_OTHER),
    Message("tool", "[T1] up", tool_call_id=CALL.id, tool_name=CALL.name),
    Message("user", "Conclude."),
)
FINE = stream(chunk({"content": "ok"}), chunk({}, "stop"))


@pytest.fixture(autouse=True)
def new_process():
    forget_lessons()
    yield
    forget_lessons()


def settings(base_url="http://lab/v1", model="lab-1", **more):
    return ProviderSettings("lab", "openai", model, base_url=base_url, **more)


async def ask(wire, *plays, **more):
    """The requests until one is answered, and what was told of those that were not."""
    wire.plays = list(plays)
    times = CallTimes(call=30, first_chunk=20, stall=20)
    llm = OpenAICompatible(settings(wire.base_url, times=times, **more))
    told = []

    async def tell(retry):
        told.append(str(retry.error))

    options = LLMOptions(max_output_tokens=500)
    events = [
        event
        async for event in stream_with_retries(
            lambda: llm.stream(HISTORY, (), options), max_retries=2, on_retry=tell, wait=AsyncMock()
        )
    ]
    assert isinstance(events[-1], AnswerFinished)
    return wire.requests, told


KNOWN = [
    ("https://api.mistral.ai/v1", "mistral-large", {"assistant_after_tool", "short_call_ids"}),
    ("http://10.0.0.7:8000/v1", "mistralai/Devstral-Small-2", {"assistant_after_tool"}),
    ("https://api.deepseek.com/v1", "deepseek-v4", {"needs_thinking"}),
    ("https://api.moonshot.cn/v1", "kimi-latest", {"needs_thinking"}),
    ("https://openrouter.ai/api/v1", "moonshotai/kimi-k2-thinking", {"needs_thinking"}),
    (
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "gemini-3.7-flash",
        {"needs_signatures"},
    ),
    ("http://gateway/v1", "us.anthropic.claude-sonnet-5-v1:0", {"keeps_tools"}),
    ("http://gateway/v1", "bedrock/amazon.nova-pro", {"keeps_tools"}),
    ("https://api.openai.com/v1", "gpt-5.2", {"max_completion_tokens"}),
    ("http://localhost:11434/v1", "qwen3:8b", set()),
]


@for_each(KNOWN, name=lambda row: f"{row[0]} {row[1]}")
def test_a_row_of_the_table_is_found_by_address_or_family(row):
    base_url, model, expected = row

    found = find_quirks(settings(base_url, model))

    usual = Quirks()
    assert expected <= {name for name in vars(found) if getattr(found, name)}
    if not expected:
        assert found == usual


def test_the_operator_has_the_last_word():
    said = settings("https://api.mistral.ai/v1", quirks={"assistant_after_tool": False})

    assert not find_quirks(said).assistant_after_tool
    assert find_quirks(said).short_call_ids


REFUSALS = [
    ("Unsupported parameter: 'stream_options'", "stream_options", None),
    ("[{'type': 'extra_forbidden', 'loc': ['body', 'stream_options'], 'msg': 'Extra inputs are "
     "not permitted'}]", "stream_options", None),
    ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
     "'max_completion_tokens' instead.", "max_completion_tokens", 500),
]  # fmt: skip


@pytest.mark.parametrize(("said", "member", "value"), REFUSALS)
async def test_what_a_refusal_names_is_written_in_another_way_from_then_on(
    wire, said, member, value
):
    refusal = refuse(400, {"error": {"message": said, "type": "invalid_request_error"}})

    requests, told = await ask(wire, refusal, FINE, FINE)
    await ask(wire, FINE)

    assert [request.get(member) == value for request in requests] == [False, True, True]
    assert len(told) == 1
    assert "It is asked again with" in told[0]


LESSONS = [
    ("Unrecognized request argument supplied: stream_options", "without stream_options"),
    ("property 'reasoning_content' is unsupported", "without the model's thoughts"),
    ('Unknown name "reasoning_effort": Cannot find field.', "without reasoning_effort"),
    ("Anthropic expects the `tools=` param to be passed in", "with the tools that were called"),
    ("Tool call id was call_abc but must be a-z, with a length of 9.", "with ids of nine"),
    ("reasoning_content is missing in assistant tool call message", "with the model's thoughts"),
    ("This model does not support the tool_choice parameter", "without tool_choice"),
    ("This model doesn't support the toolConfig.toolChoice.none field. Remove it and try again.",
     "without tool_choice"),
    ("System role not supported", "with the instructions in the first question"),
    ("Unsupported value: 'messages[0].role' does not support 'system' with this model.",
     "with the instructions in the first question"),
    ("This model only supports single tool-calls at once!", "with one call in each message"),
    ("Our support reads no system messages", ""),
    ("Function tools with reasoning_effort are not supported", "without thinking where it has"),
    ("To use function tools, set reasoning_effort to 'none'.", "without thinking where it has"),
    (
        "Jinja Exception: Conversation roles must alternate user/assistant/...",
        "with a line between",
    ),
    ("Expected last role User or Tool but got assistant", ""),
    ("Invalid value for 'temperature': must be at most 2", ""),
]  # fmt: skip


REFUSED_REQUEST: Mapping[str, JSON] = {
    "stream_options": {}, "reasoning_effort": "high", "tool_choice": "none", "tools": [{}],
    "messages": [
        {"role": "assistant", "reasoning_content": "hm", "tool_calls": [{"id": "c"}]},
        {"role": "tool", "tool_call_id": "c"},
    ],
}  # fmt: skip


@for_each(LESSONS, name=lambda row: row[0])
def test_a_refusal_teaches_what_it_names(row):
    said, expected = row
    forget_lessons()

    change = learn(settings(), said, REFUSED_REQUEST, Quirks())

    assert change.startswith(expected)
    assert bool(change) is bool(expected)


@for_each([row for row in LESSONS if row[1]], name=lambda row: row[0])
def test_a_word_on_what_the_request_does_not_have_teaches_nothing(row):
    forget_lessons()

    assert learn(settings(), row[0], {"model": "lab-1"}, Quirks()) == ""
    assert find_quirks(settings()) == Quirks()


def test_names_in_texts_and_tools_are_no_members_of_a_request():
    forget_lessons()
    said = "Unrecognized request argument supplied: stream_options"
    words: Mapping[str, JSON] = {
        "messages": [{"role": "user", "content": '"stream_options": true'}],
        "tools": [{"function": {"parameters": {"properties": {"stream_options": {}}}}}],
    }

    assert learn(settings(), said, words, Quirks()) == ""


def test_what_another_execution_has_learned_meanwhile_is_a_lesson_for_this_one():
    forget_lessons()
    said = LESSONS[0][0]
    sent = find_quirks(settings())

    first = learn(settings(), said, REFUSED_REQUEST, sent)
    second = learn(settings(), said, REFUSED_REQUEST, sent)

    assert first == second == "without stream_options"
    assert learn(settings(), said, REFUSED_REQUEST, find_quirks(settings())) == ""


async def test_lessons_use_up_no_tries(wire):
    said = [f"Unsupported parameter: '{name}'" for name in ("stream_options", "reasoning_effort")]
    refusals = [refuse(400, {"error": {"message": each}}) for each in (*said, REFUSALS[2][0])]

    requests, told = await ask(wire, *refusals, FINE, reasoning_effort="high")

    assert (len(requests), len(told)) == (4, 3)


REFUSING_TOOLS = [
    "registry.ollama.ai/library/gemma:2b does not support tools",
    '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
    "No endpoints found that support tool use.",
    "tools param requires --jinja flag",
    "`tool calling` is not supported with this model",
    "deepseek-reasoner does not support Function Calling",
    "Function calling is not enabled for models/gemma-3-27b-it",
]


@for_each(REFUSING_TOOLS)
def test_a_model_that_refuses_tools_is_known_by_its_words(said):
    assert read_error({"error": {"message": said}}, "").lacks_tool_calling
    assert not read_error({"error": {"message": "no such tool_choice"}}, "").lacks_tool_calling


async def test_a_user_behind_a_result_gets_a_line_in_between_once_it_was_refused(wire):
    said = {"object": "error", "message": "Unexpected role 'user' after role 'tool'", "code": 3230}

    requests, _ = await ask(wire, refuse(400, said), FINE)

    assert [m["role"] for m in requests[0]["messages"][-2:]] == ["tool", "user"]
    assert [m["role"] for m in requests[1]["messages"][-3:]] == ["tool", "assistant", "user"]


async def test_a_template_that_fails_over_the_order_of_roles_teaches_as_a_refusal_does(wire):
    said = "Jinja Exception: conversation roles must alternate user and assistant roles"

    requests, told = await ask(wire, refuse(500, {"error": {"code": 500, "message": said}}), FINE)

    assert [m["role"] for m in requests[1]["messages"][-3:]] == ["tool", "assistant", "user"]
    assert len(told) == 1


async def test_a_list_of_wrong_members_teaches_by_their_places(wire):
    detail = {"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs"}

    requests, told = await ask(wire, refuse(422, {"detail": [detail]}), FINE)

    assert "stream_options" not in requests[1]
    assert "body.stream_options: Extra inputs" in told[0]


def test_two_questions_in_a_row_are_one():
    history = (*HISTORY[:2], Message("user", "And now?"), *HISTORY[2:], Message("user", "Please."))

    written = write_messages(history, provider_name="lab")

    assert [message["role"] for message in written] == [
        "system", "user", "assistant", "tool", "user",
    ]  # fmt: skip
    assert written[1]["content"] == "What is up?\n\nAnd now?"
    assert written[-1]["content"] == "Conclude.\n\nPlease."


async def test_tools_stay_and_are_forbidden_where_the_history_needs_them(wire):
    said = {"message": "The toolConfig field must be defined when using toolUse content blocks."}

    requests, _ = await ask(wire, refuse(400, said), FINE)

    assert "tools" not in requests[0]
    assert requests[1]["tool_choice"] == "none"
    assert [tool["function"]["name"] for tool in requests[1]["tools"]] == ["net__ping"]


async def test_missing_thoughts_and_signatures_are_stood_in_for_once_they_were_missed(wire):
    thoughts = {"error": {"message": "Missing `reasoning_content` field in the assistant message"}}
    signature = {"error": {"message": "Function call is missing a thought_signature in parts."}}

    requests, _ = await ask(wire, refuse(400, thoughts), refuse(400, signature), FINE)

    message = requests[2]["messages"][2]
    assert message["reasoning_content"] == " "
    assert message["tool_calls"][0]["extra_content"] == {
        "google": {"thought_signature": "skip_thought_signature_validator"}
    }


async def test_a_refusal_that_teaches_nothing_new_is_final(wire):
    refusal = refuse(400, {"error": {"message": "Unsupported parameter: 'stream_options'"}})

    with pytest.raises(LLMError) as caught:
        await ask(wire, refusal)

    assert (caught.value.code, caught.value.retryable) == ("invalid_request", False)
    assert len(wire.requests) == 2


async def test_what_the_operator_said_is_not_unlearned(wire):
    refusal = refuse(400, {"error": {"message": "Unsupported parameter: 'stream_options'"}})

    with pytest.raises(LLMError):
        await ask(wire, refusal, quirks={"stream_options": True})

    assert len(wire.requests) == 1


INVALID = ["", " ", "null", "[]", '"a"', '{"host": "gw', "{host: gw}", '{"a": NaN}', "[" * 9_999]


@for_each(INVALID, name=lambda text: text[:20])
def test_arguments_that_are_no_object_are_replayed_as_one_that_says_so(text):
    history = (Message("assistant", "", (replace(CALL, arguments=text),)),)

    for quirks in (Quirks(), Quirks(short_call_ids=True, needs_thinking=True)):
        [message] = write_messages(history, provider_name="lab", quirks=quirks)
        written = json.loads(message["tool_calls"][0]["function"]["arguments"])
        expected = {"invalid_arguments": text[:4_000]} if text.strip() else {}
        assert written == expected


def test_what_stood_beside_a_call_goes_back_to_its_own_provider_alone():
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}, "function": {"x": 1}}
    sealed = seal_fields("lab", {"reasoning_content": "hm"}, [extra])
    history = (Message("assistant", "", (CALL,), provider_fields=sealed),)

    [own] = write_messages(history, provider_name="lab")
    [other] = write_messages(history, provider_name="other")
    [bare] = write_messages(
        history,
        provider_name="lab",
        quirks=Quirks(replays_extras=False, replays_thinking=False),
    )

    assert own["reasoning_content"] == "hm"
    assert own["tool_calls"][0]["extra_content"] == extra["extra_content"]
    assert own["tool_calls"][0]["function"]["x"] == 1
    assert other == bare
    assert "extra_content" not in str(other)


async def test_a_chat_template_that_refuses_with_a_500_teaches_as_well(wire):
    refusal = refuse(500, {"error": {"message": "System role not supported", "code": 500}})

    requests, told = await ask(wire, refusal, FINE)

    assert [message["role"] for message in requests[0]["messages"]][:2] == ["system", "user"]
    assert requests[1]["messages"][0]["content"] == "Be brief.\n\nWhat is up?"
    assert len(told) == 1


def test_calls_go_back_one_by_one_each_before_its_own_result():
    other = replace(CALL, id="call_9876543210")
    fields = seal_fields("lab", {"reasoning_content": "hm"}, [{"a": 1}, {"b": 2}])
    history = (
        Message("user", "What is up?"),
        Message("assistant", "Two.", (CALL, other), provider_fields=fields),
        Message("tool", "[T2] down", tool_call_id=other.id, tool_name=other.name),
        Message("tool", "[T1] up", tool_call_id=CALL.id, tool_name=CALL.name),
        Message("user", "Conclude."),
    )

    written = write_messages(history, provider_name="lab", quirks=Quirks(single_calls=True))

    assert [(m["role"], m["content"]) for m in written] == [
        ("user", "What is up?"), ("assistant", "Two."), ("tool", "[T1] up"),
        ("assistant", None), ("tool", "[T2] down"), ("user", "Conclude."),
    ]  # fmt: skip
    assert [m["tool_calls"][0]["id"] for m in (written[1], written[3])] == [CALL.id, other.id]
    assert (written[1]["tool_calls"][0]["a"], written[3]["tool_calls"][0]["b"]) == (1, 2)


def test_what_was_learned_is_listed_unless_it_is_known_or_said_already():
    request: Mapping[str, JSON] = {"messages": [{"role": "system"}], "stream_options": {}}
    lab, told = settings(), settings(quirks={"stream_options": True})
    learn(lab, "System role not supported", request, find_quirks(lab))
    learn(lab, "Unsupported parameter: 'stream_options'", request, find_quirks(lab))

    assert list_lessons(lab) == {"system_role": False, "stream_options": False}
    assert list_lessons(told) == {"system_role": False}
    assert list_lessons(settings("https://other/v1")) == {}


def test_ids_for_mistral_have_nine_letters_in_the_call_and_in_its_result():
    written = write_messages(HISTORY, provider_name="lab", quirks=Quirks(short_call_ids=True))

    call_id = written[2]["tool_calls"][0]["id"]
    assert len(call_id) == 9
    assert written[3]["tool_call_id"] == call_id

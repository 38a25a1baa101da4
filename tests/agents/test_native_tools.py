"""Google's own tools: what they did, on the real wire, and why one is left out."""

from contextlib import aclosing

import pytest

from agents.llm.client import make_llm
from agents.llm.native_tools import NativeToolReader, offer_native_tools
from agents.llm.settings import ProviderSettings
from agents.llm_events import NativeToolTold
from agents.ports import LLMOptions
from tests.agents.doubles import READ_ONLY
from tests.agents.golden.cases import AFTER_GOOGLE, QUESTION, READ
from tests.agents.wire_server import stream

pytestmark = [pytest.mark.filterwarnings(READ_ONLY), pytest.mark.slow]

OPTIONS = LLMOptions(first_chunk_timeout=20, stall_timeout=20, call_timeout=30)
ALL = frozenset({"google_search", "url_context", "code_execution"})


def settings(model="gemini-3.7-flash", provider_type="google", backend="google-native", **more):
    return ProviderSettings(
        "p", provider_type, model, backend=backend, native_tools=ALL, api_key="k", **more
    )


def candidate(*parts, **more):
    return {"candidates": [{"content": {"parts": list(parts), "role": "model"}, **more}]}


async def test_a_search_a_page_and_a_run_of_code_are_told_with_what_came_of_them(wire):
    grounding = {
        "webSearchQueries": ["disk full journald"],
        "groundingChunks": [{"web": {"uri": "https://example.org/a", "title": "A page"}}],
    }
    pages = [
        {
            "retrievedUrl": "https://example.org/b",
            "urlRetrievalStatus": "URL_RETRIEVAL_STATUS_SUCCESS",
        }
    ]
    wire.plays = [
        stream(
            candidate({"executableCode": {"language": "PYTHON", "code": "print(2 * 21)"}}),
            candidate({"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "42\n"}}),
            candidate(
                {"text": "It is 42."},
                finishReason="STOP",
                groundingMetadata=grounding,
                urlContextMetadata={"urlMetadata": pages},
            ),
        )
    ]
    llm = make_llm(settings(base_url=wire.base_url))

    async with aclosing(llm.stream(QUESTION, (), OPTIONS)) as events:
        notes = [event.note async for event in events if isinstance(event, NativeToolTold)]

    assert [note.kind for note in notes] == [
        "code_execution",
        "google_search_result",
        "url_context_result",
    ]
    assert notes[0].content == "print(2 * 21)\n\nOK:\n42"
    assert notes[0].metadata["language"] == "python"
    assert notes[1].content == "Searched for: disk full journald\nSource: A page"
    assert notes[1].metadata["sources"] == [{"uri": "https://example.org/a", "title": "A page"}]
    assert notes[2].content == "https://example.org/b (success)"


@pytest.mark.parametrize(
    ("chosen", "messages", "tools", "offered", "hint"),
    [
        (settings(), QUESTION, (), ["codeExecution", "googleSearch", "urlContext"], ""),
        (settings(), QUESTION, (READ,), [], "either its own tools or the agent's"),
        (settings(), AFTER_GOOGLE, (), [], "either its own tools or the agent's"),
        (settings(backend="langchain"), QUESTION, (), [], "use google-native"),
        (settings("gemini-3.1-flash-image"), QUESTION, (READ,), ["googleSearch"], "has none"),
        (settings("gpt-5.2", "openai"), QUESTION, (), [], "no such tool of its own"),
        (settings("claude-sonnet-5", "vertexai"), QUESTION, (), [], "no such tool of its own"),
    ],
)
def test_a_native_tool_is_offered_or_left_out_with_a_reason(chosen, messages, tools, offered, hint):
    sent, told = offer_native_tools(chosen, messages, tools)

    assert [name for each in sent for name in each] == offered
    assert len(told) == 3 - len(offered)
    assert all(hint in each.note.content for each in told)
    assert all(each.note.metadata["is_offered"] is False for each in told)
    assert {each.note.kind for each in told} <= {"notice"}, "it did not run, so no result of it"


@pytest.mark.parametrize(
    "chunk",
    [
        None,
        [],
        {"candidates": None},
        {"candidates": [None, 1, {"content": [], "groundingMetadata": []}]},
        {"candidates": [{"groundingMetadata": {"webSearchQueries": "x", "groundingChunks": [1]}}]},
        {"candidates": [{"urlContextMetadata": {"urlMetadata": [{"retrievedUrl": 5}]}}]},
    ],
)
def test_a_chunk_that_makes_no_sense_tells_nothing(chunk):
    reader = NativeToolReader()

    reader.take(chunk)

    assert reader.tell() == []

"""Plays an answer as some server sends it, on the real wire, and says what became of it."""

import base64
import json
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from agents.llm.openai_compatible import OpenAICompatible
from agents.llm.settings import CallTimes, ProviderSettings
from agents.llm_events import (
    AnswerFinished,
    CallProposed,
    LLMEvent,
    TextDelta,
    ThinkingDelta,
    UsageReported,
)
from agents.ports import LLMOptions
from agents.types import Message, ToolSpec
from tarsy.errors import LLMError
from tests.agents.wire_server import Play, Wire, WireServer, chunk, stream

KEY = "sk-key-4711-abcdef"
TOOLS = ("net__ping", "net__routes", "ops__metrics", "ops__read", "k8s__get_pods")
QUESTION = (Message("system", "Be brief."), Message("user", "What is up?"))
_TIMES = CallTimes(call=30, first_chunk=20, stall=20)
_MEANINGS = {
    "context_window": "context_overflow",
    "credentials": "credentials",
    "rate_limit": "rate_limited",
    "invalid_request": "invalid_request",
}


def make_specs(names: Sequence[str] = TOOLS) -> tuple[ToolSpec, ...]:
    schema = {"type": "object", "properties": {}}
    return tuple(ToolSpec(n.replace("__", ".", 1), n, "Looks", schema) for n in names)


def make_llm(wire: WireServer, model: str = "lab-1", **more: Any) -> OpenAICompatible:
    return OpenAICompatible(
        ProviderSettings(
            "lab", "openai", model, api_key=KEY, api_key_env="LAB_KEY", base_url=wire.base_url,
            times=_TIMES, **more,
        )
    )  # fmt: skip


def play_case(case: dict[str, Any]) -> Play:
    async def play(wire: Wire) -> None:
        kind = "text/event-stream" if "body" not in case else None
        headers = {"content-type": kind} if kind else case.get("headers", {})
        lines = [f"HTTP/1.1 {case.get('status', 200)} X", "transfer-encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        wire.writer.write(("\r\n".join([*lines, "connection: close"]) + "\r\n\r\n").encode())
        for packet in _cut(case):
            wire.writer.write(f"{len(packet):x}\r\n".encode() + packet + b"\r\n")
            await wire.writer.drain()
        await wire.end()

    return play


def _cut(case: dict[str, Any]) -> list[bytes]:
    if "packets_b64" in case:
        return [base64.b64decode(packet) for packet in case["packets_b64"]]
    if "body" in case:
        return [case["body"].encode()] if case["body"] else []
    return [
        (f"{event}\n\n" if event.startswith(":") else f"data: {event}\n\n").encode()
        for event in case["events"]
    ]


async def judge_stream(case: dict[str, Any], wire: WireServer) -> list[str]:
    """What of a case's expectations does not hold."""
    wire.plays = [play_case(case), stream(chunk({"content": "ok"}), chunk({}, "stop"))]
    wire.requests.clear()
    llm = make_llm(wire)
    tools = make_specs(case.get("tools", TOOLS))
    expected = case["expect"]
    try:
        events = await ask(llm, QUESTION, tools)
    except LLMError as error:
        return _judge_error(error, expected)
    if "error" in expected:
        return [f"no error but {events}"]
    return [*_judge_answer(events, expected), *await _judge_replay(llm, wire, events, case)]


async def ask(
    llm: OpenAICompatible, messages: Sequence[Message], tools: Sequence[ToolSpec] = ()
) -> list[LLMEvent]:
    async with aclosing(llm.stream(messages, tools, LLMOptions())) as events:
        return [event async for event in events]


def _judge_error(error: LLMError, expected: dict[str, Any]) -> list[str]:
    if "error" not in expected:
        return [f"{error.code}: {error}"]
    meaning = _MEANINGS.get(error.code) or ("retry" if error.retryable else error.code)
    wrong = [f"{word!r} is missing" for word in expected.get("words", ()) if word not in str(error)]
    if meaning not in (expected["error"], *expected.get("also_ok", ())):
        wrong.append(f"it is {meaning}")
    if "wait_s" in expected and error.retry_after != expected["wait_s"]:
        wrong.append(f"it waits {error.retry_after}")
    if KEY in str(error) or "\n" in str(error):
        wrong.append("it shows the key or has more than one line")
    return [f"{each}: {error}" for each in wrong]


def _judge_answer(events: list[LLMEvent], expected: dict[str, Any]) -> list[str]:
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    got = {
        "text": "".join(e.text for e in events if isinstance(e, TextDelta)).strip(),
        "thinking": "".join(e.text for e in events if isinstance(e, ThinkingDelta)).strip(),
        "finish": finished.reason,
        "calls": [_show_call(e) for e in events if isinstance(e, CallProposed)],
    }
    usages = [event.usage for event in events if isinstance(event, UsageReported)]
    if "usage" in expected:
        last = usages[-1] if usages else None
        got["usage"] = {
            "input": last.input_tokens if last else None,
            "output": last.output_tokens if last else None,
        }
    return [f"{name} is {value!r}" for name, value in got.items() if value != expected[name]]


def _show_call(proposed: CallProposed) -> dict[str, Any]:
    arguments = _read_object(proposed.call.arguments)
    shown = {"invalid": True} if arguments is None else {"arguments": arguments}
    return {"name": proposed.call.name, **shown}


def _read_object(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


async def _judge_replay(
    llm: OpenAICompatible, wire: WireServer, events: list[LLMEvent], case: dict[str, Any]
) -> list[str]:
    """Whether the next request holds what the server wants back, and nothing invalid."""
    calls = [
        replace(event.call, id=event.call.id or f"call_{number}")
        for number, event in enumerate(events)
        if isinstance(event, CallProposed)
    ]
    if not calls:
        return []
    finished = events[-1]
    assert isinstance(finished, AnswerFinished)
    said = Message("assistant", "", tuple(calls), provider_fields=finished.provider_fields)
    results = [Message("tool", "ok", tool_call_id=c.id, tool_name=c.name) for c in calls]
    await ask(llm, (*QUESTION, said, *results), make_specs())
    message = wire.requests[-1]["messages"][2]
    wrong = [
        f"replayed: {call['function']['arguments']!r}"
        for call in message["tool_calls"]
        if _read_object(call["function"]["arguments"]) is None
    ]
    for wanted in case["expect"].get("replay", ()):
        place, _, number = wanted["at"].partition(" ")
        holder = message if place == "message" else message["tool_calls"][int(number)]
        if holder.get(wanted["field"]) != wanted["value"]:
            wrong.append(f"{wanted['field']} comes back as {holder.get(wanted['field'])!r}")
    return wrong

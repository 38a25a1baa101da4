"""The rehearsal speaks as the servers of each family do, and refuses what they refuse."""

import json
import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from agents.rehearsal.dialects import find_dialect, list_dialects
from agents.rehearsal.dialects.signing import sign_call, sign_thought
from tests.agents.rehearsal.asking import called, offer, result, user
from tests.cases import check_each

pytestmark = pytest.mark.slow

SCRIPT = """
rules:
  - reply:
      thinking: First I look at the disks.
      text: Looking at two things.
      tool_calls:
        - {name: ops__storage, arguments: {action: usage}}
        - {name: ops__metrics, arguments: {action: load}}
      usage: {input_tokens: 1000, output_tokens: 50, thinking_tokens: 20}
"""
CALL = called("call_1", "ops__storage")
TOOLS = offer("ops__storage")
BAD: dict[str, dict[str, Any]] = {
    "member": {"stream_options": {}, "max_tokens": 9, "reasoning_effort": "low",
               "tool_choice": "none", "tools": TOOLS},
    "message_member": {"messages": [user(), {"role": "assistant", "content": "x",
                                             "reasoning_content": "hm"}, user()]},
    "call_member": {"messages": [user(), {**CALL, "tool_calls": [
        {**CALL["tool_calls"][0], "extra_content": {}}]}, result("call_1", "fine")]},
    "tools": {"tools": TOOLS},
    "tools_with_effort": {"tools": TOOLS},
    "no_tools": {"messages": [user(), CALL, result("call_1", "fine")]},
    "choice_without_tools": {"tool_choice": "none"},
    "schema_member": {"tools": [{"type": "function", "function": {
        "name": "x", "parameters": {"properties": {"const": {"const": 1}}}}}]},
    "tool_name": {"tools": offer("1 é")},
    "arguments": {"messages": [user(), called("call_1", "x", "{"), result("call_1", "fine")]},
    "call_id": {"messages": [user(), called("a:" * 40, "x"), result("a:" * 40, "fine")]},
    "unanswered_call": {"messages": [user(), CALL, user()]},
    "stray_result": {"messages": [user(), result("call_1", "fine")]},
    "user_after_tool": {"messages": [user(), CALL, result("call_1", "fine"), user()]},
    "repeated_role": {"messages": [user(), user()]},
    "system_role": {"messages": [{"role": "system", "content": "x"}, user()]},
    "parallel_calls": {"messages": [
        user(), {**CALL, "tool_calls": CALL["tool_calls"] * 2}, user()]},
    "late_system": {"messages": [user(), {"role": "system", "content": "x"}]},
    "ends_with_assistant": {"messages": [user(), {"role": "assistant", "content": "x"}]},
    "blank_text": {"messages": [user(" ")]},
    "no_thought": {"messages": [user(), CALL, result("call_1", "fine")]},
    "forged_thought": {"messages": [user(), {"role": "assistant", "content": "x",
        "thinking_blocks": [{"type": "thinking", "thinking": "a", "signature": "b"}]}, user()]},
    "no_signature": {"messages": [user(), CALL, result("call_1", "fine")]},
    "forged_signature": {"messages": [user(), {**CALL, "tool_calls": [
        {**CALL["tool_calls"][0], "extra_content": {"google": {"thought_signature": "b"}}}]},
        result("call_1", "fine")]},
    "overflow": {"messages": [user("word " * 40_000)]},
}  # fmt: skip


def families_of_chat() -> list[str]:
    return [name for name in list_dialects() if find_dialect(name).wire == "chat"]


def test_each_family_refuses_what_is_wrong_with_a_request_and_names_it(rehearse):
    server = rehearse(SCRIPT)

    def check(name: str) -> None:
        refused = [refusal.fault for refusal in find_dialect(name).refuses]
        for position, fault in enumerate(refused):
            body = {"model": "m", "messages": [user()], "stream": True} | BAD[fault]
            if fault != "tools_with_effort" in refused:
                body["reasoning_effort"] = "none"

            answer = ask(server, name, body)

            assert answer.status_code >= 400, fault
            assert server.requests[-1].fault in refused[: position + 1], fault
            assert not re.search(r"\$(?:found|limit|message|status)", answer.text)

    check_each(check, families_of_chat(), str)


def test_each_family_says_the_whole_answer_in_its_own_way(rehearse):
    server = rehearse(SCRIPT)

    def check(name: str) -> None:
        answer = ask(server, name, {"model": "m", "messages": [user()], "stream": True})

        assert answer.status_code == 200, answer.text
        events = list(read_events(answer.text))
        written = json.dumps(events)
        assert "ops__storage" in written
        assert "ops__metrics" in written
        assert "Looking at two things." in "".join(read_texts(events))
        assert ("First" in written) is (find_dialect(name).answer.thinking != "none")

    check_each(check, families_of_chat(), str)


async def test_the_api_of_anthropic_signs_thoughts_and_wants_them_back(rehearse):
    server = rehearse(SCRIPT)
    body = {"model": "m", "max_tokens": 4000, "stream": True,
            "thinking": {"type": "enabled", "budget_tokens": 2000},
            "messages": [{"role": "user", "content": "what is wrong?"}],
            "tools": [{"name": "ops__storage", "input_schema": {}}]}  # fmt: skip
    thought = {"type": "thinking", "thinking": "hm", "signature": sign_thought("hm")}
    call = {"type": "tool_use", "id": "t1", "name": "ops__storage", "input": {}}
    told = {"type": "tool_result", "tool_use_id": "t1", "content": "fine"}

    answers = [
        await post(server, "anthropic/v1/messages", body, *blocks)
        for blocks in ((), ([thought, call], [told]), ([call], [told]),
                       ([{**thought, "signature": "x"}, call], [told]))
    ]  # fmt: skip

    assert [answer.status_code for answer in answers] == [200, 200, 400, 400]
    assert '"signature_delta"' in answers[0].text
    assert "event: message_stop" in answers[0].text
    faults = [request.fault for request in server.requests]
    assert faults == ["", "", "no_thinking_block", "forged_thought"]


async def test_the_api_of_google_signs_calls_and_wants_them_back(rehearse):
    server = rehearse(SCRIPT)
    call = {"functionCall": {"name": "ops__storage", "args": {"a": 1}}}
    told = {"functionResponse": {"name": "ops__storage", "response": {"content": "fine"}}}
    own = {**call, "thoughtSignature": sign_call("ops__storage", {"a": 1})}

    answers = [
        await post_google(server, *parts)
        for parts in ((), ([own], [told]), ([call], [told]), ([{**call, "thoughtSignature": "x"}],
                                                             [told]))
    ]  # fmt: skip

    assert [answer.status_code for answer in answers] == [200, 200, 400, 400]
    assert '"thoughtSignature"' in answers[0].text
    faults = [request.fault for request in server.requests]
    assert faults == ["", "", "no_signature", "forged_signature"]


async def test_an_unknown_family_is_answered_with_the_known_ones(rehearse):
    server = rehearse(SCRIPT)

    async with httpx.AsyncClient() as http:
        answer = await http.post(address(server, "klingon/v1/chat/completions"), json={})

    assert answer.status_code == 404
    assert "known are anthropic" in answer.json()["error"]["message"]


async def test_an_error_in_the_middle_is_told_within_the_stream(rehearse):
    script = "[{reply: {text: abcdef, chunk_size: 2, error_after: 1, error: {status: 503}}}]"
    server = rehearse(script)
    body = {"model": "m", "messages": [user()], "stream": True}

    async with httpx.AsyncClient() as http:
        answer = await http.post(address(server, "lmstudio/v1/chat/completions"), json=body)

    assert answer.status_code == 200
    assert '"ab"' in answer.text
    assert '"cd"' not in answer.text
    assert answer.text.endswith('event: error\ndata: {"error": "rehearsed error 503"}\n\n')


def ask(server, family: str, body: dict[str, Any]) -> httpx.Response:
    return httpx.post(address(server, f"{family}/v1/chat/completions"), json=body, timeout=30)


def address(server, path: str) -> str:
    return server.url.removesuffix("v1") + path


async def post(server, path: str, body: dict[str, Any], *blocks) -> httpx.Response:
    roles = ("assistant", "user")
    more = [{"role": r, "content": b} for r, b in zip(roles, blocks, strict=False)]
    async with httpx.AsyncClient() as http:
        messages = [*body["messages"], *more]
        return await http.post(address(server, path), json={**body, "messages": messages})


async def post_google(server, *parts) -> httpx.Response:
    roles = ("model", "user")
    more = [{"role": r, "parts": p} for r, p in zip(roles, parts, strict=False)]
    contents = [{"role": "user", "parts": [{"text": "what is wrong?"}]}, *more]
    path = "gemini/v1/models/gemini-3.1-pro:streamGenerateContent?alt=sse"
    async with httpx.AsyncClient() as http:
        return await http.post(address(server, path), json={"contents": contents})


def read_events(text: str) -> Iterator[dict[str, Any]]:
    for line in text.splitlines():
        if line.startswith("data: {"):
            yield json.loads(line[6:])


def read_texts(events: list[dict[str, Any]]) -> Iterator[str]:
    for event in events:
        for choice in event["choices"]:
            content = choice["delta"].get("content")
            yield content if isinstance(content, str) else ""

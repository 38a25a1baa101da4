"""Anthropic's own API: `/v1/messages`, told in chat completions and back."""

import json
from collections.abc import Iterator, Mapping
from typing import Any
from uuid import uuid4

from agents.rehearsal.dialects.signing import sign_thought
from agents.rehearsal.rendering import Answer
from agents.rehearsal.script import Reply
from agents.rehearsal.wire import (
    Asked,
    EncodedStream,
    Usage,
    count_usage,
    name_call,
    spell_arguments,
    split_text,
)

CALL_IDS = "toolu_{hex24}"
_REASONS = {"stop": "end_turn", "tool_calls": "tool_use", "length": "max_tokens"}


def read_request(body: Mapping[str, Any], _model: str) -> dict[str, Any]:
    """The request as chat completions would say it; what only this API has is kept beside."""
    messages = [*_read_system(body.get("system"))]
    for message in body["messages"]:
        content = message["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        is_answer = message["role"] == "assistant"
        messages += [_read_answer(blocks)] if is_answer else _read_question(blocks)
    tools = [
        {"type": "function", "function": {**t, "parameters": t.get("input_schema")}}
        for t in body.get("tools") or ()
    ]
    thinking = body.get("thinking") or {}
    thinks = thinking.get("type") in ("enabled", "adaptive")
    beside = {n: body[n] for n in ("stream", "thinking", "max_tokens", "tool_choice") if n in body}
    request = {"model": body.get("model"), "messages": messages, "tools": tools, "thinks": thinks}
    return request | beside


def encode_stream(answer: Answer, reply: Reply, asked: Asked) -> EncodedStream:
    usage = count_usage(answer, reply, asked) or Usage(0, 0, 0, 0)
    start = {"type": "message_start", "message": _write_message([], None, usage, asked)}
    end = {"stop_reason": _choose_reason(answer, reply), "stop_sequence": None}
    counts = {"output_tokens": usage.output_tokens}
    closing = {"type": "message_delta", "delta": end, "usage": counts}
    return EncodedStream(
        opening=_write_event(start) + _write_event({"type": "ping"}),
        content=tuple(_write_event(event) for event in _split_blocks(answer, reply, asked)),
        closing=_write_event(closing) + _write_event({"type": "message_stop"}),
    )


def encode_whole(answer: Answer, reply: Reply, asked: Asked) -> bytes:
    usage = count_usage(answer, reply, asked) or Usage(0, 0, 0, 0)
    blocks: list[dict[str, Any]] = []
    if answer.thinking and asked.thinks:
        signature = sign_thought(answer.thinking)
        block = {"type": "thinking", "thinking": answer.thinking, "signature": signature}
        blocks.append(block)
    if answer.text:
        blocks.append({"type": "text", "text": answer.text})
    for number, call in enumerate(answer.calls):
        call_id = name_call(call, CALL_IDS, number)
        arguments = json.loads(spell_arguments(call))
        blocks.append({"type": "tool_use", "id": call_id, "name": call.name, "input": arguments})
    message = _write_message(blocks, _choose_reason(answer, reply), usage, asked)
    return json.dumps(message).encode()


def _read_system(system: object) -> Iterator[dict[str, Any]]:
    if system:
        text = system if isinstance(system, str) else _join_text(system)
        yield {"role": "system", "content": text}


def _read_question(blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    texts = []
    for block in blocks:
        if block["type"] == "tool_result":
            content = block.get("content") or ""
            text = content if isinstance(content, str) else _join_text(content)
            yield {"role": "tool", "tool_call_id": block["tool_use_id"], "content": text}
        elif block["type"] == "text":
            texts.append(block["text"])
    if texts:
        yield {"role": "user", "content": "".join(texts)}


def _read_answer(blocks: list[dict[str, Any]]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _join_text(blocks) or None}
    thoughts = [block for block in blocks if block["type"].endswith("thinking")]
    calls = [
        {
            "id": block["id"],
            "type": "function",
            "function": {"name": block["name"], "arguments": json.dumps(block["input"])},
        }
        for block in blocks
        if block["type"] == "tool_use"
    ]
    if thoughts:
        message["thinking_blocks"] = thoughts
    return message | ({"tool_calls": calls} if calls else {})


def _join_text(blocks: Any) -> str:
    return "".join(block.get("text", "") for block in blocks if block["type"] == "text")


def _split_blocks(answer: Answer, reply: Reply, asked: Asked) -> Iterator[dict[str, Any]]:
    index = 0
    if answer.thinking and asked.thinks:
        pieces = split_text(answer.thinking, reply.chunk_size)
        deltas = [{"type": "thinking_delta", "thinking": piece} for piece in pieces]
        deltas.append({"type": "signature_delta", "signature": sign_thought(answer.thinking)})
        yield from _write_block(
            index, {"type": "thinking", "thinking": "", "signature": ""}, deltas
        )
        index += 1
    if answer.text:
        pieces = split_text(answer.text, reply.chunk_size)
        deltas = [{"type": "text_delta", "text": piece} for piece in pieces]
        yield from _write_block(index, {"type": "text", "text": ""}, deltas)
        index += 1
    for number, call in enumerate(answer.calls):
        start = {
            "type": "tool_use", "id": name_call(call, CALL_IDS, number), "name": call.name,
            "input": {},
        }  # fmt: skip
        written = ("", *split_text(spell_arguments(call), reply.chunk_size))
        deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in written]
        yield from _write_block(index + number, start, deltas)


def _write_block(
    index: int, start: dict[str, Any], deltas: list[dict[str, str]]
) -> Iterator[dict[str, Any]]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


def _write_message(
    blocks: list[dict[str, Any]], reason: str | None, usage: Usage, asked: Asked
) -> dict[str, Any]:
    return {
        "id": f"msg_{uuid4().hex[:24]}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": blocks,
        "stop_reason": reason,
        "stop_sequence": None,
        "usage": {
            "input_tokens": usage.input_tokens,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": usage.cached_tokens,
            "output_tokens": usage.output_tokens if reason else 1,
        },
    }


def _choose_reason(answer: Answer, reply: Reply) -> str:
    reason = reply.finish_reason or ("tool_calls" if answer.calls else "stop")
    return _REASONS.get(reason, reason)


def _write_event(event: Mapping[str, Any]) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

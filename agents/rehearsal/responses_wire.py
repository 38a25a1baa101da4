"""OpenAI's newer API: `/v1/responses`, told in chat completions and back."""

import json
import secrets
from collections.abc import Iterator, Mapping
from time import time
from typing import Any

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

CALL_IDS = "call_{hex24}"
Item = dict[str, Any]
Event = dict[str, Any]


def read_request(body: Mapping[str, Any], _model: str) -> dict[str, Any]:
    """The request as chat completions would say it."""
    messages: list[dict[str, Any]] = []
    if instructions := body.get("instructions"):
        messages.append({"role": "system", "content": instructions})
    given = body["input"]
    for item in [{"role": "user", "content": given}] if isinstance(given, str) else given:
        _read_item(item, messages)
    tools = [
        {"type": "function", "function": t}
        for t in body.get("tools") or ()
        if t["type"] == "function"
    ]
    beside = {name: body[name] for name in ("stream", "tool_choice") if name in body}
    return {"model": body.get("model"), "messages": messages, "tools": tools, **beside}


def encode_stream(answer: Answer, reply: Reply, asked: Asked) -> EncodedStream:
    usage = count_usage(answer, reply, asked) or Usage(0, 0, 0, 0)
    items = [*_list_items(answer)]
    begun = _write_response([], "in_progress", None, asked)
    ended = _write_response(items, "completed", usage, asked)
    events = (event for place, item in enumerate(items) for event in _split(place, item, reply))
    return EncodedStream(
        opening=_write_event({"type": "response.created", "response": begun}),
        content=tuple(_write_event(event) for event in events),
        closing=_write_event({"type": "response.completed", "response": ended}),
    )


def encode_whole(answer: Answer, reply: Reply, asked: Asked) -> bytes:
    usage = count_usage(answer, reply, asked) or Usage(0, 0, 0, 0)
    items = [*_list_items(answer)]
    return json.dumps(_write_response(items, "completed", usage, asked)).encode()


def _read_item(item: Item, messages: list[dict[str, Any]]) -> None:
    match item.get("type", "message"):
        case "function_call":
            function = {"name": item["name"], "arguments": item["arguments"]}
            call = {"id": item["call_id"], "type": "function", "function": function}
            _last_answer(messages).setdefault("tool_calls", []).append(call)
        case "function_call_output":
            output = item["output"]
            text = output if isinstance(output, str) else _join_text(output)
            messages.append({"role": "tool", "tool_call_id": item["call_id"], "content": text})
        case "message":
            content = item["content"]
            text = content if isinstance(content, str) else _join_text(content)
            role = "system" if item["role"] == "developer" else item["role"]
            messages.append({"role": role, "content": text})
        case _:
            return  # a thought that belongs to the next item


def _last_answer(messages: list[dict[str, Any]]) -> dict[str, Any]:
    """The message that a call belongs to: items stand one by one here."""
    if not messages or messages[-1]["role"] != "assistant":
        messages.append({"role": "assistant", "content": None})
    return messages[-1]


def _join_text(parts: list[Item]) -> str:
    return "".join(part.get("text", "") for part in parts)


def _list_items(answer: Answer) -> Iterator[Item]:
    if answer.thinking:
        summary = [{"type": "summary_text", "text": answer.thinking}]
        yield {"type": "reasoning", "id": f"rs_{secrets.token_hex(12)}", "summary": summary}
    if answer.text:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        yield {
            "type": "message", "id": f"msg_{secrets.token_hex(12)}", "role": "assistant",
            "status": "completed", "content": [part],
        }  # fmt: skip
    for number, call in enumerate(answer.calls):
        yield {
            "type": "function_call", "id": f"fc_{secrets.token_hex(12)}", "status": "completed",
            "call_id": name_call(call, CALL_IDS, number), "name": call.name,
            "arguments": spell_arguments(call),
        }  # fmt: skip


def _split(place: int, item: Item, reply: Reply) -> Iterator[Event]:
    """One item as it grows."""
    about: Item = {"item_id": item["id"], "output_index": place}
    empty: Item
    match item["type"]:
        case "reasoning":
            empty, kind, text = (
                {"summary": []},
                "reasoning_summary_text",
                _join_text(item["summary"]),
            )
            where = {**about, "summary_index": 0}
        case "message":
            empty, kind, text = {"content": []}, "output_text", _join_text(item["content"])
            where = {**about, "content_index": 0}
        case _:
            empty, kind, text = {"arguments": ""}, "function_call_arguments", item["arguments"]
            where = about
    yield {"type": "response.output_item.added", "output_index": place, "item": {**item, **empty}}
    for piece in split_text(text, reply.chunk_size):
        yield {"type": f"response.{kind}.delta", **where, "delta": piece}
    whole = "arguments" if kind == "function_call_arguments" else "text"
    yield {"type": f"response.{kind}.done", **where, whole: text}
    yield {"type": "response.output_item.done", "output_index": place, "item": item}


def _write_response(
    items: list[Item], status: str, usage: Usage | None, asked: Asked
) -> dict[str, Any]:
    response: dict[str, Any] = {
        "id": f"resp_{secrets.token_hex(12)}", "object": "response", "created_at": int(time()),
        "status": status, "model": asked.model, "output": items, "error": None,
        "incomplete_details": None, "instructions": None, "metadata": {}, "tools": [],
        "tool_choice": "auto", "parallel_tool_calls": True, "temperature": None, "top_p": None,
    }  # fmt: skip
    if usage is not None:
        response["usage"] = {
            "input_tokens": usage.input_tokens,
            "input_tokens_details": {"cached_tokens": usage.cached_tokens},
            "output_tokens": usage.output_tokens,
            "output_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
            "total_tokens": usage.input_tokens + usage.output_tokens,
        }
    return response


def _write_event(event: Event) -> bytes:
    return f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()

"""Google's own API: `:streamGenerateContent`, told in chat completions and back."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agents.rehearsal.dialects.signing import sign_call
from agents.rehearsal.rendering import Answer
from agents.rehearsal.script import Reply
from agents.rehearsal.wire import Asked, EncodedStream, count_usage, spell_arguments, split_text

_REASONS = {"stop": "STOP", "tool_calls": "STOP", "length": "MAX_TOKENS"}
Part = dict[str, Any]


def read_request(body: Mapping[str, Any], model: str) -> dict[str, Any]:
    """The request as chat completions would say it. Names may be written in either case."""
    messages: list[dict[str, Any]] = []
    system = _get(body, "system_instruction")
    if system:
        messages.append({"role": "system", "content": _join_text(system["parts"])})
    ids = _Ids()
    for content in body["contents"]:
        parts = content["parts"]
        is_answer = content.get("role") == "model"
        messages += [_read_answer(parts, ids)] if is_answer else _read_question(parts, ids)
    declared = [
        {"type": "function", "function": function}
        for tool in body.get("tools") or ()
        for function in _get(tool, "function_declarations") or ()
    ]
    config = _get(body, "generation_config") or {}
    thinking = _get(config, "thinking_config") or {}
    return {
        "model": model, "messages": messages, "tools": declared, "stream": True,
        "max_tokens": _get(config, "max_output_tokens"),
        "thinks": bool(_get(thinking, "include_thoughts")),
    }  # fmt: skip


def encode_stream(answer: Answer, reply: Reply, asked: Asked) -> EncodedStream:
    usage = _write_usage(answer, reply, asked)
    content = tuple(
        _write_event([part], "", usage, asked) for part in _split_parts(answer, reply, asked)
    )
    reason = reply.finish_reason or "stop"
    end = _write_event([{"text": ""}], _REASONS.get(reason, reason), usage, asked)
    return EncodedStream(b"", content, end)


def encode_whole(answer: Answer, reply: Reply, asked: Asked) -> bytes:
    usage = _write_usage(answer, reply, asked)
    whole = reply.model_copy(update={"chunk_size": 10**9})
    reason = reply.finish_reason or "stop"
    event = _write_answer(
        [*_split_parts(answer, whole, asked)], _REASONS.get(reason, reason), usage, asked
    )
    return json.dumps(event).encode()


class _Ids:
    """Ids for calls where the API has none: a result is of the first open call of its name."""

    def __init__(self) -> None:
        self._open: dict[str, list[str]] = {}
        self._count = 0

    def open(self, call: Mapping[str, Any]) -> str:
        self._count += 1
        call_id = str(call.get("id") or f"{call['name']}-{self._count}")
        self._open.setdefault(call["name"], []).append(call_id)
        return call_id

    def close(self, result: Mapping[str, Any]) -> str:
        waiting = self._open.get(result["name"])
        return waiting.pop(0) if waiting else str(result.get("id") or result["name"])


def _read_question(parts: Sequence[Part], ids: _Ids) -> Iterator[dict[str, Any]]:
    for part in parts:
        if result := _get(part, "function_response"):
            content = result["response"]
            text = content["content"] if "content" in content else json.dumps(content)
            yield {"role": "tool", "tool_call_id": ids.close(result), "content": text}
    if any("text" in part for part in parts):
        yield {"role": "user", "content": _join_text(parts)}


def _read_answer(parts: Sequence[Part], ids: _Ids) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": _join_text(parts) or None}
    calls = []
    for part in parts:
        if call := _get(part, "function_call"):
            arguments = json.dumps(call.get("args") or {})
            function = {"name": call["name"], "arguments": arguments}
            written: dict[str, Any] = {"id": ids.open(call), "function": function}
            if signature := _get(part, "thought_signature"):
                written["extra_content"] = {"google": {"thought_signature": signature}}
            calls.append(written)
    return message | ({"tool_calls": calls} if calls else {})


def _join_text(parts: Sequence[Part]) -> str:
    return "".join(part.get("text", "") for part in parts if not part.get("thought"))


def _get(members: Mapping[str, Any], name: str) -> Any:
    first, *rest = name.split("_")
    return members.get(name, members.get(first + "".join(word.title() for word in rest)))


def _split_parts(answer: Answer, reply: Reply, asked: Asked) -> Iterator[Part]:
    for piece in split_text(answer.thinking if asked.thinks else "", reply.chunk_size):
        yield {"text": piece, "thought": True}
    for piece in split_text(answer.text, reply.chunk_size):
        yield {"text": piece}
    for number, call in enumerate(answer.calls):
        part: Part = {
            "functionCall": {"name": call.name, "args": json.loads(spell_arguments(call))}
        }
        if not number:  # of parallel calls only the first one is signed
            part["thoughtSignature"] = sign_call(call.name, call.arguments)
        yield part


def _write_usage(answer: Answer, reply: Reply, asked: Asked) -> dict[str, int]:
    usage = count_usage(answer, reply, asked)
    if usage is None:
        return {}
    return {
        "promptTokenCount": usage.input_tokens,
        # Google counts what was thought beside what was said.
        "candidatesTokenCount": usage.output_tokens - usage.thinking_tokens,
        "thoughtsTokenCount": usage.thinking_tokens,
        "cachedContentTokenCount": usage.cached_tokens,
        "totalTokenCount": usage.input_tokens + usage.output_tokens,
    }


def _write_event(parts: list[Part], reason: str, usage: Mapping[str, int], asked: Asked) -> bytes:
    return f"data: {json.dumps(_write_answer(parts, reason, usage, asked))}\r\n\r\n".encode()


def _write_answer(
    parts: list[Part], reason: str, usage: Mapping[str, int], asked: Asked
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"role": "model", "parts": parts}, "index": 0}
    if reason:
        candidate["finishReason"] = reason
    answer: dict[str, Any] = {"candidates": [candidate], "modelVersion": asked.model}
    return answer | ({"usageMetadata": dict(usage)} if usage else {})

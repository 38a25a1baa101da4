"""The bytes of an OpenAI-compatible API: chunks, whole answers, errors."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import time
from uuid import uuid4

from pydantic import JsonValue

from agents.rehearsal.rendering import Answer, RenderedCall
from agents.rehearsal.script import Reply, ScriptedError, ScriptedUsage

DONE = b"data: [DONE]\n\n"
MALFORMED_EVENT = b'data: {"id": "chatcmpl-broken", "choices": [{"index": 0, "delta\n\n'
MALFORMED_BODY = b'{"id": "chatcmpl-broken", "choices": [{"index": 0, "mess'

# About as long as the tokens of real models, so that a rehearsal streams in familiar steps.
_TOKEN = re.compile(r"\s*\S{1,6}|\s+")


@dataclass(frozen=True)
class EncodedStream:
    """A streamed answer, ready to send: `content` may be paced, cut and held between its chunks."""

    opening: bytes
    content: tuple[bytes, ...]
    closing: bytes


def encode_stream(
    answer: Answer, reply: Reply, *, model: str, includes_usage: bool, prompt_characters: int
) -> EncodedStream:
    """Encode everything a streamed answer consists of before the first byte is sent."""
    head = json.dumps(_describe("chat.completion.chunk", model))[:-1]
    before = f'data: {head}, "choices": [{{"index": 0, "delta": '
    after = ', "finish_reason": null}]}\n\n'
    content = tuple(
        f"{before}{json.dumps(delta)}{after}".encode()
        for delta in _split_answer(answer, reply.chunk_size)
    )
    opening = f"{before}{json.dumps({'role': 'assistant', 'content': ''})}{after}".encode()
    reason = json.dumps(_choose_finish_reason(answer, reply))
    closing = f'{before}{{}}, "finish_reason": {reason}}}]}}\n\n'.encode()
    usage = count_usage(answer, reply, prompt_characters)
    if includes_usage and usage is not None:
        closing += f'data: {head}, "choices": [], "usage": {json.dumps(usage)}}}\n\n'.encode()
    return EncodedStream(opening, content, closing + DONE)


def encode_whole(answer: Answer, reply: Reply, *, model: str, prompt_characters: int) -> bytes:
    """Encode an answer that is not streamed."""
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    if answer.thinking:
        message["reasoning_content"] = answer.thinking
    if answer.calls:
        message["tool_calls"] = [
            {
                "id": _name_call(call),
                "type": "function",
                "function": {"name": call.name, "arguments": _spell_arguments(call)},
            }
            for call in answer.calls
        ]
    choice = {
        "index": 0,
        "message": message,
        "finish_reason": _choose_finish_reason(answer, reply),
    }
    body: dict[str, object] = {**_describe("chat.completion", model), "choices": [choice]}
    usage = count_usage(answer, reply, prompt_characters)
    if usage is not None:
        body["usage"] = usage
    return json.dumps(body).encode()


def encode_error(error: ScriptedError) -> bytes:
    if isinstance(error.body, str):
        return error.body.encode()
    if error.body is not None:
        return json.dumps(dict(error.body)).encode()
    message = error.message or f"rehearsed error {error.status}"
    return encode_failure(message, kind=_name_error(error.status), code=error.code)


def encode_failure(message: str, *, kind: str, code: str = "") -> bytes:
    body = {"error": {"message": message, "type": kind, "param": None, "code": code or None}}
    return json.dumps(body).encode()


def encode_models(models: Sequence[str]) -> bytes:
    listed = [{"id": model, "object": "model", "owned_by": "rehearsal"} for model in models]
    return json.dumps({"object": "list", "data": listed}).encode()


def count_usage(
    answer: Answer, reply: Reply, prompt_characters: int
) -> Mapping[str, JsonValue] | None:
    """The usage to report: the script's, or four characters to a token; None for no report."""
    if reply.usage is False:
        return None
    usage = reply.usage if isinstance(reply.usage, ScriptedUsage) else None
    if usage is None:
        thinking = _count_tokens(len(answer.thinking))
        calls = sum(len(call.name) + len(_spell_arguments(call)) for call in answer.calls)
        usage = ScriptedUsage(
            input_tokens=_count_tokens(prompt_characters),
            output_tokens=thinking + _count_tokens(len(answer.text) + calls),
            thinking_tokens=thinking,
        )
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
    }


def _count_tokens(characters: int) -> int:
    return -(-characters // 4)


def _describe(kind: str, model: str) -> dict[str, JsonValue]:
    return {
        "id": f"chatcmpl-{uuid4().hex[:24]}",
        "object": kind,
        "created": int(time()),
        "model": model,
    }


def _split_answer(answer: Answer, chunk_size: int | None) -> Iterator[Mapping[str, object]]:
    for piece in _split_text(answer.thinking, chunk_size):
        yield {"reasoning_content": piece}
    for piece in _split_text(answer.text, chunk_size):
        yield {"content": piece}
    for index, call in enumerate(answer.calls):
        function = {"name": call.name, "arguments": ""}
        opening = {"index": index, "id": _name_call(call), "type": "function", "function": function}
        yield {"tool_calls": [opening]}
        for piece in _split_text(_spell_arguments(call), chunk_size):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def _split_text(text: str, chunk_size: int | None) -> Iterator[str]:
    if chunk_size is None:
        yield from _TOKEN.findall(text)
        return
    for start in range(0, len(text), chunk_size):
        yield text[start : start + chunk_size]


def _name_call(call: RenderedCall) -> str:
    return call.id or f"call_{uuid4().hex[:24]}"


def _spell_arguments(call: RenderedCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))


def _choose_finish_reason(answer: Answer, reply: Reply) -> str:
    return reply.finish_reason or ("tool_calls" if answer.calls else "stop")


def _name_error(status: int) -> str:
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    return kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")

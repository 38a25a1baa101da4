"""Chat completions, as the servers of each dialect write them."""

import json
from collections.abc import Iterator, Mapping
from time import time
from uuid import uuid4

from pydantic import JsonValue

from agents.rehearsal.dialects.dialect import AnswerForm, CallForm
from agents.rehearsal.dialects.signing import sign_call, sign_thought
from agents.rehearsal.rendering import Answer, RenderedCall
from agents.rehearsal.script import Reply
from agents.rehearsal.wire import (
    Asked,
    EncodedStream,
    Usage,
    count_usage,
    fill,
    name_call,
    spell_arguments,
    split_text,
)

DONE = b"data: [DONE]\n\n"

Json = Mapping[str, object]


def encode_stream(answer: Answer, reply: Reply, asked: Asked) -> EncodedStream:
    """Encode everything a streamed answer consists of before the first byte is sent."""
    form = asked.dialect.answer
    usage = count_usage(answer, reply, asked)
    writer = _ChunkWriter(asked, usage)
    reason = _choose_finish_reason(answer, reply, form)
    closing = writer.write_end(reason) if reason else b""
    wants_usage = form.usage == "always" or (form.usage == "asked" and asked.includes_usage)
    if wants_usage and usage is not None:
        closing += writer.write_usage(usage)
    return EncodedStream(
        opening=form.before.encode() + b"".join(writer.write(delta) for delta in form.opening),
        content=tuple(writer.write(delta) for delta in _split_answer(answer, reply, form)),
        closing=closing + (DONE if form.done else b""),
    )


def encode_whole(answer: Answer, reply: Reply, asked: Asked) -> bytes:
    """Encode an answer that is not streamed."""
    form = asked.dialect.answer
    choice = {
        "index": 0,
        "message": _write_message(answer, form),
        **form.beside_delta,
        "finish_reason": _choose_finish_reason(answer, reply, form) or "stop",
    }
    described = _describe("chat.completion", asked.model)
    body = {**described, **form.beside_choices, "choices": [choice]}
    usage = count_usage(answer, reply, asked)
    if usage is not None and form.usage != "never":
        body["usage"] = _write_counts(usage)
    return json.dumps(body).encode()


class _ChunkWriter:
    """Writes the deltas of one stream into chunks."""

    def __init__(self, asked: Asked, usage: Usage | None) -> None:
        self._form = form = asked.dialect.answer
        described = {**_describe("chat.completion.chunk", asked.model), **form.beside_choices}
        self._head = f"data: {json.dumps(described)[:-1]}"
        self._counts = None if usage is None else json.dumps(_write_counts(usage))
        self._each = ""
        if form.usage == "each" and self._counts:
            self._each = f', "usage": {self._counts}'

    def write(self, delta: Json, reason: str = "", beside: str = "") -> bytes:
        delta = {**self._form.repeated, **delta}
        choice: dict[str, object] = {"index": 0, "delta": delta, **self._form.beside_delta}
        inner = json.dumps(choice | {"finish_reason": reason or None})[:-1]
        event = f'{self._head}, "choices": [{inner}{beside}}}]{self._each}'
        return f"{self._form.between}{event}}}\n\n".encode()

    def write_end(self, reason: str) -> bytes:
        if self._form.usage == "in_choice" and self._counts:
            return self.write({}, reason, f', "usage": {self._counts}')
        event = self.write({}, reason)
        if self._form.usage == "with_end" and self._counts:
            event = event.removesuffix(b"}\n\n") + f', "usage": {self._counts}}}\n\n'.encode()
        return event

    def write_usage(self, usage: Usage) -> bytes:
        counts = json.dumps(_write_counts(usage))
        return f'{self._head}, "choices": [], "usage": {counts}}}\n\n'.encode()


def _write_counts(usage: Usage) -> Json:
    return {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": usage.output_tokens,
        "total_tokens": usage.input_tokens + usage.output_tokens,
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
    }


def _describe(kind: str, model: str) -> dict[str, object]:
    return {
        "id": f"chatcmpl-{uuid4().hex[:24]}",
        "object": kind,
        "created": int(time()),
        "model": model,
    }


def _split_answer(answer: Answer, reply: Reply, form: AnswerForm) -> Iterator[Json]:
    yield from _split_thinking(answer.thinking, reply.chunk_size, form)
    for piece in split_text(answer.text, reply.chunk_size):
        yield {"content": piece}
    yield from _split_calls(answer, reply.chunk_size, form.calls)


def _split_thinking(text: str, chunk_size: int | None, form: AnswerForm) -> Iterator[Json]:
    if not text:
        return
    pieces = split_text(text, chunk_size)
    match form.thinking:
        case "none":
            return
        case "tags":
            yield from ({"content": piece} for piece in ("<think>\n", *pieces, "\n</think>\n\n"))
        case "parts":
            yield from ({"content": [_write_part(piece)]} for piece in pieces)
        case "reasoning_details":
            for piece in pieces:
                yield {"reasoning": piece, "reasoning_details": [_write_detail(text=piece)]}
            yield {"reasoning_details": [_write_detail(signature=sign_thought(text))]}
        case "thinking_blocks":
            for piece in pieces:
                yield {"reasoning_content": piece, "thinking_blocks": [_write_block(piece)]}
            yield {"thinking_blocks": [_write_block("", signature=sign_thought(text))]}
        case member:
            for piece in pieces:
                yield {member: piece}


def _write_message(answer: Answer, form: AnswerForm) -> Json:
    message: dict[str, object] = {"role": "assistant", "content": answer.text or None}
    text = answer.thinking
    if text:
        match form.thinking:
            case "none":
                pass
            case "tags":
                message["content"] = f"<think>\n{text}\n</think>\n\n{answer.text}"
            case "parts":
                message["content"] = [_write_part(text), {"type": "text", "text": answer.text}]
            case "reasoning_content" | "reasoning" as name:
                message[name] = text
            case "reasoning_details":
                message["reasoning"] = text
                detail = _write_detail(text=text, signature=sign_thought(text))
                message["reasoning_details"] = [detail]
            case "thinking_blocks":
                message["reasoning_content"] = text
                message["thinking_blocks"] = [_write_block(text, signature=sign_thought(text))]
    if answer.calls:
        message["tool_calls"] = [*_write_calls(answer, form.calls)]
    return message


def _write_part(text: str) -> Json:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def _write_detail(**said: object) -> Json:
    return {"type": "reasoning.text", "format": "anthropic-claude-v1", "index": 0, **said}


def _write_block(text: str, **more: object) -> Json:
    return {"type": "thinking", "thinking": text, **more}


def _split_calls(answer: Answer, chunk_size: int | None, form: CallForm) -> Iterator[Json]:
    calls = [*_write_calls(answer, form)]
    if form.pieces == "together" and calls:
        yield {"tool_calls": calls}
        return
    for call, written in zip(answer.calls, calls, strict=True):
        if form.pieces == "whole":
            yield _wrap(written, form)
            continue
        opening = {**written, "function": {"name": call.name, "arguments": ""}}
        yield _wrap(opening, form)
        for piece in split_text(spell_arguments(call), chunk_size):
            yield _wrap(_write_piece(written, piece, form), form)


def _wrap(call: Json, form: CallForm) -> Json:
    return {"tool_calls": [dict(call)] if form.is_list else dict(call)}


def _write_piece(call: Json, piece: str, form: CallForm) -> Json:
    again = dict(form.again)
    inner = again.pop("function", None)
    function = {**inner, "arguments": piece} if isinstance(inner, dict) else {"arguments": piece}
    index = {"index": call["index"]} if "index" in call else {}
    return {**index, **again, "function": function}


def _write_calls(answer: Answer, form: CallForm) -> Iterator[dict[str, object]]:
    for number, call in enumerate(answer.calls):
        index = {"counted": {"index": number}, "zero": {"index": 0}, "none": {}}[form.index]
        arguments = _read_object(call) if form.arguments == "object" else spell_arguments(call)
        beside: JsonValue = {}
        if number == 0:
            signature = sign_call(call.name, call.arguments)
            beside = fill(dict(form.beside), {"$signature": signature})
        yield {
            **index,
            "id": name_call(call, form.ids, number),
            "type": "function",
            "function": {"name": call.name, "arguments": arguments},
            **(beside if isinstance(beside, dict) else {}),
        }


def _read_object(call: RenderedCall) -> object:
    return call.arguments if isinstance(call.arguments, str) else dict(call.arguments)


def _choose_finish_reason(answer: Answer, reply: Reply, form: AnswerForm) -> str:
    return reply.finish_reason or (form.call_end if answer.calls else form.text_end)

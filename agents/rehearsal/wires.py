"""Which wire a dialect speaks: chat completions, or a provider's own."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from agents.rehearsal import anthropic_wire, chat_wire, gemini_wire, responses_wire
from agents.rehearsal.conversation import BadRequest
from agents.rehearsal.dialects.dialect import Dialect, WireName
from agents.rehearsal.rendering import Answer
from agents.rehearsal.script import Reply
from agents.rehearsal.wire import Asked, EncodedStream


@dataclass(frozen=True)
class _Wire:
    read: Callable[[Mapping[str, Any], str], dict[str, Any]]
    stream: Callable[[Answer, Reply, Asked], EncodedStream]
    whole: Callable[[Answer, Reply, Asked], bytes]


def _read_chat(body: Mapping[str, Any], _model: str) -> dict[str, Any]:
    return dict(body)


_WIRES: Mapping[WireName, _Wire] = {
    "chat": _Wire(_read_chat, chat_wire.encode_stream, chat_wire.encode_whole),
    "anthropic": _Wire(
        anthropic_wire.read_request, anthropic_wire.encode_stream, anthropic_wire.encode_whole
    ),
    "gemini": _Wire(gemini_wire.read_request, gemini_wire.encode_stream, gemini_wire.encode_whole),
    "responses": _Wire(
        responses_wire.read_request, responses_wire.encode_stream, responses_wire.encode_whole
    ),
}


def read_request(dialect: Dialect, body: object, call: str) -> dict[str, Any]:
    """A decoded body in the shape of chat completions; `call` is the end of a Gemini address.

    Raises `BadRequest`.
    """
    if not isinstance(body, dict):
        raise BadRequest("the body must be a JSON object")
    model, _, method = call.partition(":")
    try:
        chat = _WIRES[dialect.wire].read(body, model)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f"{type(error).__name__}: {error}") from error
    return chat | ({"stream": method != "generateContent"} if call else {})


def write_stream(answer: Answer, reply: Reply, asked: Asked) -> EncodedStream:
    return _WIRES[asked.dialect.wire].stream(answer, reply, asked)


def write_whole(answer: Answer, reply: Reply, asked: Asked) -> bytes:
    return _WIRES[asked.dialect.wire].whole(answer, reply, asked)

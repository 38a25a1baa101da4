"""What the wires of all dialects share: pieces of text, counts of tokens, errors."""

import json
import re
import secrets
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from agents.rehearsal.dialects.dialect import Dialect
from agents.rehearsal.rendering import Answer, RenderedCall
from agents.rehearsal.script import Reply, ScriptedError, ScriptedUsage

MALFORMED_EVENT = b'data: {"id": "chatcmpl-broken", "choices": [{"index": 0, "delta\n\n'
MALFORMED_BODY = b'{"id": "chatcmpl-broken", "choices": [{"index": 0, "mess'

# About as long as the tokens of real models, so that a rehearsal streams in familiar steps.
_TOKEN = re.compile(r"\s*\S{1,6}|\s+")
_ALNUM = string.ascii_letters + string.digits


@dataclass(frozen=True)
class EncodedStream:
    """A streamed answer, ready to send: `content` may be paced, cut and held between its chunks."""

    opening: bytes
    content: tuple[bytes, ...]
    closing: bytes


@dataclass(frozen=True)
class Asked:
    """What an answer has to fit to: who is asked, and for what."""

    dialect: Dialect
    model: str
    includes_usage: bool
    prompt_characters: int
    thinks: bool = True
    """Whether thoughts were asked for, where they have to be."""


@dataclass(frozen=True)
class Usage:
    input_tokens: int
    output_tokens: int
    thinking_tokens: int
    cached_tokens: int


def count_usage(answer: Answer, reply: Reply, asked: Asked) -> Usage | None:
    """The usage to report: the script's, or four characters to a token; None for no report."""
    if reply.usage is False:
        return None
    if isinstance(reply.usage, ScriptedUsage):
        said = reply.usage
        return Usage(
            said.input_tokens, said.output_tokens, said.thinking_tokens, said.cached_tokens
        )
    thinking = _count_tokens(len(answer.thinking))
    calls = sum(len(call.name) + len(spell_arguments(call)) for call in answer.calls)
    spoken = _count_tokens(len(answer.text) + calls)
    return Usage(_count_tokens(asked.prompt_characters), thinking + spoken, thinking, 0)


def _count_tokens(characters: int) -> int:
    return -(-characters // 4)


def split_text(text: str, chunk_size: int | None) -> Iterator[str]:
    if chunk_size is None:
        yield from _TOKEN.findall(text)
        return
    for start in range(0, len(text), chunk_size):
        yield text[start : start + chunk_size]


def spell_arguments(call: RenderedCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(dict(call.arguments))


def name_call(call: RenderedCall, form: str, number: int) -> str:
    """The id of a call, as the dialect makes them up."""
    if call.id:
        return call.id
    values = {
        "{hex24}": secrets.token_hex(12),
        "{alnum9}": "".join(secrets.choice(_ALNUM) for _ in range(9)),
        "{digits9}": str(secrets.randbelow(9 * 10**8) + 10**8),
        "{name}": call.name,
        "{number}": str(number),
    }
    for place, value in values.items():
        form = form.replace(place, value)
    return form


def encode_error(error: ScriptedError, dialect: Dialect) -> bytes:
    if isinstance(error.body, str):
        return error.body.encode()
    if error.body is not None:
        return json.dumps(dict(error.body)).encode()
    message = error.message or f"rehearsed error {error.status}"
    return encode_failure(message, dialect, status=error.status, code=error.code)


def encode_failure(
    message: str, dialect: Dialect, *, status: int, kind: str = "", code: str = ""
) -> bytes:
    """An error in the usual form of the dialect."""
    values: Mapping[str, JsonValue] = {
        "$message": message,
        "$type": kind or _name_error(status),
        "$code": code or None,
        "$status": status,
    }
    return json.dumps(fill(dialect.error, values)).encode()


def encode_broken_stream(
    stream: EncodedStream, error: ScriptedError, after: int, dialect: Dialect
) -> EncodedStream:
    """A stream that ends with an error in the place of the rest of its answer."""
    event = dialect.error_event.replace("$body", encode_error(error, dialect).decode())
    return EncodedStream(stream.opening, stream.content[:after], event.encode())


def fill(template: JsonValue, values: Mapping[str, JsonValue]) -> JsonValue:
    """A template with each `$name` in it replaced; one that stands alone keeps its kind."""
    if isinstance(template, dict):
        return {name: fill(value, values) for name, value in template.items()}
    if isinstance(template, list):
        return [fill(value, values) for value in template]
    if not isinstance(template, str):
        return template
    if template in values:
        return values[template]
    for name, value in values.items():
        template = template.replace(name, str(value))
    return template


def encode_models(models: Sequence[str]) -> bytes:
    listed = [{"id": model, "object": "model", "owned_by": "rehearsal"} for model in models]
    return json.dumps({"object": "list", "data": listed}).encode()


def _name_error(status: int) -> str:
    kinds = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}
    return kinds.get(status, "server_error" if status >= 500 else "invalid_request_error")

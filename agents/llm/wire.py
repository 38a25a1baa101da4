"""Our messages and tools in the shape of chat completions."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import NoReturn

from agents.types import JSON, Message, ToolSpec

Wire = dict[str, JSON]

PROVIDER = "provider"
FIELDS = "fields"
CALLS = "calls"
INVALID_ARGUMENTS = "invalid_arguments"
LONGEST_INVALID = 4_000
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def write_messages(messages: Sequence[Message], *, provider_name: str) -> list[Wire]:
    """The conversation for one provider; what belongs to another one is left out.

    Call ids may hold signatures of the provider that made them. It gets them back verbatim, others
    get short ones.
    """
    ids = {
        call.id: call.id if _is_own(message, provider_name) else _shorten(call.id)
        for message in messages
        for call in message.tool_calls
    }
    return [_write_message(message, provider_name, ids) for message in messages]


def write_tools(tools: Sequence[ToolSpec]) -> list[Wire]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.wire_name,
                "description": tool.description,
                "parameters": dict(tool.input_schema),
            },
        }
        for tool in tools
    ]


def seal_fields(
    provider_name: str, fields: Mapping[str, JSON], calls: Sequence[JSON] = ()
) -> Mapping[str, JSON]:
    """Provider fields marked with whom they belong to; signatures mean nothing to another.

    `calls` are the members of each call in turn, beside what every call has.
    """
    sealed: dict[str, JSON] = {PROVIDER: provider_name}
    if fields:
        sealed[FIELDS] = dict(fields)
    if calls:
        sealed[CALLS] = list(calls)
    return sealed


def write_arguments(text: str) -> str:
    """Arguments as they can be replayed: many providers refuse a conversation for good in which a
    call has any that are no JSON object, so such a call says that it had."""
    if not text.strip():
        return "{}"
    if is_json_object(text):
        return text
    return json.dumps({INVALID_ARGUMENTS: text[:LONGEST_INVALID]}, ensure_ascii=False)


def is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, parse_constant=_refuse_constant), dict)
    except (ValueError, RecursionError):
        return False


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


def _write_message(message: Message, provider_name: str, ids: Mapping[str, str]) -> Wire:
    if message.role == "tool":
        call_id = ids.get(message.tool_call_id, message.tool_call_id)
        return {"role": "tool", "tool_call_id": call_id, "content": message.content}
    wire: Wire = {"role": message.role, "content": message.content}
    if message.tool_calls:
        # An empty text beside tool calls is refused by some providers.
        wire["content"] = message.content or None
        wire["tool_calls"] = _write_calls(message, provider_name, ids)
    wire.update(open_fields(message.provider_fields, provider_name))
    return wire


def _write_calls(message: Message, provider_name: str, ids: Mapping[str, str]) -> list[JSON]:
    extras = _open_calls(message, provider_name)
    written: list[JSON] = []
    for call, extra in zip(message.tool_calls, extras, strict=True):
        function: Wire = {"name": call.name, "arguments": write_arguments(call.arguments)}
        beside = dict(extra)
        inner = beside.pop("function", None)
        if isinstance(inner, dict):
            function = inner | function
        written.append(beside | {"id": ids[call.id], "type": "function", "function": function})
    return written


def _open_calls(message: Message, provider_name: str) -> list[Mapping[str, JSON]]:
    """What was sealed for this provider beside each call; nothing where the calls are others."""
    sealed = message.provider_fields.get(CALLS)
    is_for_it = message.provider_fields.get(PROVIDER) == provider_name
    if not is_for_it or not isinstance(sealed, list) or len(sealed) != len(message.tool_calls):
        return [{} for _ in message.tool_calls]
    return [each if isinstance(each, dict) else {} for each in sealed]


def _is_own(message: Message, provider_name: str) -> bool:
    return message.provider_fields.get(PROVIDER, provider_name) == provider_name


def _shorten(call_id: str) -> str:
    """An id that every provider takes, the same for the call and for its result."""
    if _PLAIN_ID.fullmatch(call_id):
        return call_id
    return f"call_{hashlib.sha256(call_id.encode()).hexdigest()[:24]}"


def open_fields(sealed: Mapping[str, JSON], provider_name: str) -> Mapping[str, JSON]:
    """What was sealed for this provider; empty for any other."""
    fields = sealed.get(FIELDS)
    if sealed.get(PROVIDER) != provider_name or not isinstance(fields, dict):
        return {}
    return fields

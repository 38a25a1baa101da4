"""Our messages and tools in the shape of chat completions."""

import hashlib
import re
from collections.abc import Mapping, Sequence

from agents.types import JSON, Message, ToolSpec

Wire = dict[str, JSON]

PROVIDER = "provider"
FIELDS = "fields"
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


def seal_fields(provider_name: str, fields: Mapping[str, JSON]) -> Mapping[str, JSON]:
    """Provider fields marked with whom they belong to; signatures mean nothing to another."""
    return {PROVIDER: provider_name, **({FIELDS: dict(fields)} if fields else {})}


def _write_message(message: Message, provider_name: str, ids: Mapping[str, str]) -> Wire:
    if message.role == "tool":
        call_id = ids.get(message.tool_call_id, message.tool_call_id)
        return {"role": "tool", "tool_call_id": call_id, "content": message.content}
    wire: Wire = {"role": message.role, "content": message.content}
    if message.tool_calls:
        # An empty text beside tool calls is refused by some providers.
        wire["content"] = message.content or None
        wire["tool_calls"] = [
            {
                "id": ids[call.id],
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for call in message.tool_calls
        ]
    wire.update(open_fields(message.provider_fields, provider_name))
    return wire


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

"""Our messages and tools in the shape of chat completions."""

from collections.abc import Mapping, Sequence

from agents.types import JSON, Message, ToolSpec

Wire = dict[str, JSON]

PROVIDER = "provider"
FIELDS = "fields"


def write_messages(messages: Sequence[Message], *, provider_name: str) -> list[Wire]:
    return [_write_message(message, provider_name) for message in messages]


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
    return {PROVIDER: provider_name, FIELDS: dict(fields)} if fields else {}


def _write_message(message: Message, provider_name: str) -> Wire:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.tool_call_id, "content": message.content}
    wire: Wire = {"role": message.role, "content": message.content}
    if message.tool_calls:
        # An empty text beside tool calls is refused by some providers.
        wire["content"] = message.content or None
        wire["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments or "{}"},
            }
            for call in message.tool_calls
        ]
    wire.update(_open_fields(message.provider_fields, provider_name))
    return wire


def _open_fields(sealed: Mapping[str, JSON], provider_name: str) -> Mapping[str, JSON]:
    fields = sealed.get(FIELDS)
    if sealed.get(PROVIDER) != provider_name or not isinstance(fields, dict):
        return {}
    return fields

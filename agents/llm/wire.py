"""Our messages and tools in the shape of chat completions."""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.llm.member_names import EXTRAS, THOUGHTS
from agents.llm.quirks import Quirks
from agents.llm.turns import CALLS, arrange_turns
from agents.llm.wire_values import is_json_object
from agents.types import JSON, Message, ToolSpec

Wire = dict[str, JSON]

PROVIDER = "provider"
FIELDS = "fields"
INVALID_ARGUMENTS = "invalid_arguments"
LONGEST_INVALID = 4_000
BRIDGE = "I have read the results."
BLANK_THOUGHT = " "
"""The least that DeepSeek and Moonshot take for a thought."""
FOREIGN_SIGNATURE: Mapping[str, JSON] = {
    "extra_content": {"google": {"thought_signature": "skip_thought_signature_validator"}}
}
"""By Google's documentation of thought signatures, for calls that come from another model."""
_SHORT_ID = re.compile(r"[A-Za-z0-9]{9}")
_PLAIN_ID = re.compile(r"[A-Za-z0-9_-]{1,40}")


def write_messages(
    messages: Sequence[Message],
    *,
    provider_name: str,
    quirks: Quirks = Quirks(),  # noqa: B008 (frozen)
) -> list[Wire]:
    """The conversation for one provider; what belongs to another one is left out.

    Call ids may hold signatures of the provider that made them. It gets them back verbatim, others
    get short ones.
    """
    messages = arrange_turns(messages, quirks)
    ids = {
        call.id: _write_id(call.id, quirks, is_own=_is_own(message, provider_name))
        for message in messages
        for call in message.tool_calls
    }
    written: list[Wire] = []
    for message in messages:
        before = written[-1]["role"] if written and message.role == "user" else None
        if quirks.assistant_after_tool and before == "tool":
            written.append({"role": "assistant", "content": BRIDGE})
        if before == "user":
            # Many chat templates refuse two questions in a row.
            written[-1]["content"] = f"{written[-1]['content']}\n\n{message.content}"
            continue
        written.append(_Writer(provider_name, ids, quirks).write(message))
    return written


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


def write_called_tools(messages: Sequence[Message]) -> list[Wire]:
    """The tools that a conversation has called, for who demands them although none may be called
    any more."""
    names = dict.fromkeys(call.name for message in messages for call in message.tool_calls)
    schema: dict[str, JSON] = {"type": "object", "properties": {}}
    return write_tools(
        [ToolSpec(name, name, "Not to be called any more.", schema) for name in names]
    )


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


@dataclass(frozen=True)
class _Writer:
    """Writes messages for one provider. `ids` gives the id that it gets for each call."""

    provider_name: str
    ids: Mapping[str, str]
    quirks: Quirks

    def write(self, message: Message) -> Wire:
        if message.role == "tool":
            call_id = self.ids.get(message.tool_call_id, message.tool_call_id)
            return {"role": "tool", "tool_call_id": call_id, "content": message.content}
        wire: Wire = {"role": message.role, "content": message.content}
        if message.tool_calls:
            # An empty text beside tool calls is refused by some providers.
            wire["content"] = message.content or None
            wire["tool_calls"] = self._write_calls(message)
        if message.role == "assistant" and self.quirks.needs_thinking:
            wire["reasoning_content"] = BLANK_THOUGHT
        fields = open_fields(message.provider_fields, self.provider_name)
        wire.update(
            (name, value)
            for name, value in fields.items()
            if (self.quirks.replays_thinking or name not in THOUGHTS)
            and (self.quirks.replays_extras or name not in EXTRAS)
        )
        return wire

    def _write_calls(self, message: Message) -> list[JSON]:
        written: list[JSON] = []
        extras = self._open_extras(message)
        for call, extra in zip(message.tool_calls, extras, strict=True):
            function: Wire = {"name": call.name, "arguments": write_arguments(call.arguments)}
            beside = dict(extra)
            inner = beside.pop("function", None)
            if isinstance(inner, dict):
                function = inner | function
            own: Wire = {"id": self.ids[call.id], "type": "function", "function": function}
            written.append(beside | own)
        return written

    def _open_extras(self, message: Message) -> list[Mapping[str, JSON]]:
        """What was sealed for this provider beside each call; else nothing, or the mark by which
        Google lets a call pass that its model did not make."""
        sealed = message.provider_fields.get(CALLS)
        is_own = message.provider_fields.get(PROVIDER) == self.provider_name
        if is_own and isinstance(sealed, list) and len(sealed) == len(message.tool_calls):
            if self.quirks.replays_extras:
                return [each if isinstance(each, dict) else {} for each in sealed]
        elif self.quirks.needs_signatures and message.tool_calls:
            return [FOREIGN_SIGNATURE, *({} for _ in message.tool_calls[1:])]
        return [{} for _ in message.tool_calls]


def _is_own(message: Message, provider_name: str) -> bool:
    return message.provider_fields.get(PROVIDER, provider_name) == provider_name


def _write_id(call_id: str, quirks: Quirks, *, is_own: bool) -> str:
    if not quirks.short_call_ids:
        return call_id if is_own else _shorten(call_id)
    if _SHORT_ID.fullmatch(call_id):
        return call_id
    return hashlib.sha256(call_id.encode()).hexdigest()[:9]


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

"""What a strict server finds wrong with a request in the shape of chat completions.

Each function looks for one fault and gives what it found in words, empty for a request without it.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal

from agents.rehearsal.dialects.signing import sign_call, sign_thought

Chat = Mapping[str, Any]
Rows = Sequence[Mapping[str, Any]]
FaultName = Literal[
    "member", "message_member", "call_member", "tools", "tools_with_effort", "no_tools",
    "choice_without_tools", "schema_member", "tool_name", "arguments", "call_id",
    "unanswered_call", "stray_result", "user_after_tool", "repeated_role", "late_system",
    "system_role", "parallel_calls",
    "ends_with_assistant", "blank_text", "no_thought", "no_thinking_block", "forged_thought",
    "no_signature", "forged_signature", "thinking_budget", "overflow",
]  # fmt: skip
ANY_SIGNATURES = (
    "skip_thought_signature_validator",
    "c2tpcF90aG91Z2h0X3NpZ25hdHVyZV92YWxpZGF0b3I=",
)
"""By Google's documentation it passes for the signature of a call that another model made; where
signatures are bytes, it is encoded as all of them are."""


def find_fault(chat: Chat, fault: FaultName, names: Sequence[str], form: str, limit: int) -> str:
    """What is wrong in this way; empty when nothing is."""
    return _FAULTS[fault](_Request(chat, names, form, limit))


class _Request:
    """A request, and what a refusal says of the fault."""

    def __init__(self, chat: Chat, names: Sequence[str], form: str, limit: int) -> None:
        self.chat = chat
        self.names = names
        self.form = form
        self.limit = limit
        self.messages: Rows = [each for each in chat["messages"] if isinstance(each, dict)]
        self.tools: Rows = [each for each in chat.get("tools") or () if isinstance(each, dict)]

    @property
    def answers(self) -> Rows:
        return [each for each in self.messages if each.get("role") == "assistant"]

    @property
    def current(self) -> Rows:
        """What came after the last question of a person."""
        places = [i for i, each in enumerate(self.messages) if each.get("role") == "user"]
        return self.messages[places[-1] + 1 :] if places else self.messages

    @property
    def calls(self) -> Rows:
        return [call for each in self.answers for call in calls_of(each)]


def calls_of(message: Mapping[str, Any]) -> Rows:
    return [each for each in message.get("tool_calls") or () if isinstance(each, dict)]


def count_tokens(chat: Chat) -> int:
    """Of all that a model would read, four characters each."""
    return len(json.dumps([chat["messages"], chat.get("tools") or []], ensure_ascii=False)) // 4


def _find_member(request: _Request) -> str:
    return next((name for name in request.names if request.chat.get(name) is not None), "")


def _find_message_member(request: _Request) -> str:
    found = (n for each in request.messages for n in request.names if each.get(n) is not None)
    return next(found, "")


def _find_call_member(request: _Request) -> str:
    return next((n for each in request.calls for n in request.names if n in each), "")


def _find_tools(request: _Request) -> str:
    return "tools" if request.tools else ""


def _find_tools_with_effort(request: _Request) -> str:
    """The server's own effort counts where none is named."""
    is_told_not_to_think = request.chat.get("reasoning_effort") == "none"
    return "tools" if request.tools and not is_told_not_to_think else ""


def _find_no_tools(request: _Request) -> str:
    has_results = any(each.get("role") == "tool" for each in request.messages)
    return "tools" if (request.calls or has_results) and not request.tools else ""


def _find_choice_without_tools(request: _Request) -> str:
    return "tool_choice" if request.chat.get("tool_choice") and not request.tools else ""


def _find_schema_member(request: _Request) -> str:
    for tool in request.tools:
        for name in _walk_schema(tool.get("function", {}).get("parameters")):
            if name in request.names:
                return name
    return ""


def _walk_schema(schema: object) -> Iterator[str]:
    """The keywords of a schema, not the names of the fields that it describes."""
    if isinstance(schema, list):
        for each in schema:
            yield from _walk_schema(each)
    elif isinstance(schema, dict):
        yield from schema
        for name, value in schema.items():
            inner = list(value.values()) if name == "properties" else value
            yield from _walk_schema(inner)


def _find_tool_name(request: _Request) -> str:
    names = (str(tool.get("function", {}).get("name")) for tool in request.tools)
    return next((name for name in names if not re.fullmatch(request.form, name)), "")


def _find_arguments(request: _Request) -> str:
    for call in request.calls:
        arguments = call.get("function", {}).get("arguments")
        try:
            is_object = isinstance(json.loads(arguments), dict)
        except (TypeError, ValueError):
            is_object = False
        if not is_object:
            return str(arguments) or "(empty)"
    return ""


def _find_call_id(request: _Request) -> str:
    ids = [str(call.get("id")) for call in request.calls]
    ids += [str(each.get("tool_call_id")) for each in request.messages if each["role"] == "tool"]
    return next((each for each in ids if not re.fullmatch(request.form, each)), "")


def _find_unanswered_call(request: _Request) -> str:
    """Results stand directly behind the message with their calls."""
    open_ids: set[str] = set()
    for message in request.messages:
        if message.get("role") == "tool":
            open_ids.discard(str(message.get("tool_call_id")))
            continue
        if open_ids:
            break
        open_ids = {str(call.get("id")) for call in calls_of(message)}
    return ", ".join(sorted(open_ids))


def _find_stray_result(request: _Request) -> str:
    known: set[str] = set()
    for message in request.messages:
        if message.get("role") != "tool":
            known = {str(call.get("id")) for call in calls_of(message)}
        elif (call_id := str(message.get("tool_call_id"))) not in known:
            return call_id
    return ""


def _find_user_after_tool(request: _Request) -> str:
    roles = [each.get("role") for each in request.messages]
    return "user" if ("tool", "user") in pairwise(roles) else ""


def _find_repeated_role(request: _Request) -> str:
    roles = [each.get("role") for each in request.messages]
    pairs = pairwise(roles)
    return next((str(a) for a, b in pairs if a == b and a in ("user", "assistant")), "")


def _find_late_system(request: _Request) -> str:
    later = request.messages[1:]
    return "system" if any(each.get("role") == "system" for each in later) else ""


def _find_ends_with_assistant(request: _Request) -> str:
    return "assistant" if request.messages[-1].get("role") == "assistant" else ""


def _find_blank_text(request: _Request) -> str:
    """Also where only blanks are said; a message with calls may say nothing at all."""
    for place, message in enumerate(request.messages):
        text = message.get("content")
        may_be_null = text is None and bool(calls_of(message))
        if not may_be_null and (text is None or (isinstance(text, str) and not text.strip())):
            return str(place)
    return ""


def _find_no_thought(request: _Request) -> str:
    for place, message in enumerate(request.messages):
        if calls_of(message) and not any(message.get(name) for name in request.names):
            return str(place)
    return ""


def _find_no_thinking_block(request: _Request) -> str:
    """Asked of the last answer, where it has calls and thinking is switched on."""
    thinking = request.chat.get("thinking")
    if not isinstance(thinking, dict) or thinking.get("type") != "enabled":
        return ""
    calling = [each for each in request.current if calls_of(each)]
    return "tool_use" if calling and not calling[-1].get("thinking_blocks") else ""


def _find_forged_thought(request: _Request) -> str:
    for place, message in enumerate(request.messages):
        for block in message.get("thinking_blocks") or ():
            is_signed = block.get("signature") == sign_thought(block.get("thinking") or "")
            if block.get("type") == "thinking" and not is_signed:
                return str(place)
    return ""


def _find_no_signature(request: _Request) -> str:
    """Asked of the first call of each answer since the last question."""
    for message in request.current:
        for call in calls_of(message)[:1]:
            if not _read_signature(call):
                return str(call.get("function", {}).get("name"))
    return ""


def _find_forged_signature(request: _Request) -> str:
    for call in request.calls:
        function, signature = call.get("function", {}), _read_signature(call)
        own = sign_call(str(function.get("name")), function.get("arguments") or "{}")
        if signature not in ("", own, *ANY_SIGNATURES):
            return str(function.get("name"))
    return ""


def _read_signature(call: Mapping[str, Any]) -> str:
    beside = call.get("extra_content")
    google = beside.get("google") if isinstance(beside, dict) else None
    return str(google.get("thought_signature") or "") if isinstance(google, dict) else ""


def _find_thinking_budget(request: _Request) -> str:
    thinking = request.chat.get("thinking")
    budget = thinking.get("budget_tokens") if isinstance(thinking, dict) else None
    return str(budget) if budget and budget >= (request.chat.get("max_tokens") or 0) else ""


def _find_overflow(request: _Request) -> str:
    tokens = count_tokens(request.chat)
    return str(tokens) if tokens > request.limit else ""


def _find_system_role(request: _Request) -> str:
    return next((str(m["role"]) for m in request.messages if m.get("role") == "system"), "")


def _find_parallel_calls(request: _Request) -> str:
    return next((f"{len(calls_of(m))} calls" for m in request.answers if len(calls_of(m)) > 1), "")


_FAULTS: Mapping[FaultName, Callable[[_Request], str]] = {
    "member": _find_member,
    "message_member": _find_message_member,
    "call_member": _find_call_member,
    "tools": _find_tools,
    "tools_with_effort": _find_tools_with_effort,
    "no_tools": _find_no_tools,
    "choice_without_tools": _find_choice_without_tools,
    "schema_member": _find_schema_member,
    "tool_name": _find_tool_name,
    "arguments": _find_arguments,
    "call_id": _find_call_id,
    "unanswered_call": _find_unanswered_call,
    "stray_result": _find_stray_result,
    "user_after_tool": _find_user_after_tool,
    "repeated_role": _find_repeated_role,
    "late_system": _find_late_system,
    "system_role": _find_system_role,
    "parallel_calls": _find_parallel_calls,
    "ends_with_assistant": _find_ends_with_assistant,
    "blank_text": _find_blank_text,
    "no_thought": _find_no_thought,
    "no_thinking_block": _find_no_thinking_block,
    "forged_thought": _find_forged_thought,
    "no_signature": _find_no_signature,
    "forged_signature": _find_forged_signature,
    "thinking_budget": _find_thinking_budget,
    "overflow": _find_overflow,
}

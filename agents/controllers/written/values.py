"""Reads calls out of values of JSON, in the shapes in which models write them."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.controllers.written.names import TOOL_NAME, OfferedNames
from agents.llm.wire_values import clean_fields
from agents.types import JSON

_NAMES = (
    "name", "tool", "tool_name", "function", "function_name", "action", "recipient_name",
    "tool_call", "command",
)  # fmt: skip
_ARGUMENTS = (
    "arguments", "parameters", "args", "params", "input", "tool_input", "action_input",
    "tool_args", "function_args", "kwargs",
)  # fmt: skip
_METHOD = "tools/call"
"""How a call is named where tool servers are spoken to."""
_LISTS = ("tool_calls", "tool_uses", "calls")
_INNER = (
    "function", "function_call", "functionCall", "tool_call", "toolUse", "tool", "action", "call",
    "command",
)  # fmt: skip
DEEPEST = 4
"""How deep a call may stand within lists, objects and calls."""
_ASIDE = frozenset({"id", "type", "index", "thought", "reason", "call_id"})


class TooDeep(Exception):
    """A value holds more within more than any call does."""


@dataclass(frozen=True)
class Read:
    """A call as it was written; `arguments` is None where they cannot be read."""

    name: str
    arguments: Mapping[str, JSON] | None
    is_word: bool = False
    """Of no tool and without arguments, so that it may as well be a word between two marks."""


def read_calls(value: JSON, offered: OfferedNames, depth: int = 0) -> tuple[Read, ...]:
    """The calls that a value is; none when it is anything else. Raises TooDeep."""
    if depth > DEEPEST:
        raise TooDeep
    if isinstance(value, list):
        found = [read_calls(item, offered, depth + 1) for item in value if not _is_said(item)]
        return tuple(call for calls in found for call in calls) if value and all(found) else ()
    if not isinstance(value, dict):
        return ()
    if value.get("method") == _METHOD:
        return read_calls(value.get("params"), offered, depth + 1)
    for name in _LISTS:
        if isinstance(listed := value.get(name), list):
            return read_calls(listed, offered, depth + 1)
    for name in _INNER:
        if isinstance(inner := value.get(name), dict):
            return read_calls(inner, offered, depth + 1)
    call = _read_named(value, offered) or _read_keyed(value, offered)
    return _read_inside(value, offered, depth) if call is None else (call,)


def write_arguments(arguments: Mapping[str, JSON]) -> str:
    """The text of arguments, without characters that nobody can store. Raises ValueError for what
    is nested too deep to be written."""
    return json.dumps(clean_fields(arguments), ensure_ascii=False)


def read_given(value: JSON) -> Mapping[str, JSON] | None:
    """An object, nothing, or the text of an object."""
    if value is None:
        return {}
    if isinstance(value, str):
        return read_text(value) if value.strip() else {}
    return value if isinstance(value, dict) else None


def read_text(text: str) -> Mapping[str, JSON] | None:
    """The object that a text is; None where it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _read_named(value: Mapping[str, JSON], offered: OfferedNames) -> Read | None:
    key = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
    name = value.get(key) if key else None
    if not isinstance(name, str) or not TOOL_NAME.fullmatch(name):
        return None
    given = _first(_ARGUMENTS, value)
    if given is not None:
        arguments = read_given(value[given])
        return Read(name, arguments) if arguments is not None else None
    if offered.find(name) is None:
        return None
    # Without a member for them, what stands beside the name are the arguments.
    return Read(name, {n: each for n, each in value.items() if n != key and n not in _ASIDE})


def _read_keyed(value: Mapping[str, JSON], offered: OfferedNames) -> Read | None:
    """An object whose only member is named like a tool."""
    if len(value) != 1:
        return None
    ((name, given),) = value.items()
    if offered.find(name) is None or not isinstance(given, dict):
        return None
    return Read(name, given)


def _read_inside(value: Mapping[str, JSON], offered: OfferedNames, depth: int) -> tuple[Read, ...]:
    """Calls that stand in the only member that holds more than a word, whatever it is called."""
    inner = [each for each in value.values() if isinstance(each, dict | list)]
    if len(inner) != 1 or not _gives_arguments(inner[0], depth):
        return ()
    calls = read_calls(inner[0], offered, depth + 1)
    return calls if all(offered.find(call.name) for call in calls) else ()


def _gives_arguments(value: JSON, depth: int) -> bool:
    """Whether all of it says what a call is given, and not only what is spoken of."""
    if depth > DEEPEST:
        return False
    if isinstance(value, list):
        return bool(value) and all(_gives_arguments(item, depth + 1) for item in value)
    if not isinstance(value, dict):
        return False
    inner = [each for each in value.values() if isinstance(each, dict | list)]
    is_given = any(isinstance(value.get(name), dict) for name in _ARGUMENTS)
    return is_given or (len(inner) == 1 and _gives_arguments(inner[0], depth + 1))


def _is_said(item: JSON) -> bool:
    """Whether it is what a model says beside its calls, as a part of its answer."""
    return isinstance(item, dict) and item.get("type") in ("text", "thinking")


def _first(names: Sequence[str], value: Mapping[str, JSON]) -> str | None:
    return next((name for name in names if name in value), None)

"""Finds a ReAct step written as one JSON object instead of labelled lines."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agents.controllers.react_names import Finish, ToolName, read_tool_name
from agents.types import JSON

_ACTION_KEYS = ("action", "tool", "toolname", "name", "function")
_INPUT_KEYS = ("actioninput", "toolinput", "input", "arguments", "args", "parameters", "params")
_MAX_OBJECTS = 20
_DECODER = json.JSONDecoder(strict=False)


@dataclass(frozen=True)
class JsonStep:
    """A call, or an answer when `answer` is set. The object begins at `start`."""

    start: int
    thought: str
    tool: str = ""
    input: str = ""
    answer: str | None = None


def find_json_step(text: str) -> JsonStep | None:
    """The first object in a text that is a step; None when there is none."""
    start = -1
    for _ in range(_MAX_OBJECTS):
        start = text.find("{", start + 1)
        if start < 0:
            return None
        try:
            value, _end = _DECODER.raw_decode(text, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and (step := _read_step(value, start)):
            return step
    return None


def _read_step(value: Mapping[str, JSON], start: int) -> JsonStep | None:
    fields = {_fold(key): item for key, item in value.items()}
    thought = _to_text(fields.get("thought")).strip()
    return _read_call(fields, start, thought) or _read_answer(fields, start, thought)


def _read_answer(fields: Mapping[str, JSON], start: int, thought: str) -> JsonStep | None:
    if "finalanswer" not in fields:
        return None
    return JsonStep(start, thought, answer=_to_text(fields["finalanswer"]))


def _read_call(fields: Mapping[str, JSON], start: int, thought: str) -> JsonStep | None:
    name = next((fields[key] for key in _ACTION_KEYS if key in fields), None)
    if isinstance(name, dict):
        fields = {_fold(key): item for key, item in name.items()}
        name = fields.get("name")
    if not isinstance(name, str):
        return None
    given = _to_text(next((fields[key] for key in _INPUT_KEYS if key in fields), None))
    match read_tool_name(name):
        case ToolName(tool, attached):
            return JsonStep(start, thought, tool, given or attached or "")
        case Finish(said):
            return JsonStep(start, thought, answer=given or said)
    return None


def _fold(key: str) -> str:
    return key.lower().replace(" ", "").replace("_", "").replace("-", "")


def _to_text(value: JSON) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

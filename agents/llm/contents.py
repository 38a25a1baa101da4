"""Reads the content of an answer: a text, or parts of several kinds."""

from collections.abc import Iterator
from typing import Any

from agents.llm.wire_values import as_dict

_THOUGHTS = ("thinking", "reasoning")
_CALLS = ("tool_use", "function_call", "tool_call")
_DEEPEST = 4

Part = tuple[bool, str]
"""Whether it is thought, and the text."""


def read_content(content: object) -> list[Part]:
    """The texts of a content, in order; parts that are no text are passed over.

    Raises TypeError for what is neither a text nor a part.
    """
    return list(_read(content, is_thought=False, depth=0))


def find_calls(content: object) -> list[dict[str, Any]]:
    """Calls that stand among the parts, in the shape of `tool_calls`."""
    parts = content if isinstance(content, list) else []
    return [
        {
            "id": part.get("id") or part.get("call_id") or "",
            "name": part.get("name"),
            "arguments": part.get("input", part.get("arguments")),
        }
        for part in map(as_dict, parts)
        if part.get("type") in _CALLS
    ]


def read_reasoning(value: object) -> str:
    """Thoughts that stand in a member of their own: a text, or parts of it."""
    if isinstance(value, str):
        return value
    return "".join(text for _, text in _read(value, is_thought=True, depth=0))


def _read(content: object, *, is_thought: bool, depth: int) -> Iterator[Part]:
    if isinstance(content, str):
        if content:
            yield is_thought, content
    elif isinstance(content, list):
        for item in content:
            yield from _read(item, is_thought=is_thought, depth=depth)
    elif isinstance(content, dict) and depth < _DEEPEST:
        yield from _read_part(content, is_thought=is_thought, depth=depth + 1)
    elif content is not None:
        raise TypeError(f"text expected, {type(content).__name__} found")


def _read_part(part: dict[str, Any], *, is_thought: bool, depth: int) -> Iterator[Part]:
    kind = part.get("type")
    thoughts = next((name for name in _THOUGHTS if name in str(kind or "")), None)
    if thoughts is not None:
        names = (thoughts, "text", "content", "summary")
        value = next((part[name] for name in names if part.get(name)), None)
        yield from _read(value, is_thought=True, depth=depth)
        return
    said = next((part[n] for n in ("text", "refusal", "content", "value") if part.get(n)), None)
    if said is None and not isinstance(kind, str):
        raise TypeError("a part of a content that has neither a type nor a text")
    if not isinstance(kind, str) or "text" in kind or kind == "refusal":
        yield from _read(said, is_thought=is_thought, depth=depth)

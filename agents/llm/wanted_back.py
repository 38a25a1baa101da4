"""What a provider wants to get back with the conversation and is neither text nor call."""

from collections.abc import Mapping
from typing import Any

from agents.llm.member_names import MARKS, THOUGHT_LISTS
from agents.llm.wire_values import as_dict, as_list
from agents.types import JSON

MOST_CHARACTERS = 1_000_000
"""Of what is kept of one answer; more is no signature."""
_JOINED = ("text", "summary", "data", "thinking")
_REPEATED = frozenset({"type", "index", "format", "id"})


class WantedBack:
    """Collects the members of one message from its chunks.

    Thoughts go back under the name they came under. DeepSeek and Moonshot want those of an answer
    with calls, and no others; OpenRouter and LiteLLM want their lists, in which signatures stand.
    """

    def __init__(self) -> None:
        self._thinking: dict[str, list[str]] = {}
        self._whole: dict[str, JSON] = {}
        self._lists: dict[str, list[dict[str, Any]]] = {}
        self._size = 0

    def take_thinking(self, name: str, text: object) -> None:
        if isinstance(text, str):
            self._thinking.setdefault(name, []).append(text)

    def take(self, delta: Any) -> None:
        """Members that only JSON has; an SDK's objects are looked through by its client."""
        members = as_dict(delta)
        for name in MARKS:
            if members.get(name) is not None:
                self._whole[name] = members[name]
        for name in THOUGHT_LISTS:
            for detail in as_list(members.get(name)):
                if isinstance(detail, dict) and self._has_room_for(detail):
                    _add(self._lists.setdefault(name, []), detail)

    def collect(self, *, has_calls: bool) -> dict[str, JSON]:
        fields: dict[str, JSON] = dict(self._whole)
        if has_calls:
            fields |= {name: "".join(parts) for name, parts in self._thinking.items()}
        for name, details in self._lists.items() if self._size <= MOST_CHARACTERS else ():
            fields[name] = [_join(detail) for detail in details]
        return fields if len(str(fields)) <= MOST_CHARACTERS else {}

    def _has_room_for(self, detail: Mapping[str, Any]) -> bool:
        # Not what each piece repeats, such as its type.
        said = (value for name, value in detail.items() if name not in _REPEATED)
        self._size += sum(len(str(value)) for value in said) + 1
        return self._size <= MOST_CHARACTERS


class _Pieces(list[str]):
    """A text while it grows; a list that the provider sent is another thing."""


def _add(details: list[dict[str, Any]], piece: Mapping[str, Any]) -> None:
    """Join a piece to the last one, unless it begins another: a signature closes what it signs."""
    last = details[-1] if details else None
    is_other = last is None or any(last.get(n) != piece.get(n) for n in ("index", "type"))
    if last is None or is_other or last.get("signature"):
        last = {}
        details.append(last)
    for name, value in piece.items():
        if name in _JOINED and isinstance(value, str):
            known = last.get(name)
            pieces = known if isinstance(known, _Pieces) else _Pieces()
            pieces.append(value)
            last[name] = pieces
        elif value is not None:
            last[name] = value


def _join(detail: Mapping[str, Any]) -> dict[str, JSON]:
    return {
        name: "".join(value) if isinstance(value, _Pieces) else value
        for name, value in detail.items()
    }

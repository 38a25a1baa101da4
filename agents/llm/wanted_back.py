"""What a provider wants to get back with the conversation and is neither text nor call."""

from collections.abc import Mapping
from typing import Any

from agents.llm.wire_values import as_dict, as_list
from agents.types import JSON

MOST_CHARACTERS = 1_000_000
"""Of what is kept of one answer; more is no signature."""
_WHOLE = ("extra_content",)
_JOINED = ("text", "summary", "data")
_DETAILS = "reasoning_details"


class WantedBack:
    """Collects the members of one message from its chunks.

    Thoughts go back under the name they came under. DeepSeek and Moonshot want those of an answer
    with calls, and no others; OpenRouter wants its details, in which signatures stand.
    """

    def __init__(self) -> None:
        self._thinking: dict[str, list[str]] = {}
        self._whole: dict[str, JSON] = {}
        self._details: list[dict[str, Any]] = []

    def take_thinking(self, name: str, text: object) -> None:
        if isinstance(text, str):
            self._thinking.setdefault(name, []).append(text)

    def take(self, delta: Any) -> None:
        """Members that only JSON has; an SDK's objects are looked through by its client."""
        members = as_dict(delta)
        for name in _WHOLE:
            if members.get(name) is not None:
                self._whole[name] = members[name]
        for detail in as_list(members.get(_DETAILS)):
            if isinstance(detail, dict):
                self._take_detail(detail)

    def collect(self, *, has_calls: bool) -> dict[str, JSON]:
        fields: dict[str, JSON] = dict(self._whole)
        if has_calls:
            fields |= {name: "".join(parts) for name, parts in self._thinking.items()}
        if self._details:
            fields[_DETAILS] = [_join(detail) for detail in self._details]
        return fields if len(str(fields)) <= MOST_CHARACTERS else {}

    def _take_detail(self, detail: Mapping[str, Any]) -> None:
        last = self._details[-1] if self._details else None
        if last is None or any(last.get(n) != detail.get(n) for n in ("index", "type")):
            last = {name: detail[name] for name in ("index", "type") if name in detail}
            self._details.append(last)
        for name, value in detail.items():
            if name in _JOINED and isinstance(value, str):
                last.setdefault(name, []).append(value)
            elif value is not None:
                last[name] = value


def _join(detail: Mapping[str, Any]) -> dict[str, JSON]:
    return {
        name: "".join(value) if name in _JOINED and isinstance(value, list) else value
        for name, value in detail.items()
    }

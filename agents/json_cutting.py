"""Cuts JSON so that it stays JSON: items are dropped and counted where they stood."""

import json
from dataclasses import dataclass

from agents.types import JSON

_MOST_ITEMS = 100_000
_LENGTHS = (4_000, 400, 60)
"""Characters of one text that are kept, from the first try on."""
_FEWEST_KEYS = 20
"""Keys of an object that are kept as long as any item of a list is dropped for them."""
_LEFT_OUT = "…"


def cut_json(text: str, characters: int, *, is_torn: bool = False) -> str | None:
    """The same JSON in at most so many characters, with as many items of each list as fit.

    What is dropped is counted by a text at its place; of JSON that `is_torn`, which is the
    beginning of a longer one, nobody can say how much that is of the whole. None where the text is
    no JSON of several parts, or where not even one item of each list would fit.
    """
    if text[:1] not in ("{", "["):
        return None
    try:
        value: JSON = json.loads(text)
        return _fit(value, characters, is_torn=is_torn)
    except (ValueError, RecursionError):
        return None


def _fit(value: JSON, characters: int, *, is_torn: bool) -> str | None:
    """The longest cut that fits: first by lists alone, then with shorter texts."""
    most = min(_longest_list(value), _MOST_ITEMS)
    for length in _LENGTHS:
        found = None
        low, high = 1, max(1, most)
        while low <= high:
            middle = (low + high) // 2
            cut = _Cutter(middle, length, is_torn).cut(value)
            spelled = json.dumps(cut, ensure_ascii=False)
            if len(spelled) <= characters:
                found, low = spelled, middle + 1
            else:
                high = middle - 1
        if found is not None:
            return found
    return None


def _longest_list(value: JSON) -> int:
    if isinstance(value, list):
        return max([len(value), *map(_longest_list, value)])
    if isinstance(value, dict):
        return max([len(value), *map(_longest_list, value.values())])
    return 0


@dataclass(frozen=True)
class _Cutter:
    items: int
    length: int
    is_torn: bool

    def cut(self, value: JSON) -> JSON:
        if isinstance(value, str):
            return self._cut_text(value)
        if isinstance(value, list):
            kept = [self.cut(each) for each in value[: self.items]]
            left = len(value) - len(kept)
            return [*kept, self._count(len(value), left, "items")] if left else kept
        if isinstance(value, dict):
            names = list(value)[: max(self.items, _FEWEST_KEYS)]
            cut: dict[str, JSON] = {name: self.cut(value[name]) for name in names}
            if left := len(value) - len(names):
                cut[_LEFT_OUT] = self._count(len(value), left, "keys")
            return cut
        return value

    def _count(self, whole: int, left: int, of_what: str) -> str:
        if self.is_torn:
            return f"{_LEFT_OUT} {left:,} {of_what} and more are left out"
        return f"{_LEFT_OUT} {left:,} of {whole:,} {of_what} are left out"

    def _cut_text(self, text: str) -> str:
        if len(text) <= self.length:
            return text
        left = len(text) - self.length
        return f"{text[: self.length]}{_LEFT_OUT} {left:,} more characters"

"""What an alert speaks of: its labels, its words, and since when it holds."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from agents.types import JSON
from config.schema.expressions import compile_pattern
from config.schema.packs import AlertWord
from rules.functions import read_moment

MOST_VALUES = 2_000
LONGEST_TEXT = 60_000
DEEPEST = 12
_STARTS = (
    "startsat", "starttime", "startedat", "started", "onset", "since", "firingsince", "eventtime",
    "lasttriggeredat", "triggeredat", "createdat", "statechangetime", "timestamp", "time",
)  # fmt: skip
"""What senders of alerts call the moment since when an alert holds, the surest first."""
_WORDLESS = re.compile(r"[\W_]+")


@dataclass(frozen=True)
class AlertFacts:
    """An alert as packs read it."""

    labels: Mapping[str, str]
    """By name in small letters without what parts their words; an inner one counts like an outer
    one, and the first of a name counts."""
    text: str
    onset: datetime | None = None

    def read_words(self, words: Mapping[str, AlertWord]) -> dict[str, object]:
        """The names that a pack looks for, each empty where the alert does not say it."""
        return {"text": self.text, **{name: self._find(word) for name, word in words.items()}}

    def _find(self, word: AlertWord) -> str:
        for label in word.labels:
            if value := self.labels.get(_fold(label)):
                return value
        if word.text is None:
            return ""
        found = compile_pattern(word.text).search(self.text)
        groups = [group for group in found.groups() if group] if found else []
        return str(groups[0]) if groups else ""


def read_alert(data: JSON, received: datetime | None = None) -> AlertFacts:
    """What can be read from an alert's data, whatever its form."""
    labels: dict[str, str] = {}
    texts: list[str] = []
    for count, (name, value) in enumerate(_walk(data, "", 0)):
        if count >= MOST_VALUES:
            break
        labels.setdefault(_fold(name), value)
        texts.append(value)
    text = "\n".join(texts)[:LONGEST_TEXT]
    return AlertFacts(labels, text, _find_onset(labels) or received)


def _find_onset(labels: Mapping[str, str]) -> datetime | None:
    for name in _STARTS:
        if (found := read_moment(labels.get(name))) is not None and found.year > 2000:
            return found
    return None


def _walk(value: JSON, name: str, depth: int) -> Iterator[tuple[str, str]]:
    if depth > DEEPEST:
        return
    if isinstance(value, dict):
        # What is nearer to the top is what the alert is about.
        inner = [(key, each) for key, each in value.items() if isinstance(each, dict | list)]
        for key, each in value.items():
            if not isinstance(each, dict | list):
                yield from _walk(each, str(key), depth + 1)
        for key, each in inner:
            yield from _walk(each, str(key), depth + 1)
    elif isinstance(value, list):
        for each in value:
            yield from _walk(each, name, depth + 1)
    elif isinstance(value, str) and value.strip():
        yield name, value.strip()
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield name, str(value)


def _fold(name: str) -> str:
    return _WORDLESS.sub("", name).lower()

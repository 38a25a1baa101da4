"""Where text came from, and which arguments of a write need no person to look at them."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from agents.types import JSON
from safety.evidence import match_whole
from safety.gate.destinations import find_destinations
from safety.gate_port import Licence
from safety.word_lists import word_set

Source = Literal["configuration", "person", "question", "alert", "runbook", "tool"]
"""`person`: one who may decide about writes. `question`: asked by anybody else."""


@dataclass(frozen=True)
class Provenance:
    """Who wrote a text: `name` is the person, the alert's type, or `server.tool`."""

    source: Source
    name: str = ""
    call_id: str = ""

    @property
    def is_trusted(self) -> bool:
        """Whether a read may ask the machines that the text names. No text allows a write."""
        return self.source in ("configuration", "person")


@dataclass(frozen=True)
class Block:
    """A text and where it came from."""

    text: str
    provenance: Provenance


@dataclass(frozen=True)
class Doubt:
    """Why a write cannot pass without a person, in words. `call_id` is that of the call in whose
    result the value stands that this is about; empty where no call is told of."""

    words: str
    call_id: str = ""


_FREE = word_set("""
    args body code command cmd content contents data endpoint env expr expression
    file_content host_url input manifest message patch payload query script sql statement
    stdin template text uri url values webhook yaml
    """)
"""Arguments that carry what is executed, written or visited."""
_IDENTIFIER = re.compile(r"[!-~]{1,253}")
"""What a resolved name may look like: one word that shows all of itself."""
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_KEY = re.compile(r"""([A-Za-z_][\w.-]*)["']?\s*[:=]\s*["']?$""")
"""What stands right before a value that is told under a name, as JSON, YAML and logs write it."""
_LONGEST_KEY = 80
_PLACES = 50
"""Places of one text that are looked at; a short value may stand in thousands."""


def find_doubts(
    arguments: Mapping[str, JSON],
    schema: Mapping[str, JSON],
    seen: Sequence[Block],
    is_resolved: Callable[[str], bool],
    licence: Licence,
) -> tuple[Doubt, ...]:
    """Why a write cannot pass without a person: each argument that nobody has laid down.

    An argument passes as an identifier that was resolved, as a value that the operator listed for
    it, as what the act was judged by, and as its schema's default. That a value stands somewhere
    in a text lays down nothing, whoever wrote it: "never scale it to 0" holds a 0. `seen` only
    says where a value came from. The name of an argument that the schema does not know is text
    like any other where it could say something.
    """
    return tuple(dict.fromkeys(_Doubts(seen, is_resolved, licence).of_object(arguments, schema)))


@dataclass(frozen=True)
class _Doubts:
    """Walks the arguments of one call."""

    seen: Sequence[Block]
    is_resolved: Callable[[str], bool]
    licence: Licence

    def of_object(self, values: Mapping[str, JSON], schema: Mapping[str, JSON]) -> list[Doubt]:
        known = _as_schema(schema.get("properties"))
        doubts: list[Doubt] = []
        for name, value in values.items():
            if name not in known and (value in (None, [], {}) or not _NAME.fullmatch(name)):
                doubts.append(_doubt(f"the name {name[:80]}", name, name, self.seen))
            doubts += self._of(name, value, _as_schema(known.get(name)))
        return doubts

    def _of(self, name: str, value: JSON, schema: Mapping[str, JSON]) -> list[Doubt]:
        if value is None or _is_usual(value, schema):
            return []
        if isinstance(value, dict):
            return self.of_object(value, schema)
        if isinstance(value, list):
            items = _as_schema(schema.get("items"))
            return [doubt for each in value for doubt in self._of(name, each, items)]
        text = value if isinstance(value, str) else json.dumps(value)
        if name in self.licence.judged_by and _is_listed(value, schema):
            return []
        if text in self.licence.accepts.get(name, ()) or self._is_resolved_name(name, value):
            return []
        return [_doubt(name, name, text, self.seen)]

    def _is_resolved_name(self, name: str, value: JSON) -> bool:
        if not isinstance(value, str) or not _IDENTIFIER.fullmatch(value):
            return False
        return not _is_free(name) and not find_destinations(value) and self.is_resolved(value)


def _doubt(subject: str, name: str, value: str, seen: Sequence[Block]) -> Doubt:
    source = find_source(name, value, seen)
    where = f"stands in {tell_source(source)}" if source else "was written by the model"
    return Doubt(f"{subject}: {where}", source.call_id if source else "")


def find_source(name: str, value: str, seen: Sequence[Block]) -> Provenance | None:
    """Where the value of an argument was most likely taken from; None where it stands nowhere.

    A text that tells it under a name like the argument's goes before one that tells it under
    another, and that before one which merely has it somewhere; among equals the first.
    """
    if not value.strip() or value in ("true", "false"):
        return None
    pattern, words = _match_value(value), _words_of(name)
    ranked = (
        (rank, place)
        for place, block in enumerate(seen)
        if (rank := _rank(block.text, pattern, words)) is not None
    )
    best = min(ranked, default=None)
    return seen[best[1]].provenance if best else None


def tell_source(source: Provenance) -> str:
    """A source for the person who is asked."""
    match source.source:
        case "tool":
            return f"the result of {source.name}"
        case "configuration":
            return f"the instructions of {source.name}"
        case "person" | "question":
            return f"the question of {source.name}"
        case _:
            return f"the {source.source}"


def _rank(text: str, pattern: re.Pattern[str], words: frozenset[str]) -> int | None:
    ranks = (
        _rank_key(text[max(0, found.start() - _LONGEST_KEY) : found.start()], words)
        for found in islice(pattern.finditer(text), _PLACES)
    )
    return min(ranks, default=None)


def _rank_key(before: str, words: frozenset[str]) -> int:
    key = _KEY.search(before)
    if key is None:
        return 2
    return 1 if words.isdisjoint(_words_of(key[1])) else 0


def _match_value(value: str) -> re.Pattern[str]:
    """The value as a whole. A figure of two digits is no part of a time of day."""
    whole = match_whole(value)
    if not re.fullmatch(r"\d{1,2}", value):
        return whole
    return re.compile(rf"(?<![^.\d]\d\d:){whole.pattern}(?!:\d\d)", whole.flags)


def _words_of(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[a-z0-9]+", _HUMP.sub("_", name).lower()))


def _is_usual(value: JSON, schema: Mapping[str, JSON]) -> bool:
    """Whether the schema declares that a call without the argument would be the same one.

    A flag that declares no default may well be true where it is left out.
    """
    if "const" in schema:
        return _is_same(value, schema["const"])
    if "default" in schema:
        return _is_same(value, schema["default"])
    return False


def _is_listed(value: JSON, schema: Mapping[str, JSON]) -> bool:
    """Whether the schema names the value, or lists none."""
    listed = schema.get("enum")
    return not isinstance(listed, list) or any(_is_same(value, each) for each in listed)


def _is_same(one: JSON, other: JSON) -> bool:
    """Equal, where true is no 1."""
    return one == other and isinstance(one, bool) == isinstance(other, bool)


def _is_free(name: str) -> bool:
    snake = _HUMP.sub("_", name).replace("-", "_").lower()
    return snake in _FREE or snake.endswith(("_command", "_content", "_url", "_script", "_query"))


def _as_schema(value: JSON) -> Mapping[str, JSON]:
    return value if isinstance(value, dict) else {}

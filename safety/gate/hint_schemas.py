"""What the arguments of a tool could make it do."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mcp_types import Tool

from safety.gate.hint_words import (
    ACTS,
    CHANGING,
    LANGUAGES,
    LOOKS,
    READING,
    find_words,
    split_name,
)
from safety.schema_references import follow
from safety.word_lists import word_set

_CARRIERS = word_set("""
    args argv arguments body callback cmd code command content contents cypher data endpoint
    env exec headers host_url href input javascript json manifest message mutation params patch
    payload raw request script shell sql statement stdin template uri url webhook yaml
    """)
"""Arguments that carry what is run, sent or visited."""
_PROPERTIES = word_set("""
    by category color direction event events field fields filter format group kind level order
    outcome phase priority protocol result role severity sort state status tier type unit units
    """)
"""Arguments that choose by a property; what stands in their values are states and no acts."""
_SEARCHES = word_set("find grep lookup search")
_BARE = frozenset({"boolean", "integer", "number", "null"})
_GRAVE = word_set(
    "create delete destroy drop insert kill purge remove restart stop truncate update write"
)
_RESULTS = word_set("dest destination dump export out output save")
_PLACES = word_set("dir directory file filename folder location path to")
"""Together in the name of an argument they say that something is put somewhere."""
_NEW = word_set("new set")
_REPLACING = word_set("append prepend replacement setpoint")
_INTO = word_set("back into onto to")
_PUT = re.compile(
    r"\bto (?:add|append|apply|assign|attach|charge|create|delete|insert|kill|move|overwrite|pay"
    r"|post|publish|remove|replace|save|send|set|store|transfer|update|upload|write)\b",
    re.IGNORECASE,
)
_RUN = word_set("command commands ddl dml javascript python script shell sql statement statements")
_PLAIN_LOOKS = frozenset({"get", "show", "describe", "fetch"})
_SAID_BESIDE = frozenset({"$ref", "default", "description", "examples", "title"})
_PARTS = (
    "additionalProperties", "additionalItems", "contains", "else", "if", "not", "then",
    "unevaluatedItems", "unevaluatedProperties",
)  # fmt: skip
_UNFOLLOWED = frozenset({"$dynamicRef", "$recursiveRef"})
_UNREADABLE = "a part of its schema cannot be read"
_DEPTH = 100
_MOST = 1_000
"""Parts of a schema that are looked at; of a larger one no hint is believed."""


@dataclass(frozen=True)
class Argument:
    """An argument with all its types, what it says of itself, and the texts it lists as values."""

    name: str
    kinds: frozenset[str]
    values: tuple[str, ...]
    told: str

    @property
    def words(self) -> list[str]:
        return split_name(self.name)


def object_to_schema(tool: Tool) -> str:
    """What of a schema could do more than look; empty where nothing could."""
    try:
        arguments = list(read_arguments(tool))
    except Unjudged as unjudged:
        return str(unjudged)
    words = {*split_name(tool.name), *find_words(tool.description or "")}
    for argument in arguments:
        if reason := object_to_argument(argument, words):
            return reason
    return ""


def read_arguments(tool: Tool) -> Iterator[Argument]:
    """Every argument of a tool, at any depth. Raises `Unjudged`."""
    return _Reader(tool.input_schema).find_arguments(tool.input_schema)


def object_to_argument(argument: Argument, words: set[str]) -> str:
    """What an argument could do beyond a look, as a clause; `words` are those of its tool."""
    name, last = argument.name, argument.words[-1] if argument.words else ""
    if act := _find_value(argument):
        return f"its argument {name} may be {act}"
    if "boolean" in argument.kinds and not CHANGING.isdisjoint(argument.words):
        return f"its flag {name} acts"
    if _puts_something(argument):
        return f"its argument {name} is something to put somewhere"
    if argument.values or (argument.kinds and argument.kinds <= _BARE):
        return ""
    if last in ACTS:
        return f"its argument {name} may name any act"
    if last in _CARRIERS or "_".join(argument.words) in _CARRIERS:
        return f"its argument {name} may carry anything"
    says = set(find_words(argument.told))
    is_search = not _SEARCHES.isdisjoint(words)
    if last in ("query", "q") and (not is_search or (words | says) & LANGUAGES):
        return f"its argument {name} may be any statement"
    if says & (_GRAVE | _RUN):
        return f"what it says of its argument {name} speaks of something else"
    return ""


def _puts_something(argument: Argument) -> bool:
    """Whether an argument is a new value, or says where to write."""
    words = argument.words
    is_place = not _RESULTS.isdisjoint(words) and not _PLACES.isdisjoint(words)
    is_new = not _NEW.isdisjoint(words[:1]) and len(words) > 1
    is_aim = not _INTO.isdisjoint(words[1:]) and not CHANGING.isdisjoint(words[:1])
    is_value = is_place or is_new or is_aim or not _REPLACING.isdisjoint(words)
    return is_value or _PUT.search(argument.told) is not None


def _find_value(argument: Argument) -> str:
    """A value that is an act. Of an argument that says what is done, all but looks are acts."""
    last = argument.words[-1] if argument.words else ""
    if last in _PROPERTIES:
        return ""
    firsts = {value: (split_name(value) or [""])[0] for value in argument.values}
    says_act = last in ACTS - {"mode"} or not _PLAIN_LOOKS.isdisjoint(firsts.values())
    for value, first in firsts.items():
        is_look = first in READING or first in LOOKS or first in ("head", "options")
        if first in CHANGING or (says_act and not is_look):
            return value
    return ""


class Unjudged(Exception):
    """A schema has parts that cannot be looked at. The text says why, in a clause."""


class _Reader:
    """Finds the arguments of one schema, at any depth, each by its own name."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root
        self._left = _MOST
        self._entered: set[str | int] = set()
        self._looked_at: list[Mapping[str, Any]] = []
        """Kept, so that no other part is given the identity of one of them."""

    def find_arguments(self, schema: Any, depth: int = 0) -> Iterator[Argument]:
        here = self._enter(schema, self._entered, depth)
        if here is None:
            return
        for key in ("properties", "patternProperties"):
            for name, each in _mapping(here.get(key)).items():
                yield self._describe(str(name), each)
                yield from self.find_arguments(each, depth + 1)
        several = ("anyOf", "oneOf", "allOf", "prefixItems")
        for part in (
            *_items(here),
            *(here.get(key) for key in _PARTS),
            *_mapping(here.get("dependentSchemas")).values(),
            *(each for key in several for each in _sequence(here.get(key))),
        ):
            yield from self.find_arguments(part, depth + 1)

    def _enter(self, schema: Any, entered: set[str | int], depth: int) -> Mapping[str, Any] | None:
        """A part of the schema; None where it is none, or was looked at, itself or under its
        reference."""
        described = {} if schema is True or schema is False else _mapping(schema)
        # What stands beside a reference may differ from place to place.
        is_bare = described.keys() <= _SAID_BESIDE
        reference = str(described.get("$ref") or "") if is_bare else ""
        place = reference or id(described)
        if not described or place in entered:
            return None
        entered.add(place)
        self._looked_at.append(described)
        if depth > _DEPTH:
            raise Unjudged("its schema is nested too deeply to be judged")
        if self._left == 0:
            raise Unjudged("its schema is too large to be judged")
        self._left -= 1
        return _follow(described, self._root)

    def _describe(self, name: str, schema: Any) -> Argument:
        kinds: set[str] = set()
        values: list[str] = []
        for part in self._alternatives(schema, set()):
            kind = part.get("type")
            kinds.update(str(each) for each in (kind if isinstance(kind, list) else [kind]) if each)
            listed = (part.get("const"), *_sequence(part.get("enum")))
            values += (str(each) for each in listed if each is not None)
        is_told = isinstance(schema, Mapping)
        told = str(_follow(schema, self._root).get("description") or "") if is_told else ""
        return Argument(name, frozenset(kinds), tuple(values), told[:4_000])

    def _alternatives(
        self, schema: Any, entered: set[str | int], depth: int = 0
    ) -> Iterator[Mapping[str, Any]]:
        """An argument's schema and all that it may be instead; of a list, what its items are."""
        here = self._enter(schema, entered, depth)
        if here is None:
            return
        yield here
        several = [each for key in ("anyOf", "oneOf", "allOf") for each in _sequence(here.get(key))]
        for part in (*_items(here), *several):
            yield from self._alternatives(part, entered, depth + 1)


def _follow(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Mapping[str, Any]:
    """A schema with what it refers to within the same document."""
    here, missing = follow(schema, root)
    if missing or not _UNFOLLOWED.isdisjoint(here):
        raise Unjudged("its schema refers to something that is not found there")
    return here


def _items(schema: Mapping[str, Any]) -> list[Any]:
    """What the items of a list may be: one schema for all, or, in older drafts, one for each."""
    items = schema.get("items")
    return items if isinstance(items, list) else [items]


def _sequence(value: Any) -> list[Any]:
    if value is not None and not isinstance(value, list):
        raise Unjudged(_UNREADABLE)
    return value or []


def _mapping(value: Any) -> Mapping[str, Any]:
    if value is not None and not isinstance(value, Mapping):
        raise Unjudged(_UNREADABLE)
    return value or {}

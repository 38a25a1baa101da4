"""What a write was done to, as later reads may name it: its kind, its names, where it is."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON
from mcp_bridge.safety.evidence import SettledCall
from mcp_bridge.safety.leaves import find_leaves
from mcp_bridge.safety.targets import Identifier, find_identifiers, kind_of_argument
from mcp_bridge.word_list import word_list

_KINDS = {"service": "unit", "lxc": "guest", "vm": "guest", "filesystem": "file"}
"""What the kinds of our own ids are called here: their services are units of a machine."""
_PLACES = frozenset({"host", "container", "lxc", "vm", "pod"})
"""In what a file can be."""
_ON_A_MACHINE = frozenset({"unit", "process", "container", "guest"})
_UIDS = re.compile(r"[0-9a-f]{12,64}")
_ENDING = frozenset(word_list("stop shutdown kill terminate"))
_REMOVING = frozenset(word_list("delete destroy remove rm"))
_ACTS = frozenset({"action", "operation", "type", "verb"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@dataclass(frozen=True)
class Written:
    """One thing that was written to. An empty kind, scope or machine is one that is not known.

    `scope` is a namespace of a cluster. `place` is the id of what a file is in. `id` is the
    canonical one. `ends` and `removes` say that the write meant it not to run, or not to be.
    """

    kind: str
    names: tuple[str, ...]
    id: str = ""
    scope: str = ""
    machine: str = ""
    place: str = ""
    ends: bool = False
    removes: bool = False

    def is_called(self, name: str, kinds: frozenset[str] = frozenset()) -> bool:
        """Whether a name, as a whole, is that of this thing when it is one of these kinds."""
        if kinds and self.kind and self.kind not in kinds:
            return False
        folded = _fold(name, self.kind)
        return any(
            folded == known or (self.kind == "container" and _is_same_uid(folded, known))
            for known in self.plain_names
        )

    def is_in(self, scope: str) -> bool:
        """Whether it may be in a namespace; of one that is not told nothing speaks against it."""
        return not (scope and self.scope) or scope == self.scope

    @property
    def plain_names(self) -> tuple[str, ...]:
        """As they are compared: folded, and without what a kind of name may end with."""
        return tuple(_fold(name, self.kind) for name in self.names)

    @property
    def is_on_a_machine(self) -> bool:
        return self.kind in _ON_A_MACHINE or bool(self.place)


def find_written(names: Sequence[str], write: SettledCall | None) -> tuple[Written, ...]:
    """The things that a write named. Of a file in a resource, the resource only says where."""
    kinds = {} if write is None else _kinds_in(write)
    acts = frozenset() if write is None else _acts_of(write)
    ends, removes = bool(acts & (_ENDING | _REMOVING)), bool(acts & _REMOVING)
    paths = [name for name in names if name.startswith("/")]
    places = [name for name in names if name not in paths and _is_place(name, kinds)]
    numbers = () if write is None else _numbers_of(write)
    if paths and places:
        names = [name for name in names if name not in places]
    return tuple(
        _read(
            name, kinds.get(name, ""), numbers, "".join(places[:1]) if paths else "", ends, removes
        )
        for name in names
    )


def _read(
    name: str, kind: str, numbers: tuple[str, ...], place: str, ends: bool, removes: bool
) -> Written:
    if name.startswith("/"):
        return Written("file", (name,), place=place, ends=ends, removes=removes)
    parts = name.split(":", 2)
    if len(parts) < 2:
        scope, slash, last = name.rpartition("/")
        spelled = (last,) if slash and kind in ("pod", "deployment") else (name,)
        scope = scope if len(spelled[0]) < len(name) else ""
        return Written(kind, spelled, scope=scope, ends=ends, removes=removes)
    kind, uid = _KINDS.get(parts[0], parts[0]), parts[-1]
    machine = parts[1] if len(parts) == 3 else ""
    if kind in ("pod", "deployment"):
        scope, _, last = uid.rpartition("/")
        return Written(kind, (last,), name, scope=scope, ends=ends, removes=removes)
    spelled = (uid, *(f"pid {number}" for number in numbers)) if kind == "process" else (uid,)
    return Written(kind, spelled, name, machine=machine, ends=ends, removes=removes)


def _kinds_in(write: SettledCall) -> dict[str, str]:
    """What the arguments' names say of the values under them."""
    every: Sequence[Identifier] = find_identifiers(write.arguments, write.identifies)
    kinds = {each.value: kind_of_argument(each.argument) for each in every}
    scope = write.arguments.get("namespace")
    for kind in ("pod", "deployment"):
        if isinstance(name := write.arguments.get(kind), str):
            kinds[f"{scope}/{name}"] = kind
    return kinds


def _is_place(name: str, kinds: Mapping[str, str]) -> bool:
    return name.partition(":")[0] in _PLACES if ":" in name else kinds.get(name) in _PLACES


def _numbers_of(write: SettledCall) -> tuple[str, ...]:
    number = write.arguments.get("pid")
    return (str(number),) if isinstance(number, int) and number > 0 else ()


def _acts_of(write: SettledCall) -> frozenset[str]:
    """The words of the tool's name, and of the arguments that say what it does."""
    said = [value for key, value in find_leaves(write.arguments) if key in _ACTS]
    texts = [write.tool, *(value for value in said if isinstance(value, str))]
    return frozenset(word.casefold() for text in texts for word in _WORD.findall(text))


def _fold(name: str, kind: str) -> str:
    folded = name if kind == "file" else name.casefold()
    return folded.removesuffix(".service") if kind in ("", "unit", "service") else folded


def _is_same_uid(one: str, other: str) -> bool:
    both = _UIDS.fullmatch(one) and _UIDS.fullmatch(other)
    return bool(both) and (one.startswith(other) or other.startswith(one))


def find_row_names(row: Mapping[str, JSON]) -> tuple[tuple[str, str], ...]:
    """The names in one object of an answer, each with the kind that its key tells."""
    own = {key: value for key, value in row.items() if isinstance(value, str | int)}
    return tuple(
        (each.value, kind_of_argument(each.argument))
        for each in find_identifiers(own)
        if not each.is_scope
    )

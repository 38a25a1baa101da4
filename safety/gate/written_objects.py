"""What a write was done to, as later reads may name it: its kind, its names, where it is."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from agents.types import JSON
from safety.argument_values import find_leaves
from safety.evidence import SettledCall
from safety.targets import Identifier, find_identifiers, kind_of_argument
from safety.word_lists import word_set

_KINDS = {"service": "unit", "lxc": "guest", "vm": "guest", "filesystem": "file"}
"""What the kinds of our own ids are called here: their services are units of a machine."""
_MACHINES = frozenset({"host", "node"})
_HOLDERS = frozenset({*_MACHINES, "container", "lxc", "vm", "guest", "pod"})
"""In what a file can be."""
_SCOPED = frozenset({"pod", "deployment"})
_ON_A_MACHINE = frozenset({"unit", "process", "container", "guest"})
_UIDS = re.compile(r"[0-9a-f]{12,64}")
_ENDING = word_set("stop shutdown kill terminate")
_REMOVING = word_set("delete destroy remove rm")
_ENGINES = frozenset({"docker", "podman", "nerdctl", "crictl"})
_OWN_ENGINES = frozenset({"docker", "podman"})
_ACTS = frozenset({"action", "operation", "type", "verb"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


@dataclass(frozen=True)
class Written:
    """One thing that was written to. An empty kind, scope or machine is one that is not known.

    `scope` is a namespace of a cluster, whose name is then in `machine`. `place` is the id of what
    a file is in. `id` is the canonical one. `ends` and `removes` say that the write
    meant it not to run, or not to be. `engines` are the programs that can show a container, where
    the write says by which one it runs.
    """

    kind: str
    names: tuple[str, ...]
    id: str = ""
    scope: str = ""
    machine: str = ""
    place: str = ""
    ends: bool = False
    removes: bool = False
    engines: frozenset[str] = frozenset()

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

    @property
    def holder(self) -> str:
        """The name of what it is in, or of the machine it is on; empty where nobody says."""
        return self.place.rpartition(":")[2] or self.machine

    @property
    def is_right_on_a_machine(self) -> bool:
        """Whether it is in nothing with files and processes of its own."""
        return ":" not in self.place or self.place.partition(":")[0] in _MACHINES


def find_written(names: Sequence[str], write: SettledCall | None) -> tuple[Written, ...]:
    """The things that a write named. Beside them a machine, or what holds a file, says where."""
    kinds = {} if write is None else _kinds_in(write)
    holders = _HOLDERS if any(name.startswith("/") for name in names) else _MACHINES
    places = [name for name in names if _kind_of(name, kinds) in holders]
    things = [name for name in names if name not in places]
    if not things:
        things, places = list(names), []
    found = (_read(name, kinds.get(name, "")) for name in things)
    if write is None:
        return tuple(replace(each, place="".join(places[:1])) for each in found)
    return tuple(_tell_more(replace(each, place="".join(places[:1])), write) for each in found)


def _read(name: str, kind: str) -> Written:
    if name.startswith("/"):
        return Written("file", (name,))
    parts = name.split(":", 2)
    if len(parts) < 2:
        scope, _, last = name.rpartition("/")
        is_scoped = bool(scope) and kind in _SCOPED
        return Written(kind, (last,), scope=scope) if is_scoped else Written(kind, (name,))
    kind, uid = _KINDS.get(parts[0], parts[0]), parts[-1]
    if kind in _SCOPED:
        scope, _, last = uid.rpartition("/")
        return Written(kind, (last,), name, scope=scope, machine=parts[1])
    return Written(kind, (uid,), name, machine=parts[1] if len(parts) == 3 else "")


def _tell_more(thing: Written, write: SettledCall) -> Written:
    """What only the arguments of the write say: numbers, a namespace, and what it was to do."""
    acts = _acts_of(write)
    number = write.arguments.get("pid")
    is_process = thing.kind == "process" and isinstance(number, int) and number > 0
    return replace(
        thing,
        names=(*thing.names, f"pid {number}") if is_process else thing.names,
        scope=thing.scope or scope_of(write.arguments),
        ends=bool(acts & (_ENDING | _REMOVING)),
        removes=bool(acts & _REMOVING),
        engines=_engines_of(write),
    )


def _engines_of(write: SettledCall) -> frozenset[str]:
    """Our own server speaks with Docker or Podman; another one may say by its name."""
    if write.is_own_server:
        return _OWN_ENGINES
    return _ENGINES.intersection(word.casefold() for word in _WORD.findall(write.name))


def _kind_of(name: str, kinds: Mapping[str, str]) -> str:
    kind, colon, _ = name.partition(":")
    return kind if colon else kinds.get(name, "")


def _kinds_in(write: SettledCall) -> dict[str, str]:
    """What the arguments' names say of the values under them."""
    every: Sequence[Identifier] = find_identifiers(write.arguments, write.identifies)
    kinds = {each.value: kind_of_argument(each.argument) for each in every}
    scope = write.arguments.get("namespace")
    for kind in _SCOPED:
        if isinstance(name := write.arguments.get(kind), str):
            kinds[f"{scope}/{name}"] = kind
    return kinds


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


def scope_of(row: Mapping[str, JSON]) -> str:
    """The namespace that an object or the arguments of a call say; empty where they do not."""
    metadata = row.get("metadata")
    inner = metadata.get("namespace") if isinstance(metadata, dict) else None
    own = row.get("namespace") or inner
    return own if isinstance(own, str) else ""


def find_row_names(row: Mapping[str, JSON]) -> tuple[tuple[str, str], ...]:
    """The names in one object of an answer, each with the kind that its key tells."""
    own = {key: value for key, value in row.items() if isinstance(value, str | int)}
    return tuple(
        (each.value, kind_of_argument(each.argument))
        for each in find_identifiers(own)
        if not each.is_scope
    )


def find_rows(
    value: JSON, kind: str = "", scope: str = ""
) -> Iterator[tuple[str, str, Mapping[str, JSON]]]:
    """Every object of an answer, with the kind that the name of its list tells, and its namespace.

    `scope` holds for those that say none themselves, nor what they stand in.
    """
    if isinstance(value, dict):
        inner = scope_of(value) or scope
        yield kind, inner, value
        for key, each in value.items():
            yield from find_rows(
                each, kind_of_argument(key) if isinstance(each, list) else "", inner
            )
    elif isinstance(value, list):
        for each in value:
            yield from find_rows(each, kind, scope)

"""What a command asks, as data: the things that its words name, and how it is answered."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from safety.commands.grammar import Parsed

SERVICE = frozenset({"unit", "service"})
PROCESS = frozenset({"process", "unit", "service"})
CONTAINER = frozenset({"container"})
GUEST = frozenset({"guest"})
FILE = frozenset({"file"})
ANSWERING = frozenset({"unit", "service", "container", "host"})


@dataclass(frozen=True, slots=True)
class Named:
    """A thing that a command names, and what it can be. A scope is a namespace of a cluster."""

    kinds: frozenset[str]
    name: str
    scope: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """A command as its program understands it: the sub-commands, then options and words."""

    program: str
    verbs: tuple[str, ...]
    parsed: Parsed

    @property
    def key(self) -> str:
        return " ".join((self.program, *self.verbs))


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked, and which answers tell something.

    `lists`: the kinds of things it prints a row of, each named in one of `columns`. `needs_row`:
    its words only choose among these rows, and may choose others or none. `answers` are the exit
    codes with which it tells how a thing is; `tells_by_code` where it need not print a word.
    `gone`: the exit code that says there is no such thing, with `gone_says` in its errors,
    where `{name}` stands for the thing. `says_name`: its whole answer names the thing.
    `cluster`: the one that it was sent to, where its words choose one.
    """

    named: tuple[Named, ...] = ()
    lists: frozenset[str] = frozenset()
    columns: tuple[int, ...] = ()
    scope: str = ""
    needs_row: bool = False
    answers: frozenset[int] = frozenset({0})
    tells_by_code: bool = False
    gone: int | None = None
    gone_says: str = ""
    says_name: bool = False
    cluster: str = ""


Ask = Callable[[Asked], Question | None]


def name_things(kinds: frozenset[str], names: Iterable[str]) -> tuple[Named, ...]:
    """Names of things that can be of these kinds."""
    return tuple(Named(kinds, name) for name in names)


def plain_pattern(pattern: str) -> str:
    """The one name that a pattern stands for; `[n]ame` only hides it from itself."""
    plain = pattern.removeprefix("^").removesuffix("$")
    return re.sub(r"^\[(\w)\]", r"\1", plain)

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
ANSWERING = frozenset({"service", "container", "host"})
"""What a name of the network can be. A unit is of a machine, which is not called like it."""


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
    `cluster`: the one that it was sent to, where its words choose one. `engine`: the program whose
    containers it asks for. `says_state`: what it printed may be any page, and has to say a state.
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
    engine: str = ""
    says_state: bool = False


Ask = Callable[[Asked], Question | None]


def name_things(kinds: frozenset[str], names: Iterable[str]) -> tuple[Named, ...]:
    """Names of things that can be of these kinds."""
    return tuple(Named(kinds, name) for name in names)


def plain_pattern(pattern: str) -> str:
    """The one name that a pattern stands for; `[n]ame` only hides it from itself."""
    plain = pattern.removeprefix("^").removesuffix("$")
    return re.sub(r"^\[(\w)\]", r"\1", plain)


_PLAIN_FORMATS = frozenset({"", "json", "yaml", "wide", "name", "table", "pretty"})
_QUOTED = re.compile(r"""\"[^\"]*\"|`[^`]*`|/\*.*?\*/""")
_TEMPLATE = re.compile(r"\{[^{}]*[.@$*][^{}]*\}|\bcustom-columns=[^:]*:\.")


def prints_what_it_reads(template: str) -> bool:
    """Whether a format of the output has a field of what is read, and not only words of its own."""
    if template in _PLAIN_FORMATS or template.startswith("table "):
        return True
    return _TEMPLATE.search(_QUOTED.sub("", template)) is not None

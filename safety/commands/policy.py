"""What a program may be asked so that it reads and changes nothing: a row of a table."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypedDict, Unpack

from safety.commands.addresses import KnownAddress
from safety.commands.durations import Lasts
from safety.commands.grammar import Grammar, Parsed, read_options
from safety.commands.paths import PathJudge
from safety.commands.program_traits import ProgramTraits
from safety.commands.script import Step
from safety.word_lists import word_set

Check = Callable[[Parsed], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """One program, or one sub-command of one.

    `words`: how many words that are no options; `word`: the pattern that each of them is.
    `files_from`: from which word on they are files whose content is read. `recursive`: the options
    that make it read whole directories (True: it always does). `needs`: one of these options must
    be given. `endless`: options with which it does not end by itself, unless one of `ends` is
    there. `is_endless` looks at everything. `stops_after`: says whether it ends its input early, so
    that what feeds it ends, too. `reaches_out`: its words, or these options, name a machine.
    `hardening` goes in front of the arguments when it is run. `opens_disks`: it opens the devices
    that it is given, which must be disks. `formats`: options whose text is printed with its
    escapes read. `contents`: what else in the arguments names files whose content it prints;
    `name_patterns`: the options that say which files of a directory it reads. `destinations`: what
    among its words a resolver may be asked for, though the program talks to nobody else. `lasts`:
    how many seconds it goes on by what it is told. `parts`: the options with which it prints parts
    of content that nothing looks at before.
    """

    grammar: Grammar
    words: tuple[int, int] = (0, 1000)
    word: str | None = None
    files_from: int | None = None
    pattern_options: frozenset[str] = frozenset()
    recursive: frozenset[str] | bool = frozenset()
    opens_devices: bool = False
    is_filter: bool = False
    needs: frozenset[str] = frozenset()
    endless: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()
    is_endless: Callable[[Parsed], bool] | None = None
    stops_after: Callable[[Parsed], bool] | None = None
    is_conditional: bool = False
    reaches_out: bool | Callable[[Parsed], bool] = False
    reaches_out_with: frozenset[str] = frozenset()
    check: Check | None = None
    hardening: tuple[str, ...] = ()
    opens_disks: bool = False
    formats: frozenset[str] = frozenset()
    contents: Callable[[Parsed], Iterable[str]] | None = None
    name_patterns: frozenset[str] = frozenset()
    destinations: Callable[[Parsed], Iterable[str]] | None = None
    lasts: Lasts | None = None
    parts: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Group:
    """A program of sub-commands. `shared` options may stand before and behind a sub-command.

    `bare` is what applies without any sub-command; None refuses that. `equals`: `-o=x` is `-o x`.
    """

    commands: "Mapping[str, Policy | Group | Wrapper]"
    shared: str = ""
    bare: Policy | None = None
    clusters: bool = True
    equals: bool = False


class Proving(Protocol):
    """The proof under way, as a wrapper may ask it about what it would run."""

    @property
    def paths(self) -> PathJudge: ...

    @property
    def addresses(self) -> tuple[KnownAddress, ...]:
        """What an operator says may be fetched, beyond what everybody knows."""
        ...

    @property
    def feed(self) -> tuple[tuple[str, ...], ...]:
        """The commands before this one in its pipeline."""
        ...

    def prove_step(self, step: Step) -> Step:
        """The same step with the arguments that will really be used."""
        ...

    def prove_argv(self, argv: tuple[str, ...], *, is_fed: bool = False) -> ProgramTraits:
        """Raises `Refused` unless the program is known and asked for nothing but a read."""
        ...


@dataclass(frozen=True, slots=True)
class Wrapper:
    """A program that runs another one, which is proven in its place."""

    prove: Callable[[Proving, tuple[str, ...]], ProgramTraits]


Entry = Policy | Group | Wrapper
Table = Mapping[str, Entry]


class _Settings(TypedDict, total=False):
    """What a row says in the words of `Policy` itself."""

    words: tuple[int, int]
    word: str
    files_from: int
    opens_devices: bool
    opens_disks: bool
    is_filter: bool
    is_endless: Callable[[Parsed], bool]
    stops_after: Callable[[Parsed], bool]
    is_conditional: bool
    reaches_out: bool | Callable[[Parsed], bool]
    check: Check
    hardening: tuple[str, ...]
    contents: Callable[[Parsed], Iterable[str]]
    destinations: Callable[[Parsed], Iterable[str]]
    lasts: Lasts


def reads(
    options: str = "",
    *,
    clusters: bool = True,
    numbers: bool = False,
    mixes: bool = True,
    stops: bool = False,
    dashes: bool = True,
    pattern_options: str = "",
    recursive: str | bool = "",
    needs: str = "",
    endless: str = "",
    ends: str = "",
    reaches_out_with: str = "",
    formats: str = "",
    name_patterns: str = "",
    parts: str = "",
    **settings: Unpack[_Settings],
) -> Policy:
    """A row, written briefly: options and their names are words in a text."""
    return Policy(
        grammar=Grammar(
            read_options(options),
            clusters=clusters,
            numbers=numbers,
            mixes=mixes,
            stops=stops,
            dashes=dashes,
        ),
        pattern_options=word_set(pattern_options),
        recursive=recursive if isinstance(recursive, bool) else word_set(recursive),
        needs=word_set(needs),
        endless=word_set(endless),
        ends=word_set(ends),
        reaches_out_with=word_set(reaches_out_with),
        formats=word_set(formats),
        name_patterns=word_set(name_patterns),
        parts=word_set(parts),
        **settings,
    )


def with_names(names: str, entry: Entry) -> dict[str, Entry]:
    """The same row under several names."""
    return dict.fromkeys(names.split(), entry)

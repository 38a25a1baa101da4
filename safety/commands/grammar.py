"""How a program reads its arguments: options with their arity, words, and nothing guessed.

An option table is text. One entry is `-x` or `--long`, or `-[abc]` for several letters, and then
what it takes:

    -x        nothing            -x==      two arguments
    -x=       an argument        -x=?      an argument only in the same word (`--x=y`, `-xy`)
    -x=@      a path             -x=-      an argument that may itself start with a dash
    -x=%      the path of a certificate, of which nothing else is printed
    -x=>      a machine, which the program may look up by its name
    -x=/re/   an argument that matches the expression as a whole
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from safety.commands.refusal import Refused

_ENTRY = re.compile(r"(?P<name>-\[[^\]]+\]|--?[A-Za-z0-9?][A-Za-z0-9_.-]*|-#)(?P<takes>=.*)?\Z")
_NUMBER = re.compile(r"-\d[\d.,]*\Z")


@dataclass(frozen=True, slots=True)
class Option:
    """What follows an option. `count` arguments; `is_attached_only` where it must be one word."""

    count: int = 0
    is_attached_only: bool = False
    is_path: bool = False
    is_certificate: bool = False
    is_destination: bool = False
    may_start_with_dash: bool = False
    pattern: re.Pattern[str] | None = None


Options = Mapping[str, Option]


@dataclass(frozen=True, slots=True)
class Grammar:
    """`clusters`: `-ab` is `-a -b`. `numbers`: `-20` is an option of its own.

    `mixes`: options may stand behind words, as GNU programs read them; otherwise nothing that
    looks like an option is accepted there. `stops`: the first word ends the options (wrappers,
    sub-commands). `dashes`: `--` ends the options. `equals`: `-o=x` is `-o x`.
    """

    options: Options
    clusters: bool = True
    numbers: bool = False
    mixes: bool = True
    stops: bool = False
    dashes: bool = True
    equals: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """Arguments as the program will understand them. `behind` are the words behind `--`, which are
    the last of `words`."""

    options: tuple[tuple[str, tuple[str, ...]], ...]
    words: tuple[str, ...]
    behind: tuple[str, ...] = ()

    def has(self, *names: str) -> bool:
        return any(name in names for name, _ in self.options)

    def values(self, *names: str) -> tuple[str, ...]:
        return tuple(value for name, given in self.options if name in names for value in given)


@cache
def read_options(table: str) -> Options:
    """The option table that this text is."""
    options: dict[str, Option] = {}
    for entry in table.split():
        match = _ENTRY.match(entry)
        assert match, f"not an entry of an option table: {entry}"
        option = _read_takes(match["takes"])
        name = match["name"]
        if name.startswith("-["):
            options.update({f"-{letter}": option for letter in name[2:-1]})
        else:
            options[name] = option
    return options


def _read_takes(takes: str | None) -> Option:
    match takes:
        case None:
            return Option()
        case "=":
            return Option(1)
        case "==":
            return Option(2)
        case "=?":
            return Option(1, is_attached_only=True)
        case "=@":
            return Option(1, is_path=True)
        case "=%":
            return Option(1, is_certificate=True)
        case "=>":
            return Option(1, is_destination=True)
        case "=-":
            return Option(1, may_start_with_dash=True)
    assert takes.startswith("=/"), f"not a kind of argument: {takes}"
    assert takes.endswith("/"), f"not a kind of argument: {takes}"
    return Option(1, may_start_with_dash=True, pattern=re.compile(takes[2:-1]))


def parse(arguments: tuple[str, ...], grammar: Grammar) -> Parsed:
    """Raises `Refused` for whatever the grammar does not hold, abbreviations included."""
    options: list[tuple[str, tuple[str, ...]]] = []
    words: list[str] = []
    behind: tuple[str, ...] = ()
    index = 0
    while index < len(arguments):
        argument = arguments[index]
        index += 1
        if argument == "--" and grammar.dashes:
            behind = arguments[index:]
            words.extend(behind)
            break
        if argument == "-" or not argument.startswith("-"):
            if grammar.stops:
                words.extend(arguments[index - 1 :])
                break
            words.append(argument)
            continue
        if words and not grammar.mixes:
            raise Refused(f"option {argument} stands behind other words")
        if grammar.numbers and _NUMBER.match(argument):
            options.append(("-#", (argument[1:],)))
        else:
            index += _read_option(argument, arguments[index:], grammar, options)
    return Parsed(tuple(options), tuple(words), behind)


def _read_option(
    argument: str,
    following: tuple[str, ...],
    grammar: Grammar,
    options: list[tuple[str, tuple[str, ...]]],
) -> int:
    """Adds the option or options of one argument; says how many further arguments they took."""
    known = grammar.options
    if argument in known:
        option = known[argument]
        taken = _take(argument, option, following) if not option.is_attached_only else ()
        options.append((argument, taken))
        return len(taken)
    name, equals, value = argument.partition("=")
    if equals and name in known and (name.startswith("--") or not grammar.clusters):
        options.append((name, _attach(name, known[name], value)))
        return 0
    if argument.startswith("--") or not grammar.clusters:
        raise Refused(f"option {name} is not known to be harmless")
    return _read_cluster(argument, following, grammar, options)


def _read_cluster(
    argument: str,
    following: tuple[str, ...],
    grammar: Grammar,
    options: list[tuple[str, tuple[str, ...]]],
) -> int:
    known = grammar.options
    for place, letter in enumerate(argument[1:], 1):
        name = f"-{letter}"
        if name not in known:
            raise Refused(f"option {name} is not known to be harmless")
        option = known[name]
        attached = argument[place + 1 :]
        if grammar.equals:
            attached = attached.removeprefix("=")
        if option.count and attached:
            options.append((name, _attach(name, option, attached)))
            return 0
        taken = _take(name, option, following) if not option.is_attached_only else ()
        options.append((name, taken))
        if taken:
            return len(taken)
    return 0


def _attach(name: str, option: Option, value: str) -> tuple[str, ...]:
    if option.count != 1:
        raise Refused(f"option {name} does not take one argument")
    _check(name, option, value)
    return (value,)


def _take(name: str, option: Option, following: tuple[str, ...]) -> tuple[str, ...]:
    if len(following) < option.count:
        raise Refused(f"option {name} lacks its argument")
    taken = following[: option.count]
    for value in taken:
        is_dashed = value.startswith("-") and len(value) > 1 and not _NUMBER.match(value)
        if is_dashed and not option.may_start_with_dash:
            raise Refused(f"the argument of option {name} looks like an option")
        _check(name, option, value)
    return taken


def _check(name: str, option: Option, value: str) -> None:
    if option.pattern and not option.pattern.fullmatch(value):
        raise Refused(f"option {name} with this argument is not known to be harmless")

"""`find` expressions that only test and print."""

import re

from safety.commands.refusal import Refused
from safety.word_lists import word_set

_LEADING = re.compile(r"-[HLP]+|-O[0-3]")
_TESTS_WITHOUT = word_set("""
    -empty -true -false -executable -readable -writable -nouser -nogroup -daystart -depth
    -mount -xdev -noleaf -ignore_readdir_race -print -print0 -ls -prune -quit -not -and -or
    -a -o ! ( ) , -follow -warn -nowarn
""")
_TESTS_WITH_ONE = word_set("""
    -name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -lname
    -ilname -type -xtype -size -mtime -mmin -atime -amin -ctime -cmin -newer -anewer -cnewer
    -user -group -uid -gid -perm -links -inum -samefile -fstype -maxdepth -mindepth -used
    -context -printf
""")
_NEWER = re.compile(r"-newer[aBcm][aBcmt]")
NAME_TESTS = frozenset(["-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename"])


def read_find(arguments: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the search starts and which names it looks for. Raises `Refused` for other actions."""
    place = 0
    while place < len(arguments) and _LEADING.fullmatch(arguments[place]):
        place += 1
    begin = place
    while place < len(arguments) and not _starts_expression(arguments[place]):
        place += 1
    starts = arguments[begin:place]
    names: list[str] = []
    while place < len(arguments):
        argument = arguments[place]
        place += 1
        if argument in _TESTS_WITHOUT:
            continue
        if argument not in _TESTS_WITH_ONE and not _NEWER.fullmatch(argument):
            raise Refused(f"find with {argument!r} is not known to be a read")
        if place >= len(arguments):
            raise Refused(f"find lacks the argument of {argument}")
        if argument in NAME_TESTS:
            names.append(arguments[place])
        place += 1
    return starts, tuple(names)


def _starts_expression(argument: str) -> bool:
    return argument.startswith("-") or argument in ("(", "!", ")", ",")

"""sed scripts that only print: no file is read or written, no command is run."""

import re

from safety.commands.languages.brackets import BRACKET
from safety.commands.languages.escapes import refuse_sed_escapes
from safety.commands.refusal import Refused

_ADDRESS = re.compile(rf"\d+(?:~\d+)?|\$|/(?:[^/\\\n\[]|\\[^\n]|{BRACKET})+/[IM]*")
_PATTERN = re.compile(rf"(?:[^\\\n\[]|\\[^\n]|{BRACKET})*")
_RANGE_END = re.compile(r"[+~]\d+|" + _ADDRESS.pattern)
_PLAIN_COMMANDS = frozenset("pPdDhHgGxnNlz=F")
_NUMBERED_COMMANDS = re.compile(r"[qQ] ?\d*")
_LABELLED = re.compile(r":[ \t]*[A-Za-z0-9_]+|[btT](?:[ \t]+[A-Za-z0-9_]+|[A-Za-z0-9_]+)?")
_DELIMITERS = frozenset("/|#,:@!%_~+")
_FLAGS = re.compile(r"[gpiI0-9]*")
_ENDS = frozenset(";}\n")
_LABEL = re.compile(r"(?:^|[;{}\n])[ \t]*:[ \t]*(\w+)")
# The next line is read, or the last one ends the loop.
_GOES_FORWARD = re.compile(r"(?:^|[;{}\n\d$!/])[ \t]*[nN](?:[;}\n ]|$)")
_RESTARTS = re.compile(r"(?:^|[;{}\n\d$!/])[ \t]*D(?:[;}\n ]|$)")


def check_sed(script: str) -> None:
    """Raises `Refused` unless the script can only select, change and print lines."""
    place = 0
    while True:
        place = _skip(script, place, " \t\n;")
        if place >= len(script):
            return
        if script[place] == "}":
            place += 1
            continue
        place = _skip_addresses(script, place)
        place = _skip_command(script, place)


def quits_early(script: str) -> bool:
    """Whether the script ends before its input does: `5q`."""
    return bool(re.search(r"(?:^|[;{\n])[ \t]*\d+[ \t]*[qQ]", script))


def sed_is_endless(script: str) -> bool:
    """Whether it goes back to a label, or starts again, without reading on."""
    if _GOES_FORWARD.search(script):
        return False
    for match in _LABEL.finditer(script):
        if re.search(rf"[btT][ \t]*{match[1]}(?:[;}}\n ]|$)", script[match.end() :]):
            return True
    return bool(_RESTARTS.search(script)) and "G" in script


def _skip(script: str, place: int, characters: str) -> int:
    while place < len(script) and script[place] in characters:
        place += 1
    return place


def _skip_addresses(script: str, place: int) -> int:
    match = _ADDRESS.match(script, place)
    if match:
        place = _skip(script, match.end(), " \t")
        if script[place : place + 1] == ",":
            place = _skip(script, place + 1, " \t")
            end = _RANGE_END.match(script, place)
            if not end:
                raise Refused("an address of the sed script is not understood")
            place = end.end()
    return _skip(script, place, " \t!")


def _skip_command(script: str, place: int) -> int:
    command = script[place : place + 1]
    if command == "{":
        return place + 1
    if command == "s":
        place = _skip_substitution(script, place)
    elif command == "y":
        place = _skip_parts(script, place)
    elif command and command in _PLAIN_COMMANDS:
        place += 1
    else:
        match = _NUMBERED_COMMANDS.match(script, place) or _LABELLED.match(script, place)
        if not match:
            raise Refused(f"the sed command {command!r} can reach files or commands, or is unknown")
        place = match.end()
    place = _skip(script, place, " \t")
    if place < len(script) and script[place] not in _ENDS:
        raise Refused("the sed script goes on where a command should end")
    return place


def _skip_substitution(script: str, place: int) -> int:
    place = _skip_parts(script, place)
    flags = _FLAGS.match(script, place)
    assert flags
    return flags.end()


def _skip_parts(script: str, place: int) -> int:
    """Behind the third delimiter of `s/a/b/`. A pattern must end in one place for every reader."""
    delimiter = script[place + 1 : place + 2]
    if delimiter not in _DELIMITERS or not delimiter:
        raise Refused("the delimiter of a sed command is not understood")
    place += 2
    for part in range(2):
        begin = place
        while place < len(script) and script[place] != delimiter:
            if script[place] == "\n":
                raise Refused("a sed command goes over the end of its line")
            place += 2 if script[place] == "\\" else 1
        if place >= len(script):
            raise Refused("a sed command is not complete")
        if part == 0 and not _PATTERN.fullmatch(script[begin:place]):
            raise Refused("where the pattern of a sed command ends is open to doubt")
        if part == 1:
            refuse_sed_escapes(script[begin:place])
        place += 1
    return place

"""Text in which a program would see escapes for a terminal."""

import re
from collections.abc import Iterable, Iterator

from safety.commands.refusal import Refused

# Escape, bell, backspace, what makes a terminal answer or change its letters, and what begins a
# sequence by itself; \t and \n are text.
_STEERING = frozenset({0x05, 0x07, 0x08, 0x0E, 0x0F, 0x1B, 0x90, 0x98, 0x9B, 0x9D, 0x9E, 0x9F})
_NAMED = re.compile(r"\\[eEab]")
_NUMBERED = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,4})|x(?P<byte>[0-9a-fA-F]{1,2})|[uU](?P<sign>[0-9a-fA-F]{1,8}))"
)
# sed has spellings of its own, decimal ones and control characters among them.
_SED_SPELLINGS = re.compile(r"\\[cdo]")
_GIT_BYTES = re.compile(r"%x?([0-9a-fA-F]{2})")
# One character by its number.
_CHARACTER = re.compile(r"%[-+ #0-9.*]*c")


def refuse_escapes(texts: Iterable[str]) -> None:
    for text in texts:
        if _NAMED.search(text) or not _STEERING.isdisjoint(_read_numbers(text)):
            raise Refused("it would print what steers a terminal")


def refuse_computed_escapes(texts: Iterable[str]) -> None:
    """Of a language that also prints a character by its number: awk, the templates of Go."""
    for text in texts:
        refuse_escapes((text,))
        if _CHARACTER.search(text):
            raise Refused("it would print a character by its number, which can steer a terminal")


def refuse_sed_escapes(replacement: str) -> None:
    if _SED_SPELLINGS.search(replacement):
        raise Refused("it would print what steers a terminal")
    refuse_escapes((replacement,))


def refuse_git_escapes(texts: Iterable[str]) -> None:
    for text in texts:
        if any(int(digits, 16) in _STEERING for digits in _GIT_BYTES.findall(text)):
            raise Refused("it would print what steers a terminal")


def _read_numbers(text: str) -> Iterator[int]:
    for found in _NUMBERED.finditer(text):
        if digits := found["octal"]:
            # `\nnn` for some programs, `\0nnn` for others; of either only the lowest byte counts.
            yield int(digits[:3], 8) & 0xFF
            yield int(digits.removeprefix("0")[:3] or "0", 8) & 0xFF
        elif sign := found["sign"]:
            # Some programs read four digits behind a `u`, others as many as there are.
            yield int(sign[:4], 16)
            yield int(sign, 16)
        else:
            yield int(found["byte"], 16)

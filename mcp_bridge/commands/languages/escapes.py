"""Text in which a program would see escapes for a terminal."""

import re
from collections.abc import Iterable, Iterator

from mcp_bridge.commands.refusal import Refused

# Escape, bell and backspace, and what begins a sequence by itself; \t and \n are text.
_STEERING = frozenset({0x07, 0x08, 0x1B, 0x9B})
_NAMED = re.compile(r"\\[eEab]")
_NUMBERED = re.compile(
    r"\\(?:(?P<octal>[0-7]{1,4})|x(?P<byte>[0-9a-fA-F]{1,2})|[uU](?P<sign>[0-9a-fA-F]{1,8}))"
)


def refuse_escapes(texts: Iterable[str]) -> None:
    for text in texts:
        if _NAMED.search(text) or not _STEERING.isdisjoint(_read_numbers(text)):
            raise Refused("it would print what steers a terminal")


def _read_numbers(text: str) -> Iterator[int]:
    for found in _NUMBERED.finditer(text):
        if digits := found["octal"]:
            # `\nnn` for some programs, `\0nnn` for others; of either only the lowest byte counts.
            yield int(digits[:3], 8) & 0xFF
            yield int(digits.removeprefix("0")[:3] or "0", 8) & 0xFF
        else:
            yield int(found["byte"] or found["sign"], 16)

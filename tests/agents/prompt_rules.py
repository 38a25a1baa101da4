"""What no prompt may have, whatever it is made of: what templates do when nobody looks."""

import re
from collections.abc import Iterator

_FENCED = re.compile(
    r"<<<outside (?P<token>[0-9a-f]{16}) [^\n]*>>>\n.*?\n<<<end outside (?P=token)>>>", re.DOTALL
)
_GLUED_ITEM = re.compile(r"[^\s(\[`][.:;,!?)*`\"]+(?:\d{1,2}\. |- )[A-Z`\"]")
_ITEM = re.compile(r"(?:\d{1,2}\.|-) ")
_HEADING = re.compile(r"#{1,6} ")
_BRACES = re.compile(r"\{\{|\}\}|\{%|%\}|\{#|#\}")
_NOTHING = re.compile(r"\b(?:None|Undefined|<[\w.]+ object)\b")
_CODE = re.compile(r"^```.*?^```$", re.DOTALL | re.MULTILINE)


def find_faults(prompt: str) -> list[str]:
    """The faults of our own text; what came from outside is not ours to judge."""
    return list(_find(_FENCED.sub("(outside)", prompt)))


def _find(text: str) -> Iterator[str]:
    if text != text.strip():
        yield "blanks around the whole"
    if "\n\n\n" in text:
        yield "two empty lines together"
    numbers: list[int] = []
    lines = _CODE.sub("(code)", text).splitlines()
    for before, line in zip(["", *lines], lines, strict=False):
        if line != line.rstrip():
            yield f"blanks at the end: {line!r}"
        if line.startswith((" ", "\t")) and not _ITEM.match(line.lstrip()):
            yield f"blanks at the beginning: {line!r}"
        if "  " in line.strip():
            yield f"two blanks together: {line!r}"
        if _GLUED_ITEM.search(line):
            yield f"two list items on one line: {line!r}"
        if _BRACES.search(line):
            yield f"braces of a template: {line!r}"
        if _NOTHING.search(line):
            yield f"a value that is none: {line!r}"
        if _HEADING.match(line) and before.strip():
            yield f"no empty line before the heading {line!r}"
        if _HEADING.match(before) and line.strip():
            yield f"no empty line behind the heading {before!r}"
        if found := re.match(r"(\d{1,2})\. ", line):
            number = int(found[1])
            if number != 1 and (not numbers or number != numbers[-1] + 1):
                yield f"{line!r} is out of order"
            numbers.append(number)
        elif not line.strip() or _HEADING.match(line):
            numbers = []

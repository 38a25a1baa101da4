"""Finds words of a result that prove a value: as they stand in it, fit to stand in a citation."""

import re

LONGEST = 160
SHORTEST = 3
_UNFIT = re.compile(r'["\u201c\u201d\u201e\u00ab\u00bb\[\]\\\n\r\t`]+')
_BLANKS = re.compile(r" {2,}")


def find_quote(raw: str, value: str) -> str:
    """The longest part of a value that stands in the text as it is; empty where none does."""
    parts = sorted(_parts(value), key=len, reverse=True)
    for part in parts[:12]:
        if len(part) >= SHORTEST and part in raw:
            return part
    return ""


def _parts(value: str) -> list[str]:
    """What of a value can be quoted: a citation's own marks part it, and so do runs of blanks."""
    found: list[str] = []
    for piece in _UNFIT.split(value[: 8 * LONGEST]):
        for run in _BLANKS.split(piece.strip()):
            found.append(_shorten(run.strip(" ,;:")))
    return [part for part in found if part]


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    return cut[: cut.rfind(" ")] if " " in cut[SHORTEST:] else ""

"""Words in messages: the one that somebody probably meant, and lists and counts in sentences."""

import difflib
import re
from collections.abc import Iterable, Sequence


def suggest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known word, or all known ones where they are few."""
    names = sorted(known)
    if near := find_near(word, names):
        return f"; did you mean '{near}'?"
    if 0 < len(names) <= 12:
        return f"; known: {', '.join(names)}"
    return ""


def find_near(word: str, known: Iterable[str]) -> str:
    """The known word that somebody probably meant; empty where none is near."""
    folded = {_fold(name): name for name in sorted(known, reverse=True)}
    sought = _fold(word[:100])
    near = difflib.get_close_matches(sought, folded, n=1, cutoff=0.7)
    near = near or [name for name in folded if len(sought) >= 4 and name.startswith(sought)]
    return folded[near[0]] if near else ""


def _fold(word: str) -> str:
    return re.sub(r"[\W_]", "", word).lower()


def list_names(names: Sequence[str]) -> str:
    """One or more, as a sentence lists them: `a, b and c`."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"

"""Finds what a report says was not done although it was: the trail knows better.

Only what is said of an act itself counts, by its verb or as "done", "made" or "changed"; that an
effect was not verified or not seen is no denial.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from safety.grounding.clauses import split_clauses
from safety.grounding.verbs import VERBS, Verb

_ACT = r"(?P<act>[a-z][a-z-]*(?: (?:back|up|down|over|out))?)"
_NOT = re.compile(
    r"\b(?:(?:was|were|is|are|has|have|had)(?:n't| not| never)(?: yet)?(?: been)?|"
    rf"never|(?:did|could)(?:n't| not)(?: be)?)\s+{_ACT}",
    re.IGNORECASE,
)
_NOTHING = re.compile(
    r"\b(?:nothing|no (?:changes?|actions?|writes?))\s+(?:was|were|has been|have been)\s+"
    r"(?P<act>[a-z]+(?: out)?)\b",
    re.IGNORECASE,
)
_ANYTHING = "."
"""The signs of verbs that any change may be told with."""
_DONE = frozenset(
    {"done", "made", "performed", "executed", "applied", "carried out", "run", "ran", "taken",
     "changed", "happened", "happen"}
)  # fmt: skip


@dataclass(frozen=True)
class Done:
    """A write that ran: what it was asked to do, in its own words."""

    asked: str
    tool: str


@dataclass(frozen=True)
class Denial:
    """A clause of a report, in characters of it, and the place of the write that it denies."""

    start: int
    end: int
    place: int


def find_denials(text: str, done: Sequence[Done]) -> Iterator[Denial]:
    """Each clause that denies a write of those that ran, with the first such write."""
    if not done:
        return
    for clause in split_clauses(text):
        place = _find_denied(clause.text, done)
        if place is not None:
            yield Denial(clause.start, clause.start + len(clause.text), place)


def _find_denied(clause: str, done: Sequence[Done]) -> int | None:
    if found := _NOTHING.search(clause):
        return 0 if found["act"].lower() in _DONE else None
    for found in _NOT.finditer(clause):
        act = found["act"].lower()
        for place, each in enumerate(done):
            if _is_about(act, clause[: found.start()], each):
                return place
    return None


def _is_about(act: str, subject: str, done: Done) -> bool:
    """Whether the verb is that of the write; of "done", whether the subject is."""
    of_it = [verb for verb in VERBS if verb.signs != _ANYTHING and _did(done, verb)]
    first, _, rest = act.partition(" ")
    if act in _DONE or (first in _DONE and rest != "out"):
        return any(re.search(verb.signs, subject, re.IGNORECASE) for verb in of_it)
    return any(re.match(rf"(?:{verb.past})\b", act, re.IGNORECASE) for verb in of_it)


def _did(done: Done, verb: Verb) -> bool:
    return re.search(verb.signs, done.asked, re.IGNORECASE) is not None

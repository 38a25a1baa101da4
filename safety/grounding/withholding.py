"""Takes the sentences out of an answer that claim what we never did."""

from collections.abc import Sequence
from dataclasses import replace

from safety.grounding.clauses import find_sentence
from safety.grounding.unsupported import Unsupported

WITHHELD = "(A sentence is withheld: it says that something was done, and no tool call did it.)"


def withhold(answer: str, found: Sequence[Unsupported]) -> tuple[str, list[Unsupported]]:
    """The answer without the sentences of phantoms, and the other passages where they stand now.

    A passage within such a sentence goes with it.
    """
    places = sorted({find_sentence(answer, each.start) for each in found if each.is_phantom})
    parts: list[str] = []
    begun = 0
    for start, end in places:
        parts += [answer[begun:start], WITHHELD]
        begun = end
    parts.append(answer[begun:])
    kept = [
        replace(each, start=each.start + shift, end=each.end + shift)
        for each in found
        if not each.is_phantom and (shift := _find_shift(each, places)) is not None
    ]
    return "".join(parts), kept


def _find_shift(each: Unsupported, places: Sequence[tuple[int, int]]) -> int | None:
    shift = 0
    for start, end in places:
        if each.start < end and start < each.end:
            return None
        if end <= each.start:
            shift += len(WITHHELD) - (end - start)
    return shift

"""Two figures of an answer of which one is a part of the other: "240 of 250 (96 %)"."""

import re
from collections.abc import Sequence
from itertools import pairwise

from safety.grounding.derivations import is_part
from safety.grounding.facts import Facts
from safety.grounding.quantities import Quantity

_PAIR = re.compile(
    r"\s*(?:[a-z]+\s+)?(?:of|out of|/|from)\s+(?:the |its |all |all the |a total of )?"
)
MOST_APART = 12
"""Characters between a pair and the percentage beside it."""
MOST_ROUNDED = 0.05
"""How far a share of two rounded figures may be off, as a part of itself."""


def find_pair(
    quantity: Quantity, text: str, others: Sequence[Quantity]
) -> tuple[Quantity, Quantity] | None:
    """ "240 of 250 (96 %)": what a percentage right beside it is the share of."""
    for first, second in pairwise(others):
        apart = min(abs(first.start - quantity.end), abs(quantity.start - second.end))
        if apart <= MOST_APART and _is_pair(first, second, text):
            return first, second
    return None


def find_only_pair(sentence: str, figures: Sequence[Quantity]) -> tuple[Quantity, Quantity] | None:
    """ "240 of 250 are taken, which is 96 %": the only pair, beside the only percentage."""
    pairs = [each for each in pairwise(figures) if _is_pair(*each, sentence)]
    is_alone = sum(1 for each in figures if each.family == "percent") == 1
    return pairs[0] if len(pairs) == 1 and is_alone else None


def is_share_of_pair(quantity: Quantity, slack: float, pair: tuple[Quantity, Quantity]) -> bool:
    """Whether a percentage is the share of these two, as closely as they are told."""
    rounded = min(MOST_ROUNDED, sum(map(_find_doubt, pair)))
    doubt = slack + quantity.step + quantity.number * rounded
    return is_part(quantity, max(doubt, 2 * quantity.step), *pair)


def is_whole_of_share(
    quantity: Quantity, text: str, others: Sequence[Quantity], facts: Facts
) -> bool:
    """Whether it is what a figure before it is a part of, as a percentage of the results tells."""
    for part, whole in pairwise(others):
        if whole is quantity and part.family == quantity.family and quantity.number > part.number:
            is_pair = _PAIR.fullmatch(text, part.end, whole.start) is not None
            share = Quantity(100 * part.number / whole.number, 1, "percent", (1.0,))
            return is_pair and facts.pool.gives(part, 0.0, any_unit=False) and facts.has(share)
    return False


def _is_pair(first: Quantity, second: Quantity, text: str) -> bool:
    return (
        "percent" not in (first.family, second.family)
        and bool(first.number * second.number)
        and _PAIR.fullmatch(text, first.end, second.start) is not None
    )


def _find_doubt(each: Quantity) -> float:
    """How far a figure may be from the truth by its rounding, as a part of itself."""
    is_exact = not each.family and each.is_whole and each.decimals == 0
    return 0.0 if is_exact else each.step / each.number

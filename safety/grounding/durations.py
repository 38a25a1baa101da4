"""Durations of an answer, and the times between lines that it quotes."""

import re

from safety.grounding.facts import Facts
from safety.grounding.quantities import Quantity

_QUOTED = re.compile(r"\"([^\"\n]{3,200})\"|“([^”\n]{3,200})”|`([^`\n]{3,200})`")


def find_quoted_spans(text: str, facts: Facts) -> list[float] | None:
    """The times between the lines that are quoted, where two are."""
    quoted = [found[1] or found[2] or found[3] for found in _QUOTED.finditer(text)]
    return facts.chronology.find_spans(quoted) if len(quoted) > 1 else None


def as_seconds(quantity: Quantity, slack: float) -> tuple[float, float]:
    """A duration and how far from the truth it may be: rounded, or cut off."""
    scale = quantity.scales[0]
    if slack > quantity.step:
        return quantity.number * scale, slack * scale
    return (quantity.number + quantity.step / 2) * scale, 1.5 * quantity.step * scale

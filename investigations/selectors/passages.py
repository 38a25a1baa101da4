"""What a citation quotes, within the words that stand around it in the stored result."""

import uuid
from dataclasses import dataclass

from agents.citations import Ref
from investigations.selectors.tool_results import read_tool_results
from safety.grounding.proofs import Proofs

AROUND = 1_500
"""Characters before and behind a quote that are shown with it."""


@dataclass(frozen=True)
class Passage:
    """A quote in its result; where the result has none, `reason` says so and the rest is empty."""

    number: int
    reason: str = ""
    before: str = ""
    quote: str = ""
    behind: str = ""
    start: int = 0
    length: int = 0
    is_of_check: bool = False
    is_cut_before: bool = False
    is_cut_behind: bool = False

    @property
    def end(self) -> int:
        return self.start + len(self.quote)


def read_passage(session_id: uuid.UUID, number: int, quote: str) -> Passage:
    """Where a quote stands in the result of a tool call of a session."""
    results = read_tool_results(session_id, [number])
    sighting = Proofs(results).find(Ref(number, quote))
    if sighting.verdict == "missing" or not sighting.end:
        return Passage(number, sighting.reason)
    result = results[number]
    text = result.check if sighting.in_check else result.text or ""
    first, last = max(0, sighting.start - AROUND), sighting.end + AROUND
    return Passage(
        number=number,
        reason=sighting.reason,
        before=text[first : sighting.start],
        quote=text[sighting.start : sighting.end],
        behind=text[sighting.end : last],
        start=sighting.start,
        length=len(text),
        is_of_check=sighting.in_check,
        is_cut_before=first > 0,
        is_cut_behind=last < len(text),
    )

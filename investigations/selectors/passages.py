"""What a citation points at, within the words that stand around it in the stored result."""

import uuid
from dataclasses import dataclass

from agents.citations import Ref
from agents.types import StoredResult
from investigations.selectors.tool_results import read_tool_results
from safety.grounding.likely_passages import Source, find_likely_passage
from safety.grounding.proofs import Proofs, Sighting

AROUND = 1_500
"""Characters before and behind a passage that are shown with it."""
UNFINISHED = "it has no result yet"


@dataclass(frozen=True)
class Passage:
    """A part of a result with what it is: the quote itself, or what reads most like a claim.

    `marked` is empty where nothing can be pointed at; then the beginning of the result is shown.
    `reason` is a clause on what is wrong or weak, empty where nothing is.
    """

    number: int
    reason: str = ""
    before: str = ""
    marked: str = ""
    behind: str = ""
    start: int = 0
    length: int = 0
    is_quote: bool = False
    is_of_check: bool = False
    is_cut_before: bool = False
    is_cut_behind: bool = False
    result: str = ""
    """The whole result."""

    @property
    def end(self) -> int:
        return self.start + len(self.marked)

    @property
    def is_empty(self) -> bool:
        return not (self.before or self.marked or self.behind)


def read_passage(session_id: uuid.UUID, number: int, quote: str, claim: str = "") -> Passage:
    """Where a quote stands in the result of a tool call of a session.

    Without a quote, or where no result has it, the passage that reads most like the claim.
    """
    results = read_tool_results(session_id, [number])
    result = results.get(number)
    if result is None or result.text is None:
        reason = UNFINISHED if result is not None else f"this session has no tool call T{number}"
        return Passage(number, reason)
    if not quote:
        return _read_likely(number, result, claim, "")
    sighting = Proofs(results).find(Ref(number, quote))
    if sighting.verdict == "missing" or not sighting.end:
        return _read_likely(number, result, claim or quote, sighting.reason)
    return _read_quote(number, result, sighting)


def _read_quote(number: int, result: StoredResult, sighting: Sighting) -> Passage:
    text = result.check if sighting.in_check else result.text or ""
    return _cut(
        Passage(
            number, sighting.reason, is_quote=True, is_of_check=sighting.in_check,
        ),
        text, sighting.start, sighting.end,
    )  # fmt: skip


def _read_likely(number: int, result: StoredResult, claim: str, reason: str) -> Passage:
    text = result.text or ""
    found = find_likely_passage(claim, Source(text)) if claim else None
    start, end = (found.start, found.end) if found is not None else (0, 0)
    return _cut(Passage(number, reason), text, start, end)


def _cut(found: Passage, text: str, start: int, end: int) -> Passage:
    first, last = max(0, start - AROUND), end + AROUND
    return Passage(
        number=found.number,
        reason=found.reason,
        before=text[first:start],
        marked=text[start:end],
        behind=text[end:last],
        start=start,
        length=len(text),
        is_quote=found.is_quote,
        is_of_check=found.is_of_check,
        is_cut_before=first > 0,
        is_cut_behind=last < len(text),
        result=text,
    )

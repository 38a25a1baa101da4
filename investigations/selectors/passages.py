"""What a citation points at, within the words that stand around it in the stored result."""

import uuid
from dataclasses import dataclass, replace

from agents.citations import Ref
from agents.types import StoredResult
from investigations.selectors.json_layout import lay_out
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
    `reason` is a clause on what is wrong or weak, empty where nothing is. JSON is laid out for
    reading: `start`, `end`, `length` and `quote` are of the stored result all the same.
    """

    number: int
    reason: str = ""
    before: str = ""
    marked: str = ""
    behind: str = ""
    quote: str = ""
    start: int = 0
    end: int = 0
    length: int = 0
    is_laid_out: bool = False
    is_quote: bool = False
    is_of_check: bool = False
    is_cut_before: bool = False
    is_cut_behind: bool = False
    result: str = ""
    """The whole result."""

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
    laid_out = lay_out(text)
    shown, first, last = text, start, end
    if laid_out is not None:
        shown = laid_out.text
        first, last = laid_out.find(start, end) if end > start else (0, 0)
    begin, stop = max(0, first - AROUND), last + AROUND
    return replace(
        found,
        before=shown[begin:first],
        marked=shown[first:last],
        behind=shown[last:stop],
        quote=text[start:end],
        start=start,
        end=end,
        length=len(text),
        is_laid_out=laid_out is not None,
        is_cut_before=begin > 0,
        is_cut_behind=stop < len(shown),
        result=text,
    )

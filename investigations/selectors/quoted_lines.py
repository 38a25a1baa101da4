"""What a claim quotes, as one line: the quote within the line of the result that it stands in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from agents.citations import Ref
from agents.types import StoredResult
from safety.grounding.claim_states import JudgedClaim
from safety.grounding.proofs import Sighting

LONGEST = 240
"""Characters of a quote that are shown in a line."""
BEFORE, BEHIND = 12, 80
"""Characters of the same line that are shown before it and behind it: few before, as the line is
cut where there is no more room for it, and the quote is what it is about."""
_BLANK = re.compile(r"\s+")


@dataclass(frozen=True)
class QuotedLine:
    """Of a quote that no result has, only its words are there, and `is_missing` says so."""

    ref: Ref
    quote: str
    before: str = ""
    behind: str = ""
    is_missing: bool = False
    is_of_check: bool = False


def list_quoted_lines(
    claims: Iterable[JudgedClaim], results: Mapping[int, StoredResult]
) -> tuple[QuotedLine, ...]:
    """The quotes of claims in the order in which they are cited, each once."""
    pairs = dict.fromkeys(pair for claim in claims for pair in claim.sightings)
    return tuple(_lines(pairs, results))


def _lines(
    pairs: Iterable[tuple[Ref, Sighting]], results: Mapping[int, StoredResult]
) -> Iterator[QuotedLine]:
    for ref, sighting in pairs:
        result = results.get(ref.number)
        if sighting.verdict == "missing":
            yield QuotedLine(ref, _fold(ref.quote or "")[:LONGEST], is_missing=True)
        elif result is not None and sighting.end:
            text = result.check if sighting.in_check else result.text or ""
            yield _cut_out(ref, text, sighting)


def _cut_out(ref: Ref, text: str, sighting: Sighting) -> QuotedLine:
    start, end = sighting.start, sighting.end
    before = _fold(text[max(0, start - LONGEST) : start].rpartition("\n")[2]).lstrip()
    if len(before) > BEFORE:
        before = f"…{before[-BEFORE:].lstrip()}"
    behind = text[end : end + BEHIND].partition("\n")[0]
    return QuotedLine(
        ref, _fold(text[start : min(end, start + LONGEST)]), before,
        _fold(behind).rstrip(), is_of_check=sighting.in_check,
    )  # fmt: skip


def _fold(text: str) -> str:
    return _BLANK.sub(" ", text)

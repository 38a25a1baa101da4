"""Holds the quotes of an answer against the stored results: what no result has is sent back once.

It never holds an answer back for good: what is said again stands, marked.
"""

import re
from collections.abc import Sequence
from itertools import islice

from agents.citations import Ref
from agents.fencing import fence
from agents.ports import MISQUOTED, ProposedAnswer, Review
from agents.types import JSON
from safety.grounding.claim_states import (
    ClaimState,
    Doubt,
    JudgedClaim,
    count_states,
    judge_claims,
)
from safety.grounding.likely_passages import MAX_SEARCHED, Source, find_likely_passage
from safety.grounding.proofs import Proofs, Sighting, show_quote
from safety.grounding.unsupported import Unsupported

SHOWN = 6
SHOWN_PASSAGE = 400
AROUND = 120
_WORD = re.compile(r"\w{3,}")


def judge_quotes(answer: ProposedAnswer, found: Sequence[Unsupported]) -> tuple[JudgedClaim, ...]:
    """The claims of an answer with their states; none where its results cannot be read."""
    if answer.results is None:
        return ()
    doubts = [Doubt(each.start, each.end, each.reason) for each in found]
    return judge_claims(answer.text, answer.results, doubts)


def list_misquoted(claims: Sequence[JudgedClaim]) -> list[JudgedClaim]:
    return [each for each in claims if each.state == ClaimState.MISQUOTED]


def object_to_quotes(answer: ProposedAnswer, misquoted: Sequence[JudgedClaim]) -> Review:
    """What the model is told of its quotes, and what the results say instead."""
    missing = dict.fromkeys(pair for claim in misquoted for pair in claim.missing)
    proofs = Proofs(answer.results or {})
    listed = "\n".join(_explain(ref, sighting, proofs) for ref, sighting in islice(missing, SHOWN))
    return Review(
        answer.text,
        objection=f"{MISQUOTED}\n{listed}\n"
        "Give the whole answer once more. A quote is copied word for word from one result; where "
        "you have no such words, cite the number alone, and change a claim that the result does "
        "not bear out.",
        reason=_say_missing([sighting for _, sighting in missing]),
    )


def _say_missing(sightings: Sequence[Sighting]) -> str:
    """What is wrong, with the first quote, for people."""
    more = len(sightings) - 1
    others = f", and {more} {'quote' if more == 1 else 'quotes'} more like it" if more > 0 else ""
    return f"{sightings[0].reason}{others}." if sightings else "It quotes what no result says."


def describe_claims(claims: Sequence[JudgedClaim], text: str, shift: int) -> dict[str, JSON]:
    """What is kept beside an answer, whose text stands `shift` characters further on."""
    counts = count_states([each.state for each in claims])
    kept: dict[str, JSON] = {"claims": {str(each): counts.of(each) for each in ClaimState}}
    misquoted: list[JSON] = [
        {
            "start": each.claim.start + shift,
            "end": each.claim.end + shift,
            "text": text[each.claim.start : each.claim.end],
            "kind": "quote",
            "reason": each.reason,
        }
        for each in list_misquoted(claims)
    ]
    return {**kept, "misquoted": misquoted} if misquoted else kept


def _explain(ref: Ref, sighting: Sighting, proofs: Proofs) -> str:
    """Why a quote was not found, and the other result that has it, or the words nearest to it."""
    said = f"- {show_quote(ref.quote or '')}: {sighting.reason}."
    for number in proofs.results:
        if proofs.find(Ref(number, ref.quote)).verdict == "found":
            return f"{said} T{number} says it."
    result = proofs.results.get(ref.number)
    near = _find_near(ref.quote or "", result.text) if result and result.text else ""
    return f"{said} It says:\n{fence(near, f'result of T{ref.number}')}" if near else said


def _find_near(quote: str, text: str) -> str:
    """Where a result says something like a quote; empty where it says nothing like it."""
    passage = find_likely_passage(quote, Source(text))
    if passage is not None:
        return text[passage.start : passage.end][:SHOWN_PASSAGE]
    words = sorted(set(_WORD.findall(quote[:SHOWN_PASSAGE])), key=len, reverse=True)
    for word in words[:SHOWN]:
        found = re.search(re.escape(word), text[:MAX_SEARCHED], re.IGNORECASE)
        if found is not None:
            return text[max(0, found.start() - AROUND) : found.end() + AROUND].strip()
    return ""

"""What a review did not look at: said in lines of ours, above the text that it is about."""

from collections.abc import Iterator

from agents.types import NOT_CHECKED
from safety.evidence import Evidence
from safety.grounding.cited_check import MAX_NARROWED
from safety.grounding.claims import MAX_CLAIMS, MAX_READ, find_claims
from safety.grounding.facts import MAX_NUMBERED


def name_unjudged(text: str, evidence: Evidence) -> Iterator[str]:
    """A line for each limit that a text, or the results behind it, go beyond."""
    if sum(len(call.text) for call in evidence.succeeded) > MAX_NUMBERED:
        yield (
            f"{NOT_CHECKED} figures and times of this text: the results behind it have more than "
            f"{MAX_NUMBERED:,} characters together. Only figures that cite results of up to "
            f"{MAX_NARROWED:,} characters were held against these."
        )
    if len(text) > MAX_READ:
        yield f"{NOT_CHECKED} what stands behind the first {MAX_READ:,} characters of this text."
    elif len(find_claims(text)) >= MAX_CLAIMS:
        yield f"{NOT_CHECKED} the claims of this text behind the first {MAX_CLAIMS}."

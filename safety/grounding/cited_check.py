"""Figures of claims that cite calls, held against those calls: what stands in another is told."""

from collections.abc import Iterator, Mapping, Sequence

from safety.evidence import SettledCall
from safety.grounding.claims import Claim
from safety.grounding.clauses import find_sentence, split_clauses
from safety.grounding.facts import MAX_NUMBERED, Facts
from safety.grounding.numbers_check import StatedNumbers, check_numbers
from safety.grounding.quantities import find_claimed
from safety.grounding.unsupported import Unsupported

MAX_NARROWED = 200_000
"""Characters of cited results that are read where all results together are too long to be."""


class CitedFigures:
    """`claims` are those of the text, in order; `calls` those that it may cite, by number."""

    def __init__(
        self,
        text: str,
        claims: Sequence[Claim],
        calls: Mapping[int, SettledCall],
        facts: Facts,
    ) -> None:
        self._text = text
        self._claims = claims
        self._calls = calls
        self._facts = facts
        self._left = MAX_NUMBERED if facts.is_read_whole else MAX_NARROWED
        self._known: dict[tuple[int, ...], tuple[Facts, StatedNumbers]] = {}

    def check(self) -> Iterator[Unsupported]:
        """Every figure that the calls cited for it do not give, in sentences that cite them."""
        clauses = [each for each in split_clauses(self._text) if each.mood == "fact"]
        place = 0
        for claim in self._claims:
            if not claim.refs or not self._may_read(claim.refs):
                continue
            start = max(claim.start, find_sentence(self._text, max(claim.start, claim.end - 1))[0])
            while place < len(clauses) and clauses[place].start + len(clauses[place].text) <= start:
                place += 1
            facts, stated = self._narrow(claim.refs)
            for clause in clauses[place:]:
                if clause.start >= claim.end:
                    break
                for found in check_numbers(clause, stated, facts):
                    if start <= found.start < claim.end:
                        yield self._explain(found, claim)

    def _may_read(self, numbers: tuple[int, ...]) -> bool:
        """Whether these calls are known, and no longer than what may still be read."""
        if numbers in self._known or not all(number in self._calls for number in numbers):
            return numbers in self._known
        length = sum(len(self._calls[number].text) for number in numbers)
        if length > self._left:
            return False
        self._left -= 0 if self._facts.is_read_whole else length
        return True

    def _narrow(self, numbers: tuple[int, ...]) -> tuple[Facts, StatedNumbers]:
        if numbers not in self._known:
            narrowed = self._facts.narrow([self._calls[number] for number in numbers])
            self._known[numbers] = narrowed, StatedNumbers(self._text, narrowed)
        return self._known[numbers]

    def _explain(self, found: Unsupported, claim: Claim) -> Unsupported:
        """With the other call that has the figure, where one has."""
        said = self._text[found.start : found.end]
        cited = " and ".join(f"T{number}" for number in claim.refs)
        quantity = next(find_claimed(said), None)
        for number in self._calls:
            if quantity is None or number in claim.refs or not self._may_read((number,)):
                continue
            if self._narrow((number,))[0].has(quantity):
                reason = f"it stands in T{number}, not in the cited {cited}"
                return Unsupported(found.start, found.end, found.kind, reason)
        figure = " ".join(said.split())
        reason = f"the cited {cited} does not give {figure}"
        return Unsupported(found.start, found.end, found.kind, reason)

"""The claims of a report: what it states as fact, each with the tool calls it cites."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from agents.citations import Citation, Ref, blank_quotes, find_citations
from safety.grounding.clauses import Clause, split_clauses

MAX_CLAIMS = 200
MAX_READ = 60_000
"""Characters of a report that are looked at."""
_MAX_CITED = 4 * MAX_READ
"""Characters within which the last citation that is looked at has to end."""

_BEHIND_CITATION = ". \t\r\n"
_NEW_BLOCK = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6}|>)[ \t]")


@dataclass(frozen=True)
class Claim:
    """A passage of a report, in characters of it, and what it cites, in order.

    One that is not stated as fact advises, guesses or names a gap.
    """

    start: int
    end: int
    cites: tuple[Ref, ...] = ()
    is_fact: bool = True

    @property
    def refs(self) -> tuple[int, ...]:
        """The numbers of the calls it cites, each once."""
        return tuple(dict.fromkeys(ref.number for ref in self.cites))


def find_claims(report: str) -> tuple[Claim, ...]:
    """Every passage that cites a call, and every other one that states a fact, in order.

    What stands before a citation in the same paragraph or item, back to the citation before it,
    is what it is cited for.
    """
    read = report[:_MAX_CITED]
    citations = find_citations(read)
    reader = _Reader(citations)
    claims: list[Claim] = []
    for block in _split_blocks(blank_quotes(read, citations)[:MAX_READ]):
        claims += reader.read_block(block)
        if len(claims) >= MAX_CLAIMS:
            break
    return tuple(claims[:MAX_CLAIMS])


def _split_blocks(report: str) -> Iterator[list[Clause]]:
    block: list[Clause] = []
    for clause in split_clauses(report):
        if block and _NEW_BLOCK.search(report, _end_of(block[-1]) - 1, clause.start + 1):
            yield block
            block = []
        block.append(clause)
    if block:
        yield block


class _Reader:
    """Reads the claims of a report whose citations are known."""

    def __init__(self, citations: Sequence[Citation]) -> None:
        self._citations = citations

    def read_block(self, block: list[Clause]) -> Iterator[Claim]:
        waiting: list[Clause] = []
        for clause in block:
            citations = self._within(clause)
            said = _leave_out(clause, self._overlapping(clause)).strip(" .\t")
            cites = tuple(ref for each in citations for ref in each.refs)
            if not cites and said:
                waiting.append(clause)
            elif cites and (said or waiting):
                start = (waiting or [clause])[0]
                end = _said_end(clause, citations) if said else self._end_before(waiting[-1])
                is_fact = any(each.mood != "other" for each in (*waiting, clause))
                yield replace(_trim(start, end, cites), is_fact=is_fact)
                waiting = []
        for clause in waiting:
            if clause.mood == "fact":
                yield _trim(clause, _end_of(clause), ())

    def _end_before(self, clause: Clause) -> int:
        return _said_end(clause, self._within(clause))

    def _within(self, clause: Clause) -> Sequence[Citation]:
        """The citations that begin in a clause."""
        by_start = attrgetter("start")
        first = bisect_left(self._citations, clause.start, key=by_start)
        last = bisect_left(self._citations, clause.start + len(clause.text), key=by_start)
        return self._citations[first:last]

    def _overlapping(self, clause: Clause) -> Sequence[Citation]:
        """These, and one that began before: a long quote may be cut into several clauses."""
        first = bisect_left(self._citations, clause.start, key=attrgetter("start"))
        return [*self._citations[max(0, first - 1) : first], *self._within(clause)]


def _leave_out(clause: Clause, citations: Sequence[Citation]) -> str:
    pieces: list[str] = []
    position = 0
    for each in citations:
        pieces.append(clause.text[position : max(position, each.start - clause.start)])
        position = max(position, each.end - clause.start)
    return "".join([*pieces, clause.text[position:]])


def _trim(first: Clause, end: int, cites: tuple[Ref, ...]) -> Claim:
    return Claim(first.start + len(first.text) - len(first.text.lstrip()), end, cites)


def _said_end(clause: Clause, citations: Sequence[Citation]) -> int:
    """Where the words of a clause end: before the citation at its end."""
    text = clause.text.rstrip()
    end = len(text)
    for citation in reversed(citations):
        start, behind = citation.start - clause.start, citation.end - clause.start
        if text[behind:end].strip(_BEHIND_CITATION):
            break
        end = len(text[:start].rstrip())
    return clause.start + end


def _end_of(clause: Clause) -> int:
    return clause.start + len(clause.text.rstrip())

"""The claims of a report: what it states as fact, each with the tool calls it cites."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from safety.grounding.clauses import Clause, split_clauses

MAX_CLAIMS = 200
MAX_READ = 60_000
"""Characters of a report that are looked at."""

_CITATION = re.compile(r"\[(T\d{1,9}(?:[ \t]{0,3}[,;][ \t]{0,3}T?\d{1,9}){0,50})\]", re.IGNORECASE)
_BEHIND_CITATION = ". \t\r\n"
_NUMBER = re.compile(r"\d{1,9}")
_NEW_BLOCK = re.compile(r"\n[ \t]*\n|\n[ \t]*(?:[-*+\u2022]|\d{1,3}[.)]|#{1,6}|>)[ \t]")


@dataclass(frozen=True)
class Claim:
    """A passage of a report, in characters of it, and the numbers of the calls it cites."""

    start: int
    end: int
    refs: tuple[int, ...] = ()


def find_claims(report: str) -> tuple[Claim, ...]:
    """Every passage that cites a call, and every other one that states a fact, in order.

    What stands before a citation in the same paragraph or item, back to the citation before it,
    is what it is cited for.
    """
    claims: list[Claim] = []
    for block in _split_blocks(report[:MAX_READ]):
        claims += _read_block(block)
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


def _read_block(block: list[Clause]) -> Iterator[Claim]:
    waiting: list[Clause] = []
    for clause in block:
        refs = _find_refs(clause.text)
        said = _CITATION.sub("", clause.text).strip(" .\t")
        if not refs:
            waiting.append(clause)
        elif said or waiting:
            start = (waiting or [clause])[0]
            last = clause if said else waiting[-1]
            yield _trim(start, _said_end(last), refs)
            waiting = []
    for clause in waiting:
        if clause.mood == "fact":
            yield _trim(clause, _end_of(clause), ())


def _trim(first: Clause, end: int, refs: tuple[int, ...]) -> Claim:
    return Claim(first.start + len(first.text) - len(first.text.lstrip()), end, refs)


def _said_end(clause: Clause) -> int:
    """Where the words of a clause end: before the citation at its end."""
    text = clause.text.rstrip()
    end = len(text)
    for citation in reversed(list(_CITATION.finditer(text))):
        if text[citation.end() : end].strip(_BEHIND_CITATION):
            break
        end = len(text[: citation.start()].rstrip())
    return clause.start + end


def _end_of(clause: Clause) -> int:
    return clause.start + len(clause.text.rstrip())


def _find_refs(text: str) -> tuple[int, ...]:
    numbers = (
        int(number)
        for citation in _CITATION.finditer(text)
        for number in _NUMBER.findall(citation.group(1))
    )
    return tuple(dict.fromkeys(numbers))

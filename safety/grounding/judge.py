"""Finds what an answer claims and nothing supports."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter

from agents.citations import blank_quotes
from safety.evidence import Evidence, SettledCall
from safety.grounding.actions_check import check_actions
from safety.grounding.cited_check import CitedFigures
from safety.grounding.claims import find_claims
from safety.grounding.clauses import Clause, split_clauses
from safety.grounding.facts import Facts
from safety.grounding.moments_check import check_moments
from safety.grounding.names_check import check_actor, check_names, check_quotes
from safety.grounding.numbers_check import StatedNumbers, check_numbers
from safety.grounding.phantoms import find_phantoms, find_written_calls
from safety.grounding.recalled import find_recalled, lies_within
from safety.grounding.states_check import check_looks, check_negations, check_states
from safety.grounding.unsupported import Unsupported

MAX_JUDGED = 60_000
"""Characters of an answer that are looked at. No report is longer."""
MAX_READ = MAX_JUDGED + 20_000
"""Characters within which the citations of these have to end."""
_ONLY_RECALLED = (
    "only a note or an earlier session says so, and nothing looked at it now: look, or say that it "
    "is recalled"
)


def find_unsupported(
    answer: str,
    evidence: Evidence,
    given: Iterable[tuple[str, str]] = (),
    tool_names: Collection[str] = (),
    cited: Mapping[int, SettledCall] | None = None,
) -> tuple[Unsupported, ...]:
    """Every passage that no result of this execution supports, in order, none within another.

    `cited` are calls of the evidence by the numbers that the answer cites them by: a figure that it
    cites one of these for has to stand there, or follow from it.

    Citations may quote: what they quote is judged elsewhere.

    Advice, plans, guesses, quotes of the alert and general knowledge claim nothing and are let be.
    """
    text = blank_quotes(answer[:MAX_READ])[:MAX_JUDGED]
    blocks = list(given)
    present = [call for call in evidence if not call.is_recall]
    facts = Facts(present, blocks)
    found = list(find_written_calls(text, tool_names, facts.whole))
    of_now = _find(text, facts)
    if cited:
        of_now += CitedFigures(text, find_claims(answer), cited, facts).check()
    if len(present) < len(evidence):
        of_now = list(_allow_recalled(text, of_now, _find(text, Facts(evidence, blocks))))
    return _join([*found, *of_now])


def _allow_recalled(
    text: str, of_now: Sequence[Unsupported], of_all: Sequence[Unsupported]
) -> Iterator[Unsupported]:
    """What is said of now has to rest on what looked now; what is said to be recalled need not."""
    spans = find_recalled(text)
    known = {(each.start, each.end, each.kind) for each in of_all}
    # What an earlier session read, no run of this one did.
    recalled = (each for each in of_all if each.kind != "look")
    yield from (each for each in recalled if lies_within(each.start, spans))
    for each in of_now:
        if lies_within(each.start, spans):
            continue
        is_recalled = (each.start, each.end, each.kind) not in known
        yield replace(each, reason=_ONLY_RECALLED) if is_recalled else each


def _find(text: str, facts: Facts) -> list[Unsupported]:
    found = list(find_phantoms(text, facts.given)) if not facts.runs else []
    stated = StatedNumbers(text, facts)
    for clause in split_clauses(text):
        found += _check(clause, stated, facts)
    return found


def _check(clause: Clause, stated: StatedNumbers, facts: Facts) -> Iterator[Unsupported]:
    if clause.mood == "other":
        return
    yield from check_names(clause, facts)
    yield from check_moments(clause, facts)
    yield from check_numbers(clause, stated, facts)
    if clause.mood == "alert":
        return
    yield from check_actions(clause, facts)
    yield from check_states(clause, facts)
    yield from check_looks(clause, facts)
    yield from check_negations(clause, facts)
    yield from check_quotes(clause, facts)
    yield from check_actor(clause, facts)


def _join(found: list[Unsupported]) -> tuple[Unsupported, ...]:
    """Of passages that overlap, the one that is a phantom, else the longer one."""
    ranked = sorted(found, key=lambda each: (not each.is_phantom, each.start - each.end))
    kept: list[Unsupported] = []  # In order, so that only its neighbours can overlap a passage.
    for each in ranked:
        place = bisect_left(kept, each.start, key=attrgetter("start"))
        before, behind = kept[max(0, place - 1) : place], kept[place : place + 1]
        if all(other.end <= each.start for other in before) and all(
            each.end <= other.start for other in behind
        ):
            kept.insert(place, each)
    return tuple(kept)

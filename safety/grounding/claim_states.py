"""How far each claim of a report is proved: one set of states, wherever claims are told of."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from agents.citations import Ref
from agents.our_lines import split_our_lines
from agents.report import parse_report, says_nothing
from agents.types import StoredResult
from safety.grounding.claims import MAX_READ, Claim, find_claims
from safety.grounding.proofs import Proofs, Sighting
from safety.grounding.recalled import find_recalled

ONLY_RECALLED = "it cites only what an earlier session or a note says, and does not say so"
UNCITED = "it cites no tool call"
_ANY = re.compile(r"[^\n]")


class ClaimState(StrEnum):
    """In the order in which they are counted."""

    PROVED = "proved"
    """Each quote it cites stands in the result it is cited from and shows something, and each call
    it cites has ended."""
    CITED = "cited"
    """It cites a result, and quotes nothing of it that shows something."""
    DENIED = "denied"
    """A person denied every call it cites: that is neither evidence nor a lack of it."""
    EXPIRED = "expired"
    """No call it cites was let run, and about some nobody decided in time."""
    FAILED = "failed"
    """Every call it cites failed or was refused."""
    MISQUOTED = "misquoted"
    """It quotes what the result does not have."""
    UNCITED = "uncited"
    """It cites no finished call."""


@dataclass(frozen=True)
class Doubt:
    """A passage of a report that its review marked, in characters of it."""

    start: int
    end: int
    reason: str


@dataclass(frozen=True)
class JudgedClaim:
    """A claim with its state; `reason` is a clause on what is wrong, empty where nothing is."""

    claim: Claim
    state: ClaimState
    reason: str = ""
    sightings: tuple[tuple[Ref, Sighting], ...] = ()

    @property
    def missing(self) -> tuple[tuple[Ref, Sighting], ...]:
        """The quotes that no result has."""
        return tuple(each for each in self.sightings if each[1].verdict == "missing")


@dataclass(frozen=True)
class ClaimCounts:
    """How many claims are in each state. `words` are the same wherever they are read."""

    proved: int = 0
    cited: int = 0
    denied: int = 0
    expired: int = 0
    failed: int = 0
    misquoted: int = 0
    uncited: int = 0

    @property
    def total(self) -> int:
        return sum(map(self.of, ClaimState))

    @property
    def words(self) -> str:
        known = [f"{self.of(each)} {each}" for each in ClaimState if self.of(each)]
        return ", ".join(known) or "no claims"

    def of(self, state: ClaimState) -> int:
        count: int = getattr(self, state)
        return count


def count_states(states: Sequence[ClaimState]) -> ClaimCounts:
    return ClaimCounts(**{each: states.count(each) for each in ClaimState})


def judge_claims(
    report: str, results: Mapping[int, StoredResult], doubts: Sequence[Doubt] = ()
) -> tuple[JudgedClaim, ...]:
    """Every claim of a report in order, in characters of it, held against the results it cites.

    Lines of ours claim nothing, and neither does advice or a guess that quotes nothing, the word
    "Nothing." under a heading, and a conclusion that cites no call above claims that do: it sums
    these up, and the report's shape asks it for no citation.
    """
    body = split_our_lines(report)[1]
    begin = len(report) - len(body)
    text = _ANY.sub(" ", report[:begin]) + body
    proofs = Proofs(results)
    recalled = find_recalled(text[: begin + MAX_READ])
    judged = [
        _judge(claim, proofs, doubts, may_recall=_overlaps(claim, recalled))
        for claim in find_claims(text) if _states_something(text, claim)
    ]  # fmt: skip
    return tuple(_leave_out_headline(text, judged))


def _states_something(text: str, claim: Claim) -> bool:
    if claim.cites:
        return claim.is_fact or any(ref.quote is not None for ref in claim.cites)
    return not says_nothing(text[claim.start : claim.end])


def _judge(
    claim: Claim, proofs: Proofs, doubts: Sequence[Doubt], *, may_recall: bool
) -> JudgedClaim:
    quoted = [ref for ref in dict.fromkeys(claim.cites) if ref.quote is not None]
    sightings = tuple((ref, proofs.find(ref)) for ref in quoted)
    state, reason = _decide(claim, proofs.results, sightings)
    known = [proofs.results[number] for number in claim.refs if number in proofs.results]
    is_only_recalled = bool(known) and all(result.is_recall for result in known)
    if is_only_recalled and not may_recall and state in (ClaimState.PROVED, ClaimState.CITED):
        state, reason = ClaimState.CITED, ONLY_RECALLED
    marked = [each.reason for each in doubts if each.start < claim.end and each.end > claim.start]
    if marked and state == ClaimState.PROVED:
        state = ClaimState.CITED
    told = dict.fromkeys((*([reason] if reason else []), *marked))
    return JudgedClaim(claim, state, "; ".join(told), sightings)


def _decide(
    claim: Claim,
    results: Mapping[int, StoredResult],
    sightings: Sequence[tuple[Ref, Sighting]],
) -> tuple[ClaimState, str]:
    missing = [sighting.reason for _, sighting in sightings if sighting.verdict == "missing"]
    if missing:
        return ClaimState.MISQUOTED, "; ".join(dict.fromkeys(missing))
    weak = [sighting.reason for _, sighting in sightings if sighting.verdict == "weak"]
    unknown = [number for number in claim.refs if not _has_ended(results.get(number))]
    if any(sighting.verdict == "found" for _, sighting in sightings):
        # It is as good as the weakest part of what it cites.
        open_ends = [*weak, *(_name_unknown([number]) for number in unknown)]
        state = ClaimState.CITED if open_ends else ClaimState.PROVED
        return state, "; ".join(dict.fromkeys(open_ends))
    if not claim.refs:
        return ClaimState.UNCITED, UNCITED
    ended = [results[number] for number in claim.refs if _has_ended(results.get(number))]
    if not ended:
        return ClaimState.UNCITED, _name_unknown(claim.refs)
    decisions = {result.not_approved for result in ended}
    if decisions == {"denied"}:
        return ClaimState.DENIED, "a person denied what it cites, and it did not run"
    if None not in decisions:
        return ClaimState.EXPIRED, "nobody approved what it cites in time, and it did not run"
    if all(result.is_error for result in ended):
        return ClaimState.FAILED, "the calls it cites failed or were refused"
    told = [*weak, *(_name_unknown([number]) for number in unknown)]
    return ClaimState.CITED, "; ".join(dict.fromkeys(told))


def _name_unknown(numbers: Sequence[int]) -> str:
    named = ", ".join(f"T{number}" for number in numbers)
    return f"this session has no finished tool call {named}"


def _has_ended(result: StoredResult | None) -> bool:
    return result is not None and result.text is not None


def _leave_out_headline(text: str, judged: Sequence[JudgedClaim]) -> Iterator[JudgedClaim]:
    start, end = _find_headline(text, judged)
    for each in judged:
        is_headline = start <= each.claim.start < end and each.reason == UNCITED
        if not is_headline:
            yield each


def _find_headline(text: str, judged: Sequence[JudgedClaim]) -> tuple[int, int]:
    """Where a conclusion stands that may do without citations; nowhere where nothing backs it."""
    parsed = parse_report(text)
    is_backed = any(each.state in (ClaimState.PROVED, ClaimState.CITED) for each in judged)
    start = text.find(parsed.conclusion.splitlines()[0]) if parsed is not None else -1
    if parsed is None or not is_backed or start < 0:
        return 0, 0
    return start, start + len(parsed.conclusion)


def _overlaps(claim: Claim, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start < claim.end and end > claim.start for start, end in spans)

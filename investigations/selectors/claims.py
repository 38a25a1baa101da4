"""How far the claims of a report are proved: one answer for page, API, Slack and terminal."""

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import itemgetter

from agents.citations import find_citations
from agents.types import StoredResult
from investigations.rendering.markdown import CitedTool
from investigations.selectors.quoted_lines import QuotedLine, list_quoted_lines
from investigations.selectors.session_page.unsupported import (
    UnsupportedSpan,
    read_marks,
)
from investigations.selectors.tool_results import read_tool_results
from safety.grounding.claim_states import (
    ClaimCounts,
    ClaimState,
    Doubt,
    JudgedClaim,
    count_states,
    judge_claims,
)
from safety.grounding.claims import MAX_READ

CLAIM_STATES = tuple(map(str, ClaimState))
WORST_FIRST = (
    ClaimState.MISQUOTED,
    ClaimState.FAILED,
    ClaimState.UNCITED,
    ClaimState.EXPIRED,
    ClaimState.DENIED,
    ClaimState.CITED,
    ClaimState.PROVED,
)
MAX_CALLS = 200
"""Of more calls than this that a report cites, the first ones are looked at."""


@dataclass(frozen=True)
class PartOfReport:
    """The worst state of the claims of a part, None where it has none, and what they quote."""

    state: ClaimState | None
    quotes: tuple[QuotedLine, ...] = ()


@dataclass(frozen=True)
class ReportClaims:
    """The claims of a report, and the passages of it that its review marked."""

    claims: Sequence[JudgedClaim] = ()
    marks: Sequence[UnsupportedSpan] = ()
    results: Mapping[int, StoredResult] = field(default_factory=dict)
    """The results that it cites: the texts of those that it quotes."""

    @property
    def counts(self) -> ClaimCounts:
        return count_states(self.states)

    @property
    def states(self) -> list[ClaimState]:
        """The state of each that `counts` counts, in the order of the report."""
        placed = [(each.claim.start, each.state) for each in self.claims]
        placed += [(each.start, ClaimState.UNCITED) for each in self.marks_outside]
        return [state for _, state in sorted(placed, key=itemgetter(0))]

    @property
    def marks_outside(self) -> list[UnsupportedSpan]:
        """Marked passages that belong to no claim, and so stand for one themselves."""
        places = [(each.claim.start, each.claim.end) for each in self.claims]
        return [
            mark for mark in self.marks
            if not any(start < mark.end and end > mark.start for start, end in places)
        ]  # fmt: skip

    def count_within(self, report: str, texts: Sequence[str]) -> int:
        """How many of those that `counts` counts begin in one of these parts of the report."""
        begins = [each.claim.start for each in self.claims]
        begins += [each.start for each in self.marks_outside]
        starts = [(report.find(text), len(text)) for text in texts]
        ranges = [range(start, start + length) for start, length in starts if start >= 0]
        return sum(any(begin in each for each in ranges) for begin in begins)

    def within(self, report: str, text: str) -> "PartOfReport":
        """What is known of the claims in a part of the report."""
        start = report.find(text)
        end = start + len(text)
        found = [each for each in self.claims if 0 <= start <= each.claim.start < end]
        states = {each.state for each in found}
        worst = next((each for each in WORST_FIRST if each in states), None)
        return PartOfReport(worst, list_quoted_lines(found, self.results))

    def mark_misquoted(self, tools: Mapping[int, CitedTool]) -> dict[int, CitedTool]:
        """The tool calls, each with the quotes that it is known not to have."""
        missing: dict[int, set[str]] = defaultdict(set)
        for each in self.claims:
            for ref, _ in each.missing:
                missing[ref.number].add(ref.quote or "")
        return {
            number: replace(tool, misquoted=frozenset(missing[number])) if number in missing
            else tool
            for number, tool in tools.items()
        }  # fmt: skip


def judge_report(session_id: uuid.UUID, report: str) -> ReportClaims:
    """The claims of a session's report in order; none where there is no report."""
    if not report:
        return ReportClaims()
    marks, repeated = read_marks(session_id, report)
    refs = [ref for each in find_citations(report[:MAX_READ]) for ref in each.refs]
    numbers = list(dict.fromkeys(ref.number for ref in refs))[:MAX_CALLS]
    quoted = {ref.number for ref in refs if ref.quote is not None}.intersection(numbers)
    results = read_tool_results(session_id, numbers, with_text=quoted)
    claims = _judge(report, results, marks)
    if doubted := _without_proof(repeated, marks, claims):
        marks = tuple(sorted((*marks, *doubted), key=lambda each: each.start))
        claims = _judge(report, results, marks)
    return ReportClaims(claims, marks, results)


def _judge(
    report: str, results: Mapping[int, StoredResult], marks: Sequence[UnsupportedSpan]
) -> tuple[JudgedClaim, ...]:
    doubts = [Doubt(each.start, each.end, each.reason) for each in marks]
    return judge_claims(report, results, doubts)


def _without_proof(
    repeated: Sequence[UnsupportedSpan],
    marks: Sequence[UnsupportedSpan],
    claims: Sequence[JudgedClaim],
) -> list[UnsupportedSpan]:
    """What was marked before and is neither marked anew nor proved by a quote since."""
    proved = [each.claim for each in claims if each.state == ClaimState.PROVED]
    taken = [(each.start, each.end) for each in marks]
    taken += [(each.start, each.end) for each in proved]
    return [
        each for each in repeated
        if not any(start < each.end and end > each.start for start, end in taken)
    ]  # fmt: skip

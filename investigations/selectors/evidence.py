"""What a session's report rests on: each claim with the tool calls behind it and their words."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from agents.types import StoredResult
from investigations.models import TimelineEvent
from investigations.selectors.claims import ReportClaims, judge_report
from investigations.selectors.session_page.unsupported import UnsupportedSpan
from investigations.selectors.sessions import visible_sessions
from investigations.selectors.tool_results import read_tool_results
from safety.grounding.claim_states import ClaimCounts, ClaimState, JudgedClaim
from safety.grounding.claims import MAX_READ
from safety.grounding.likely_passages import (
    MAX_SEARCHED,
    LikelyPassage,
    Source,
    find_likely_passage,
)
from safety.grounding.recalled import find_recalled
from tarsy.errors import NotFound

MAX_CALLS = 200
"""Of more calls than this, those that are cited and the newest of the others are looked at."""
MAX_MATCHED = 20_000_000
"""Characters of results that are searched for claims that cite no call."""


@dataclass(frozen=True)
class EvidenceCall:
    """A tool call behind a claim, with a passage of its result as it is stored: masked.

    One that `is_quoted` is what the claim quotes; any other is what shares most with the claim.
    """

    number: int
    event_id: uuid.UUID
    server_name: str
    tool_name: str
    is_error: bool
    is_cited: bool
    is_quoted: bool = False
    is_of_check: bool = False
    quote: str | None = None
    quote_start: int | None = None
    quote_end: int | None = None


@dataclass(frozen=True)
class EvidenceClaim:
    """A passage of the final analysis, in characters of it; `reason` says what is wrong with it."""

    text: str
    start: int
    end: int
    state: ClaimState
    reason: str
    calls: tuple[EvidenceCall, ...]
    unsupported: tuple[UnsupportedSpan, ...] = ()


@dataclass(frozen=True)
class SessionEvidence:
    session_id: uuid.UUID
    claims: tuple[EvidenceClaim, ...]
    counts: ClaimCounts


def get_evidence(session_id: uuid.UUID) -> SessionEvidence:
    """The claims of a session's final analysis; none before it has one. Raises NotFound."""
    session = visible_sessions().filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"there is no session {session_id}")
    report = session.final_analysis
    judged = judge_report(session_id, report)
    calls = _Calls(_read_calls(session_id, judged))
    recalled = find_recalled(report[:MAX_READ])
    found = [_describe(report, each, calls, judged.marks, recalled) for each in judged.claims]
    found += [_of_mark(report, mark) for mark in judged.marks_outside]
    in_order = tuple(sorted(found, key=lambda claim: claim.start))
    return SessionEvidence(session_id, in_order, judged.counts)


class _Call:
    """A tool call that has ended."""

    def __init__(self, event: TimelineEvent, result: StoredResult) -> None:
        self._event = event
        self._result = result
        self.number: int = event.metadata["tool_number"]
        self.is_error = result.is_error
        self.is_recall = result.is_recall

    @cached_property
    def source(self) -> Source:
        return Source((self._result.text or "")[:MAX_SEARCHED])

    def find_passage(self, text: str, *, is_cited: bool) -> EvidenceCall:
        """With the passage that reads most like a claim."""
        return self.describe(find_likely_passage(text, self.source), is_cited=is_cited)

    def describe(self, passage: LikelyPassage | None, *, is_cited: bool) -> EvidenceCall:
        if passage is None:
            return self._write(is_cited=is_cited)
        return self._write(is_cited=is_cited, place=(passage.start, passage.end))

    def show_quoted(self, start: int, end: int, *, in_check: bool) -> EvidenceCall:
        return self._write(is_cited=True, is_quoted=True, in_check=in_check, place=(start, end))

    def _write(
        self, *, is_cited: bool, is_quoted: bool = False, in_check: bool = False,
        place: tuple[int, int] | None = None,
    ) -> EvidenceCall:  # fmt: skip
        data = self._event.metadata
        text = self._result.check if in_check else self._result.text or ""
        return EvidenceCall(
            number=self.number,
            event_id=self._event.pk,
            server_name=str(data.get("server_name") or ""),
            tool_name=str(data.get("tool_name") or ""),
            is_error=self.is_error,
            is_cited=is_cited,
            is_quoted=is_quoted,
            is_of_check=in_check,
            quote=text[place[0] : place[1]] if place else None,
            quote_start=place[0] if place else None,
            quote_end=place[1] if place else None,
        )


class _Calls:
    """The calls of a session by number, and how much may still be searched in them."""

    def __init__(self, calls: Mapping[int, _Call]) -> None:
        self.by_number = calls
        self._left = MAX_MATCHED

    def match(self, text: str, *, may_recall: bool) -> tuple[EvidenceCall, ...]:
        """The call that a claim without a citation rests on: it has a figure or name of it."""
        best: tuple[LikelyPassage, _Call] | None = None
        for call in self._affordable():
            if call.is_recall and not may_recall:
                continue
            passage = find_likely_passage(text, call.source)
            if passage is None or not passage.strong or passage.weight <= 3:
                continue
            if best is None or passage.weight > best[0].weight:
                best = passage, call
        return (best[1].describe(best[0], is_cited=False),) if best else ()

    def _affordable(self) -> Iterator[_Call]:
        for call in self.by_number.values():
            self._left -= len(call.source.text)
            if self._left < 0:
                return
            if not call.is_error:
                yield call


def _read_calls(session_id: uuid.UUID, judged: ReportClaims) -> dict[int, _Call]:
    events = (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.LLM_TOOL_CALL,
            status=TimelineEvent.Status.COMPLETED,
        )
        .only("id", "metadata")
        .order_by("-sequence_number")
    )
    numbered = {
        event.metadata["tool_number"]: event
        for event in events if isinstance(event.metadata.get("tool_number"), int)
    }  # fmt: skip
    cited = {number for each in judged.claims for number in each.claim.refs if number in numbered}
    others = [number for number in numbered if number not in cited]
    chosen = sorted((*cited, *others[: max(0, MAX_CALLS - len(cited))]))
    results = read_tool_results(session_id, chosen)
    return {number: _Call(numbered[number], results[number]) for number in chosen}


def _describe(
    report: str,
    judged: JudgedClaim,
    calls: _Calls,
    spans: Sequence[UnsupportedSpan],
    recalled: Sequence[tuple[int, int]],
) -> EvidenceClaim:
    claim = judged.claim
    text = report[claim.start : claim.end]
    within = tuple(span for span in spans if span.start < claim.end and span.end > claim.start)
    backing = tuple(_list_cited(text, judged, calls))
    if not claim.refs:
        may_recall = any(start < claim.end and end > claim.start for start, end in recalled)
        backing = calls.match(text, may_recall=may_recall)
    return EvidenceClaim(text, claim.start, claim.end, judged.state, judged.reason, backing, within)


def _list_cited(text: str, judged: JudgedClaim, calls: _Calls) -> Iterator[EvidenceCall]:
    """Each quote that stands in a result, and of calls without one the likeliest passage."""
    shown: set[int] = set()
    for ref, sighting in judged.sightings:
        call = calls.by_number.get(ref.number)
        if call is not None and sighting.verdict != "missing" and sighting.end:
            shown.add(ref.number)
            yield call.show_quoted(sighting.start, sighting.end, in_check=sighting.in_check)
    for number in judged.claim.refs:
        if number in calls.by_number and number not in shown:
            yield calls.by_number[number].find_passage(text, is_cited=True)


def _of_mark(report: str, mark: UnsupportedSpan) -> EvidenceClaim:
    """What the review marked in a passage that is no claim."""
    text = report[mark.start : mark.end]
    return EvidenceClaim(text, mark.start, mark.end, ClaimState.UNCITED, mark.reason, (), (mark,))

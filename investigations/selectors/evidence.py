"""What a session's report rests on: each claim with the tool calls behind it and their words."""

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from django.db.models.functions import Left

from agents.report import parse_report
from investigations.models import TimelineEvent
from investigations.selectors.session_page.unsupported import (
    UnsupportedSpan,
    unsupported_of_session,
)
from investigations.selectors.sessions import visible_sessions
from safety.evidence import is_recall
from safety.grounding.claims import MAX_READ, Claim, find_claims
from safety.grounding.quotes import MAX_SEARCHED, Quote, Source, find_quote
from safety.grounding.recalled import find_recalled
from tarsy.errors import NotFound

MAX_CALLS = 200
"""Of more calls than this, those that are cited and the newest of the others are looked at."""
MAX_MATCHED = 20_000_000
"""Characters of results that are searched for claims that cite no call."""

_OWN_SERVER = "ops"
_ONLY_RECALLED = "it cites only what an earlier session or a note says, and does not say so"

ClaimStatus = Literal["supported", "unsupported", "unmatched"]
"""`unmatched`: calls are cited, and nothing in them reads like the claim; a person has to look."""


@dataclass(frozen=True)
class EvidenceCall:
    """A tool call behind a claim. The quote is as the result is stored: masked, and maybe cut."""

    number: int
    event_id: uuid.UUID
    server_name: str
    tool_name: str
    is_error: bool
    is_cited: bool
    quote: str | None
    quote_start: int | None
    quote_end: int | None


@dataclass(frozen=True)
class EvidenceClaim:
    """A passage of the final analysis, in characters of it; `reason` says what is wrong with it."""

    text: str
    start: int
    end: int
    status: ClaimStatus
    reason: str
    calls: tuple[EvidenceCall, ...]
    unsupported: tuple[UnsupportedSpan, ...] = ()


@dataclass(frozen=True)
class SessionEvidence:
    session_id: uuid.UUID
    claims: tuple[EvidenceClaim, ...]

    @property
    def supported(self) -> int:
        return self._count("supported")

    @property
    def unsupported(self) -> int:
        return self._count("unsupported")

    @property
    def unmatched(self) -> int:
        return self._count("unmatched")

    def _count(self, status: ClaimStatus) -> int:
        return sum(claim.status == status for claim in self.claims)


def get_evidence(session_id: uuid.UUID) -> SessionEvidence:
    """The claims of a session's final analysis; none before it has one. Raises NotFound."""
    session = visible_sessions().filter(pk=session_id).first()
    if session is None:
        raise NotFound(f"there is no session {session_id}")
    report = session.final_analysis
    claims = find_claims(report)
    cited = {number for claim in claims for number in claim.refs}
    calls = _Calls(_read_calls(session_id, cited))
    spans = unsupported_of_session(session_id, report)
    recalled = find_recalled(report[:MAX_READ])
    found = [_judge(report, claim, calls, spans, recalled) for claim in claims]
    found = _spare_headline(report, found)
    found += _outside(report, spans, found)
    return SessionEvidence(session_id, tuple(sorted(found, key=lambda claim: claim.start)))


class _Call:
    """A tool call that has ended."""

    def __init__(self, event: TimelineEvent, text: str) -> None:
        self._event = event
        self._text = text
        self.number: int = event.metadata["tool_number"]
        self.is_error = bool(event.metadata.get("is_error"))
        self.is_recall = _is_recall(event.metadata)

    @cached_property
    def source(self) -> Source:
        return Source(self._text)

    def describe(self, quote: Quote | None, *, is_cited: bool) -> EvidenceCall:
        data = self._event.metadata
        return EvidenceCall(
            number=self.number,
            event_id=self._event.pk,
            server_name=str(data.get("server_name") or ""),
            tool_name=str(data.get("tool_name") or ""),
            is_error=self.is_error,
            is_cited=is_cited,
            quote=self.source.text[quote.start : quote.end] if quote else None,
            quote_start=quote.start if quote else None,
            quote_end=quote.end if quote else None,
        )


class _Calls:
    """The calls of a session by number, and how much may still be searched in them."""

    def __init__(self, calls: Mapping[int, _Call]) -> None:
        self.by_number = calls
        self._left = MAX_MATCHED

    def match(self, text: str, *, may_recall: bool) -> tuple[EvidenceCall, ...]:
        """The call that a claim without a citation rests on: it has a figure or name of it."""
        best: tuple[Quote, _Call] | None = None
        for call in self._affordable():
            if call.is_recall and not may_recall:
                continue
            quote = find_quote(text, call.source)
            if quote is None or not quote.strong or quote.weight <= 3:
                continue
            if best is None or quote.weight > best[0].weight:
                best = quote, call
        return (best[1].describe(best[0], is_cited=False),) if best else ()

    def _affordable(self) -> Iterator[_Call]:
        for call in self.by_number.values():
            self._left -= len(call.source.text)
            if self._left < 0:
                return
            if not call.is_error:
                yield call


def _read_calls(session_id: uuid.UUID, cited: set[int]) -> dict[int, _Call]:
    events = (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.LLM_TOOL_CALL,
            status=TimelineEvent.Status.COMPLETED,
        )
        .only("id", "metadata")
        .order_by("-sequence_number")
    )
    numbered = [event for event in events if isinstance(event.metadata.get("tool_number"), int)]
    first = [event for event in numbered if event.metadata["tool_number"] in cited]
    rest = [event for event in numbered if event.metadata["tool_number"] not in cited]
    chosen = [*first, *rest[: max(0, MAX_CALLS - len(first))]]
    texts = dict(
        TimelineEvent.objects.filter(pk__in=[event.pk for event in chosen])
        .annotate(searched=Left("content", MAX_SEARCHED))
        .values_list("pk", "searched")
    )
    calls = (_Call(event, texts.get(event.pk, "")) for event in chosen)
    return {call.number: call for call in sorted(calls, key=lambda call: call.number)}


def _is_recall(metadata: Mapping[str, Any]) -> bool:
    arguments = metadata.get("arguments")
    known = arguments if isinstance(arguments, Mapping) else {}
    is_own = metadata.get("server_name") == _OWN_SERVER
    return is_own and is_recall(str(metadata.get("tool_name") or ""), known)


def _judge(
    report: str,
    claim: Claim,
    calls: _Calls,
    spans: Sequence[UnsupportedSpan],
    recalled: Sequence[tuple[int, int]],
) -> EvidenceClaim:
    text = report[claim.start : claim.end]
    within = tuple(span for span in spans if span.start < claim.end and span.end > claim.start)
    known = [calls.by_number[n] for n in claim.refs if n in calls.by_number]
    backing = tuple(call.describe(find_quote(text, call.source), is_cited=True) for call in known)
    may_recall = any(start < claim.end and end > claim.start for start, end in recalled)
    if not claim.refs:
        backing = calls.match(text, may_recall=may_recall)
    status, reason = _decide(claim, within, backing)
    is_only_recalled = bool(known) and all(call.is_recall for call in known)
    if status != "unsupported" and is_only_recalled and not may_recall:
        status, reason = "unsupported", _ONLY_RECALLED
    return EvidenceClaim(text, claim.start, claim.end, status, reason, backing, within)


def _decide(
    claim: Claim, within: Sequence[UnsupportedSpan], backing: Sequence[EvidenceCall]
) -> tuple[ClaimStatus, str]:
    if within:
        return "unsupported", "; ".join(dict.fromkeys(span.reason for span in within))
    if any(call.quote is not None for call in backing):
        return "supported", ""
    if not claim.refs:
        return "unsupported", "it cites no tool call, and no result has what it says"
    known = {call.number for call in backing}
    missing = [f"T{number}" for number in claim.refs if number not in known]
    if len(missing) == len(claim.refs):
        return "unsupported", f"this session has no finished tool call {', '.join(missing)}"
    if all(call.is_error for call in backing):
        return "unsupported", "the calls it cites failed"
    return "unmatched", "no passage of the calls it cites reads like it"


def _spare_headline(report: str, claims: list[EvidenceClaim]) -> list[EvidenceClaim]:
    """A conclusion in other words than any result, above claims that are supported, needs a look
    and no more: it sums these up, and the report's shape asks it for no citation."""
    parsed = parse_report(report)
    if parsed is None or not any(_is_backed(claim) for claim in claims):
        return claims
    start = report.find(parsed.conclusion.splitlines()[0])
    end = start + len(parsed.conclusion)
    return [
        replace(claim, status="unmatched", reason="it sums up other claims and cites no tool call")
        if claim.status == "unsupported" and not (claim.calls or claim.unsupported)
        and 0 <= start <= claim.start < end
        else claim
        for claim in claims
    ]  # fmt: skip


def _is_backed(claim: EvidenceClaim) -> bool:
    return claim.status == "supported" and any(call.is_cited for call in claim.calls)


def _outside(
    report: str, spans: Sequence[UnsupportedSpan], claims: Sequence[EvidenceClaim]
) -> list[EvidenceClaim]:
    """What the review marked in passages that are no claims."""
    told = {span for claim in claims for span in claim.unsupported}
    return [
        EvidenceClaim(
            report[span.start : span.end], span.start, span.end, "unsupported", span.reason,
            (), (span,),
        )
        for span in spans if span not in told
    ]  # fmt: skip

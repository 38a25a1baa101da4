"""Stretches of a text that are secret, and how they replace it."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Span:
    """`text[start:end]` is a secret of this kind.

    `is_bare` marks a YAML scalar without quotes, where a placeholder needs them to stay text.
    `replacement` is a custom pattern's own wording.
    """

    start: int
    end: int
    kind: str
    is_bare: bool = False
    replacement: str | None = None

    def shifted(self, offset: int) -> "Span":
        if offset == 0:
            return self
        start, end = self.start + offset, self.end + offset
        return Span(start, end, self.kind, self.is_bare, self.replacement)


# Kinds that come from the name in front of a value; a value's own form says more.
_GENERIC = frozenset(
    ("password", "token", "secret", "api_key", "secret_key", "signature", "cookie")
)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """Sort spans and join those that overlap; a join is named after its widest part."""
    merged: list[Span] = []
    for span in _without_hosts(sorted(spans, key=_by_place)):
        if span.start >= span.end:
            continue
        if not merged or span.start >= merged[-1].end:
            merged.append(span)
            continue
        last = merged[-1]
        if span.end > last.end:
            merged[-1] = replace(last, end=span.end, is_bare=False)
    return merged


def _without_hosts(spans: list[Span]) -> list[Span]:
    """Without "addresses" that are the end of a password and the host behind it."""
    passwords = [span for span in spans if span.kind == "url_password"]
    if not passwords:
        return spans
    ends = {span.end for span in passwords}
    return [
        span
        for span in spans
        if span.kind != "email" or not any(span.start < end < span.end for end in ends)
    ]


def _by_place(span: Span) -> tuple[int, int, bool, bool]:
    return span.start, -span.end, span.kind in _GENERIC, not span.is_bare


def subtract(span: Span, holes: Sequence[tuple[int, int]]) -> Iterator[Span]:
    """The parts of a span outside all holes; holes come in order."""
    start = span.start
    first = bisect_right(holes, start, key=lambda hole: hole[1])
    for index in range(first, len(holes)):
        hole_start, hole_end = holes[index]
        if hole_start >= span.end:
            break
        if hole_start > start:
            yield replace(span, start=start, end=hole_start, is_bare=False)
        start = max(start, hole_end)
    if start < span.end:
        # What is left of a bare scalar is a scalar no more.
        yield replace(span, start=start, is_bare=span.is_bare and start == span.start)

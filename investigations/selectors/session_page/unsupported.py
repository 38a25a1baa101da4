"""The passages of a text that its review found nothing to support, where they stand in it.

A review names them by place and by words. Texts are masked, and get lines of ours on top,
afterwards; so where the words are not at the place, they are looked for.
"""

import re
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agents.citations import drop_citations
from agents.our_lines import split_our_lines
from investigations.models import Stage, TimelineEvent

MAX_SPANS = 200
MAX_REPORTS = 50
"""Marked reports of a session that are looked through."""
SHORTEST_SENTENCE = 16
"""Characters of a sentence that says the same thing wherever it stands."""
_STOP = re.compile(r"[.!?](?=\s+[A-Z])\s+")
_ITEM = re.compile(r"[ \t]{0,3}(?:[-*+]|\d{1,3}[.)])[ \t]+")


@dataclass(frozen=True)
class UnsupportedSpan:
    """`start` and `end` count the characters of the text it stands in."""

    start: int
    end: int
    kind: str
    reason: str


def locate_unsupported(text: str, metadata: Mapping[str, Any]) -> tuple[UnsupportedSpan, ...]:
    """The passages that a final analysis's metadata names, in order, none within another: what no
    result supports, and what quotes what no result has."""
    lists = (metadata.get("misquoted"), metadata.get("unsupported"))
    named = [each for known in lists if isinstance(known, list) for each in known]
    above = len(text) - len(split_our_lines(text)[1])
    found = [_locate(text, each, above) for each in named[:MAX_SPANS]]
    return _in_order([span for span in found if span is not None])


def relocate(
    text: str, whole: str, spans: Sequence[UnsupportedSpan]
) -> tuple[UnsupportedSpan, ...]:
    """The same passages in a part of the text: items without their mark, and without citations.

    A passage is found by its line, up to its end; a single figure stands in many places.
    """
    found = []
    for span in spans:
        begin = whole.rfind("\n", 0, span.start) + 1
        before = drop_citations(_ITEM.sub("", whole[begin : span.start], count=1)).lstrip()
        said = drop_citations(whole[span.start : span.end])
        for place in _lines_with(text, before + said):
            start = place + len(before)
            found.append(UnsupportedSpan(start, start + len(said), span.kind, span.reason))
    return _in_order(found)


def _lines_with(text: str, beginning: str) -> Iterator[int]:
    """Where the lines begin that begin like this, whatever they are indented by."""
    position = 0
    for line in text.splitlines(keepends=True) if beginning.strip() else ():
        bare = line.lstrip()
        if bare.startswith(beginning):
            yield position + len(line) - len(bare)
        position += len(line)


def unsupported_of_session(
    session_id: uuid.UUID, final_analysis: str
) -> tuple[UnsupportedSpan, ...]:
    """The passages of a session's final analysis, as the review of whoever wrote it named them.

    Lines of ours come above what was written, and between lines of ours that were there.
    """
    own, _ = read_marks(session_id, final_analysis)
    return own


def read_marks(
    session_id: uuid.UUID, final_analysis: str
) -> tuple[tuple[UnsupportedSpan, ...], tuple[UnsupportedSpan, ...]]:
    """Those that the review of the final analysis named, and those that it repeats of reports that
    were marked before it: an agent's marks outlive the text that speaks for it."""
    own: tuple[UnsupportedSpan, ...] | None = None
    repeated: list[UnsupportedSpan] = []
    for content, metadata in _reviews_of(session_id) if final_analysis else ():
        spans = locate_unsupported(content, metadata)
        body = split_our_lines(content)[1]
        place = final_analysis.find(body) if body else -1
        if own is None and place >= 0:
            shift = place - (len(content) - len(body))
            own = tuple(
                replace(each, start=each.start + shift, end=each.end + shift) for each in spans
            )
        elif own is None or place < 0:
            repeated += _find_repeated(final_analysis, content, spans)
    return own or (), _in_order(repeated)


def _reviews_of(session_id: uuid.UUID) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The reports that a review has marked, newest first."""
    reviews = (
        TimelineEvent.objects.filter(
            session_id=session_id,
            event_type=TimelineEvent.Type.FINAL_ANALYSIS,
            metadata__has_any_keys=["misquoted", "unsupported"],
        )
        .exclude(stage__stage_type__in=(Stage.Type.CHAT, Stage.Type.EXEC_SUMMARY))
        .order_by("-sequence_number")
    )
    yield from reviews.values_list("content", "metadata")[:MAX_REPORTS]


def _find_repeated(
    text: str, content: str, spans: Sequence[UnsupportedSpan]
) -> Iterator[UnsupportedSpan]:
    """Where a text says a marked sentence again, word by word but for what it cites."""
    lines = [(line, place) for line, place in _lines_of(text)] if spans else []
    for span in spans:
        sentence = _sentence_around(content, span)
        if len(sentence) < SHORTEST_SENTENCE:
            continue
        said = content[span.start : span.end]
        for line, place in lines:
            if sentence in " ".join(drop_citations(line).split()):
                start = max(line.find(said), 0)
                length = len(said) if said in line else len(line)
                yield replace(span, start=place + start, end=place + start + length)


def _lines_of(text: str) -> Iterator[tuple[str, int]]:
    position = 0
    for line in text.splitlines(keepends=True):
        mark = _ITEM.match(line)
        begin = mark.end() if mark else 0
        yield line[begin:].rstrip(), position + begin
        position += len(line)


def _sentence_around(text: str, span: UnsupportedSpan) -> str:
    """The sentence that a passage stands in, without its citations."""
    begin = text.rfind("\n", 0, span.start) + 1
    end = text.find("\n", span.end)
    line = text[begin : end if end >= 0 else len(text)]
    inside = span.start - begin
    stops = [found.end() for found in _STOP.finditer(line)]
    first = max((stop for stop in stops if stop <= inside), default=0)
    last = min((stop for stop in stops if stop > inside), default=len(line))
    words = drop_citations(_ITEM.sub("", line[first:last], count=1))
    return " ".join(words.split()).rstrip(".!?")


def _locate(text: str, named: object, above: int) -> UnsupportedSpan | None:
    """Where the words do not stand at their place, `above` characters of ours may have come."""
    if not isinstance(named, Mapping):
        return None
    start, end, said = named.get("start"), named.get("end"), named.get("text")
    if not isinstance(start, int) or not isinstance(end, int) or not 0 <= start < end:
        return None
    if isinstance(said, str) and said and text[start:end] != said:
        start = _nearest(text, said, start + above)
        end = start + len(said)
    if start < 0 or end > len(text):
        return None
    return UnsupportedSpan(start, end, str(named.get("kind") or ""), str(named.get("reason") or ""))


def _nearest(text: str, said: str, start: int) -> int:
    """Where these words stand whole and closest to a place; -1 where they do not."""
    edges = [r"\b" if end.isalnum() else "" for end in (said[0], said[-1])]
    places = (found.start() for found in re.finditer(re.escape(said).join(edges), text))
    return min(places, key=lambda place: abs(place - start), default=-1)


def _in_order(spans: Sequence[UnsupportedSpan]) -> tuple[UnsupportedSpan, ...]:
    kept: list[UnsupportedSpan] = []
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return tuple(kept)

"""Stretches of a text as it came, and what stands in their place."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cover:
    """`wording` stands for `text[start:end]`."""

    start: int
    end: int
    wording: str


def apply_covers(text: str, covers: Sequence[Cover]) -> str:
    """The text with each of them, which are in order and apart, in place."""
    pieces: list[str] = []
    position = 0
    for cover in covers:
        pieces += (text[position : cover.start], cover.wording)
        position = cover.end
    return "".join((*pieces, text[position:]))


def join_covers(first: Sequence[Cover], then: Sequence[Cover]) -> list[Cover]:
    """Those of a text and those of what it became by them, all as of the text.

    What covers a wording, or a part of it, takes its place.
    """
    moved = list(_moved_back(first, then))
    kept = [
        cover
        for cover in first
        if not any(other.start < cover.end and cover.start < other.end for other in moved)
    ]
    return sorted((*kept, *moved), key=lambda cover: cover.start)


def _moved_back(first: Sequence[Cover], then: Sequence[Cover]) -> Iterator[Cover]:
    edges: list[tuple[int, int, Cover]] = []
    shift = 0
    for cover in first:
        start = cover.start + shift
        shift += len(cover.wording) - (cover.end - cover.start)
        edges.append((start, start + len(cover.wording), cover))
    for late in then:
        yield Cover(
            _as_before(edges, late.start, at_end=False),
            _as_before(edges, late.end, at_end=True),
            late.wording,
        )


def _as_before(edges: Sequence[tuple[int, int, Cover]], place: int, *, at_end: bool) -> int:
    shift = 0
    for start, end, cover in edges:
        if place <= start:
            break
        if place < end:
            return cover.end if at_end else cover.start
        shift = end - cover.end
    return place - shift

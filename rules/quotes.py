"""Finds words of a result that prove a value: as they stand in it, fit to stand in a citation."""

import re
from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from config.schema.expressions import split_template
from rules.functions import show

LONGEST = 160
SHORTEST = 3
AROUND = 400
"""Characters before and behind a passage in which the other values of its row stand."""
MOST_SEARCHED = 300_000
"""Characters of a result in which a passage is looked for."""
MOST_PLACES = 100
MOST_REGIONS = 20
_MOST_NEIGHBOURS = 8
_UNFIT_MARKS = "\u201c\u201d\u201e\u00ab\u00bb[]\n\r\t`"
_UNFIT = re.compile(f"[{re.escape(_UNFIT_MARKS)}]+")
_FIGURE = re.compile(r"\d[\d.]*")
_NAMED = re.compile(r"\b([a-z]\w*)(?:\[(\d)\])?(?:\.([A-Za-z_]\w*)(?!\())?")
_TEXT = re.compile(r"'[^']*'|\"[^\"]*\"")
"""Texts within an expression, in which a name is none."""
_JOINTS = re.compile(r": | … ")
_BLANKS = re.compile(r" {2,}")
_EDGES = " ,;:{}"
_SEPARATORS = ",;{}"


class _Hit(NamedTuple):
    start: int
    end: int
    value: str


def find_quote(raw: str, value: str) -> str:
    """The longest part of a value that stands in the text as it is; empty where none does. What
    was told on one line may have stood on several, or in several fields."""
    whole = _parts(value)
    parts = {*whole, *(each for part in whole for each in _parts_of_told(part))}
    for part in sorted(parts, key=lambda part: (-len(part), part))[:24]:
        if len(part) >= SHORTEST and part in raw:
            return part
    return ""


def holds(quote: str, value: object) -> bool:
    """Whether a value stands in a quote, as no part of a longer word or number."""
    return any(_find_all(quote, text) for text in _ways(value))


def is_figure(value: object) -> bool:
    """Whether it is a number, known or written as a text; -1 stands for one that is not known."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return value >= 0
    return isinstance(value, str) and _FIGURE.fullmatch(value) is not None


def rows_named(
    template: str, bound: Mapping[str, object]
) -> Sequence[tuple[Mapping[str, object], Sequence[object]]]:
    """The rows whose fields a sentence names, each with those values and the texts that it names
    besides."""
    texts: list[object] = []
    rows: dict[int, tuple[Mapping[str, object], list[object]]] = {}
    for _, source in split_template(template):
        for found in _NAMED.finditer(_TEXT.sub("", source)):
            value = bound.get(found[1])
            listed = value if isinstance(value, list) else [value]
            row = next(iter(listed[int(found[2] or 0) :]), None)
            if isinstance(row, str):
                texts.append(row)
            elif isinstance(row, Mapping) and found[3] in row:
                rows.setdefault(id(row), (row, []))[1].append(row[found[3]])
    return [(row, [*named, *texts]) for row, named in rows.values()]


def find_passage(
    raw: str, needed: Collection[object], named: Collection[object], row: Mapping[str, object]
) -> str:
    """The part of a result in which most of the values stand together that a sentence names of a
    row, a needed one among them; empty where none does. Of several, the one that the row's other
    values stand nearest to."""
    text = raw[:MOST_SEARCHED]
    places = _list_places(text, row)
    regions = [(max(0, at - AROUND), at + AROUND) for at in min(places, key=len, default=())]
    hits = sorted({
        _Hit(start, start + len(way), show(value))
        for region in regions[:MOST_REGIONS]
        for value in named for way in _ways(value) for start in _find_all(text, way, *region)
    })  # fmt: skip
    wanted = {show(value) for value in needed}
    best: tuple[tuple[int, int, int, int], str] | None = None
    for (start, end), inside in _by_piece(text, hits):
        for values, first, last in _slide(inside):
            if not values & wanted or (best is not None and len(values) < best[0][0]):
                continue
            rank = len(values), _count_near(places, first, last), first - last, -first
            if best is None or rank > best[0]:
                best = rank, _widen(text, first, last, start, end)
    return best[1] if best is not None else ""


def _by_piece(text: str, hits: Sequence[_Hit]) -> Iterator[tuple[tuple[int, int], Sequence[_Hit]]]:
    """The parts of a text that a citation can hold, each with what stands in it."""
    number = 0
    while number < len(hits):
        at = hits[number].start
        start = max(text.rfind(mark, 0, at) for mark in _UNFIT_MARKS) + 1
        unfit = _UNFIT.search(text, at)
        end = unfit.start() if unfit is not None else len(text)
        begin = number
        while number < len(hits) and hits[number].start <= end:
            number += 1
        if inside := [hit for hit in hits[begin:number] if hit.end <= end]:
            yield (start, end), inside


def _slide(hits: Sequence[_Hit]) -> Iterator[tuple[AbstractSet[str], int, int]]:
    """From each place, the values within a quote's length of it, and up to where each more is."""
    for number, first in enumerate(hits):
        values: set[str] = set()
        last = first.end
        for hit in hits[number:]:
            if hit.start - first.start > LONGEST:
                break
            if hit.value not in values and hit.end - first.start <= LONGEST:
                values.add(hit.value)
                last = max(last, hit.end)
                yield values, first.start, last


def _count_near(neighbours: Sequence[Sequence[int]], first: int, last: int) -> int:
    """How many of the row's other values stand around a passage."""
    found = (bisect_left(places, first - AROUND) for places in neighbours)
    return sum(
        place < len(places) and places[place] <= last + AROUND
        for place, places in zip(found, neighbours, strict=True)
    )


def _list_places(text: str, row: Mapping[str, object]) -> Sequence[Sequence[int]]:
    """Where each of the values of a row stands. The longest are the rarest: the place of the rarest
    is that of the row."""
    values = {
        way: None for name, value in row.items() if not name.startswith("_") for way in _ways(value)
    }
    longest = sorted(values, key=len, reverse=True)[:_MOST_NEIGHBOURS]
    longest = [way for way in longest if len(way) >= SHORTEST] or longest
    return [places for way in longest if (places := _find_all(text, way))]


def _ways(value: object) -> Sequence[str]:
    """How a value that was read from a text may be written in it."""
    if isinstance(value, bool) or value is None:
        return ()
    if isinstance(value, int | float):
        return tuple(dict.fromkeys((show(float(value)), repr(float(value)))))
    text = show(value)
    return (text,) if SHORTEST <= len(text) <= LONGEST else ()


def _find_all(text: str, wanted: str, begin: int = 0, end: int | None = None) -> Sequence[int]:
    found: list[int] = []
    start = text.find(wanted, begin, end)
    while start >= 0 and len(found) < MOST_PLACES:
        if _stands_alone(text, start, start + len(wanted)):
            found.append(start)
        start = text.find(wanted, start + 1, end)
    return found


def _stands_alone(text: str, start: int, end: int) -> bool:
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    if text[start].isalnum() and re.search(r"\w[.-]?\Z|\d[,:]\Z", before):
        return False
    return not (text[end - 1].isalnum() and re.match(r"\w|[.-]\w|[,:]\d", behind))


def _widen(text: str, first: int, last: int, least: int, most: int) -> str:
    """Out to the ends of a short line, else to what parts the members of an object."""
    if text[most : most + 1] == "[":
        # What the list is called says nothing without the list.
        most = max(last, text.rfind(",", last, most))
    if most - least <= LONGEST:
        first, last = least, most
    else:
        before = max(text.rfind(each, least, first) for each in _SEPARATORS) + 1
        behind = [at for each in _SEPARATORS if (at := text.find(each, last, most)) >= 0]
        begin, end = before or least, min(behind, default=most)
        first = begin if last - begin <= LONGEST else first
        last = end if end - first <= LONGEST else last
    quote = text[first:last].strip(_EDGES).rstrip("\\")
    inside = quote.removeprefix('"').removesuffix('"')
    return quote if '"' in inside else inside


def _parts(value: str) -> list[str]:
    """What of a value can be quoted: a citation's own marks part it, and so do runs of blanks."""
    found: list[str] = []
    for piece in re.split(r'["\\]|' + _UNFIT.pattern, value[: 8 * LONGEST]):
        for run in _BLANKS.split(piece.strip()):
            found.append(_shorten(run.strip(" ,;:")))
    return [part for part in found if part]


def _parts_of_told(part: str) -> Iterator[str]:
    return (_shorten(each.strip(" ,;:")) for each in _JOINTS.split(part))


def _shorten(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    cut = text[:LONGEST]
    return cut[: cut.rfind(" ")] if " " in cut[SHORTEST:] else ""

"""Finds the passage of a tool's result that reads most like a claim."""

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from safety.evidence import match_whole
from safety.grounding.names_check import find_names
from safety.grounding.quantities import Quantity, find_claimed, find_numbers
from safety.grounding.words import content_words, fold

MAX_SEARCHED = 200_000
"""Characters of a result that are searched."""
WIDTH = 240
"""Characters within which what a claim says has to stand together."""
_MARGIN = 120
_MAX_PLACES = 500
"""Of what stands in more places than this, the first ones are looked at."""
_MAX_HITS = 10_000
MAX_CLAIM = 2_000
"""Characters of a claim that are looked for; what says more than that says many things."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TERM = re.compile(r"`([^`\n]{2,80})`|\"([^\"\n]{2,80})\"")
_STRONG = 3


@dataclass(frozen=True)
class LikelyPassage:
    """A passage, in characters of the result. `strong`: how many figures and names it shares with
    the claim, `weight` how much it shares in all."""

    start: int
    end: int
    strong: int
    weight: int


@dataclass(frozen=True)
class _Hit:
    """A place of a result where something stands that the claim says too."""

    start: int
    end: int
    what: str
    is_strong: bool

    @property
    def weight(self) -> int:
        return _STRONG if self.is_strong else 1


class Source:
    """A result that claims are held against; looked through once for all of them."""

    def __init__(self, text: str) -> None:
        self.text = text[:MAX_SEARCHED]

    @cached_property
    def words(self) -> dict[str, list[tuple[int, int]]]:
        places: dict[str, list[tuple[int, int]]] = {}
        for found in _WORD.finditer(self.text):
            known = places.setdefault(fold(found[0]), [])
            if len(known) < _MAX_PLACES:
                known.append(found.span())
        return places

    def numbers_like(self, claimed: Quantity) -> Iterator[Quantity]:
        """The numbers of the result that the claimed one may be, rounded as it is."""
        for number in _near(self._written, claimed.number, claimed.step):
            if not claimed.family or not number.family:
                yield number
        for base, scale in zip(claimed.bases, claimed.scales, strict=True):
            if claimed.family:
                near = _near(self._bases, base, claimed.step * scale)
                yield from (number for number in near if number.family == claimed.family)

    @cached_property
    def _numbers(self) -> list[Quantity]:
        return list(find_numbers(self.text))

    @cached_property
    def _written(self) -> "list[tuple[float, Quantity]]":
        return sorted(((each.number, each) for each in self._numbers), key=_first)

    @cached_property
    def _bases(self) -> "list[tuple[float, Quantity]]":
        with_units = (each for each in self._numbers if each.family)
        return sorted(((base, each) for each in with_units for base in each.bases), key=_first)


def _first(pair: tuple[float, Quantity]) -> float:
    return pair[0]


def _near(
    ordered: "list[tuple[float, Quantity]]", value: float, tolerance: float
) -> Iterator[Quantity]:
    place = bisect_left(ordered, value - tolerance, key=_first)
    while place < len(ordered) and ordered[place][0] <= value + tolerance:
        yield ordered[place][1]
        place += 1


def find_likely_passage(claim: str, source: Source) -> LikelyPassage | None:
    """The shortest passage that shares most with the claim: its figures and names, then its words.

    None where no passage shares two words, or a single one of the figures and names that it has.
    """
    found = islice(_find_hits(claim[:MAX_CLAIM], source), _MAX_HITS)
    fitting = (hit for hit in found if hit.end - hit.start <= WIDTH)
    hits = sorted(fitting, key=lambda hit: hit.start)
    best: LikelyPassage | None = None
    for window in _slide(hits):
        if best is None or _rank(window) > _rank(best):
            best = window
    if best is None or best.weight < 2 or (not best.strong and _has_anchor(claim)):
        return None
    return _widen(best, source.text)


def _slide(hits: list[_Hit]) -> Iterator[LikelyPassage]:
    """Every window that is no wider than a passage and begins with something it has only once."""
    held: Counter[str] = Counter()
    first = strong = weight = 0
    for hit in hits:
        held[hit.what] += 1
        if held[hit.what] == 1:
            strong += hit.is_strong
            weight += hit.weight
        while hit.end - hits[first].start > WIDTH or held[hits[first].what] > 1:
            left = hits[first]
            first += 1
            held[left.what] -= 1
            if not held[left.what]:
                strong -= left.is_strong
                weight -= left.weight
        yield LikelyPassage(hits[first].start, hit.end, strong, weight)


def _rank(passage: LikelyPassage) -> tuple[int, int]:
    return passage.weight, passage.start - passage.end


def _has_anchor(claim: str) -> bool:
    claim = claim[:MAX_CLAIM]
    return bool(_find_terms(claim)) or next(find_claimed(claim), None) is not None


def _find_hits(claim: str, source: Source) -> Iterator[_Hit]:
    for claimed in find_claimed(claim):
        for number in islice(source.numbers_like(claimed), _MAX_PLACES):
            yield _Hit(number.start, number.end, f"number {claimed.start}", is_strong=True)
    for name in _find_terms(claim):
        for found in islice(match_whole(name).finditer(source.text), _MAX_PLACES):
            yield _Hit(*found.span(), name, is_strong=True)
    for word in content_words(claim):
        for start, end in source.words.get(word, ()):
            yield _Hit(start, end, f"word {word}", is_strong=False)


def _find_terms(claim: str) -> set[str]:
    quoted = {found[1] or found[2] for found in _TERM.finditer(claim)}
    return {name for name, _ in find_names(claim)} | quoted


def _widen(passage: LikelyPassage, text: str) -> LikelyPassage:
    """Out to the ends of its lines, or of its words where the lines are long."""
    return LikelyPassage(
        _begin(passage.start, text), _end(passage.end, text), passage.strong, passage.weight
    )


def _begin(start: int, text: str) -> int:
    line = text.rfind("\n", max(0, start - _MARGIN), start) + 1
    if line or start <= _MARGIN:
        return line
    stops = [found.end() for found in re.finditer(r"[\s,{\[]", text[start - _MARGIN : start])]
    return start - _MARGIN + stops[0] if stops else start


def _end(end: int, text: str) -> int:
    line = text.find("\n", end, end + _MARGIN)
    if line >= 0 or len(text) - end <= _MARGIN:
        return line if line >= 0 else len(text)
    stops = [found.start() for found in re.finditer(r"[\s,}\]]", text[end : end + _MARGIN])]
    return end + stops[-1] if stops else end

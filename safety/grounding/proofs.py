"""Looks for what a citation quotes in the stored result it cites: by bytes, never by meaning.

First as it is written, then with blanks, case, quotation marks and the grouping of digits folded.
A place that is found is one of the stored text, whatever was folded on the way.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from agents.citations import Ref
from agents.types import StoredResult

SHORTEST = 2
LONGEST = 2_000
"""Characters of a quote that still points at something."""
MAX_PLACES = 200
"""Of what stands in more places than this, the first ones are looked at."""
MAX_SEARCHED = 300_000_000
"""Characters of results that are searched for all quotes of one report together."""
COST_OF_PLACE = 5_000
"""What looking at a place of a quote counts beside its length, in characters that are searched."""
SHOWN = 120

MAX_PIECES = 5
MOST_LEFT_OUT = 300
"""Pieces of a quote that leaves something out, and characters that it may leave out."""

Verdict = Literal["found", "weak", "missing"]
"""`weak`: it is there, and shows nothing; or it was not looked for."""

TOO_MUCH = "there is too much to look through"
_CHUNK = 8_192
_MARKS = "\"'`\u2018\u2019\u201a\u201c\u201d\u201e\u00ab\u00bb\u2039\u203a"
_BLANKS = " \t\n\r\f\v\u00a0\u202f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_GROUPING = ",_"
_DROPPED = f"\\{_MARKS}{_BLANKS}{_GROUPING}"
_GROUPED = re.compile(r"(?<=\d)[,_\u00a0\u2009\u202f](?=\d{3}(?!\d))")
_QUOTATION = re.compile(rf"\\{{0,3}}[{_MARKS}]")
_BLANK = re.compile(r"\s+")
_LOOSE_BLANK = re.compile(r" (?=\W)|(?<=\W) ")
_MASKED = re.compile(r"(?:\s*\[MASKED:[^\]\n]{1,80}\]\s*)+")
_LEFT_OUT = re.compile(r"\[(?:\.\.\.|\u2026)\]|\.\.\.|\u2026")
_DOTS_AROUND = re.compile(r"^\s{0,9}(?:\.\.\.|\u2026)\s{0,9}|\s{0,9}(?:\.\.\.|\u2026)\s{0,9}$")
_ESCAPED = re.compile(r"\\([\\\"'/ntr])")
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|_{1,3}|`)(?=\S)([^*`\n]{1,500}?)(?<=\S)\1(?!\w)")
_DECIMAL_BEFORE = re.compile(r"\d[.,]\Z")
_DECIMAL_BEHIND = re.compile(r"[.,]\d")


@dataclass(frozen=True)
class Sighting:
    """What became of a quote. `reason` is a clause for people, empty where it proves something.

    `start` and `end` count the characters of the stored result, or of the answer to our own check
    of a write where it stands in that.
    """

    verdict: Verdict
    reason: str = ""
    start: int = 0
    end: int = 0
    in_check: bool = False


class Proofs:
    """Results that quotes of one report are looked for in."""

    def __init__(self, results: Mapping[int, StoredResult]) -> None:
        self.results = results
        self._searched = 0
        self._folded: dict[tuple[int, bool], _Folded] = {}
        self._known: dict[Ref, Sighting] = {}

    def find(self, ref: Ref) -> Sighting:
        """Where a quote stands in the result it is cited from."""
        if ref not in self._known:
            self._known[ref] = self._find(ref.number, ref.quote or "")
        return self._known[ref]

    def _find(self, number: int, quote: str) -> Sighting:
        result = self.results.get(number)
        if result is None or result.text is None:
            return Sighting("missing", f"this session has no finished tool call T{number}")
        partial: Sighting | None = None
        ways = _read_ways(quote)
        for in_check, text in ((False, result.text), (True, result.check)):
            self._searched += 2 * len(text) * len(ways)
            if self._searched > MAX_SEARCHED:
                return Sighting("weak", TOO_MUCH)
            place, is_whole = self._locate(number, ways, text, in_check=in_check)
            if place is None and self._searched > MAX_SEARCHED:
                return Sighting("weak", TOO_MUCH)
            if place is not None and is_whole:
                weakness = _find_weakness(number, ways[-1], result)
                return Sighting("weak" if weakness else "found", weakness, *place, in_check)
            if place is not None and partial is None:
                reason = f"T{number} has the quote only as a part of a longer word or number"
                partial = Sighting("weak", reason, *place, in_check)
            if pieces := self._find_pieces(number, quote, text, in_check=in_check):
                return pieces
        return partial or Sighting("missing", f"T{number} does not say {show_quote(quote)}")

    def _find_pieces(
        self, number: int, quote: str, text: str, *, in_check: bool
    ) -> Sighting | None:
        """A quote that leaves something out, where its pieces stand in this order; None elsewhere.

        On one line and close together they are what it says; further apart they may belong to
        different things.
        """
        pieces = [piece for piece in _LEFT_OUT.split(quote)[: MAX_PIECES + 1] if piece.strip()]
        if not 1 < len(pieces) <= MAX_PIECES or len(quote) > LONGEST:
            return None
        self._searched += 2 * len(text)
        first, _ = self._locate(number, (pieces[0].strip(),), text, in_check=in_check)
        if first is None:
            return None
        end = first[1]
        for piece in pieces[1:]:
            at = text.casefold().find(piece.strip().casefold(), end, end + LONGEST)
            if at < 0 or not _stands_alone(text, at, at + len(piece.strip())):
                return None
            end = at + len(piece.strip())
        if "\n" in text[first[0] : end] or end - first[0] > len(quote) + MOST_LEFT_OUT:
            reason = f"T{number} has the parts of the quote, apart from each other"
            return Sighting("weak", reason, first[0], end, in_check)
        return Sighting("found", "", first[0], end, in_check)

    def _locate(
        self, number: int, ways: Sequence[str], text: str, *, in_check: bool
    ) -> tuple[tuple[int, int] | None, bool]:
        """The first place where the quote stands as a whole, else the first where it stands."""
        first: tuple[int, int] | None = None
        for start, end in self._find_places(number, ways, text, in_check=in_check):
            if _stands_alone(text, start, end):
                return (start, end), True
            first = first or (start, end)
        return first, False

    def _find_places(
        self, number: int, ways: Sequence[str], text: str, *, in_check: bool
    ) -> Iterator[tuple[int, int]]:
        is_there = False
        for way in ways:
            for start in _find_all(text, way):
                is_there = True
                yield start, start + len(way)
        for way in ways if not is_there else ():
            yield from self._find_folded((number, in_check), way, text)

    def _find_folded(self, key: tuple[int, bool], way: str, text: str) -> Iterator[tuple[int, int]]:
        wanted = _drop(way)
        if not wanted:
            return
        folded = self._folded.get(key)
        if folded is None:
            folded = self._folded[key] = _Folded(text)
        for at in _find_all(folded.text, wanted):
            self._searched += COST_OF_PLACE + len(way)
            if self._searched > MAX_SEARCHED:
                return
            start, end = folded.find_place(at, len(wanted))
            if _says_the_same(way, text[start:end]):
                yield start, end


def _read_ways(quote: str) -> tuple[str, ...]:
    """A quote as it is written, without what escapes its signs, and without the dots around it and
    the emphasis within that a writer put there."""
    if len(quote) > LONGEST:
        return (quote,)
    trimmed = _DOTS_AROUND.sub("", quote.strip("\ufeff"))
    ways = [quote, quote.replace('\\"', '"'), _ESCAPED.sub(_unescape, quote), trimmed]
    ways.append(_EMPHASIS.sub(r"\2", trimmed))
    return tuple(way for way in dict.fromkeys(ways) if way == quote or way.strip())


def _unescape(found: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t", "r": "\r"}.get(found[1], found[1])


def show_quote(quote: str) -> str:
    """A quote within a sentence."""
    said = " ".join(quote.split())
    shown = said if len(said) <= SHOWN else f"{said[:SHOWN]}…"
    return f"“{shown}”"


class _Folded:
    """A text without what may be written in several ways, and the way back to its places.

    Each character is folded by itself, so that a part of the text can be folded alone.
    """

    def __init__(self, text: str) -> None:
        self._whole = text
        self._starts = [0]
        self._ends: dict[int, list[int]] = {}
        pieces: list[str] = []
        for begin in range(0, len(text), _CHUNK):
            pieces.append(_drop(text[begin : begin + _CHUNK]))
            self._starts.append(self._starts[-1] + len(pieces[-1]))
        self.text = "".join(pieces)

    def find_place(self, at: int, length: int) -> tuple[int, int]:
        """Where in the text itself the folded characters stand."""
        return self._find_character(at), self._find_character(at + length - 1) + 1

    def _find_character(self, at: int) -> int:
        chunk = bisect_right(self._starts, at) - 1
        return chunk * _CHUNK + bisect_right(self._ends_in(chunk), at - self._starts[chunk])

    def _ends_in(self, chunk: int) -> list[int]:
        """Up to where each character of a chunk stands in the folded chunk, counted once."""
        if chunk not in self._ends:
            begin = chunk * _CHUNK
            widths = map(_width, self._whole[begin : begin + _CHUNK])
            self._ends[chunk] = list(accumulate(widths))
        return self._ends[chunk]


def _width(character: str) -> int:
    return 0 if character in _DROPPED else len(character.casefold())


def _drop(text: str) -> str:
    for each in _DROPPED:
        text = text.replace(each, "")
    return text.casefold()


def _find_all(text: str, wanted: str) -> Iterator[int]:
    start = text.find(wanted) if wanted else -1
    for _ in range(MAX_PLACES):
        if start < 0:
            return
        yield start
        start = text.find(wanted, start + 1)


def _says_the_same(quote: str, found: str) -> bool:
    return _fold(quote) == _fold(found) or _fold(_ungroup(quote)) == _fold(_ungroup(found))


def _ungroup(text: str) -> str:
    return _GROUPED.sub("", text)


def _fold(text: str) -> str:
    """The text in one way of writing it. Blanks matter between two words or numbers only."""
    bare = _QUOTATION.sub("", text.casefold())
    return _LOOSE_BLANK.sub("", _BLANK.sub(" ", bare).strip())


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether what stands here is no part of a longer word or number."""
    first, last = text[start], text[end - 1]
    before, behind = text[max(0, start - 2) : start], text[end : end + 2]
    if _is_word(first) and _is_word(before[-1:]):
        return False
    if _is_word(last) and _is_word(behind[:1]):
        return False
    if first.isdigit() and _DECIMAL_BEFORE.search(before):
        return False
    return not (last.isdigit() and _DECIMAL_BEHIND.match(behind))


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"


def _find_weakness(number: int, quote: str, result: StoredResult) -> str:
    """Why a quote that is there shows nothing, as a clause; empty where it shows something."""
    bare = _fold(quote)
    if len(bare) < SHORTEST:
        return "a quote of one character shows nothing"
    if len(quote) > LONGEST:
        return f"a quote of more than {LONGEST:,} characters points at nothing"
    if _MASKED.fullmatch(quote):
        return "a placeholder of the masking shows nothing of what it hides"
    asked = _fold(result.arguments)
    if any(_stands_alone(asked, at, at + len(bare)) for at in _find_all(asked, bare)):
        return f"T{number} was asked with these words, so they show nothing that it found"
    return ""

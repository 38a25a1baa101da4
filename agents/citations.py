"""The one grammar of citations: `[T5]`, `[T5, T7]`, `[T5 "restarts 14"]`, `[T5 "a", T7 "b"]`.

A quote stands between straight or typographic quotation marks and may hold brackets and quotation
marks of its own, escaped or not: it ends at a mark behind which the citation goes on or ends. It
stays within its paragraph or item. Time grows with the length of the text, whatever it is.
"""

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

MOST_REFS = 50
"""Tool calls and quotes that one citation names."""
MOST_TRIES = 5_000
"""Of more places that may be citations of an unusual form, the first ones are read."""

_CLOSING = {
    '"': '"',
    "'": "'\u2019",
    "\u2018": "\u2019'",
    "\uff02": "\uff02",
    "\u300c": "\u300d",
    "\u201c": '\u201d\u201c"',
    "\u201d": "\u201d",
    "\u201e": "\u201c\u201d",
    "\u00ab": "\u00bb",
    "\u00bb": "\u00ab",
}
_MARKS = re.escape("".join(dict.fromkeys("".join((*_CLOSING, *_CLOSING.values())))))
_GAP = r"[ \t\n]{0,3}"
_USUAL = re.compile(r'\[[Tt](\d{1,9})(?: "((?:[^"\\[\]\\\n]){1,500})")?\]')
_START = re.compile(r"\[[ \t]{0,3}(?=[Tt]\d)")
_NUMBER = re.compile(r"[Tt]?(\d{1,9})(?!\w)")
_NEXT = re.compile(rf"{_GAP}[,;]{_GAP}(?=[Tt]?\d)")
_END = re.compile(rf"{_GAP}\]")
_QUOTE = re.compile(rf"{_GAP}[:,;]?{_GAP}([{_MARKS}])")
_CLOSER = re.compile(rf"(?<!\\)[{_MARKS}](?={_GAP}(?:\]|[,;]{_GAP}(?:[Tt]\d|[{_MARKS}])))")
_QUOTING = re.compile(rf"\[[ \t]{{0,3}}[Tt]\d{{1,9}}{_GAP}[:,;]?{_GAP}[{_MARKS}]")
_NEW_BLOCK = re.compile(r"\n[ \t]*(?:\n|[-*+\u2022>|][ \t]|\d{1,3}[.)][ \t]|#{1,6}[ \t]|```|~~~)")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})", re.MULTILINE)
_TICKS = re.compile(r"`+")
_STEP = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})|(?P<ticks>`+)|\[(?=[ \t]{0,3}[Tt]\d)", re.MULTILINE
)


class Ref(NamedTuple):
    """A tool call that a text cites, and the words it says stand in its result, as written."""

    number: int
    quote: str | None = None


class Citation(NamedTuple):
    """A citation in a text, brackets included, with what it names in order."""

    start: int
    end: int
    refs: tuple[Ref, ...]

    @property
    def has_quote(self) -> bool:
        return any(ref.quote is not None for ref in self.refs)


def find_citations(markdown: str) -> list[Citation]:
    """Every citation outside code, in order."""
    return list(_find(_Text(markdown), knows_code=True))


def find_in_plain_text(text: str) -> list[Citation]:
    """Every citation in a text in which a backtick is nothing but a backtick."""
    return list(_find(_Text(text), knows_code=False))


def cited_numbers(text: str) -> tuple[int, ...]:
    """The numbers of the tool calls that a text cites, each once, in order."""
    return tuple(dict.fromkeys(ref.number for each in find_citations(text) for ref in each.refs))


def drop_citations(text: str) -> str:
    """The text without its citations and the blanks before them."""
    return _replace(text, lambda _citation: "", find_citations(text), takes_blanks=True)


def blank_quotes(text: str, citations: Sequence[Citation] | None = None) -> str:
    """The text with blanks in place of what citations quote, every other character in its place.

    Its `citations` are looked for where they are not known yet.
    """
    quoting = [
        each for each in (find_citations(text) if citations is None else citations)
        if each.has_quote
    ]  # fmt: skip

    def blank(citation: Citation) -> str:
        width = citation.end - citation.start
        numbers = ", ".join(dict.fromkeys(f"T{ref.number}" for ref in citation.refs))
        return f"[{numbers}".ljust(width - 1)[: width - 1] + "]"

    return _replace(text, blank, quoting)


def _replace(
    text: str,
    write: Callable[[Citation], str],
    citations: Sequence[Citation],
    *,
    takes_blanks: bool = False,
) -> str:
    pieces: list[str] = []
    position = 0
    for citation in citations:
        before = text[position : citation.start]
        pieces += (before.rstrip() if takes_blanks else before, write(citation))
        position = citation.end
    return "".join([*pieces, text[position:]])


class _Text:
    """A text with the places at which a quote may end, found once."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find_quote_end(self, mark: str, start: int) -> int:
        """Where the quote that begins at `start` ends; -1 where it does not."""
        ends = (_first(self._closers.get(each, []), start) for each in _CLOSING[mark])
        end = min((each for each in ends if each >= 0), default=-1)
        limits = (_first(self._blocks, start), _first(self._quoting, start))
        return -1 if any(0 <= limit < end for limit in limits) else end

    def find_code_end(self, found: re.Match[str]) -> int:
        """Where the code ends that begins with these signs; behind the signs where none does."""
        if fence := found["fence"]:
            first = bisect_left(self._fences, found.end(), key=_start)
            places = range(first, len(self._fences))
            lines = (self._fences[place] for place in places)
            return next((each.end() for each in lines if each[1].startswith(fence)), len(self.text))
        ticks = found["ticks"]
        end = _first(self._ticks.get(len(ticks), []), found.end())
        limit = _first(self._blocks, found.end())
        return found.end() if end < 0 or 0 <= limit < end else end + len(ticks)

    @cached_property
    def _closers(self) -> dict[str, list[int]]:
        places: dict[str, list[int]] = {}
        for found in _CLOSER.finditer(self.text):
            places.setdefault(found[0], []).append(found.start())
        return places

    @cached_property
    def _blocks(self) -> list[int]:
        return [found.start() for found in _NEW_BLOCK.finditer(self.text)]

    @cached_property
    def _quoting(self) -> list[int]:
        return [found.start() for found in _QUOTING.finditer(self.text)]

    @cached_property
    def _fences(self) -> list[re.Match[str]]:
        return list(_FENCE.finditer(self.text))

    @cached_property
    def _ticks(self) -> dict[int, list[int]]:
        places: dict[int, list[int]] = {}
        for found in _TICKS.finditer(self.text):
            places.setdefault(len(found[0]), []).append(found.start())
        return places


def _start(found: re.Match[str]) -> int:
    return found.start()


def _first(places: list[int], start: int) -> int:
    """The first of these places from `start` on; -1 where there is none."""
    index = bisect_left(places, start)
    return places[index] if index < len(places) else -1


def _find(source: _Text, *, knows_code: bool) -> Iterator[Citation]:
    steps = _STEP if knows_code else _START
    position = tries = 0
    while found := steps.search(source.text, position):
        if found[0][0] != "[":
            position = source.find_code_end(found)
            continue
        usual = _USUAL.match(source.text, found.start())
        if usual is not None:
            yield Citation(*usual.span(), (Ref(int(usual[1]), usual[2]),))
            position = usual.end()
            continue
        tries += 1
        citation = _read(source, found.start()) if tries <= MOST_TRIES else None
        if citation is not None:
            yield citation
        position = citation.end if citation is not None else found.end()


def _read(source: _Text, start: int) -> Citation | None:
    """The citation that begins here; None where none does."""
    text = source.text
    opening = _START.match(text, start)
    position = opening.end() if opening else start
    refs: list[Ref] = []
    while len(refs) <= MOST_REFS:
        found = _NUMBER.match(text, position)
        if found is None:
            return None
        number, position = int(found[1]), found.end()
        quotes: list[str] = []
        while len(quotes) <= MOST_REFS and (mark := _QUOTE.match(text, position)):
            end = source.find_quote_end(mark[1], mark.end())
            if end < 0:
                return None
            quotes.append(text[mark.end() : end])
            position = end + 1
        refs += [Ref(number, quote) for quote in quotes] or [Ref(number)]
        if closing := _END.match(text, position):
            return Citation(start, closing.end(), tuple(refs))
        following = _NEXT.match(text, position)
        if following is None:
            return None
        position = following.end()
    return None

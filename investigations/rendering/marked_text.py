"""Rendered Markdown in which passages are marked as unsupported.

The marks go into the text as rare characters before it is rendered, and become elements after it
was sanitised. So Markdown cannot be broken out of, and every element is closed where it was opened.
"""

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Protocol

from investigations.rendering.markdown import changes_quiet, render_markdown, split_tags
from investigations.rendering.plain_text import show_invisible

_OPEN, _CLOSE = "\u2e28", "\u2e29"
_DIGITS = "\u2e2a\u2e2b\u2e2c\u2e2d"
_PLACES = 4
MAX_MARKS = len(_DIGITS) ** _PLACES

_MARK = re.compile(f"([{_OPEN}{_CLOSE}])([{_DIGITS}]{{{_PLACES}}})")
_STRAY = re.compile(f"[{_OPEN}{_CLOSE}{_DIGITS}]")
_ENCODED = re.compile(r"(?:%E2%B8%A[89A-D])+", re.IGNORECASE)
_BARE = {ord(_OPEN): "((", ord(_CLOSE): "))", **{ord(digit): "::" for digit in _DIGITS}}
_LINK = re.compile(r"\[[^\[\]\n]*\]\([^()\n]*\)|<[^<>\s]+>")
_WORD = re.compile(r"\S+")
_OF_ADDRESS = re.compile(r"://|www\.|@")
_MARKUP = re.compile(r"[ \t]*(?:(?:[-*+>\u2022]|#{1,6}|\d{1,3}[.)])[ \t]+)*")


class Passage(Protocol):
    """A part of a text, in characters of it, and what is to be said about it."""

    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int: ...
    @property
    def reason(self) -> str: ...


def render_marked(text: str, passages: Sequence[Passage]) -> str:
    """Safe HTML for Markdown from outside, with each passage marked and its reason behind it.

    `passages` are in order and apart from each other. One that cannot be marked where it stands,
    such as the inside of an address, is told at the end.
    """
    passages = passages[:MAX_MARKS]
    plain = render_markdown(text)
    if not passages:
        return plain
    pieces = split_tags(render_markdown(_with_marks(text, passages)))
    if _links(pieces) != _links(split_tags(plain)):
        # A mark must never lead a link elsewhere.
        pieces = split_tags(plain)
    placed = _find_placed(pieces)
    html = "".join(_wrap(pieces, placed, [passage.reason for passage in passages]))
    return html + "".join(
        _tell(text[passage.start : passage.end], passage.reason)
        for number, passage in enumerate(passages)
        if number not in placed
    )


def _with_marks(text: str, passages: Sequence[Passage]) -> str:
    pieces: list[str] = []
    position = 0
    for number, passage in enumerate(passages):
        start = max(passage.start, position)
        if start == text.rfind("\n", 0, start) + 1:
            # What makes a line an item or a heading has to stay at its beginning.
            markup = _MARKUP.match(text, start)
            start = markup.end() if markup else start
        end = start + len(text[start : passage.end].rstrip())
        start, end = _outside_addresses(text, start, end)
        if start >= end or start < position:
            continue
        code = _write(number)
        pieces += (_plain(text[position:start]), _OPEN, code, _plain(text[start:end]), _CLOSE, code)
        position = end
    return "".join([*pieces, _plain(text[position:])])


def _outside_addresses(text: str, start: int, end: int) -> tuple[int, int]:
    """The passage with the whole of an address that it begins or ends in."""
    line = text.rfind("\n", 0, start) + 1
    after = text.find("\n", end)
    for first, last in _find_addresses(text, line, after if after >= 0 else len(text)):
        if first < start < last:
            start = first
        if first < end < last:
            end = last
    return start, end


def _find_addresses(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    yield from (found.span() for found in _LINK.finditer(text, start, end))
    for word in _WORD.finditer(text, start, end):
        if _OF_ADDRESS.search(text, *word.span()):
            yield word.span()


def _links(pieces: Sequence[str]) -> list[str]:
    return [piece for piece in pieces if piece.startswith("<a ")]


def _plain(text: str) -> str:
    return text.translate(_BARE)


def _write(number: int) -> str:
    digits = ""
    for _ in range(_PLACES):
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits


def _read(code: str) -> int:
    number = 0
    for digit in code:
        number = number * len(_DIGITS) + _DIGITS.index(digit)
    return number


def _find_placed(pieces: Sequence[str]) -> set[int]:
    """The passages that begin and end in words a reader sees, in that order."""
    opened: set[int] = set()
    closed: set[int] = set()
    for piece in pieces:
        for found in () if piece.startswith("<") else _MARK.finditer(piece):
            number = _read(found[2])
            if found[1] == _OPEN:
                opened.add(number)
            elif number in opened:
                closed.add(number)
    return closed


def _wrap(pieces: Sequence[str], placed: set[int], reasons: Sequence[str]) -> Iterator[str]:
    """Every text within a passage in an element of its own; the reason behind links and code."""
    is_open, quiet = False, 0
    due: list[str] = []
    for piece in pieces:
        if piece.startswith("<"):
            quiet = max(0, quiet + changes_quiet(piece))
            yield _STRAY.sub("", _ENCODED.sub("", piece))
        else:
            position = 0
            for found in _MARK.finditer(piece):
                yield _shade(piece[position : found.start()], is_open)
                position = found.end()
                number = _read(found[2])
                if number in placed:
                    is_open = found[1] == _OPEN
                    due += [] if is_open else [_note(reasons[number])]
                if due and not quiet:
                    yield "".join(due)
                    due = []
            yield _shade(piece[position:], is_open)
        if due and not quiet:
            yield "".join(due)
            due = []
    yield "".join(due)


def _shade(text: str, is_open: bool) -> str:
    text = _STRAY.sub("", text)
    if not is_open or not text.strip():
        return text
    return f'<mark class="t-unsup-words">{text}</mark>'


def _note(reason: str) -> str:
    """The mark behind a passage says why; what the marks mean is said once, above the text."""
    said = escape(" ".join(show_invisible(reason).split())) or "unsupported"
    return (
        ' <span class="t-unsup-mark" title="Unsupported"><svg class="t-i" aria-hidden="true">'
        f'<use href="#i-unsup"/></svg>{said}</span>'
    )


def _tell(words: str, reason: str) -> str:
    said = escape(" ".join(show_invisible(words).split()))
    return f"<p>\u201c{said}\u201d{_note(reason)}</p>"

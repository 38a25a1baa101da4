"""Finds `Thought:`, `Action:`, `Action Input:`, `Observation:` and `Final Answer:` in a text.

Small models decorate them as they like: bold, as headings, as list items, quoted, numbered, in any
case, with a full-width colon, with the colon inside or outside the bold.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, cast

LabelKind = Literal["thought", "action", "input", "observation", "final"]

_BLANK = r"[^\S\n]"
# Bounded, and one alternative a character: this cannot backtrack for long.
_DECORATION = r"(?:[^\w\"'“”‘’«{}()\[\]<:：,\n\\]|_){0,60}"
_WORDS = (
    rf"(?:(?P<final>final(?:{_BLANK}|[_-]){{0,4}}answer)"
    rf"|(?P<input>action(?:{_BLANK}|[_-]){{0,4}}(?:inputs?|arguments|parameters|args))"
    r"|(?P<action>action)"
    r"|(?P<observation>observations?)"
    r"|(?P<thought>thoughts?))"
)
_NUMBER = rf"(?:{_BLANK}{{0,4}}[#(\[]?\d{{1,4}}[)\]]?)?"
_MARKS = r"(?P<before>[*_`]{0,3})"

_AT_LINE_START = re.compile(
    rf"^(?P<decoration>{_DECORATION}(?:\d{{1,3}}[.)]{_DECORATION})?)"
    rf"{_WORDS}{_NUMBER}{_BLANK}{{0,4}}{_MARKS}{_BLANK}{{0,4}}(?P<end>[:：]|(?=\n|\Z))",
    re.IGNORECASE | re.MULTILINE,
)
_WITHIN_LINE = re.compile(
    rf"\b{_WORDS}{_NUMBER}{_BLANK}{{0,4}}{_MARKS}{_BLANK}{{0,4}}(?P<end>[:：])", re.IGNORECASE
)
_TRAILING_MARK = re.compile(r"(?:\*{1,3}|_{1,3}|`{1,3})\Z")
_LEADING_BLANK = re.compile(rf"{_BLANK}*")
_SENTENCE_ENDS = frozenset('.!?…;:。！？；：)）”"')
_PAUSES = frozenset(",，、-–—|")
_LONGEST_GAP = 12


@dataclass(frozen=True)
class Label:
    """One label. What it introduces begins at `value`; the label itself stands from `start`."""

    kind: LabelKind
    start: int
    value: int
    open_mark: str = ""
    """Emphasis that opened before the label and does not close with it."""
    is_inline: bool = False


def find_labels(text: str) -> list[Label]:
    """All labels in the order they stand, those within a line included."""
    at_line_starts = [label for match in _AT_LINE_START.finditer(text) if (label := _read(match))]
    taken = {label.value for label in at_line_starts}
    inline = [
        _place(match, is_inline=True)
        for match in _WITHIN_LINE.finditer(text)
        if _may_stand_inline(text, match)
    ]
    found = at_line_starts + [label for label in inline if label.value not in taken]
    return sorted(found, key=lambda label: label.start)


def _read(match: re.Match[str]) -> Label | None:
    if match["end"]:
        return _place(match)
    # Without a colon it must look like a title: decorated, or written with a capital letter.
    is_title = "#" in match["decoration"] or match["before"] or match[_kind(match)][0].isupper()
    return _place(match) if is_title else None


def _place(match: re.Match[str], *, is_inline: bool = False) -> Label:
    text = match.string
    kind = _kind(match)
    word_start = match.start(kind)
    before = text[max(0, word_start - 3) : word_start]
    mark = found[0] if (found := _TRAILING_MARK.search(before)) else ""
    value = match.end()
    open_mark = ""
    if mark and not match["before"]:
        closing = _skip_blank(text, value)
        if text.startswith(mark, value):
            value += len(mark)
        elif (
            text.startswith(mark, closing)
            and not text[closing + len(mark) : closing + len(mark) + 1].strip()
        ):
            value = closing + len(mark)
        else:
            open_mark = mark
    start = word_start - len(mark) if is_inline else match.start()
    return Label(kind, start, _skip_blank(text, value), open_mark, is_inline)


def _skip_blank(text: str, position: int) -> int:
    blank = _LEADING_BLANK.match(text, position)
    return blank.end() if blank else position


def _kind(match: re.Match[str]) -> LabelKind:
    return cast(LabelKind, match.lastgroup if match.lastgroup in _KINDS else _first_kind(match))


_KINDS = ("final", "input", "action", "observation", "thought")


def _first_kind(match: re.Match[str]) -> str:
    return next(kind for kind in _KINDS if match[kind])


def _may_stand_inline(text: str, match: re.Match[str]) -> bool:
    kind = _kind(match)
    start = match.start(kind)
    before = text[max(0, start - _LONGEST_GAP) : start].rstrip("*_`")
    if kind == "input":
        return bool(before) and before[-1] in " \t\u00a0,;)`"
    if kind not in ("final", "action"):
        return False
    # A quotation mark right before it makes it a quotation.
    if before and (before[-1] in "\"“'" or text[start - 1] == "`"):
        return False
    if kind == "action":
        # Whoever reads it asks for the name of a tool behind it, which says enough.
        return True
    before = before.rstrip().rstrip("*_`")
    ends = _SENTENCE_ENDS | _PAUSES if match[kind][0].isupper() else _SENTENCE_ENDS
    return bool(before) and before[-1] in ends


def strip_labels(text: str, kind: LabelKind) -> str:
    """The text without the labels of one kind; what they introduce stays."""
    return "".join(_keep(text, kind))


def _keep(text: str, kind: LabelKind) -> Iterator[str]:
    position = 0
    for label in find_labels(text):
        if label.kind == kind and not label.is_inline:
            yield text[position : label.start]
            position = label.value
    yield text[position:]

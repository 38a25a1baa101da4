"""Tells by its bytes what a model has only copied."""

import re
from collections.abc import Sequence

_FOLDED = re.compile(r"\\+[nrt]?|\s+")
"""Layout, and how JSON writes it: an alert that is JSON has its line ends and quotes escaped."""
_MARKS = r"<[^<>\n]{0,200}>|\[/?[A-Z_]{3,30}\]|```\w{0,20}|~~~\w{0,20}|\s+"
_HEAD = re.compile(rf"(?:{_MARKS})+")
_TAIL = re.compile(rf"(?:{_MARKS})+\Z")
_CLOSING = re.compile(r"</[^<>\n]{1,80}>\s*\Z")
_MOST_CLOSINGS = 3
"""Tags closed behind a call that may be those of what it is shown in."""
_READABLE = re.compile(r"[{\[]|[A-Za-z_][\w.:-]*\(")
_CITED_LINE = re.compile(r"[ \t]*>(?!>)")


def is_quoted(span: str, outside: Sequence[str]) -> bool:
    """Whether a call stands in one of the texts from outside, with or without marks around it."""
    wanted = [folded for each in _variants(span) if (folded := _fold(each))]
    return bool(wanted) and any(each in text for text in map(_fold, outside) for each in wanted)


def is_cited(body: str, start: int) -> bool:
    """Whether a place stands behind the sign of a quotation, which nobody puts before a call."""
    return _CITED_LINE.match(body[body.rfind("\n", 0, start) + 1 :]) is not None


def _variants(span: str) -> list[str]:
    """The call as it stands, and without the marks that a model may have put around it."""
    closed = [span]
    while len(closed) <= _MOST_CLOSINGS and (found := _CLOSING.search(closed[-1])):
        closed.append(closed[-1][: found.start()])
    bare = span.strip()
    if head := _HEAD.match(bare):
        bare = bare[head.end() :]
    bare = _TAIL.sub("", bare)
    return [*closed, bare] if _READABLE.match(bare) else closed


def _fold(text: str) -> str:
    return _FOLDED.sub("", text)

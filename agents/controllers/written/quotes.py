"""Tells by its bytes what a model has only copied."""

import html
import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice

from agents.controllers.written.names import OfferedNames
from agents.controllers.written.spelling import spell_plainly
from agents.controllers.written.values import Read, TooDeep, read_calls
from agents.llm.wire_values import clean_characters

_FOLDED = re.compile(r"<\|\\*\"\|>|<escape>|\]<\]\w{1,20}\[>\[|\\+[nrt]?|\"|\s+")
"""Layout, and how JSON writes it: an alert that is JSON has its line ends and quotes escaped. So
are quotation marks, those of Gemma too, and what MiniMax puts between the parts of a call."""
_ESCAPED = re.compile(r"(?<!\\)\\++u([0-9a-fA-F]{4})")
_LAYOUT = re.compile(r"\\+[nrt]?|\s+")
"""The same without what JSON is made of."""
_MARKS = r"<[^<>\n]{0,200}>|\[/?[A-Z_]{3,30}\]|```\w{0,20}|~~~\w{0,20}|\s+"
_HEAD = re.compile(rf"(?:{_MARKS})+")
_TAIL = re.compile(rf"(?:{_MARKS})+\Z")
_CLOSING = re.compile(r"</[^<>\n]{1,80}>\s*\Z")
_MOST_CLOSINGS = 3
"""Tags closed behind a call that may be those of what it is shown in."""
_READABLE = re.compile(r"[{\[]|[A-Za-z_][\w.:-]*\(")
_DECODER = json.JSONDecoder(strict=False)
_MOST_PLACES = 50
_MOST_BRACES = 8
_FARTHEST = 2_000
_LONGEST_CALL = 60_000
_SHORTEST_LINE = 3
"""Characters: a bracket alone stands everywhere."""
_MOST_LINES = 50
"""Lines of a call that are followed; where these stand in a log, so does the call."""
_MOST_PLACES_OF_LINE = 5_000
"""A line that stands in a text more often is not followed, and the call counts as quoted."""
_LONGEST_PREFIX = 300
"""Characters between two lines of a call in a log: a moment, a host and a process, as JSON too."""
_CITED_LINE = re.compile(r"[ \t]*>(?!>)")


def is_quoted(span: str, outside: Sequence[str]) -> bool:
    """Whether a call stands in one of the texts from outside, with or without marks around it."""
    variants = _variants(span)
    wanted = [folded for each in variants if (folded := _fold(each))]
    told = (
        folded for line in variants[-1].splitlines() if len(folded := _fold(line)) >= _SHORTEST_LINE
    )
    lines = list(islice(told, _MOST_LINES))
    return bool(wanted) and any(
        any(each in text for each in wanted) or (len(lines) > 1 and _has_lines(text, lines))
        for text in map(_fold, outside)
    )


def _has_lines(text: str, lines: Sequence[str]) -> bool:
    """Whether lines follow each other there, each behind what a log puts before its own."""
    if not all(line in text for line in lines):
        return False
    ends: list[int] | None = None
    for line in lines:
        starts = list(islice(_places_of(line, text), _MOST_PLACES_OF_LINE + 1))
        if len(starts) > _MOST_PLACES_OF_LINE:
            return True
        if ends is not None:
            starts = [at for at in starts if _is_just_behind(at, ends)]
        if not starts:
            return False
        ends = [at + len(line) for at in starts]
    return True


def _places_of(line: str, text: str) -> Iterator[int]:
    """In order."""
    at = text.find(line)
    while at >= 0:
        yield at
        at = text.find(line, at + len(line))


def _is_just_behind(at: int, ends: Sequence[int]) -> bool:
    before = bisect_right(ends, at)
    return before > 0 and at - ends[before - 1] <= _LONGEST_PREFIX


def is_told(calls: Sequence[Read], offered: OfferedNames, outside: Sequence[str]) -> bool:
    """Whether one of the calls stands in a text from outside as JSON, its members in any order."""
    wanted = {_identify(call, offered) for call in calls}
    spellings = {form for call in calls for form in spell_name(call.name, offered)}
    names = re.compile("|".join(map(re.escape, sorted(spellings))))
    return any(
        _identify(call, offered) in wanted
        for text in outside
        if names.search(text)
        for layout in (text, _LAYOUT.sub("", html.unescape(text)))
        for call in _read_near(layout, names, offered)
    )


def _read_near(text: str, names: re.Pattern[str], offered: OfferedNames) -> Iterator[Read]:
    """The calls that stand as JSON around the names of tools."""
    for found in islice(names.finditer(text), _MOST_PLACES):
        opening = max(0, found.start() - _FARTHEST)
        starts = [at for at in range(opening, found.start()) if text[at] == "{"]
        for start in starts[-_MOST_BRACES:]:
            try:
                value, _ = _DECODER.raw_decode(text[start : start + _LONGEST_CALL])
                yield from read_calls(value, offered)
            except (ValueError, RecursionError, TooDeep):
                continue


def spell_name(name: str, offered: OfferedNames) -> Sequence[str]:
    """How a text may call a tool that an answer calls by this name."""
    wire = offered.find(name) or name
    return name, wire, wire.replace("__", ".", 1)


def _identify(call: Read, offered: OfferedNames) -> tuple[str, str]:
    arguments = json.dumps(call.arguments, sort_keys=True, ensure_ascii=False)
    return offered.find(call.name) or call.name, _fold(arguments)


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
    # Twice: a page that shows a page has escaped it twice.
    plain = html.unescape(html.unescape(text))
    if _ESCAPED.search(plain):
        plain = clean_characters(_ESCAPED.sub(lambda found: chr(int(found[1], 16)), plain))
    return _FOLDED.sub("", spell_plainly(plain))

"""Which passages of an answer say themselves that they tell of earlier times.

Only these may rest on a note or on an earlier session; everything else is about now.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import itemgetter

from safety.grounding.clauses import HEADING, Clause, split_clauses
from safety.grounding.moments import find_dates

_EARLIER = (
    r"(?:earlier|previous|past|prior|former|another|other|older|last|first|similar|known|related|"
    r"recorded|remembered|recalled|stored|kept|no|any|those|these)"
)
_RECORD = (
    r"(?:sessions?|investigations?|incidents?|notes?|reports?|findings?|occurrences?|outages?|"
    r"analys[ei]s|cases?|records?|alerts)"
)
_MARK = re.compile(
    rf"\b{_EARLIER}\s+(?:[\w-]+\s+){{0,2}}?{_RECORD}\b"
    r"|\b(?:last|previous|earlier)\s+(?:time|week|month|year)s?\b"
    r"|\b(?:in|from|of|by|per|since|during|to)\s+(?:the\s+|an?\s+|that\s+|this\s+)?"
    r"(?:session|investigation|note)s?\b(?!\s+that\b)"
    r"|\bsession\s+`?[0-9a-f]{4,}"
    r"|\b(?:the|a|an|one|two|three|that|this)\s+(?:\w+\s+)?notes?\b(?!\s+that\b)"
    r"|\bnotes?\s+(?:of|from|on|about|says?|said|tells?|told|mentions?|names?|records?)\b"
    r"|\b(?:sessions?|investigations?)\s+(?:found|concluded|said|says|named|noted|reported|told)\b"
    r"|\b(?:earlier|previously|formerly|historically|back then|last time|once before|in the past)\b"
    r"|\bat th(?:e|at) time\b|\b(?:days?|weeks?|months?|years?) ago\b"
    r"|\b(?:happened|occurred|seen|known|reported|found|noted|recorded) before\b"
    r"|\b(?:recalled|remembered|on record|from memory|knowledge|histor(?:y|ical))\b",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:now|currently|presently|today|right now|at present|at the moment|this time|"
    r"(?:is|are|has|have) still|still (?:is|are|has|have)|"
    r"(?:is|are|has|have)\b[^,;]{0,40}\bagain)\b",
    re.IGNORECASE,
)
_COMPARED = re.compile(
    r"\b(?:as|like|same as|similar(?:ly)? to|exactly as)\s+(?:it was\s+|they were\s+)?"
    r"(?:(?:in|of|at|on)\b|before\b|earlier\b|previously\b|last\b|then\b)"
    r"|\bsame\b[^,;]{0,30}\bas\b",
    re.IGNORECASE,
)
_OF_RECORDS = re.compile(
    r"^\W*+(?:[\w-]+\s+){0,3}?(?:sessions?|investigations?|incidents|notes?|alerts)\s+"
    r"(?:(?:of|about|on|for|from)\s+\S+\s+)?(?:`?[0-9a-f-]{4,}`?\s+)?"
    r"(?:is|are|has|have|was|were|exists?|ended|failed)\b",
    re.IGNORECASE,
)
"""The records themselves, which a look at them shows as they are now."""
_PRESENT = re.compile(r"\b(?:is|are|am|has|have|does|remains?|stays?|runs?|stands?)\b", re.I)
_WAS = re.compile(r"\b(?:was|were|had|did|\w{3,}ed)\b", re.IGNORECASE)
_REPORTED = re.compile(r"^\W*(?:(?:and|but)\s+)?(?:that|which|where|who)\b", re.IGNORECASE)
_ATTRIBUTED = re.compile(r"^\W*(?:as|so|says?|said|according to|per|from)\b", re.IGNORECASE)
_BETWEEN = re.compile(r",|\b(?:and|but|while|than|compared|versus|vs|from|up|down|after)\b", re.I)
_SECTION = re.compile(
    r"earlier|previous|\bpast\b|\bprior\b|histor|recalled|known (?:incidents|issues|cases)|"
    r"similar|notes|knowledge|what was known",
    re.IGNORECASE,
)
_SECTION_OF_NOW = re.compile(r"\b(?:now|current|currently|present|evidence|conclusion)\b", re.I)
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)]|>)\s")


def find_recalled(text: str) -> list[tuple[int, int]]:
    """The passages, in characters of the text, in order."""
    told = dict(_lines_of_the_past(text))
    found: list[tuple[int, int]] = []
    lines = groupby(split_clauses(text), key=lambda each: text.rfind("\n", 0, each.start + 1) + 1)
    for start, clauses in lines:
        found += _read_line(text, list(clauses), is_told=told.get(start, False))
    return found


def lies_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    """Whether one of these passages holds the place; they are in order and do not overlap."""
    before = bisect_right(spans, place, key=itemgetter(0))
    return before > 0 and place < spans[before - 1][1]


def _lines_of_the_past(text: str) -> Iterator[tuple[int, bool]]:
    """Each line by where it begins, and whether a heading or a list's first line says it of it."""
    in_section = in_list = False
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        heading = HEADING.fullmatch(line.rstrip())
        if heading is not None:
            title = heading.group(1) or heading.group(2)
            in_section = bool(_SECTION.search(title)) and not _SECTION_OF_NOW.search(title)
            in_list = False
        elif line.strip() and not _ITEM.match(line):
            in_list = line.rstrip().endswith(":") and _is_marked(line)
        yield start, in_section or in_list


def _read_line(text: str, clauses: list[Clause], *, is_told: bool) -> Iterator[tuple[int, int]]:
    said = ""
    attributed = _find_attributions(clauses)
    for place, clause in enumerate(clauses):
        span = _find_part(clause.text)
        if span is None and not _NOW.search(clause.text):
            follows = said == clause.sentence and (
                _REPORTED.match(clause.text) or _stands_behind_colon(text, clause.start)
            )
            goes_on = bool(said) and not _PRESENT.search(clause.text)
            is_attributed = attributed.get(clause.sentence, -1) > place
            if is_told or follows or goes_on or is_attributed or _is_dated(clause.text):
                span = 0, len(clause.text)
        elif span is not None:
            said = clause.sentence
        if span is not None:
            yield clause.start + span[0], clause.start + span[1]


def _find_attributions(clauses: Sequence[Clause]) -> dict[str, int]:
    """For each sentence, its last clause that says where the sentence was recalled from."""
    return {
        clause.sentence: place
        for place, clause in enumerate(clauses)
        if _ATTRIBUTED.match(clause.text) and _is_marked(clause.text)
    }


def _stands_behind_colon(text: str, start: int) -> bool:
    while start > 0 and text[start - 1].isspace():
        start -= 1
    return text[start - 1 : start] == ":"


def _is_marked(text: str) -> bool:
    return bool(_MARK.search(text)) and not _COMPARED.search(text)


def _find_part(text: str) -> tuple[int, int] | None:
    """What of a clause is said to be of earlier; beside what is said of now only its own side."""
    if _OF_RECORDS.match(text):
        return 0, len(text)
    mark, now = _MARK.search(text), _NOW.search(text)
    if mark is None or _COMPARED.search(text):
        return None
    if now is None:
        return 0, len(text)
    first, second = sorted((mark.span(), now.span()))
    joints = [each.start() for each in _BETWEEN.finditer(text, first[1], second[0])]
    if not joints:
        return None
    return (0, joints[-1]) if first == mark.span() else (joints[-1], len(text))


def _is_dated(text: str) -> bool:
    """A past event with its day says by that that it is none of now."""
    dated = next(find_dates(text), None) is not None
    return dated and bool(_WAS.search(text)) and not _PRESENT.search(text)

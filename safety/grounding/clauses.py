"""Splits an answer into clauses and says which of them state facts."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from safety.word_lists import word_list

Mood = Literal["fact", "alert", "other"]
"""`alert`: attributed to the alert. `other`: advice, plan, guess, question or general knowledge."""


@dataclass(frozen=True)
class Clause:
    """A part of a sentence; `start` is its place in the answer."""

    text: str
    start: int
    mood: Mood
    sentence: str


HEADING = re.compile(r"\s{0,3}#{1,6}\s+(.*)|\s*\*\*([^*\n]{1,60})\*\*\s*:?\s*")
_SECTIONS_OF_ADVICE = re.compile(
    r"next steps?|what to do|recommend|suggest|actions? (?:items?|to take)|remediation|mitigation"
    r"|prevent|not checked|what was not|open questions?|follow.?ups?|hypothes|plan\b|fix\b",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s*(?:```|~~~)")
_ITEM = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+|\s*>\s?")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"'”)\]*]*\s+(?=[\"'“(\[*`]*[A-Z0-9a-z])")
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|approx|ca|no|cf|resp)\.$", re.IGNORECASE)
_LONGEST_ABBREVIATION = 8
MAX_CLAUSE = 1_000
"""Characters. Whatever looks at a clause may look at each word of it for each other one."""
_CLAUSE_END = re.compile(
    r";\s+|(?<!\s)\s+[–—]\s+|,\s+(?=(?:so|but|while|whereas|because|and|which|as|then|though|although|"
    r"therefore|hence|since)\b)|:\s+(?=[A-Z])"
)
_ADVICE_VERBS = word_list("""
    add adjust allow alert apply archive ask attach avoid bring bump cap change check clean clear
    collect compare confirm configure connect consider contact create decrease define delete
    deploy detach disable double drain drop dump enable enlarge ensure escalate evict examine
    expand extend file find fix flush follow free get give identify implement increase inspect
    install investigate keep kill let limit look lower make migrate monitor move open pause patch
    perform pin plan prevent prune purge put raise rebalance reboot rebuild reclaim recreate
    redeploy reduce reload reindex remove renew replace rerun resize restart restore revert review
    roll rotate run scale schedule see set shrink shut split start stop switch take tell terminate
    test throttle trace trim truncate try tune uncordon update upgrade use vacuum verify wait
    watch
    """)
_ADVICE = re.compile(
    rf"^(?:\W*(?:then|also|next|first|finally|please|if (?:so|not|needed)|once done)[,:]?\s+)?"
    rf"[^\w\"“`]*(?P<verb>{'|'.join(_ADVICE_VERBS)})\b(?!\s+(?:is|are|was|were|has|have)\b)",
    re.IGNORECASE,
)
_NOUN_OF_VERB = re.compile(
    r"(?:\s+(?!(?:the|an?|all|any|it|its|whether|if|that|and|once|until|your|this)\b)"
    r"[\w./-]+){1,5}?\s+"
    r"(?:is|are|was|were|has|have|had|stands?|stood|shows?|came|took|went|reached|reads?|held|hovers?)\b",
    re.IGNORECASE,
)
""" "Run time on db-1 stands at 4 s" begins with a noun."""
_LABEL_OF_VERB = re.compile(
    r"(?:\s+[a-z][\w/-]{0,30}){1,3}(?:\s+[-\u2013\u2014]\s+[\w./-]{1,80})?\s{0,3}[*_`]{0,3}[:=][*_`]{0,3}"
    r"\s{0,3}[~≈]?\s?(?:[a-z]+\s){0,3}\d",
    re.IGNORECASE,
)
""" "Run time: 4 s" as well."""
_POINTED_AT = re.compile(
    r"^\W*(?:compare|contrast|note|see|look|consider)\b[^()\n]{1,200}?"
    r"(?:\(\W{0,3}\w[^)\n]{0,100}\)|\s[-\u2013\u2014:]\s[~≈]?\d)[^\n]{0,400}\[T\d",
    re.IGNORECASE,
)
""" "Compare a (14) with b (3) [T5]" shows figures, and asks for nothing to be done."""
_LOOKING = frozenset(
    {"verify", "check", "confirm", "ensure", "see", "make", "test", "look", "watch"}
)
_LABELLED = re.compile(
    r"^\W*(?:recommend\w*|suggest\w*|next steps?|to ?do|to-do|follow-?ups?|fix|action|"
    r"mitigation|workaround|advice|note|hypothesis|assumption|confidence|possible causes?)\W*"
    r"(?:\([^)]*\))?\W*[:—–-]",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"(?<!\d )\bmay\b(?! \d)|\b(?:should|shall|must|ought|would|could|"
    r"can(?![^.;]*\bagain\b)|might|will|cannot|"
    r"let's|need(?:s|ed)? to|"
    r"recommend\w*|suggest\w*|propos\w+|advis\w+|consider|want me|like me|"
    r"probabl[ey]|possibl[ey]|presumabl[ey]|perhaps|maybe|likely|unlikely|suspect\w*|"
    r"hypothes\w+|assum\w+|apparently|appears?|seems?|suggests?|indicates? that|potential\w*|"
    r"estimat\w+|expected|unknown|unclear|uncertain|unverified|not (?:known|clear|sure|verified|"
    r"checked|confirmed|determined)|plan(?:s|ned)? to|going to|confidence|"
    r"usually|typically|generally|often|commonly|normally|"
    r"means?(?!\s(?:of|over|value|is|was)\b)|implies|such \w+s|"
    r"in general|for example|e\.g\.|most \w+s|by default|as a rule|typical)\b|n't\b|\?\s*$",
    re.IGNORECASE,
)
_CONDITION = re.compile(r"^\W*(?:if|unless|when(?:ever)?|in case|once|until|should)\b", re.I)
_HONEST = re.compile(
    r"\b(?:(?:I|we) (?:did not|have not|had no|could|was unable|were unable|asked|tried|wanted|"
    r"requested|proposed)|could not|unable to|was denied|were denied|was refused|were refused|"
    r"was blocked|not permitted|no tools?\b|"
    r"no (?:[\w.-]+ ){1,6}(?:was|were) (?:available|returned|given)|"
    r"nothing was (?:changed|done)|no (?:changes?|actions?) "
    r"(?:was|were) (?:made|taken)|read-only|not (?:reachable|available))\b",
    re.IGNORECASE,
)
_ALERT = re.compile(
    r"\b(?:according to|per|from|as in|in) the alert\b|\bthe alert(?:'s)?\b[^.;]{0,40}?"
    r"\b(?:says?|said|reports?|reported|states?|stated|names?|mentions?|claims?|shows?|was|fired|"
    r"has|gives?|describes?)\b|\b(?:alert|alerted|reported|alerting|runbook|user|question)\b",
    re.IGNORECASE,
)


def split_clauses(text: str) -> Iterator[Clause]:
    """Every clause outside code blocks and headings, in order."""
    is_code = is_advice = False
    position = 0
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if _FENCE.match(line):
            is_code = not is_code
            continue
        if is_code:
            continue
        heading = HEADING.fullmatch(line.rstrip())
        if heading is not None:
            is_advice = bool(_SECTIONS_OF_ADVICE.search(heading.group(1) or heading.group(2)))
            continue
        yield from _split_line(line.rstrip("\r\n"), start, is_advice=is_advice)


def _split_line(line: str, start: int, *, is_advice: bool) -> Iterator[Clause]:
    item = _ITEM.match(line)
    offset = item.end() if item is not None else 0
    for sentence, place in _split(line[offset:], start + offset, _SENTENCE_END):
        # A recommendation stays one to its end, whatever its parts look like.
        whole: Mood | None = "other" if is_advice or _is_advice(sentence) else None
        for clause, begun in _split(sentence, place, _CLAUSE_END):
            for part, where in _cut(clause, begun):
                yield Clause(part, where, whole or _find_mood(part), sentence)


def _cut(clause: str, start: int) -> Iterator[tuple[str, int]]:
    """A clause in pieces that are no longer than any that a person writes."""
    begun = 0
    while len(clause) - begun > MAX_CLAUSE:
        blank = clause.rfind(" ", begun + 1, begun + MAX_CLAUSE)
        end = blank if blank > 0 else begun + MAX_CLAUSE
        yield clause[begun:end], start + begun
        begun = end
    yield clause[begun:], start + begun


def _split(text: str, start: int, mark: re.Pattern[str]) -> Iterator[tuple[str, int]]:
    begun = 0
    for found in mark.finditer(text):
        end = found.start()
        if _ABBREVIATION.search(text, max(begun, end - _LONGEST_ABBREVIATION), end):
            continue
        yield text[begun : found.start()], start + begun
        begun = found.end()
    if text[begun:].strip():
        yield text[begun:], start + begun


def _is_advice(sentence: str) -> bool:
    return bool(_is_order(sentence) or _LABELLED.match(sentence) or sentence.rstrip().endswith("?"))


def _is_order(text: str) -> bool:
    found = _ADVICE.match(text)
    if found is None:
        return False
    if _POINTED_AT.match(text):
        return False
    is_look = found["verb"].lower() in _LOOKING
    behind = found.end("verb")
    is_noun = _NOUN_OF_VERB.match(text, behind) or _LABEL_OF_VERB.match(text, behind)
    return is_look or is_noun is None


def _find_mood(clause: str) -> Mood:
    if _is_order(clause) or _CONDITION.match(clause) or _UNREAL.search(clause):
        return "other"
    if _HONEST.search(clause):
        return "other"
    return "alert" if _ALERT.search(clause) else "fact"


def find_sentence(text: str, place: int) -> tuple[int, int]:
    """Where the sentence that holds a place begins and ends, within its line."""
    line = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place)
    whole = text[line : end if end >= 0 else len(text)]
    item = _ITEM.match(whole)
    offset = item.end() if item is not None and item.end() <= place - line else 0
    for sentence, start in _split(whole[offset:], line + offset, _SENTENCE_END):
        if start <= place < start + len(sentence):
            return start, start + len(sentence)
    return line + offset, line + len(whole)

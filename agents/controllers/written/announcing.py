"""Tells an announcement from an answer: the model says what it is about to do, and stops."""

import re

from agents.citations import find_in_plain_text
from agents.controllers.written.names import OfferedNames

LONGEST = 1_000
"""Characters; whoever writes more has more to say than what comes next."""
_SHORTEST = 3
_SENTENCE_END = re.compile(r"(?<=[.!?:…])\s+(?=[A-Z*`\"“(])|\n+")
_HEADING = re.compile(r"^#{1,4} ", re.MULTILINE)
# The forms in which English says of oneself what comes next. "I would" is a condition, "I called"
# is past, and an order to somebody else has no "I" in it.
_ABOUT_TO = re.compile(
    r"\b(?:I|we)(?:['’]ll| will(?! not)| shall| should| must| (?:need|want|have) to"
    r"|(?: am| are|['’]m|['’]re)(?: \w+)? (?:going|about) to|['’]d like to| would like to)\b"
    r"|\blet(?:['’]s| us| me)\b|\b(?:now|next|first|then|while),? (?:I|we)\b"
    r"|\b(?:step|thing|plan|time)(?: is)?(?: now)? to\b",
    re.IGNORECASE,
)
_OTHER_CLAUSE = re.compile(r"\b(?:that|which|because|since|whether|as|let|see)\b", re.IGNORECASE)
_DOING = re.compile(
    r"\W*(?:(?:I|[Ww]e)(?: am| are|['’]m|['’]re) (?:now )?|[Nn]ow )?\w+ing (?:with )?(?:the )?"
    r"(?:tool:? )?\W?(?P<name>[\w.:-]+)"
    r"(?:(?: \w+){0,2}\W*| to\b[^,;.]*\W*|\([^\n]*\)\W*|[^.!?\n]*\{[^\n]*\}\W*)"
)
"""`Calling net__ping now...`, and nothing else."""
_SUMMING_UP = re.compile(
    r"\blet me (?:sum|conclude|summari[sz]e|explain|be clear)\b", re.IGNORECASE
)
_QUOTED = re.compile(r"\"[^\"\n]*\"|“[^”\n]*”")


def is_report(text: str) -> bool:
    """Whether a text has what only a report has: a citation of a tool call, or a heading.

    It may begin within code, so no backtick counts.
    """
    return _HEADING.search(text) is not None or bool(find_in_plain_text(text))


def is_whole_report(text: str) -> bool:
    """Whether a text has the form of a report, and not only a word on what was found so far."""
    return _HEADING.search(text) is not None and bool(find_in_plain_text(text))


def is_announcement(text: str, offered: OfferedNames) -> bool:
    """Whether a text ends in the announcement of a call of an offered tool."""
    if len(text) > LONGEST or is_report(text):
        return False
    sentences = [part for part in _SENTENCE_END.split(text.strip()) if part.strip()]
    if not sentences:
        return False
    # "One moment." behind it adds nothing.
    is_short = len(sentences) > 1 and len(sentences[-1].split()) <= _SHORTEST
    is_aside = is_short and not _names_tool(sentences[-1], offered)
    last = _QUOTED.sub("", sentences[-2 if is_aside else -1])
    if (doing := _DOING.fullmatch(last)) and _names_tool(doing["name"], offered):
        return True
    found = _ABOUT_TO.search(last)
    if found is None or _SUMMING_UP.search(last):
        return False
    # "I need to point out that net__ping was blocked" announces nothing.
    return _names_tool(_OTHER_CLAUSE.split(last[found.end() :])[0], offered)


def _names_tool(text: str, offered: OfferedNames) -> bool:
    return any(
        offered.find(word.strip(".:-")) is not None for word in re.findall(r"[\w.:-]+", text)
    )

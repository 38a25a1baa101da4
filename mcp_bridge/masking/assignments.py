"""Finds secrets that stand behind a name: `password=...`, `"apiKey": "..."`, `token: ...`."""

import re
from collections.abc import Iterable, Iterator, Sequence

from mcp_bridge.masking.budget import Budget
from mcp_bridge.masking.secret_names import (
    NAME_ENDINGS,
    NAME_TRAILERS,
    STRONG_ENDINGS,
    SecretName,
    classify_name,
    is_secret_value,
    looks_like_credential,
    may_announce,
)
from mcp_bridge.masking.spans import Span

SEPARATOR = r"\\*[\"'`]?\]?[ \t]*(?:[:?+]=|=>|=|:)"
SECRET_NAME = rf"(?:{NAME_ENDINGS})s?(?:[_.\-]*(?:{NAME_TRAILERS}|[0-9]+))*"
"""An RE2 pattern for the end of every name that `classify_name` knows."""
MAY_ASSIGN = (
    rf"(?i)(?:{STRONG_ENDINGS})s?(?:[_.\-]*(?:{NAME_TRAILERS}|[0-9]+))*{SEPARATOR}[ \t]*\S"
    rf"|{SECRET_NAME}{SEPARATOR}[ \t]*\S{{8}}"
)
"""An RE2 pattern that is found in every line `find_assignments` finds something in."""

# Name and separator only, never the value: a value may hold the next name. It begins where a run of
# name characters begins and gives nothing back, so it takes linear time without RE2, whose every
# match costs ten times as much.
_NAME_AND_SEPARATOR = re.compile(
    r"(?i)(?<![A-Z0-9_.\-])([A-Z0-9_.\-]++)" + SEPARATOR.replace("*", "*+") + r"[ \t]*+"
)

_BARE = re.compile(r"""[^\s"'<>`\x00]+""")
_NEXT_PAIR = re.compile(r"[;&,](?=[\w.%\-\[\]]*[=:]|\s|$)|&|,(?=[\"'])")
_LINE_START = re.compile(r"""[\s+\->|]*(?:-\s+)*["']?$""")
_SHELL_START = re.compile(r"\s*(?:(?:export|declare\s+-x|set|setenv|ENV|ARG|-e)\s+)?$")
_COMMENT = re.compile(r"\s+#.*$")
# A plan or a diff on one line: `password = "old" -> "new"`.
_CHANGED_TO = re.compile(r"""["'`]?[ \t]*(?:->|=>|→)[ \t]*["'`]?([^\s"'<>`\x00(]+)""")
_CUT = re.compile(r"\.\.\.|…|\[(?:truncated|output)")
_CLOSERS = ")]},;:?"
_TYPED = re.compile(r"[A-Za-z][\w.]*(?:\[[^\]]*\])?(?: \| \w+)* = [A-Za-z_][\w.]*[(]")
_IN_ARN = re.compile(r"\barn:[\w:./*-]*$")
# Two plain words: `password: field is required`. The next pair on the line is none of them.
_PROSE = re.compile(r"[a-z]{2,12} [a-z]{2,12}(?![\w:=-])(?![ \t]*[:=])")
MAX_JUDGED = 2_000
NAMES_FOR_ONE_HIT = 20
MAX_LEAD = 200


def find_assignments(
    line: str, budget: Budget, places: Sequence[tuple[int, int]] = ()
) -> Iterator[Span]:
    """Secrets of one line that a name in front of them announces; the names stand in `places`,
    which are in order, or anywhere."""
    run_end = masked_to = 0
    unread = 2 * len(line) + 4_096
    for number, match in enumerate(_names(line, places or [(0, len(line))]), 1):
        if number % NAMES_FOR_ONE_HIT == 0:
            budget.spend_hits()
        key, start = match[1], match.end()
        if start < masked_to or start >= len(line) or not may_announce(key):
            continue
        name = classify_name(key)
        if name is None or line.endswith(("//", "checksum/"), 0, match.start()):
            continue  # Behind slashes stands a user's name.
        if _is_told_about(line, match):
            continue
        budget.spend_hits()
        if start >= run_end:
            # One run of characters may hold thousands of names: its end is looked for once.
            run = _BARE.match(line, start)
            run_end = run.end() if run else start
        span = _value_span(line, match.start(), start, run_end, name)
        if span is None:
            continue
        value = line[span.start : min(span.end, span.start + MAX_JUDGED)]
        unread -= len(value)
        if unread < 0:
            # Names within values within names: made to cost time. All of it goes, unread.
            span = Span(start, max(run_end, span.end), name.kind)
        elif not is_secret_value(name, value, key):
            continue
        masked_to = span.end
        yield span
        if changed := _CHANGED_TO.match(line, span.end):
            masked_to = changed.end()
            yield Span(*changed.span(1), name.kind)


def _is_told_about(line: str, match: re.Match[str]) -> bool:
    """A file or a resource that something is said of, or a name that prose follows."""
    if not match[0].rstrip().endswith(":"):
        return False
    before = line[max(0, match.start() - MAX_LEAD) : match.start()]
    if before.endswith(":") and _IN_ARN.search(before):
        return True
    return _PROSE.match(line, match.end()) is not None


def _names(line: str, places: Iterable[tuple[int, int]]) -> Iterator[re.Match[str]]:
    for start, end in places:
        yield from _NAME_AND_SEPARATOR.finditer(line, start, end)


def _value_span(
    line: str, key_start: int, start: int, run_end: int, name: SecretName
) -> Span | None:
    quote = line[start]
    if quote in ("'", '"', "`"):
        return _quoted_span(line, start, name.kind)
    if quote == "\\":
        return None  # An escaped quote: the line is read once more with its escapes undone.
    separator = line[key_start:start].rstrip()
    if separator.endswith(":") and key_start <= MAX_LEAD and _LINE_START.match(line[:key_start]):
        return _yaml_span(line, start, name)
    if run_end == start:
        return None
    end = run_end
    cut = _NEXT_PAIR.search(line, start, min(end, start + MAX_JUDGED))
    is_shell = key_start <= MAX_LEAD and bool(_SHELL_START.match(line[:key_start]))
    if is_shell and separator.endswith("=") and cut is None:
        return Span(start, end, name.kind)
    end = cut.start() if cut else end
    if key_start > 0 and line[start] not in "([{<":
        while end > start and line[end - 1] in _CLOSERS:
            end -= 1
    return Span(start, end, name.kind)


def _quoted_span(line: str, start: int, kind: str) -> Span:
    quote = line[start]
    if line.startswith(quote * 3, start):
        start += 2
    end = start + 1
    while end < len(line) and line[end] != quote:
        end += 2 if line[end] == "\\" else 1
    if end >= len(line):
        end = len(line.rstrip())
        if cut := _CUT.search(line, start + 1):
            end = cut.start()
    return Span(start + 1, end, kind)


def _yaml_span(line: str, start: int, name: SecretName) -> Span | None:
    """The rest of a `key: value` line. Several words are a value only if one is no word."""
    rest = _COMMENT.sub("", line[start:].rstrip().split("\x00")[0])
    words = rest.split()
    if not words:
        return None
    if len(words) == 1:
        kept = rest.rstrip(",;")
        return Span(start, start + len(kept), name.kind, is_bare=kept == rest)
    if _TYPED.match(rest):
        return None  # A field of a program: `password: str = Field(...)`.
    if words[0].rstrip(",;").isdigit():
        return None  # A count: `pass: 12, fail: 0`, `password: 16 bytes`.
    if name.strength == "strong" and any(any(c.isdigit() for c in word) for word in words):
        return Span(start, start + len(rest), name.kind, is_bare=True)
    first = words[0].rstrip(",;")
    return Span(start, start + len(first), name.kind) if looks_like_credential(first) else None

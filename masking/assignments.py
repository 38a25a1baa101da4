"""Finds secrets that stand behind a name: `password=...`, `"apiKey": "..."`, `token: ...`."""

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from masking.budget import Budget
from masking.secret_names import (
    NAME_ENDINGS,
    NAME_TRAILERS,
    STRONG_ENDINGS,
    SecretName,
    classify_name,
    is_made_of_words,
    is_secret_value,
    looks_like_credential,
    may_announce,
)
from masking.spans import Span
from masking.yaml_lines import COMMENT

SEPARATOR = r"\\*[\"'`]?\]?[ \t]*(?:[:?+]=|:-|=>|=|:)"
SECRET_NAME = rf"(?:{NAME_ENDINGS})s?(?:[_.\-]*(?:{NAME_TRAILERS}|[0-9]+))*"
"""An RE2 pattern for the end of every name that `classify_name` knows."""
MAY_ASSIGN = (
    rf"(?i)(?:{STRONG_ENDINGS})s?(?:[_.\-]*(?:{NAME_TRAILERS}|[0-9]+))*{SEPARATOR}[ \t]*\S"
    rf"|{SECRET_NAME}{SEPARATOR}[ \t]*\S{{4}}"
)
"""An RE2 pattern that is found in every line `find_assignments` finds something in."""

# Name and separator only, never the value: a value may hold the next name. It begins where a run of
# name characters begins and gives nothing back, so it takes linear time without RE2, whose every
# match costs ten times as much.
_NAME_AND_SEPARATOR = re.compile(
    r"(?i)(?<![A-Z0-9_.\-])([A-Z0-9_.\-]++)" + SEPARATOR.replace("*", "*+") + r"[ \t]*+"
)

# Angle brackets within, unless they are a tag or its end.
_BARE = re.compile(
    r"""[^\s"'<>`\x00]+(?:(?:<(?!/|[A-Za-z]{1,10}[\s/>])|>(?![,;:.)\]}|]))[^\s"'<>`\x00]+)*"""
)
_NEXT_PAIR = re.compile(
    r"[;&,](?=[\w.%\-\[\]]*[=:]|\s|$)|&(?=[&;]|[A-Za-z]{2,8};|#[0-9]{1,5};)|,(?=[\"'])"
)
_WHOLE = re.compile(r"(?:[^\s<\x00]|<(?!/))+")
# As ODBC has what holds a semicolon.
_IN_BRACES = re.compile(r"\{((?:[^{}\n]|\}\})+)\}(?=;|$)")
_TO_SEMICOLON = re.compile(r"[^;\"'\n\x00]+")
_PHRASE_WORD = re.compile(r"[A-Z0-9][^\s=:|;<>()]*$")
_SHELL_ENDS = ";&|"
_LINE_START = re.compile(r"""[\s+\->|]*(?:-\s+)*["']?$""")
_SHELL_START = re.compile(r"\s*(?:(?:export|declare\s+-x|set|setenv|ENV|ARG|-e)\s+)?$")
# A plan or a diff on one line: `password = "old" -> "new"`.
_CHANGED_TO = re.compile(
    r"""["'`]?[ \t]*(?:->|=>|→)[ \t]*(?:"((?:[^"\\\n]|\\.)+)"|["'`]?([^\s"'<>`\x00(]+))"""
)
_ALIAS = re.compile(r"\*[a-z][a-z_-]{0,30}$")
_ANCHOR = re.compile(r"(?:(?:&\w{1,40}|!![A-Za-z]{1,20})[ \t]+)+")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$")
_CUT = re.compile(r"\.\.\.|…|\[(?:truncated|output)")
_CLOSERS = ")]},;:?"
_TYPED = re.compile(r"[A-Za-z][\w.]*(?:\[[^\]]*\])?(?: \| \w+)* = [A-Za-z_][\w.]*[(]")
_TYPE_IN_BRACKETS = re.compile(r"\([\w*.\[\]]+\) ")
_REST_OF_NAME = re.compile(
    r"(?=[a-z:]*\b(?:attempts?|cache|change|count|email|history|index|jobs?|limit|locks?|queues?"
    r"|rate|requests?|reset|sessions?|tokens?|update|users?|verify)\b)"
    r"[a-z]{2,20}(?::[a-z]{2,20}){1,5}(?![\w:])"
)
_IN_ARN = re.compile(r"\barn:[\w:./*-]*$")
# Two plain words: `password: field is required`. The next pair on the line is none of them.
_PROSE = re.compile(r"[a-z]{2,12} [a-z]{2,12}(?![\w:=-])(?![ \t]*[:=])")
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*[,;)]*$")
MAX_JUDGED = 2_000
NAMES_FOR_ONE_HIT = 20
MAX_LEAD = 200
MAX_PHRASE = 80


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
        if _is_told_about(line, match) or _is_part_of_name(line, match):
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
        elif not is_secret_value(name, value, key) or _is_code(line, match, span, value):
            continue
        masked_to = span.end
        yield span
        if changed := _CHANGED_TO.match(line, span.end):
            masked_to = changed.end()
            yield Span(*changed.span(1 if changed[1] else 2), name.kind)


def _is_told_about(line: str, match: re.Match[str]) -> bool:
    """A file or a resource that something is said of, or a name that prose follows."""
    if not match[0].rstrip().endswith(":"):
        return False
    before = line[max(0, match.start() - MAX_LEAD) : match.start()]
    if before.endswith(":") and _IN_ARN.search(before):
        return True
    if _PROSE.match(line, match.end()) is None:
        return False
    rest = line[match.end() : match.end() + MAX_PHRASE + 1]
    return not _is_passphrase(match[1], COMMENT.sub("", rest.rstrip()))


def _is_passphrase(key: str, value: str) -> bool:
    """Several words under the name of a variable that say nothing of it."""
    return (
        _VARIABLE.match(key) is not None
        and len(value) <= MAX_PHRASE
        and is_made_of_words(value.strip("\"'"))
    )


def _is_code(line: str, match: re.Match[str], span: Span, value: str) -> bool:
    """A word that may as well be the name of a variable or of a type, where code has those."""
    if not _IDENTIFIER.match(value) or line[span.start - 1] in "\"'`" or match[1].isupper():
        return False
    name = classify_name(match[1])
    if name is None or name.strength == "strong" or looks_like_credential(value):
        return False
    behind = value[-1:] if value[-1:] in ",;)" else line[span.end : span.end + 2].lstrip()[:1]
    separator = line[match.end(1) : span.start]
    before = line[max(0, match.start() - MAX_LEAD) : match.start()]
    if separator.rstrip().endswith(":"):
        return behind in ("=", ";", ",", ")", "|", "?") or not _LINE_START.match(before)
    if separator != separator.strip():
        return "-" not in match[1]
    return (
        "(" in before
        or "{" in before
        or (not before.strip() and behind == "," and "-" not in match[1])
    )


def _is_part_of_name(line: str, match: re.Match[str]) -> bool:
    """`password:reset:queue` is a key of a cache, `pam_unix(passwd:auth)` a module."""
    if not match[0].endswith(":"):
        return False
    before = line[max(0, match.start() - MAX_LEAD) : match.start()]
    is_module = before.endswith("(") and before.rpartition(" ")[2].startswith("pam_")
    return is_module or _REST_OF_NAME.match(line, match.end()) is not None


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
    is_yaml = separator.endswith(":") and line[start - 1] in " \t"
    if is_yaml and key_start <= MAX_LEAD and _LINE_START.match(line[:key_start]):
        return _yaml_span(line, start, name, line[key_start:start])
    if whole := _whole_value(line, key_start, start, separator):
        return Span(*whole, name.kind)
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
    if line.startswith(('"', "'"), end):
        # A quote that is escaped.
        end = start + len(line[start:end].rstrip("\\"))
    return Span(start, end, name.kind)


def _whole_value(line: str, key_start: int, start: int, separator: str) -> tuple[int, int] | None:
    """Where the form of the line says what all of the value is, whatever it holds: a variable of
    the environment, a setting on its own line, a part of a connection string."""
    if key_start > MAX_LEAD or not separator.endswith("="):
        return None
    before = line[:key_start]
    if braced := _IN_BRACES.match(line, start) if ";" in before else None:
        return braced.span(1)
    if before.rstrip().endswith(";") and (part := _TO_SEMICOLON.match(line, start)):
        is_last = part.end() == len(line) or line[part.end()] != ";"
        return None if is_last and " " in part[0] else part.span()
    is_variable = _VARIABLE.match(separator[:-1]) is not None
    if is_variable and before.endswith(('"', "'")):
        part = _in_quotes(before[-1]).match(line, start)
        return part.span(1) if part and _is_one_value(part[1]) else None
    if not _SHELL_START.match(before):
        return None
    is_setting = not before.strip() and ("." in separator or line[start - 2 : start] == "= ")
    rest = COMMENT.sub("", line[start : start + MAX_PHRASE].rstrip())
    if " " in rest and _is_one_value(rest) and start + len(rest) == len(line.rstrip()):
        return start, start + len(rest)
    if not (is_variable or is_setting) or not (word := _WHOLE.match(line, start)):
        return None
    kept = word[0].rstrip(_SHELL_ENDS) if word.end() < len(line) else word[0]
    return start, start + len(kept)


@cache
def _in_quotes(quote: str) -> re.Pattern[str]:
    return re.compile(rf"((?:[^{quote}\\\n]|\\[^{quote}\n])+){quote}")


def _is_one_value(value: str) -> bool:
    """One word, or several that begin as no command does."""
    words = value.split()
    return len(words) == 1 or (
        is_made_of_words(value) and all(_PHRASE_WORD.match(word) for word in words)
    )


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


def _yaml_span(line: str, start: int, name: SecretName, lead: str) -> Span | None:
    """The rest of a `key: value` line. Several words are a value only if one is no word."""
    rest = COMMENT.sub("", line[start:].rstrip().split("\x00")[0])
    if _ALIAS.match(rest):
        return None
    if mark := _ANCHOR.match(rest):
        start, rest = start + mark.end(), rest[mark.end() :]
        if rest[:1] in ("'", '"'):
            return _quoted_span(line, start, name.kind)
    words = rest.split()
    if not words:
        return None
    if len(words) == 1:
        kept = rest.rstrip(",;")
        return Span(start, start + len(kept), name.kind, is_bare=kept == rest)
    if _TYPED.match(rest) or _TYPE_IN_BRACKETS.match(rest):
        # A field of a program: `password: str = Field(...)`, `(string) (len=4) "pass"`.
        return None
    if words[0].rstrip(",;").isdigit():
        return None  # A count: `pass: 12, fail: 0`, `password: 16 bytes`.
    if name.strength == "strong" and (
        any(any(c.isdigit() for c in word) for word in words)
        or _is_passphrase(lead.rstrip(" \t:\"'"), rest)
    ):
        return Span(start, start + len(rest), name.kind, is_bare=True)
    first = words[0].rstrip(",;")
    return Span(start, start + len(first), name.kind) if looks_like_credential(first) else None

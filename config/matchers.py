"""Matchers of labels, written as Alertmanager writes them: `severity=~"critical|high"`.

An expression must match the whole value. A label that an alert lacks is empty. Reading and matching
take time in proportion to the text, whatever it holds.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import re2

Operator = Literal["=", "!=", "=~", "!~"]
LONGEST = 1_000
_WRITTEN = re.compile(
    r'\s*(?P<name>"(?:[^"\\]|\\.)*"|[^\s"{}=!~,\\]+)\s*(?P<sign>=~|!~|!=|=)\s*'
    r'(?P<value>"(?:[^"\\]|\\.)*"|[^\s"{},=~!][^"{},]*|)\s*',
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t"}


class MatcherError(ValueError):
    """What is wrong with a matcher, and what would be right."""


@dataclass(frozen=True)
class Matcher:
    name: str
    sign: Operator
    value: str

    def matches(self, labels: Mapping[str, str]) -> bool:
        given = labels.get(self.name, "")
        match self.sign:
            case "=":
                return given == self.value
            case "!=":
                return given != self.value
            case "=~":
                return _expression(self.value).fullmatch(given) is not None
            case "!~":
                return _expression(self.value).fullmatch(given) is None


def all_match(written: Iterable[str], labels: Mapping[str, str]) -> bool:
    """Whether every matcher of every text matches; where there is none, everything does."""
    return all(each.matches(labels) for text in written for each in parse_matchers(text))


@lru_cache(maxsize=4_096)
def parse_matchers(text: str) -> tuple[Matcher, ...]:
    """One matcher, or several between commas, with or without braces. Raises MatcherError."""
    inner = text.strip()
    if inner.startswith("{") and inner.endswith("}"):
        inner = inner[1:-1]
    if len(inner) > LONGEST:
        raise MatcherError(f"has more than {LONGEST:,} characters")
    found: list[Matcher] = []
    place = 0
    while place < len(inner):
        read = _WRITTEN.match(inner, place)
        if read is None:
            raise MatcherError(_tell(inner[place:]))
        found.append(_make(read))
        place = read.end()
        if place < len(inner):
            if inner[place] != ",":
                raise MatcherError(_tell(inner[place:]))
            place += 1
    if not found:
        raise MatcherError(_tell(text))
    return tuple(found)


def _make(read: re.Match[str]) -> Matcher:
    name, value = _unquote(read["name"]), _unquote(read["value"].rstrip())
    sign: Operator = read["sign"]  # type: ignore[assignment]  # the pattern knows no other
    if sign in ("=~", "!~"):
        _expression(value)
    return Matcher(name, sign, value)


def _unquote(text: str) -> str:
    if not text.startswith('"'):
        return text
    return _ESCAPED.sub(lambda found: _ESCAPES.get(found[1], found[1]), text[1:-1])


@lru_cache(maxsize=4_096)
def _expression(text: str) -> "re2._Regexp[str]":
    options = re2.Options()
    options.log_errors = False
    options.never_nl = False
    try:
        return re2.compile(f"(?s:{text})", options)
    except re2.error as error:
        raise MatcherError(f"has no regular expression of RE2: {error}") from None


def _tell(rest: str) -> str:
    return f'must be matchers such as severity=~"critical|high", not {rest.strip()[:40]!r}'

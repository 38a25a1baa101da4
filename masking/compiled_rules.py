"""The compiled form of a selection of patterns, made once per selection."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import re2

from masking.assignments import MAY_ASSIGN, find_assignments
from masking.budget import Budget
from masking.pattern_names import PATTERN_OF_KIND
from masking.sieve import Sieve, options
from masking.spans import Span
from masking.structure_hints import STRUCTURE_HINTS, Hint
from masking.token_rule import TokenRule
from masking.tokens import TOKEN_RULES

WINDOW = 8_192
STEP = WINDOW // 2
LONGEST_NAME = 200
_WORD_END = re.compile(r"[^\s\"'<>`\x00]*")
BLOCK = 16_384
"""Bytes the sieve reads at a time; it says which patterns may occur, and only those are run."""


def is_enabled(kind: str, enabled: frozenset[str]) -> bool:
    """Whether secrets of a named kind are to be masked."""
    return PATTERN_OF_KIND.get(kind, kind) in enabled


def to_bytes(text: str) -> bytes:
    """One byte for each character, so that offsets stay: what is not Latin-1 becomes `?`."""
    return text.encode("latin-1", "replace")


@dataclass
class Swept:
    """Where a text has to be looked at closely.

    `places` are stretches of it in order: matches, or whole lines. `structures` says which hints of
    structure occur, and where.
    """

    places: list[tuple[int, int]]
    structures: dict[Hint, list[int]]


class LineRules:
    """All rules that look at one line, behind one automaton that says which of them apply."""

    def __init__(self, enabled: frozenset[str]) -> None:
        self._enabled = enabled
        self._rules = [rule for rule in TOKEN_RULES if rule.pattern_name in enabled]
        self._compiled = [_compile(rule.pattern, captures=True) for rule in self._rules]
        hints = [rule.sweep_pattern for rule in self._rules]
        self._hints = [_compile(hint) for hint in (*hints, MAY_ASSIGN, *STRUCTURE_HINTS.values())]
        self._structures = dict(enumerate(STRUCTURE_HINTS, start=len(hints) + 1))
        self._hint_sieve = Sieve([*hints, MAY_ASSIGN, *STRUCTURE_HINTS.values()])
        self._sieve = Sieve([*(rule.pattern for rule in self._rules), MAY_ASSIGN])

    def sweep(self, text: str, budget: Budget, *, by_line: bool) -> Swept:
        """Find every place where `find` could find something, however it is escaped.

        With `by_line` the places are whole lines, and a line is one place.
        """
        data = to_bytes(text)
        if b"\\" in data:
            # An escaped line break ends a word as a real one does.
            for letter in (b"n", b"t", b"r"):
                data = data.replace(b"\\" + letter, b"\\ ")
        places: set[tuple[int, int]] = set()
        structures: dict[Hint, list[int]] = {}
        hits_of = self._lines_hit if by_line else self._matches
        for start, end in _blocks(data):
            budget.check_time()
            for index in self._hint_sieve.match(data[start:end]):
                structure = self._structures.get(index)
                for place in hits_of(self._hints[index], data, start, end):
                    budget.spend_hits(place not in places)
                    places.add(place)
                    if structure is not None:
                        structures.setdefault(structure, []).append(place[0])
        return Swept(_join(sorted(places)), structures)

    def _matches(
        self, hint: re2._Regexp, data: bytes, position: int, end: int
    ) -> Iterator[tuple[int, int]]:
        while position < end and (match := hint.search(data, position, end)):
            start, stop = match.span()
            yield start, stop
            position = max(stop, position + 1)

    def _lines_hit(
        self, hint: re2._Regexp, data: bytes, position: int, end: int
    ) -> Iterator[tuple[int, int]]:
        while position < end and (match := hint.search(data, position, end)):
            start, stop = match.span()
            line = data.rfind(b"\n", 0, start) + 1
            while line < max(stop, start + 1):
                line_end = data.find(b"\n", line)
                line_end = len(data) if line_end < 0 else line_end
                yield line, line_end
                line = line_end + 1
            position = line

    def find(self, line: str, budget: Budget) -> Iterator[Span]:
        """Secrets of one line."""
        data = to_bytes(line)
        for index in self._sieve.match(data):
            if index == len(self._rules):
                for span in find_assignments(line, budget, self._names_in(data, budget)):
                    if is_enabled(span.kind, self._enabled):
                        yield span
                continue
            yield from _find_tokens(self._rules[index], self._compiled[index], line, data, budget)

    def _names_in(self, data: bytes, budget: Budget) -> list[tuple[int, int]]:
        """Where names may stand in a line: anywhere, but in a very long one."""
        if len(data) <= WINDOW:
            return [(0, len(data))]
        hint = self._hints[len(self._rules)]
        found: list[tuple[int, int]] = []
        for match in hint.finditer(data):
            budget.spend_hits()
            start, end = match.span()
            found.append((max(0, start - LONGEST_NAME), end + 1))
        return _join(found)


def _join(places: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Stretches that overlap become one."""
    joined: list[tuple[int, int]] = []
    for start, end in places:
        if joined and start < joined[-1][1]:
            joined[-1] = joined[-1][0], max(end, joined[-1][1])
        else:
            joined.append((start, end))
    return joined


def _blocks(data: bytes) -> Iterator[tuple[int, int]]:
    start, length = 0, len(data)
    while start < length:
        end = start + BLOCK
        end = length if end >= length else data.find(b"\n", end) + 1 or length
        yield start, end
        start = end


def _find_tokens(
    rule: TokenRule, compiled: re2._Regexp, line: str, data: bytes, budget: Budget
) -> Iterator[Span]:
    covered = 0
    for match in _matches_of(compiled, data):
        start, end = begin, _ = match.span()
        if start < covered:
            budget.spend_hits()
            continue
        budget.spend_hits(1 + (end - start) // 100)
        group = 1
        if compiled.groups != 1:
            group = next((n for n, text in enumerate(match.groups(), 1) if text is not None), 0)
        start, end = match.span(group)
        if len(data) > WINDOW and end % STEP == 0:
            # Cut by the window, perhaps: it ends where its word does.
            rest = _WORD_END.match(line, end)
            end = covered = rest.end() if rest else end
        if rule.check is not None and not rule.check(line[start:end]):
            continue
        if rule.check_named is None or rule.check_named(line[begin:start], line[start:end]):
            yield Span(start, end, rule.kind)


def _matches_of(compiled: re2._Regexp, data: bytes) -> Iterator[re2._Match]:
    """Matches in a line. A very long one is read in windows that overlap: groups of a match of
    megabytes would take seconds."""
    if len(data) <= WINDOW:
        yield from compiled.finditer(data)
        return
    for start in range(0, len(data), STEP):
        yield from compiled.finditer(data, start, min(start + WINDOW, len(data)))


def _compile(pattern: str, *, captures: bool = False) -> re2._Regexp:
    return re2.compile(f"(?m){pattern}".encode(), options(captures=captures))


@lru_cache(maxsize=32)
def compile_rules(enabled: frozenset[str]) -> LineRules:
    return LineRules(enabled)

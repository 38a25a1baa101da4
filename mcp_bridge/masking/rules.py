"""The compiled form of a selection of patterns, made once per selection."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import re2

from mcp_bridge.masking.assignments import MAY_ASSIGN, find_assignments
from mcp_bridge.masking.patterns import PATTERN_OF_KIND
from mcp_bridge.masking.placeholders import PLACEHOLDER
from mcp_bridge.masking.spans import Span
from mcp_bridge.masking.tokens import TOKEN_RULES, TokenRule

MAX_CUSTOM_LENGTH = 500
# RE2 gives up silently when its automaton outgrows its memory; nothing may pass for that reason.
SET_MEMORY = 64 * 1024 * 1024


def is_enabled(kind: str, enabled: frozenset[str]) -> bool:
    """Whether secrets of a named kind are to be masked."""
    return PATTERN_OF_KIND.get(kind, kind) in enabled


class LineRules:
    """All rules that look at one line, behind one automaton that says which of them apply."""

    def __init__(self, enabled: frozenset[str]) -> None:
        self._enabled = enabled
        self._rules = [rule for rule in TOKEN_RULES if rule.pattern_name in enabled]
        self._compiled = [re2.compile(rule.pattern) for rule in self._rules]
        options = re2.Options()
        options.max_mem = SET_MEMORY
        self._set = re2.Set.SearchSet(options)
        for rule in self._rules:
            self._set.Add(rule.pattern)
        self._set.Add(MAY_ASSIGN)
        self._set.Compile()

    def find(self, line: str) -> Iterator[Span]:
        for index in self._set.Match(line) or ():
            if index == len(self._rules):
                for span in find_assignments(line):
                    if is_enabled(span.kind, self._enabled):
                        yield span
                continue
            yield from _find_tokens(self._rules[index], self._compiled[index], line)


def _find_tokens(rule: TokenRule, compiled: re2._Regexp, line: str) -> Iterator[Span]:
    for match in compiled.finditer(line):
        group = 1
        if compiled.groups != 1:
            group = next((n for n, text in enumerate(match.groups(), 1) if text is not None), 0)
        start, end = match.span(group)
        if rule.check is None or rule.check(line[start:end]):
            yield Span(start, end, rule.kind)


@lru_cache(maxsize=32)
def compile_rules(enabled: frozenset[str]) -> LineRules:
    return LineRules(enabled)


class PatternError(ValueError):
    """A custom pattern RE2 cannot run; the text says why."""


@dataclass(frozen=True)
class CustomRule:
    """An operator's own pattern and what replaces a match; `$1` and `${name}` stand for groups."""

    pattern: str
    replacement: str
    compiled: re2._Regexp

    def find(self, text: str) -> Iterator[Span]:
        for match in self.compiled.finditer(text):
            said = match.group(0)
            if not said or PLACEHOLDER.search(said):
                continue
            replaced = self._expand(match)
            if replaced != said:
                yield Span(match.start(), match.end(), "custom", replacement=self._settle(replaced))

    def _settle(self, replaced: str) -> str | None:
        """The replacement, unless the pattern would change it again: then a placeholder."""
        again = self.compiled.search(replaced)
        if again is None or (again.group(0) == replaced and self._expand(again) == replaced):
            return replaced
        return None

    def _expand(self, match: re2._Match) -> str:
        def fill(reference: re.Match[str]) -> str:
            name = reference[1] or reference[2]
            try:
                return match.group(int(name) if name.isdigit() else name) or ""
            except (IndexError, KeyError):
                return ""

        return _REFERENCE.sub(fill, self.replacement)


_REFERENCE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")


def compile_custom(pattern: str, replacement: str) -> CustomRule:
    """Compile an operator's pattern or raise `PatternError`."""
    if len(pattern) > MAX_CUSTOM_LENGTH:
        raise PatternError(f"a pattern may have {MAX_CUSTOM_LENGTH} characters, not {len(pattern)}")
    options = re2.Options()
    options.log_errors = False
    try:
        compiled = re2.compile(pattern, options)
    except re2.error as error:
        said = error.args[0]
        said = said.decode() if isinstance(said, bytes) else said
        raise PatternError(f"{pattern!r} is no RE2 pattern: {said}") from None
    return CustomRule(pattern, replacement, compiled)

"""An operator's own patterns: RE2 alone runs them, so none can hang a process."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

import re2

from masking.placeholders import PLACEHOLDER
from masking.spans import Span

MAX_CUSTOM_LENGTH = 500


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

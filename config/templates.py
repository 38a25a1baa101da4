"""`{{.VAR}}` in the YAML files, replaced from the environment before YAML is read.

What was substituted may be a secret, so we remember where it stands: a mistake about such a place
names the key and the line, never the value.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

_VARIABLE = re.compile(r"\{\{-?[ \t]*\.([A-Za-z_][A-Za-z0-9_]*)[ \t]*-?\}\}")
_KEPT = frozenset({"SESSION_ID"})  # filled in for each execution, not at load


class Expanded:
    """A text after substitution that still knows the lines of the text before.

    `spans` are the substitutions in order: start and end in the new text, start and end in the old.
    """

    def __init__(self, text: str, raw: str, spans: Sequence[tuple[int, int, int, int]]) -> None:
        self.text = text
        self.spans = tuple(spans)
        self._starts = [span[0] for span in spans]
        self._values = [span[:2] for span in spans if span[0] < span[1]]
        self._newlines = [match.start() for match in re.finditer("\n", raw)]

    def line_of(self, index: int) -> int:
        """The 1-based line in the file on disk of a character of the expanded text."""
        return bisect_left(self._newlines, self._raw_index(index)) + 1

    def is_substituted(self, start: int, end: int) -> bool:
        """Whether any character between the two came from the environment."""
        position = bisect_left(self._values, (max(end, start + 1), 0)) - 1
        return position >= 0 and self._values[position][1] > start

    def _raw_index(self, index: int) -> int:
        position = bisect_right(self._starts, index) - 1
        if position < 0:
            return index
        _, end, raw_start, raw_end = self.spans[position]
        return raw_start if index < end else raw_end + (index - end)


def expand(raw: str, environ: Mapping[str, str]) -> Expanded:
    """Replace every `{{.VAR}}`; a variable that is not set becomes nothing."""
    parts: list[str] = []
    spans: list[tuple[int, int, int, int]] = []
    length = done = 0
    for match in _VARIABLE.finditer(raw):
        if match[1] in _KEPT:
            continue
        before, value = raw[done : match.start()], environ.get(match[1], "")
        parts += (before, value)
        start = length + len(before)
        length = start + len(value)
        spans.append((start, length, match.start(), match.end()))
        done = match.end()
    parts.append(raw[done:])
    return Expanded("".join(parts), raw, spans)


def odd_templates(raw: str) -> list[int]:
    """The offsets of `{{...}}` that look meant for us but are not of the form `{{.NAME}}`."""
    return [
        match.start()
        for match in re.finditer(r"\{\{[^{}\n]*\}\}", raw)
        if not _VARIABLE.fullmatch(match[0])
    ]

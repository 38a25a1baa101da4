"""`{{.VAR}}` in the YAML files, replaced from the environment before YAML is read.

What was substituted may be a secret, so we remember where it stands: a mistake about such a place
names the key and the line, never the value.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

_VARIABLE = re.compile(r"\{\{-?[ \t]*\.([A-Za-z_][A-Za-z0-9_]*)[ \t]*-?\}\}")
_TEMPLATE = re.compile(r"\{\{([^{}\n]*)\}\}")
_TO_THE_END_OF_A_VALUE = re.compile(r"[^\n,}\]]*")
_KEPT = frozenset({"SESSION_ID"})  # filled in for each execution, not at load


class Expanded:
    """A text after substitution that still knows the lines of the text before.

    `spans` are the substitutions in order: start and end in the new text, start and end in the old.
    """

    def __init__(
        self,
        text: str,
        raw: str,
        spans: Sequence[tuple[int, int, int, int]],
        blanks: Sequence[tuple[int, str]] = (),
    ) -> None:
        self.text = text
        self._blanks = tuple(blanks)
        self.spans = tuple(spans)
        self._starts = [span[0] for span in spans]
        self._values = [span[:2] for span in spans if span[0] < span[1]]
        self._newlines = [match.start() for match in re.finditer("\n", raw)]

    def line_of(self, index: int) -> int:
        """The 1-based line in the file on disk of a character of the expanded text."""
        return bisect_left(self._newlines, self.raw_index(index)) + 1

    def is_substituted(self, start: int, end: int) -> bool:
        """Whether any character between the two came from the environment."""
        position = bisect_left(self._values, (max(end, start + 1), 0)) - 1
        return position >= 0 and self._values[position][1] > start

    def blanks_in(self, start: int, end: int) -> tuple[str, ...]:
        """The variables without a value that stand in a part of the text."""
        if start == end:  # nothing came of it, and blanks may lead up to where it would stand
            rest = _TO_THE_END_OF_A_VALUE.match(self.text, start)
            end = rest.end() if rest else start
        first = bisect_left(self._blanks, (start, ""))
        last = bisect_left(self._blanks, (end + 1, ""))
        return tuple(dict.fromkeys(name for _, name in self._blanks[first:last]))

    def raw_index(self, index: int) -> int:
        """Where a character of the expanded text stands in the file on disk."""
        position = bisect_right(self._starts, index) - 1
        if position < 0:
            return index
        _, end, raw_start, raw_end = self.spans[position]
        return raw_start if index < end else raw_end + (index - end)


def expand(raw: str, environ: Mapping[str, str]) -> Expanded:
    """Replace every `{{.VAR}}`; a variable that is not set becomes nothing."""
    parts: list[str] = []
    spans: list[tuple[int, int, int, int]] = []
    blanks: list[tuple[int, str]] = []
    length = done = 0
    for match in _VARIABLE.finditer(raw):
        if match[1] in _KEPT:
            continue
        before, value = raw[done : match.start()], environ.get(match[1], "")
        parts += (before, value)
        start = length + len(before)
        length = start + len(value)
        spans.append((start, length, match.start(), match.end()))
        if not value.strip():
            blanks.append((start, match[1]))
        done = match.end()
    parts.append(raw[done:])
    return Expanded("".join(parts), raw, spans, blanks)


def odd_templates(raw: str) -> list[tuple[int, str]]:
    """Each `{{...}}` that looks meant for us but is not of the form `{{.NAME}}`: where, and why.

    Of `{{if}} ... {{else}} ... {{end}}` the beginning alone is told.
    """
    found = [
        (match.start(), match[1])
        for match in _TEMPLATE.finditer(raw)
        if not _VARIABLE.fullmatch(match[0])
    ]
    return [(place, reason) for place, inner in found if (reason := _explain(inner))]


def _explain(inner: str) -> str:
    words = inner.strip("- \t").split(maxsplit=1)
    first = words[0] if words else ""
    if first in ("else", "end"):
        return ""
    if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", inner.strip("- \t")):
        return f"{{{{{first}}}}} is not replaced; write {{{{.{first}}}}} with the dot"
    shown = f"{{{{{first} ...}}}}" if re.fullmatch(r"[a-z]{1,20}", first) else "this {{...}}"
    return (
        f"{shown} is left as it stands: only {{{{.NAME}}}} is replaced, there are no conditions, "
        "functions or pipes; put the whole value into one variable and write {{.NAME}}"
    )

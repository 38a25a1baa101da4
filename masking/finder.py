"""Finds secrets in a text: where an automaton says that there may be some, and nowhere else.

Structure first (JSON, manifests, variables), then each line by the rules, then what is encoded.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from heapq import merge

from masking import (
    columns,
    detached_values,
    json_text,
    kubectl_output,
    sql_rows,
    values_below,
    yaml_lines,
)
from masking.budget import Budget
from masking.clean_texts import CleanTexts
from masking.compiled_rules import LineRules, Swept, compile_rules, is_enabled
from masking.custom import CustomRule
from masking.encodings import (
    base64_texts,
    unescape,
    unquote_percent,
    without,
)
from masking.foreign_words import in_latin
from masking.formats import is_in_column
from masking.pem import find_pem
from masking.secret_names import classify_name, is_secret_value
from masking.spans import Span, subtract
from masking.visible_text import invisible_spans

MAX_NESTING = 4

_SURROGATE = re.compile("[\ud800-\udfff]")
# Up to the next quote that no backslash escapes.
_TO_QUOTE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_COLOR = re.compile(r"(?:\x1b\[[0-9;]*[A-Za-z])+")
# In the middle of a word; with the indentation below, where that is all of its line.
_CONTINUED = re.compile(r"(?<=[^\s\\])\\\n(?:[ \t]++(?=[^\s-]\S*[ \t]*$))?", re.MULTILINE)
_ESCAPED_BREAK = "\\\\\\n"
"""The same, as a string of JSON has it. It cuts words in two, so that no pattern may be found."""
_ESCAPE = re.compile(r"u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[nrtbf]")
_PERCENT_MARK = re.compile(r"%(?:3[AaDd]|40|2[26]|25)")


class Finder:
    """Finds by one selection of patterns. Of what it found before, it knows what was clean."""

    def __init__(self, enabled: frozenset[str], custom: Sequence[CustomRule]) -> None:
        self._enabled = enabled
        self._custom = tuple(custom)
        self._rules: LineRules = compile_rules(enabled)
        self._clean = CleanTexts()
        self._pem = bool({"private_key", "certificate"} & enabled)

    def knows_clean(self, text: str) -> bool:
        """Whether a text was looked at before as a whole, and nothing was found."""
        return self._clean.holds(text, 0)

    def find(self, text: str, budget: Budget, depth: int = 0) -> Iterator[Span]:
        """Spans in any order, which may overlap. The text holds no lone surrogates."""
        if self._clean.holds(text, depth):
            return
        is_clean = True
        for span in self._look(text, budget, depth):
            is_clean = False
            yield span
        if is_clean:
            self._clean.add(text, depth)

    def _look(self, text: str, budget: Budget, depth: int) -> Iterator[Span]:
        budget.check_time()
        if depth > MAX_NESTING or (len(text) < 4 and not self._custom):
            return
        start = text[:1000].lstrip()[:1]
        # A string without escapes is read as any other text is.
        if start in ("{", "[") or (start == '"' and "\\" in text):
            text = text if self._custom else in_latin(text)
            swept = self._rules.sweep(text, budget, by_line=False)
            may_hold = swept.places or self._custom or _ESCAPED_BREAK in text
            if may_hold and is_json(text):
                yield from self._find_in_json(text, swept, budget, depth)
                return
        yield from self._find_in_text(text, budget, depth)
        decoded = without(text, _unseen_spans(text), budget)
        if len(decoded.text) < len(text):
            yield from map(decoded.map_back, self.find(decoded.text, budget, depth + 1))
        if "\\\n" in text:
            yield from self._find_continued(text, budget, depth)

    def _find_continued(self, text: str, budget: Budget, depth: int) -> Iterator[Span]:
        """Secrets that a backslash at the end of a line continues; the line break stays."""
        breaks = [match.span() for match in _CONTINUED.finditer(text)]
        if not breaks:
            return
        joined = without(text, breaks, budget)
        for found in self.find(joined.text, budget, depth + 1):
            span = joined.map_back(found)
            pieces = list(subtract(span, breaks))
            if len(pieces) > 1:
                yield from (replace(piece, is_bare=False) for piece in pieces)

    def find_on_lines(self, text: str, budget: Budget) -> Iterator[Span]:
        """What single lines say of themselves: no structure, nothing encoded. Costs little."""
        text = in_latin(text)
        swept = self._rules.sweep(text, budget, by_line=True)
        if "pem" in swept.structures and self._pem:
            yield from find_pem(text, budget, any_label="certificate" in self._enabled)
        for start, end in swept.places:
            for span in self._rules.find(text[start:end], budget):
                yield span.shifted(start)

    # JSON

    def _find_in_json(self, text: str, swept: Swept, budget: Budget, depth: int) -> Iterator[Span]:
        if "base64" in swept.structures:
            yield from self._find_encoded(text, swept.places, budget, depth)
        walked = json_text.walk(text, budget)
        yield from self._values_of(walked, text)
        for value in walked.values:
            if value.key and (
                kind := self._kind_of_named(value.key, text[value.start : value.end])
            ):
                # A number has no quotes of its own that a placeholder could stand in.
                yield Span(value.start, value.end, kind, is_bare=value.is_number)
        strings = [(v.start, v.end) for v in walked.values if not v.is_number]
        for start, end in (*strings, *walked.keys):
            is_continued = text.find(_ESCAPED_BREAK, start, end) >= 0
            if self._custom or is_continued or _has_place(swept.places, start, end):
                for span in self._find_in_string(text[start:end], budget, depth):
                    yield span.shifted(start)

    def _values_of(self, walked: json_text.Walked, text: str) -> Iterator[Span]:
        if "kubernetes_secret" in self._enabled:
            for start, end in walked.secret_values:
                yield Span(start, end, "kubernetes_secret")
        for value in walked.paired:
            if kind := self._kind_of_named(value.key, text[value.start : value.end]):
                yield Span(value.start, value.end, kind, is_bare=value.is_number)

    def _find_in_string(self, inside: str, budget: Budget, depth: int) -> Iterator[Span]:
        decoded = unescape(inside, budget) if "\\" in inside else None
        text = decoded.text if decoded else inside
        for span in self.find(readable(text), budget, depth + 1):
            where = decoded.map_back(span) if decoded else span
            wording = span.replacement
            if wording is not None:
                wording = json.dumps(wording, ensure_ascii=False)[1:-1]
            yield replace(where, is_bare=False, replacement=wording)

    # Any other text

    def _find_in_text(self, text: str, budget: Budget, depth: int) -> Iterator[Span]:
        for rule in self._custom:
            for span in rule.find(text):
                budget.spend_hits()
                yield span
        text = in_latin(text)
        swept = self._rules.sweep(text, budget, by_line=True)
        if not swept.places:
            return
        yield from self._find_structures(text, swept, budget)
        if "base64" in swept.structures:
            yield from self._find_encoded(text, swept.places, budget, depth)
        for start, end in swept.places:
            for span in self._find_in_line(text[start:end], budget, depth):
                yield span.shifted(start)

    def _find_structures(self, text: str, swept: Swept, budget: Budget) -> Iterator[Span]:
        found = swept.structures
        if "pem" in found and self._pem:
            yield from find_pem(text, budget, any_label="certificate" in self._enabled)
        is_kubernetes = "kubernetes_secret" in self._enabled
        is_named = "secret_kind" in found or "variable" in found or "generator" in found
        is_named = is_named or "string_data" in found
        if is_named and "{" in text and '"' in text:
            yield from self._values_of(json_text.walk(text, budget), text)
        if is_kubernetes and "secret_kind" in found:
            yield from kubectl_output.find_inline_data(text)
        if is_kubernetes and "secret_literals" in found:
            yield from kubectl_output.find_literals(text, found["secret_literals"])
        if is_kubernetes and "printed" in found:
            yield from kubectl_output.find_printed_data(text, found["printed"])
        if "secret_kind" in found or "variable" in found or "block" in found:
            yield from self._find_in_yaml(text, swept, budget)
        for name, span in (
            *detached_values.find_lists(text, found.get("list", ()), budget),
            *detached_values.find_heredocs(text, found.get("heredoc", ()), budget),
            *detached_values.find_in_blocks(text, found.get("terraform", ()), budget),
            *values_below.find_values_below(text, found.get("below", ()), budget),
            *sql_rows.find_in_rows(text, found.get("sql_rows", ()), budget),
            *values_below.find_elements(text, found.get("element", ()), budget),
        ):
            if kind := self._kind_of_named(name, text[span.start : span.end]):
                yield replace(span, kind=kind)
        for name, span in columns.find_in_columns(text, found.get("column", ()), budget):
            value = text[span.start : span.end]
            if is_in_column(value) and (kind := self._kind_of_named(name, value)):
                yield replace(span, kind=kind)

    def _find_in_yaml(self, text: str, swept: Swept, budget: Budget) -> Iterator[Span]:
        found = swept.structures
        positions = [place for places in found.values() for place in places]
        lines = yaml_lines.Lines(text, min(positions), max(positions), budget)
        numbers = {hint: lines.numbers_at(places) for hint, places in found.items()}
        if "kubernetes_secret" in self._enabled:
            yield from yaml_lines.find_secret_values(lines, numbers.get("secret_kind", ()))
        for name, span in (
            *yaml_lines.find_named_variables(lines, numbers.get("variable", ())),
            *yaml_lines.find_blocks(lines, numbers.get("block", ())),
        ):
            if kind := self._kind_of_named(name, text[span.start : span.end]):
                yield replace(span, kind=kind)

    def _find_in_line(self, line: str, budget: Budget, depth: int) -> Iterator[Span]:
        if len(line) < 4:
            return
        yield from (_outside_escapes(span, line) for span in self._rules.find(line, budget))
        if depth >= MAX_NESTING:
            return
        if "\\" in line:
            for start, end in _strings_with_quotes(line):
                for span in self._find_in_string(line[start:end], budget, depth):
                    yield span.shifted(start)
            decoded = unescape(line, budget)
            if decoded.text != line:
                yield from map(
                    decoded.map_back, self.find(readable(decoded.text), budget, depth + 1)
                )
        if "%" in line and _PERCENT_MARK.search(line):
            decoded = unquote_percent(line, budget)
            yield from map(decoded.map_back, self.find(decoded.text, budget, depth + 1))

    def _find_encoded(
        self, text: str, places: Sequence[tuple[int, int]], budget: Budget, depth: int
    ) -> Iterator[Span]:
        for start, end in places:
            for encoded in base64_texts(text, start, end, budget):
                if any(self.find(readable(encoded.said), budget, depth + 1)):
                    yield Span(encoded.start, encoded.end, "encoded")

    def _kind_of_named(self, key: str, value: str) -> str:
        """The kind of secret a value is by its key; empty where it is none."""
        name = classify_name(key)
        if name is None or not is_enabled(name.kind, self._enabled):
            return ""
        return name.kind if is_secret_value(name, value, key) else ""


def build_finder(enabled: frozenset[str], custom: Sequence[CustomRule] = ()) -> Finder:
    """One for all who select the same: what one of them has looked at, the others know."""
    return Finder(enabled, custom) if custom else _shared_finder(enabled)


@lru_cache(maxsize=32)
def _shared_finder(enabled: frozenset[str]) -> Finder:
    return Finder(enabled, ())


def _outside_escapes(span: Span, line: str) -> Span:
    """A span that cuts no escape in two: what is left of one would be another."""
    start, end = span.start, span.end
    if _is_escaped(line, start):
        escape = _ESCAPE.match(line, start)
        start = min(end, escape.end()) if escape else start
    if end > start and _is_escaped(line, end):
        end -= 1
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _is_escaped(line: str, position: int) -> bool:
    """Whether an odd number of backslashes stands right before a place."""
    first = position
    while first > 0 and line[first - 1] == "\\":
        first -= 1
    return (position - first) % 2 == 1


def _unseen_spans(text: str) -> Iterator[tuple[int, int]]:
    """What stands between the characters of a word and is not read: colors, invisible marks."""
    if "\x1b" not in text:
        return invisible_spans(text)
    colors = (match.span() for match in _COLOR.finditer(text))
    return merge(colors, invisible_spans(text))


def _strings_with_quotes(line: str) -> Iterator[tuple[int, int]]:
    """Stretches between quotes that hold escaped ones: JSON that was written into a string.

    Each character is looked at once, however many quotes never find their other one.
    """
    start = 0
    while (end := _TO_QUOTE.match(line, start).end()) < len(line) and line[end] == '"':  # type: ignore[union-attr]  # it matches nothing, too
        if '\\"' in line[start:end]:
            # In front of the first quote stands what is in no string.
            yield start if start else line.index('\\"') + 2, end
        start = end + 1


def is_json(text: str) -> bool:
    """Whether the text is one JSON object, array or string."""
    start = text.lstrip()[:1]
    if start not in ("{", "[", '"'):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def readable(text: str) -> str:
    """The text without lone surrogates, which no encoding knows."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


def _has_place(places: Sequence[tuple[int, int]], start: int, end: int) -> bool:
    """Whether one of the stretches, which are in order and apart, touches this one."""
    index = bisect_left(places, (end, 0))
    return index > 0 and places[index - 1][1] > start

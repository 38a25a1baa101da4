"""Replaces secrets in text and leaves everything else as it was."""

import json
import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from agents.types import JSON
from mcp_bridge.masking import json_text, yaml_lines
from mcp_bridge.masking.encodings import Decoded, base64_texts, unescape, unquote_percent
from mcp_bridge.masking.patterns import select_patterns
from mcp_bridge.masking.pem import find_pem
from mcp_bridge.masking.placeholders import PLACEHOLDER, Placeholders
from mcp_bridge.masking.rules import CustomRule, compile_custom, compile_rules, is_enabled
from mcp_bridge.masking.secret_names import classify_name, is_secret_value
from mcp_bridge.masking.spans import Span, merge_spans, subtract
from mcp_bridge.server_config import CustomPatternConfig
from mcp_bridge.visible_text import invisible_spans

logger = logging.getLogger(__name__)

MAX_NESTING = 4
MAX_ROUNDS = 5

_SURROGATE = re.compile("[\ud800-\udfff]")
_ESCAPED_QUOTE = re.compile(r'\\(?:["\'\\]|u00)')
_ESCAPED_LETTER = re.compile(r'\\[^nrtbf"\\/]')
_PERCENT_MARK = re.compile(r"%(?:3[AaDd]|40|2[26])")


@dataclass(frozen=True)
class MaskedText:
    """`count` is how many secrets were replaced."""

    text: str
    count: int


class Masker:
    """Masks by one selection of patterns. Safe to share between threads.

    The same secret gets the same placeholder everywhere one `Placeholders` is shared, and masking
    what is masked changes nothing.
    """

    def __init__(
        self,
        enabled: frozenset[str],
        custom: Sequence[CustomRule] = (),
        placeholders: Placeholders | None = None,
    ) -> None:
        self._enabled = enabled
        self._custom = tuple(custom)
        self._placeholders = placeholders or Placeholders()
        self._rules = compile_rules(enabled)

    def mask(self, text: str) -> MaskedText:
        """Replace every secret. Names, syntax and lines stay; valid JSON stays valid."""
        count = 0
        if self._custom:
            text, count = self._mask_whole_json(text)
        for _ in range(MAX_ROUNDS):
            spans = self._find_new(text)
            if not spans:
                break
            text = self._replace(text, spans)
            count += len(spans)
        return MaskedText(text, count)

    def mask_alert(self, text: str) -> str:
        """Mask what an alert says. Should masking fail, the alert is kept as it came: an alert
        that is lost costs more than one that is read."""
        try:
            return self.mask(text).text
        except Exception:
            logger.exception("masking an alert failed; it is kept unmasked")
            return text

    def mask_json(self, value: JSON) -> JSON:
        """Mask the strings of a JSON value, knowing the names they stand under."""
        if isinstance(value, str):
            return self.mask(value).text
        masked: JSON = json.loads(self.mask(json.dumps(value, ensure_ascii=False)).text)
        return masked

    def _find_new(self, text: str) -> list[Span]:
        """Secrets outside placeholders. What is left between two must hold more than syntax."""
        readable = _SURROGATE.sub("\ufffd", text)
        holes = [match.span() for match in PLACEHOLDER.finditer(readable)]
        found: list[Span] = []
        for span in merge_spans(self._find(readable, 0)):
            pieces = subtract(span, holes) if holes else (span,)
            found.extend(p for p in pieces if any(c.isalnum() for c in readable[p.start : p.end]))
        return found

    def _replace(self, text: str, spans: Iterable[Span]) -> str:
        pieces: list[str] = []
        position = 0
        for span in spans:
            pieces.append(text[position : span.start])
            if span.replacement is not None:
                pieces.append(span.replacement)
            else:
                name = self._placeholders.name(span.kind, text[span.start : span.end])
                pieces.append(f'"{name}"' if span.is_bare else name)
            position = span.end
        pieces.append(text[position:])
        return "".join(pieces)

    def _find(self, text: str, depth: int) -> Iterator[Span]:
        if depth > MAX_NESTING or (len(text) < 4 and not self._custom):
            return
        if _is_json(text):
            yield from self._find_in_json(text, depth)
            return
        yield from self._find_in_text(text, depth)
        if invisible := invisible_spans(text):
            decoded = _without(text, invisible)
            yield from map(decoded.map_back, self._find(decoded.text, depth + 1))

    def _find_in_json(self, text: str, depth: int) -> Iterator[Span]:
        walked = json_text.walk(text)
        if "kubernetes_secret" in self._enabled:
            for start, end in walked.secret_values:
                yield Span(start, end, "kubernetes_secret")
        for value in (*walked.values, *walked.paired):
            if kind := self._kind_of_named(value.key, text[value.start : value.end]):
                # A number has no quotes of its own that a placeholder could stand in.
                yield Span(value.start, value.end, kind, is_bare=value.is_number)
        strings = [(v.start, v.end) for v in walked.values if not v.is_number]
        for start, end in (*strings, *walked.keys):
            for span in self._find_in_string(text[start:end], depth):
                yield span.shifted(start)

    def _find_in_string(self, inside: str, depth: int) -> Iterator[Span]:
        decoded = unescape(inside) if "\\" in inside else None
        for span in self._find(decoded.text if decoded else inside, depth + 1):
            where = decoded.map_back(span) if decoded else span
            wording = span.replacement
            if wording is not None:
                wording = json.dumps(wording, ensure_ascii=False)[1:-1]
            yield replace(where, is_bare=False, replacement=wording)

    def _find_in_text(self, text: str, depth: int) -> Iterator[Span]:
        for rule in self._custom:
            yield from rule.find(text)
        yield from self._find_in_documents(text)
        if "private_key" in self._enabled or "certificate" in self._enabled:
            yield from find_pem(text, any_label="certificate" in self._enabled)
        position = 0
        for line in text.split("\n"):
            for span in self._find_in_line(line):
                yield span.shifted(position)
            position += len(line) + 1
        for start, end, said in base64_texts(text):
            if any(self._find(said, depth + 1)):
                yield Span(start, end, "encoded")

    def _find_in_documents(self, text: str) -> Iterator[Span]:
        """Kubernetes Secrets and named variables, as JSON or YAML, somewhere in the text."""
        if "{" in text and _may_hold_documents(text):
            walked = json_text.walk(text)
            if "kubernetes_secret" in self._enabled:
                for start, end in walked.secret_values:
                    yield Span(start, end, "kubernetes_secret")
            for value in walked.paired:
                if kind := self._kind_of_named(value.key, text[value.start : value.end]):
                    yield Span(value.start, value.end, kind, is_bare=value.is_number)
        if "Secret" not in text and "value:" not in text:
            return
        lines = yaml_lines.read_lines(text)
        if "kubernetes_secret" in self._enabled:
            yield from yaml_lines.find_secret_values(lines)
        for name, span in yaml_lines.find_named_variables(lines):
            if kind := self._kind_of_named(name, text[span.start : span.end]):
                yield replace(span, kind=kind)

    def _find_in_line(self, line: str) -> Iterator[Span]:
        if len(line) < 4:
            return
        yield from self._rules.find(line)
        if "\\" in line and _ESCAPED_QUOTE.search(line):
            yield from _find_through(unescape, line, self._rules.find)
        if "%" in line and _PERCENT_MARK.search(line):
            yield from _find_through(unquote_percent, line, self._rules.find)

    def _kind_of_named(self, key: str, value: str) -> str:
        """The kind of secret a value is by its key; empty where it is none."""
        name = classify_name(key)
        if name is None or not is_enabled(name.kind, self._enabled):
            return ""
        return name.kind if is_secret_value(name, value, key) else ""

    def _mask_whole_json(self, text: str) -> tuple[str, int]:
        """Custom patterns written for the raw form of a JSON document, where it survives them."""
        if not _is_json(text):
            return text, 0
        count = 0
        for rule in self._custom:
            spans = merge_spans(rule.find(_SURROGATE.sub("\ufffd", text)))
            changed = self._replace(text, spans) if spans else text
            if changed != text and _is_json(changed):
                text, count = changed, count + len(spans)
        return text, count


def build_masker(
    groups: Sequence[str] = ("default",),
    patterns: Sequence[str] = (),
    custom_patterns: Sequence[CustomPatternConfig] = (),
    *,
    placeholders: Placeholders | None = None,
) -> Masker:
    """A masker for pattern groups, single patterns and an operator's own.

    Raises `ValueError` naming what is unknown or cannot be compiled.
    """
    enabled = select_patterns(tuple(groups), tuple(patterns))
    custom = [compile_custom(own.pattern, own.replacement) for own in custom_patterns]
    return Masker(enabled, custom, placeholders)


def build_default_masker(placeholders: Placeholders | None = None) -> Masker:
    """A masker of the product's own profile: every kind of credential, nothing merely personal."""
    return build_masker(placeholders=placeholders)


def _may_hold_documents(text: str) -> bool:
    """Cheaply: whether a kind `Secret` or a key `value` can be in it, however it is escaped."""
    if '"' not in text:
        return False
    if "alue" in text or "Secret" in text:
        return True
    return "\\" in text and _ESCAPED_LETTER.search(text) is not None


def _is_json(text: str) -> bool:
    start = text.lstrip()[:1]
    if start not in ("{", "["):
        return False
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _find_through(
    decode: Callable[[str], Decoded], line: str, find: Callable[[str], Iterator[Span]]
) -> Iterator[Span]:
    decoded = decode(line)
    for span in find(decoded.text):
        yield decoded.map_back(span)


def _without(text: str, spans: Sequence[tuple[int, int]]) -> Decoded:
    """The text without some stretches, and where each kept character stood."""
    pieces: list[str] = []
    offsets: list[int] = []
    position = 0
    for start, end in (*spans, (len(text), len(text))):
        pieces.append(text[position:start])
        offsets.extend(range(position, start))
        position = end
    offsets.append(len(text))
    return Decoded("".join(pieces), offsets)

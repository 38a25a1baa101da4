"""Replaces secrets in text and leaves everything else as it was."""

import json
import logging
from collections.abc import Sequence
from dataclasses import dataclass

from masking import yaml_document
from masking.budget import SECONDS, Budget, TooMuchToMask
from masking.configuration import CustomPatternConfig, MaskingConfig
from masking.covers import Cover, apply_covers, join_covers
from masking.custom import CustomRule, compile_custom
from masking.finder import build_finder, is_json, readable
from masking.pattern_names import select_patterns
from masking.placeholders import PLACEHOLDER, Placeholders
from masking.spans import Span, merge_spans, subtract

# The same as `agents.types.JSON`: this package imports nothing of ours.
JSON = None | bool | int | float | str | list["JSON"] | dict[str, "JSON"]

logger = logging.getLogger(__name__)

MAX_ROUNDS = 5
ALERT_PART = 64 * 1024
"""Characters of an alert that are kept where the whole holds too much to be masked."""
ALERT_SECONDS = 1.0
"""Of CPU for all of an alert; behind that its beginning and its lines get less than as much."""
WITHHELD = "[withheld: too full of secrets to be masked]"
"""Stands for a text of which nothing can be shown."""


@dataclass(frozen=True)
class MaskedText:
    """`count` is how many secrets were replaced."""

    text: str
    count: int


@dataclass(frozen=True)
class MaskedAlert:
    """`is_seen_whole`: all of it was looked at as always, so what was not replaced is no secret."""

    text: str
    is_seen_whole: bool


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
        self._custom = tuple(custom)
        self._placeholders = placeholders or Placeholders()
        self._finder = build_finder(enabled, self._custom)

    def mask(self, text: str, *, seconds: float = SECONDS) -> MaskedText:
        """Replace every secret. Names, syntax and lines stay; valid JSON stays valid.

        Raises `TooMuchToMask` for a text that holds more of them than is looked at, or that takes
        more than so many seconds of CPU.
        """
        if not self._custom and self._finder.knows_clean(text):
            return MaskedText(text, 0)
        budget = Budget(seconds=seconds)
        count = 0
        if self._custom:
            text, count = self._mask_whole_json(text)
        for _ in range(MAX_ROUNDS):
            spans = self._find_new(text, budget)
            if not spans:
                break
            text = self._replace(text, spans)
            count += len(spans)
        return MaskedText(text, count)

    def cover(self, text: str, *, seconds: float = SECONDS) -> list[Cover]:
        """Where `mask` would replace something, in order and apart, and what by, but for quotes.

        Raises `TooMuchToMask` as `mask` does.
        """
        budget = Budget(seconds=seconds)
        covers: list[Cover] = []
        masked = text
        for _ in range(MAX_ROUNDS):
            spans = self._find_new(masked, budget)
            if not spans:
                break
            covers = join_covers(covers, [self._cover_of(masked, span) for span in spans])
            masked = apply_covers(text, covers)
        return covers

    def _cover_of(self, text: str, span: Span) -> Cover:
        wording = span.replacement
        if wording is None:
            wording = self._placeholders.name(span.kind, text[span.start : span.end])
        return Cover(span.start, span.end, wording)

    def find_secrets(self, text: str, *, seconds: float = SECONDS) -> dict[str, str]:
        """Every secret that `mask` would replace at once, and its placeholder.

        Raises `TooMuchToMask` as `mask` does.
        """
        return {
            text[span.start : span.end]: self._placeholders.name(
                span.kind, text[span.start : span.end]
            )
            for span in self._find_new(text, Budget(seconds=seconds))
        }

    def mask_alert(self, text: str) -> MaskedAlert:
        """Mask what an alert says, within about two seconds of CPU.

        Where that is not enough, each line is masked by what it says of itself, and the rest of the
        time goes into the beginning; what is not even looked at is cut. Should masking fail, the
        alert is kept as it came: an alert that is lost costs more than one that is read.
        """
        try:
            return MaskedAlert(self.mask(text, seconds=ALERT_SECONDS).text, is_seen_whole=True)
        except TooMuchToMask as reason:
            logger.warning("an alert is not masked as a whole: %s", reason)
            return MaskedAlert(self._mask_beginning(text), is_seen_whole=False)
        except Exception:
            logger.exception("masking an alert failed; it is kept unmasked")
            return MaskedAlert(text, is_seen_whole=False)

    def mask_json(self, value: JSON) -> JSON:
        """Mask the strings of a JSON value, knowing the names they stand under."""
        if isinstance(value, str):
            return self.mask(value).text
        masked: JSON = json.loads(self.mask(json.dumps(value, ensure_ascii=False)).text)
        return masked

    def _mask_beginning(self, text: str) -> str:
        """The beginning masked as always, behind it what costs little, or a word of what is cut."""
        size = ALERT_PART
        while size:
            end = text.rfind("\n", 0, size) + 1 or size
            try:
                masked = self.mask(text[:end], seconds=ALERT_SECONDS / 8).text
            except TooMuchToMask:
                size //= 4
                continue
            return f"{masked}{self._mask_lines(text[end:])}"
        return WITHHELD

    def _mask_lines(self, text: str) -> str:
        shown = readable(text)
        try:
            spans = merge_spans(
                self._finder.find_on_lines(shown, Budget(seconds=ALERT_SECONDS / 2))
            )
        except TooMuchToMask:
            return f"\n[withheld: {len(text)} more characters full of secrets]"
        return self._replace(text, self._outside_placeholders(shown, spans))

    def _find_new(self, text: str, budget: Budget) -> list[Span]:
        shown = readable(text)
        # The bounds on what is found hold for one round, the time for all of them.
        left = budget.for_one_round()
        return self._outside_placeholders(shown, merge_spans(self._finder.find(shown, left)))

    def _outside_placeholders(self, shown: str, spans: Sequence[Span]) -> list[Span]:
        """What is left between two placeholders must hold more than syntax."""
        holes = [match.span() for match in PLACEHOLDER.finditer(shown)]
        found: list[Span] = []
        for span in spans:
            pieces = subtract(span, holes) if holes else (span,)
            found.extend(p for p in pieces if any(map(str.isalnum, shown[p.start : p.end])))
        return found

    def _replace(self, text: str, spans: Sequence[Span]) -> str:
        def wording(span: Span) -> str:
            if span.replacement is not None:
                return span.replacement
            return self._placeholders.name(span.kind, text[span.start : span.end])

        scalars = None if is_json(text) else yaml_document.read_scalars(text, spans)
        widened = spans if scalars is None else yaml_document.widen(text, spans, scalars, wording)
        pieces: list[str] = []
        position = 0
        for span in widened:
            pieces.append(text[position : span.start])
            needs_quotes = span.is_bare and span.replacement is None and scalars is None
            pieces.append(f'"{wording(span)}"' if needs_quotes else wording(span))
            position = span.end
        pieces.append(text[position:])
        return "".join(pieces)

    def _mask_whole_json(self, text: str) -> tuple[str, int]:
        """Custom patterns written for the raw form of a JSON document, where it survives them."""
        if not is_json(text):
            return text, 0
        count = 0
        for rule in self._custom:
            spans = merge_spans(rule.find(readable(text)))
            changed = self._replace(text, spans) if spans else text
            if changed != text and is_json(changed):
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


def build_server_masker(
    rules: MaskingConfig | None, placeholders: Placeholders | None = None
) -> Masker:
    """A masker of the product's own profile, and of what a server's configuration adds to it."""
    if rules is None or not rules.enabled:
        return build_masker(placeholders=placeholders)
    return build_masker(
        ("default", *rules.pattern_groups),
        rules.patterns,
        rules.custom_patterns,
        placeholders=placeholders,
    )


def build_default_masker(placeholders: Placeholders | None = None) -> Masker:
    """A masker of the product's own profile: every kind of credential, nothing merely personal."""
    return build_masker(placeholders=placeholders)

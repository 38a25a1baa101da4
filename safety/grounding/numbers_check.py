"""Figures, times and dates of an answer, held against those of the results."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice

from safety.grounding.clauses import Clause
from safety.grounding.facts import Facts, is_near
from safety.grounding.moments import DAY, find_dates, find_times
from safety.grounding.quantities import Quantity, find_claimed
from safety.grounding.unsupported import Unsupported
from safety.grounding.words import content_words, fold
from safety.word_lists import word_set

_CITATION = re.compile(r"\[T\d[^\]]*\]|\bT\d+\b|https?://\S+")
_CONTRAST = re.compile(r"(?:\bnot|rather than|instead of|unlike)\s+$", re.I)
_WINDOW = re.compile(
    r"(?:last|past|over|within|every|for|next|top|first|step|phase)\s+(?:the\s+)?$", re.I
)
_ABOUT = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|over|under|more than|"
    r"less than|above|below|up to|at least|close to|just|~|≈|>|<)\s*$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(
    r"^\s*(?:of the |more |other |different |separate )?((?:[A-Za-z][\w-]*\s+){0,2}[A-Za-z][\w-]*)"
)
_SUBJECT = re.compile(
    r"((?:[A-Za-z][\w-]*\s+){0,3}[A-Za-z][\w-]*)\s+(?:is|are|was|were|stands|at|of|reached|uses?|"
    r"hit|shows?)\s+(?:currently\s+|now\s+|at\s+|about\s+|around\s+|only\s+|up to\s+)*$"
)
_UNNAMED = word_set("""
    time percent second minute hour day week byte version port revision line
    """)
_MOST_BEFORE = 200
_NEAR = 25
MAX_STATED = 300
"""Figures of an answer that others are worked out from."""
MAX_DERIVED = 500
"""Figures of an answer that are worked out; one with more states no findings."""


@dataclass(frozen=True)
class Passage:
    """A text with figures in it."""

    text: str

    @cached_property
    def words(self) -> frozenset[str]:
        return content_words(self.text)


class StatedNumbers:
    """The figures an answer states and the results give: what others may be worked out from."""

    def __init__(self, answer: str, facts: Facts) -> None:
        self._passage = Passage(answer)
        self._facts = facts
        self._derived = 0

    def besides(self, number: float) -> list[Quantity]:
        return [each for each in self._given if each.number != number]

    def may_derive(self) -> bool:
        """Whether another figure may be worked out: each is held against all that are stated."""
        self._derived += 1
        return self._derived <= MAX_DERIVED

    @cached_property
    def _given(self) -> tuple[Quantity, ...]:
        return tuple(
            each
            for each in islice(find_claimed(self._passage.text), MAX_STATED)
            if _is_given_or_summed(each, self._facts) or _is_count(each, self._passage, self._facts)
        )


def check_numbers(clause: Clause, stated: StatedNumbers, facts: Facts) -> Iterator[Unsupported]:
    """Every figure that no result gives, not even rounded, converted or by one step."""
    blanked = _CITATION.sub(lambda found: " " * len(found[0]), clause.text)
    blanked = _blank_moments(blanked)
    passage = Passage(blanked)
    for quantity in find_claimed(blanked):
        before = _before(quantity, blanked)
        if _WINDOW.search(before) or _CONTRAST.search(before):
            continue
        if _is_supported(quantity, passage, stated, facts):
            continue
        start, end = _widen(quantity, blanked)
        yield Unsupported(
            clause.start + start,
            clause.start + end,
            "number",
            f"no result gives {clause.text[quantity.start : quantity.end].strip()}",
            is_phantom=_is_unseen(quantity, blanked, facts),
        )


def check_moments(clause: Clause, facts: Facts) -> Iterator[Unsupported]:
    """Every time and date that no result gives."""
    for time in find_times(clause.text):
        tolerance = 0 if time.has_seconds else 59
        if not any(_is_close(time.seconds, known, tolerance) for known in facts.times):
            yield _moment(clause, time.start, time.end)
    for day, start, end in find_dates(clause.text):
        if day not in facts.dates:
            yield _moment(clause, start, end)


def _moment(clause: Clause, start: int, end: int) -> Unsupported:
    said = clause.text[start:end]
    return Unsupported(clause.start + start, clause.start + end, "time", f"no result gives {said}")


def _is_close(seconds: int, known: int, tolerance: int) -> bool:
    apart = abs(seconds - known)
    return min(apart, DAY - apart) <= tolerance


def _blank_moments(text: str) -> str:
    spans = [(each.start, each.end) for each in find_times(text)]
    spans += [(start, end) for _, start, end in find_dates(text)]
    for start, end in spans:
        text = text[:start] + " " * (end - start) + text[end:]
    return text


def _is_supported(
    quantity: Quantity, passage: Passage, stated: StatedNumbers, facts: Facts
) -> bool:
    if not quantity.family and quantity.number <= 1:
        return True
    is_rough = bool(_ABOUT.search(_before(quantity, passage.text)))
    slack = max(quantity.step, abs(quantity.number) * 0.05 if is_rough else 0.0)
    if _is_given(quantity, slack, facts):
        return True
    if quantity.family == "seconds" and _is_duration(quantity, slack, passage.text, facts):
        return True
    if not quantity.family and _is_count(quantity, passage, facts):
        return True
    return stated.may_derive() and _is_derived(quantity, slack, stated, facts)


def _is_given(quantity: Quantity, slack: float, facts: Facts) -> bool:
    """The figure itself: with its unit, converted, or bare where the result names no unit."""
    for scale in quantity.scales:
        base, tolerance = quantity.number * scale, slack * scale
        if facts.has_number(base, tolerance, quantity.family):
            return True
        if facts.has_number(base, tolerance, "") and (scale != 1.0 or not quantity.family):
            return True
    if facts.has_number(quantity.number, slack, ""):
        return True
    if quantity.family == "percent":
        # What is not used is free; and some tools give shares of one.
        is_rest = facts.has_number(100 - quantity.number, slack, "percent")
        return is_rest or facts.has_number(quantity.number / 100, slack / 100, "")
    return not quantity.family and facts.has_written(quantity.number, slack)


def _is_duration(quantity: Quantity, slack: float, text: str, facts: Facts) -> bool:
    scale = quantity.scales[0]
    if facts.has_span(quantity.number * scale, slack * scale):
        return True
    # "2 minutes and 25 seconds" is one duration.
    begun = max(0, quantity.start - 2 * _NEAR)
    around = find_claimed(text[begun : quantity.end + 2 * _NEAR])
    near = [
        each for each in around
        if each.family == "seconds" and abs(begun + each.start - quantity.start) < _NEAR
    ] or [quantity]  # fmt: skip
    total = sum(each.bases[0] for each in near)
    smallest = min(each.scales[0] for each in near)
    return len(near) > 1 and (
        facts.has_span(total, smallest * 0.5) or facts.has_number(total, smallest * 0.5, "seconds")
    )


def _is_count(quantity: Quantity, passage: Passage, facts: Facts) -> bool:
    """A number of lines or rows, where what is counted occurs in the results."""
    number, text = quantity.number, passage.text
    if number > 1000 or number != int(number):
        return False
    noun = _noun(quantity, text)
    if noun and fold(noun) not in facts.run_topics and not quantity.is_word:
        return False
    if (
        noun
        and quantity.is_word
        and not (content_words(noun) & facts.run_topics)
        and not (content_words(_after(quantity, text)) & facts.run_topics)
    ):
        return False
    if int(number) in facts.row_counts:
        return True
    return any(int(number) in facts.count_lines(word) for word in passage.words & facts.run_topics)


def _is_derived(quantity: Quantity, slack: float, answer: StatedNumbers, facts: Facts) -> bool:
    """One step of arithmetic: on what one run returned, or on what the answer itself states.

    A small bare number is the sum or difference of almost anything; it has to start from a
    number that the answer states.
    """
    stated = answer.besides(quantity.number)
    target, is_small = quantity.number, not quantity.family and quantity.number <= 12
    if quantity.family == "percent":
        columns = [*facts.columns, stated]
        if any(_is_ratio(target / 100, slack / 100, column) for column in columns):
            return True
        return _is_ratio(1 - target / 100, slack / 100, stated)
    for scale in quantity.scales:
        for column in facts.columns:
            for values in _comparable(quantity, scale, column):
                starts = _starting_points(quantity, scale, stated) if is_small else values
                if _is_sum(target * scale, slack * scale, values, starts):
                    return True
        for values in _comparable(quantity, scale, stated):
            if _is_sum(target * scale, slack * scale, values, values):
                return True
    is_multiple = quantity.is_word or slack < quantity.number * 0.1
    return not quantity.family and is_multiple and _is_multiple(quantity, stated, facts)


def _is_given_or_summed(quantity: Quantity, facts: Facts) -> bool:
    """Whether a stated number is one of the results, or the sum of all that one run returned."""
    if _is_given(quantity, quantity.step, facts):
        return True
    if not quantity.family and quantity.number <= 12:
        return False
    return any(
        _is_sum(quantity.number * scale, quantity.step * scale, values, values)
        for scale in quantity.scales
        for column in facts.columns
        for values in _comparable(quantity, scale, column)
    )


def _comparable(quantity: Quantity, scale: float, group: list[Quantity]) -> Iterator[list[float]]:
    yield [each.bases[0] for each in group if each.family == quantity.family]
    if quantity.family:
        # Without units of their own, figures may be in the base unit or in the one stated.
        yield [each.number for each in group if not each.family]
        yield [each.number * scale for each in group if not each.family]


def _starting_points(quantity: Quantity, scale: float, stated: list[Quantity]) -> list[float]:
    return [value for values in _comparable(quantity, scale, stated) for value in values]


def _is_sum(target: float, tolerance: float, values: list[float], starts: list[float]) -> bool:
    """Whether the target is the sum of all, or of two, or the difference of two."""
    if starts is values and len(values) > 2 and abs(sum(values) - target) <= tolerance:
        return True
    ordered = sorted(values)
    return any(
        is_near(ordered, wanted, tolerance)
        for first in starts
        for wanted in (target - first, first - target, first + target)
        if wanted != first or ordered.count(first) > 1
    )


def _is_multiple(quantity: Quantity, stated: list[Quantity], facts: Facts) -> bool:
    """ "Eight times as much": a ratio of two figures of one run, or of two stated ones."""
    if quantity.number < 2:
        return False
    tolerance = quantity.step * 0.2
    return any(
        _is_ratio(quantity.number, tolerance, [each for each in column if abs(each.number) > 12])
        for column in [*facts.columns, stated]
    )


def _is_ratio(target: float, tolerance: float, group: list[Quantity]) -> bool:
    for family in {each.family for each in group}:
        values = [each.bases[0] for each in group if each.family == family and each.number]
        ordered = sorted(values)
        if any(is_near(ordered, target * whole, tolerance * abs(whole)) for whole in values):
            return True
    return False


def _before(quantity: Quantity, text: str) -> str:
    """What stands before it, as far as that may be about it: a clause can be a whole answer."""
    return text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]


def _noun(quantity: Quantity, text: str) -> str:
    found = _NOUN_AFTER.match(text[quantity.end :])
    return found.group(1).split()[0] if found is not None and not quantity.family else ""


def _after(quantity: Quantity, text: str) -> str:
    found = _NOUN_AFTER.match(text[quantity.end :])
    return found.group(1) if found is not None else ""


def _is_unseen(quantity: Quantity, text: str, facts: Facts) -> bool:
    """Whether what the figure is about was looked at by no run that succeeded."""
    subject = _SUBJECT.search(_before(quantity, text))
    words = content_words(subject.group(1)) if subject is not None else frozenset()
    if not words and not quantity.family:
        words = content_words(_noun(quantity, text))
    words -= _UNNAMED
    return bool(words) and not words & facts.run_topics


def _widen(quantity: Quantity, text: str) -> tuple[int, int]:
    """The figure with the noun it counts."""
    end = len(text[: quantity.end].rstrip())
    noun = _NOUN_AFTER.match(text[end:]) if not quantity.family else None
    if noun is not None:
        end += noun.end() - len(noun.group(1)) + len(noun.group(1).split()[0])
    return quantity.start, end

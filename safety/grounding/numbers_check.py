"""Figures of an answer, held against those of the results."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import islice

from safety.grounding.addressed import Named
from safety.grounding.clauses import Clause
from safety.grounding.counting import is_count, is_share_of_rows
from safety.grounding.derivations import SMALL, is_derived
from safety.grounding.durations import as_seconds, find_quoted_spans
from safety.grounding.facts import Facts
from safety.grounding.moments import blank_moments
from safety.grounding.pools import Pool, is_near
from safety.grounding.quantities import Quantity, find_claimed
from safety.grounding.records import TOKEN, is_name
from safety.grounding.share_pairs import (
    find_only_pair,
    find_pair,
    is_share_of_pair,
    is_whole_of_share,
)
from safety.grounding.unsupported import Unsupported
from safety.grounding.words import content_words, find_subjects

_NO_CLAIM = re.compile(r"\[T\d[^\]]{0,500}\]|\bT\d+\b|https?://\S+|`[^`\n]*[ =/:_({$-][^`\n]*`")
"""Citations, addresses, and code that is more than a word."""
_CONTRAST = re.compile(r"(?:\bnot|rather than|instead of|unlike)\s+$|[<>≤≥]=?\s*$", re.I)
"""What is not so, and bounds: nobody has to have measured these."""
_WINDOW = re.compile(
    r"(?:last|past|over the|within|every|next|top|first|step|phase|option)\s+(?:the\s+)?"
    r"(?:last\s+|past\s+|next\s+)?$", re.I
)  # fmt: skip
_ABOUT = re.compile(
    r"(?:about|around|roughly|approximately|approx\.?|nearly|almost|some|over|under|more than|"
    r"less than|above|below|up to|at least|at most|close to|short of|well|fewer than|"
    r"greater than|exceeds?|exceeding|not quite|a good|circa|ca\.?|~|≈)\s*$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(r"\s*(?:of the |more |other |different |separate )?([A-Za-z][\w-]*)")
_NO_NOUN = frozenset({
    "of", "and", "in", "on", "at", "to", "from", "with", "for", "is", "are", "was", "were", "but",
    "has", "have", "had",
    "or", "out", "as", "by", "while", "after", "before", "since", "per", "than", "free", "total",
    "used", "left", "available", "vs", "against", "that", "which", "now", "today", "so", "due",
})  # fmt: skip
_PARTS = re.compile(
    r"[ -](?:quarters?|thirds?|fifths?|tenths?|halves)\b|\s(?:out )?of every\b|"
    r"\s(?:[a-z]+\s)?(?:in|out of)\s(?:every\s)?(?:two|three|four|five|six|ten|a hundred|\d+)"
    r"(?=\s*(?:[.,;)]|(?:is|are|was|were|has|have|fails?)\b|$))", re.I
)  # fmt: skip
_IN_ALL = re.compile(
    r"\b(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)\s(?:[a-z]+\s)?"
    r"(?:in|(?:out )?of every)\s(?:every\s)?$", re.I
)  # fmt: skip
_LABEL = re.compile(r"(?:^|[\s(`*])[#]?[A-Za-z][\w-]*[\s#:]*[`*]*$")
_RATE = re.compile(r"\s*(?:/|per\b|an?\s)")
_OCCASIONS = re.compile(
    r"\s*times(?=\s*(?:[.,;:)\[]|$|\s(?:in|within|over|during|since|after|before|between|and|but|on|"
    r"at|by|for|today|so|until|while|because|with|from|to)\b))", re.I
)  # fmt: skip
""" "Restarted 14 times within an hour" counts, and compares nothing."""
_RATIO = re.compile(
    r"\b(?:ratio|factor|times|fold|quotient|multiple)\b|[×x]\b|\d\s?[×]|\s[/:]\s", re.I
)
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)\b", re.IGNORECASE)
""" "The 99th percentile", "the 3rd attempt": a place, and no amount."""
_AND = re.compile(r"\s(?:and|while|but|whereas)\s(?=.*\d)")
_OTHERS = re.compile(r"\bother\s+$", re.IGNORECASE)
_BOUND = re.compile(r"\b(?:threshold|limit of)\b", re.IGNORECASE)
""" "Against a threshold of 90 %": what stands behind it is no figure of the thing itself."""
_MEAN = re.compile(r"\b(?:averages?|averaged|averaging|avg|mean|each|apiece|per)\b", re.IGNORECASE)
_REST = re.compile(
    r"\b(?:free|idle|left|leav(?:es|ing)|remain(?:s|ing)?|headroom|spare|unused|available|rest|"
    r"others?|miss(?:es)?|not|un\w+)\b", re.I
)  # fmt: skip
_OF_A_WHOLE = re.compile(
    r"\b(?:share|part|fraction|portion|accounts?|makes? up|belongs?|comes?|behind|of|than|above|"
    r"below|over|under|by|from|more|less|higher|lower|up|down|spare|free|left|unused|idle)\b",
    re.I,
)
_THESE = re.compile(r"\b(?:the|these|those)\s+(?:other\s+|first\s+|last\s+)?$", re.IGNORECASE)
""" "The two" are those that were named; how many rows there are, it does not say."""
_MOST_BEFORE = 60
_AROUND = 300
"""Characters around a figure within which others are stated that it may be worked out from."""
MAX_STATED = 300
MAX_SENTENCE = 1_000
MAX_DERIVED = 500
"""Figures of an answer that are worked out; one with more states no findings."""


class StatedNumbers:
    """The figures an answer states and the results give: what others may be worked out from."""

    def __init__(self, answer: str, facts: Facts) -> None:
        self._answer = answer
        self._facts = facts
        self._derived = 0
        self._given: list[Quantity] | None = None

    def near(self, place: int, number: float) -> list[Quantity]:
        """Those that stand near a place of the answer, but for the number itself."""
        return [
            each for each in self._read()
            if abs(each.start - place) <= _AROUND and each.number != number
        ]  # fmt: skip

    def may_derive(self) -> bool:
        """Whether another figure may be worked out: each is held against many."""
        self._derived += 1
        return self._derived <= MAX_DERIVED

    def _read(self) -> list[Quantity]:
        if self._given is None:
            text = _blank(self._answer)
            stated = islice(find_claimed(text), MAX_STATED)
            self._given = [each for each in stated if _is_stated(each, text, self._facts)]
        return self._given


def check_numbers(clause: Clause, stated: StatedNumbers, facts: Facts) -> Iterator[Unsupported]:
    """Every figure that no result gives, not even rounded, converted or by one step."""
    text = _blank(clause.text)
    found = list(find_claimed(text))
    for quantity in found:
        before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
        if _WINDOW.search(before) or _CONTRAST.search(before) or _is_fraction(quantity, text):
            continue
        if _is_supported(_Figure(quantity, clause, text, found, stated, facts)):
            continue
        start, end = quantity.start, _find_end(quantity, text)
        yield Unsupported(
            clause.start + start,
            clause.start + end,
            "number",
            f"no result gives {clause.text[quantity.start : quantity.end].strip()}",
        )


def _is_fraction(quantity: Quantity, text: str) -> bool:
    """ "Three quarters", "one in four", "eight of every thousand": said of what was not counted."""
    before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
    return bool(_PARTS.match(text, quantity.end)) or (
        not quantity.family
        and _IN_ALL.search(before) is not None
        and not _find_noun(quantity, text)
    )


def _blank(text: str) -> str:
    return blank_moments(_NO_CLAIM.sub(lambda found: " " * len(found[0]), text))


def _is_stated(quantity: Quantity, text: str, facts: Facts) -> bool:
    """Whether a stated figure is one that others may rest on: given, or counted, or summed up."""
    return facts.pool.gives(quantity, 0.0, any_unit=True) or (
        not quantity.family
        and (is_count(quantity, text, _find_noun(quantity, text), facts)
             or is_derived(quantity, 0.0, facts.groups, ()))
    )  # fmt: skip


@dataclass(frozen=True)
class _Figure:
    """A figure of an answer where it stands, and all that it is held against."""

    quantity: Quantity
    clause: Clause
    text: str
    """Of the clause, without moments, citations and code."""
    others: Sequence[Quantity]
    stated: StatedNumbers
    facts: Facts

    @cached_property
    def slack(self) -> float:
        return _find_slack(self.quantity, self.text)

    @cached_property
    def noun(self) -> str:
        return _find_noun(self.quantity, self.text)

    @cached_property
    def any_unit(self) -> bool:
        """A small number is a number of things, and of no unit that it does not name."""
        return not self.noun and not self.quantity.is_word and abs(self.quantity.number) > SMALL

    @cached_property
    def named(self) -> Named | None:
        return self.facts.find_named(self.clause.text)

    @cached_property
    def strictly_of(self) -> Named | None:
        """The thing that it is told of, where what the results say of others is no support."""
        named = self.named
        if named is None or not named.is_strict or _is_of_another(self.quantity, self.text):
            return None
        return None if _BOUND.search(self.text[: self.quantity.start]) else named

    @cached_property
    def pool(self) -> Pool:
        return self.strictly_of.pool if self.strictly_of is not None else self.facts.pool


def _is_supported(figure: _Figure) -> bool:
    """The first question that has an answer decides."""
    answers = (ask(figure) for ask in _QUESTIONS)
    return next(answer for answer in answers if answer is not None)


def _says_nothing(figure: _Figure) -> bool | None:
    quantity, facts = figure.quantity, figure.facts
    if not facts.is_read_whole or (not quantity.family and abs(quantity.number) <= 1):
        return True
    return True if _ORDINAL.match(figure.text, quantity.start) else None


def _counts_rows(figure: _Figure) -> bool | None:
    quantity, text, facts = figure.quantity, figure.text, figure.facts
    if quantity.family:
        return None
    counted = is_share_of_rows(quantity, text, figure.noun, facts)
    if counted is not None or not _is_of_these(quantity, text):
        return counted
    if quantity.is_word and (not figure.noun or _OTHERS.search(text[: quantity.start])):
        return True
    return True if quantity.is_whole and int(quantity.number) in facts.row_counts else None


def _lies_between_quotes(figure: _Figure) -> bool | None:
    if figure.quantity.family != "seconds":
        return None
    spans = find_quoted_spans(figure.clause.text, figure.facts)
    return None if spans is None else is_near(spans, *as_seconds(figure.quantity, figure.slack))


def _is_given(figure: _Figure) -> bool | None:
    quantity, slack, facts, any_unit = figure.quantity, figure.slack, figure.facts, figure.any_unit
    if facts.has_total(quantity, slack):
        return True
    named = figure.strictly_of
    if named is None:
        return facts.pool.gives(quantity, slack, any_unit=any_unit) or None
    is_given = named.pool.gives(quantity, slack, any_unit=any_unit, is_of_one=True) or any(
        pool.gives(quantity, slack, any_unit=any_unit)
        for pool in (named.elsewhere, facts.given_pool)
    )
    return is_given or facts.pool.writes(quantity) or None


def _is_mean_or_rest(figure: _Figure) -> bool | None:
    quantity, slack, text = figure.quantity, figure.slack, figure.text
    if _MEAN.search(text) and figure.facts.has_total(quantity, slack, is_mean=True):
        return True
    if quantity.family != "percent" or not _REST.search(text):
        return None
    rest = replace(quantity, number=100 - quantity.number)
    return figure.pool.gives(rest, slack, any_unit=figure.any_unit) or None


def _is_name_or_count(figure: _Figure) -> bool | None:
    quantity, text, facts = figure.quantity, figure.text, figure.facts
    if quantity.family:
        return None
    is_called = _is_label(quantity, figure.noun, text, facts)
    return is_called or is_count(quantity, text, figure.noun, facts) or None


def _is_share(figure: _Figure) -> bool | None:
    """Or the whole that a share is of."""
    quantity, text, others = figure.quantity, figure.text, figure.others
    if is_whole_of_share(quantity, text, others, figure.facts):
        return True
    if quantity.family != "percent":
        return None
    if figure.facts.has_percentile(quantity.number):
        return True
    pair = find_pair(quantity, text, others)
    if pair is None:
        pair = _pair_of_sentence(figure.clause.sentence[:MAX_SENTENCE])
    if pair is None:
        return None
    if is_share_of_pair(quantity, figure.slack, pair):
        return True
    return figure.named is not None and figure.named.is_share(quantity, figure.slack)


@lru_cache(maxsize=16)
def _pair_of_sentence(sentence: str) -> tuple[Quantity, Quantity] | None:
    """Asked for each percentage of the sentence, and the same for all of them."""
    text = _blank(sentence)
    return find_only_pair(text, list(find_claimed(text)))


def _lies_between_events(figure: _Figure) -> bool | None:
    if figure.quantity.family != "seconds":
        return None
    spans = figure.facts.chronology.spans
    return is_near(spans, *as_seconds(figure.quantity, figure.slack)) or None


def _was_never_looked_at(figure: _Figure) -> bool | None:
    """False where nothing can follow about a share: nobody looked, or the results tell it."""
    if figure.quantity.family != "percent":
        return None
    facts, named = figure.facts, figure.strictly_of
    if find_subjects(figure.text) - facts.run_topics - facts.given_topics:
        return False
    return False if named is not None and _is_told_as_such(figure.text, named) else None


def _is_worked_out(figure: _Figure) -> bool:
    quantity, slack, stated, named = figure.quantity, figure.slack, figure.stated, figure.named
    near = stated.near(figure.clause.start + quantity.start, quantity.number)
    is_multiple = _is_multiple(quantity, figure.noun, figure.text)
    if named is not None and named.has_derived(quantity, slack, may_be_multiple=is_multiple):
        return True
    strict = figure.strictly_of
    groups = strict.told.asked if strict is not None else figure.facts.groups
    return stated.may_derive() and is_derived(
        quantity, slack, groups, near, may_be_multiple=is_multiple
    )


_QUESTIONS: tuple[Callable[[_Figure], bool | None], ...] = (
    _says_nothing,
    _counts_rows,
    _lies_between_quotes,
    _is_given,
    _is_mean_or_rest,
    _is_name_or_count,
    _is_share,
    _lies_between_events,
    _was_never_looked_at,
    _is_worked_out,
)
"""From the plainest to the most roundabout; None hands a figure on to the next one."""


def _is_told_as_such(text: str, named: Named) -> bool:
    """Whether it is a percentage that results tell of the thing that is named, and so is no share
    that has to be worked out."""
    return not _OF_A_WHOLE.search(text) and named.tells_percentage(content_words(text))


def _is_of_another(quantity: Quantity, text: str) -> bool:
    """Whether it is told before any name, of a thing that is named in words: "the root is at 45 %
    and /backup at 36 %"."""
    joint = _AND.search(text, quantity.end)
    if joint is None or not text[: quantity.start].strip():
        return False
    names = [found.start() for found in TOKEN.finditer(text) if is_name(found[0])]
    return bool(names) and min(names) >= joint.end()


def _is_of_these(quantity: Quantity, text: str) -> bool:
    before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
    return _THESE.search(before) is not None


def _find_slack(quantity: Quantity, text: str) -> float:
    """How far from the truth it may be, beyond the places it was given to."""
    before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
    slack = abs(quantity.number) * 0.06 if _ABOUT.search(before) else 0.0
    digits = f"{quantity.number:.0f}"
    zeros = len(digits) - len(digits.rstrip("0"))
    if quantity.decimals == 0 and quantity.is_whole and zeros >= 2:
        slack = max(slack, min(0.5 * 10.0**zeros, 0.05 * abs(quantity.number)))
    return slack


def _is_label(quantity: Quantity, noun: str, text: str, facts: Facts) -> bool:
    """ "Partition 1", "revision 118": a number by which something is called."""
    before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
    is_called = quantity.is_whole and not quantity.is_word and _LABEL.search(before) is not None
    return is_called and not noun and facts.has_digits(text[quantity.start : quantity.end])


def _is_multiple(quantity: Quantity, noun: str, text: str) -> bool:
    """Whether it may be a factor: "3.1 times", "a factor of 3.1", "the ratio is 3.1"."""
    is_rate = len(quantity.scales) > 1 or _RATE.match(text, quantity.end) is not None
    if noun.lower() == "times" and _OCCASIONS.match(text, quantity.end):
        return False
    if is_rate or noun.lower() not in ("", "times", "x", "fold"):
        return False
    return bool(noun) or _RATIO.search(text) is not None


def _find_noun(quantity: Quantity, text: str) -> str:
    """What is counted, where the number stands right before it."""
    found = _NOUN_AFTER.match(text, quantity.end)
    if found is None or quantity.family or found[1].lower() in _NO_NOUN:
        return ""
    return found[1]


def _find_end(quantity: Quantity, text: str) -> int:
    """Behind the figure and the noun it counts."""
    end = quantity.end
    noun = _NOUN_AFTER.match(text, end) if not quantity.family else None
    return noun.end() if noun is not None else end

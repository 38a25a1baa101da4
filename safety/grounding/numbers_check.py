"""Figures of an answer, held against those of the results."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise

from safety.grounding.addressed import Named
from safety.grounding.clauses import Clause
from safety.grounding.counting import is_count, is_share_of_rows
from safety.grounding.derivations import SMALL, is_derived, is_part
from safety.grounding.facts import Facts
from safety.grounding.moments import blank_moments
from safety.grounding.pools import is_near
from safety.grounding.quantities import Quantity, find_claimed
from safety.grounding.records import TOKEN, is_name
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
_QUOTED = re.compile(r"\"([^\"\n]{3,200})\"|“([^”\n]{3,200})”|`([^`\n]{3,200})`")
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
_PAIR = re.compile(
    r"\s*(?:[a-z]+\s+)?(?:of|out of|/|from)\s+(?:the |its |all |all the |a total of )?"
)
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
MOST_ROUNDED = 0.05
"""How far a share of two rounded figures may be off, as a part of itself."""
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
        if _is_supported(quantity, clause, text, found, stated, facts):
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


def _is_supported(
    quantity: Quantity,
    clause: Clause,
    text: str,
    others: Sequence[Quantity],
    stated: StatedNumbers,
    facts: Facts,
) -> bool:
    if not facts.is_read_whole or (not quantity.family and abs(quantity.number) <= 1):
        return True
    if _ORDINAL.match(text, quantity.start):
        return True
    slack = _find_slack(quantity, text)
    noun = _find_noun(quantity, text)
    if (
        not quantity.family
        and (counted := is_share_of_rows(quantity, text, noun, facts)) is not None
    ):
        return counted
    if not quantity.family and _is_of_these(quantity, text):
        if quantity.is_word and (not noun or _OTHERS.search(text[: quantity.start])):
            return True
        if quantity.is_whole and int(quantity.number) in facts.row_counts:
            return True
    if quantity.family == "seconds":
        spans = _find_quoted_spans(clause.text, facts)
        if spans is not None:
            return is_near(spans, *_as_seconds(quantity, slack))
    # A small number is a number of things, and of no unit that it does not name.
    any_unit = not noun and not quantity.is_word and abs(quantity.number) > SMALL
    named = facts.find_named(clause.text)
    is_strict = named is not None and named.is_strict and not _is_of_another(quantity, text)
    is_strict = is_strict and not _BOUND.search(text[: quantity.start])
    if named is not None and is_strict:
        is_given = named.pool.gives(quantity, slack, any_unit=any_unit, is_of_one=True) or any(
            pool.gives(quantity, slack, any_unit=any_unit)
            for pool in (named.elsewhere, facts.given_pool)
        )
        if is_given or facts.pool.writes(quantity) or facts.has_total(quantity, slack):
            return True
    elif facts.pool.gives(quantity, slack, any_unit=any_unit) or facts.has_total(quantity, slack):
        return True
    if _MEAN.search(text) and facts.has_total(quantity, slack, is_mean=True):
        return True
    if quantity.family == "percent" and _REST.search(text):
        rest = replace(quantity, number=100 - quantity.number)
        pool = named.pool if named is not None and is_strict else facts.pool
        if pool.gives(rest, slack, any_unit=any_unit):
            return True
    if not quantity.family and (
        _is_label(quantity, noun, text, facts) or is_count(quantity, text, noun, facts)
    ):
        return True
    if _is_whole_of_share(quantity, text, others, facts):
        return True
    if quantity.family == "percent":
        if facts.has_percentile(quantity.number):
            return True
        pair = _find_pair(quantity, text, others) or _find_only_pair(clause)
        if pair is not None:
            rounded = min(MOST_ROUNDED, sum(map(_find_doubt, pair)))
            doubt = slack + quantity.step + quantity.number * rounded
            return is_part(quantity, max(doubt, 2 * quantity.step), *pair) or (
                named is not None and named.is_share(quantity, slack)
            )
    if quantity.family == "seconds" and is_near(
        facts.chronology.spans, *_as_seconds(quantity, slack)
    ):
        return True
    if quantity.family == "percent" and find_subjects(text) - facts.run_topics - facts.given_topics:
        return False  # Nobody looked at this, so nothing about it follows.
    if named is not None and is_strict and _is_told_as_such(quantity, text, named):
        return False
    near = stated.near(clause.start + quantity.start, quantity.number)
    is_multiple = _is_multiple(quantity, noun, text)
    if named is not None and named.has_derived(quantity, slack, may_be_multiple=is_multiple):
        return True
    groups = named.told.asked if named is not None and is_strict else facts.groups
    return stated.may_derive() and is_derived(
        quantity, slack, groups, near, may_be_multiple=is_multiple
    )


def _is_whole_of_share(
    quantity: Quantity, text: str, others: Sequence[Quantity], facts: Facts
) -> bool:
    """Whether it is what a figure before it is a part of, as a percentage of the results tells."""
    for part, whole in pairwise(others):
        if whole is quantity and part.family == quantity.family and quantity.number > part.number:
            is_pair = _PAIR.fullmatch(text, part.end, whole.start) is not None
            share = Quantity(100 * part.number / whole.number, 1, "percent", (1.0,))
            return is_pair and facts.pool.gives(part, 0.0, any_unit=False) and facts.has(share)
    return False


def _find_doubt(each: Quantity) -> float:
    """How far a figure may be from the truth by its rounding, as a part of itself."""
    is_exact = not each.family and each.is_whole and each.decimals == 0
    return 0.0 if is_exact else each.step / each.number


def _is_told_as_such(quantity: Quantity, text: str, named: Named) -> bool:
    """Whether it is a percentage that results tell of the thing that is named, and so is no share
    that has to be worked out."""
    if quantity.family != "percent":
        return False
    return not _OF_A_WHOLE.search(text) and named.tells_percentage(content_words(text))


def _is_of_another(quantity: Quantity, text: str) -> bool:
    """Whether it is told before any name, of a thing that is named in words: "the root is at 45 %
    and /backup at 36 %"."""
    joint = _AND.search(text, quantity.end)
    if joint is None or not text[: quantity.start].strip():
        return False
    names = [place for place, token in _find_tokens(text) if is_name(token)]
    return bool(names) and min(names) >= joint.end()


def _find_tokens(text: str) -> Iterator[tuple[int, str]]:
    return ((found.start(), found[0]) for found in TOKEN.finditer(text))


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


def _find_quoted_spans(text: str, facts: Facts) -> list[float] | None:
    """The times between the lines that are quoted, where two are."""
    quoted = [found[1] or found[2] or found[3] for found in _QUOTED.finditer(text)]
    return facts.chronology.find_spans(quoted) if len(quoted) > 1 else None


def _as_seconds(quantity: Quantity, slack: float) -> tuple[float, float]:
    """A duration and how far from the truth it may be: rounded, or cut off."""
    scale = quantity.scales[0]
    if slack > quantity.step:
        return quantity.number * scale, slack * scale
    return (quantity.number + quantity.step / 2) * scale, 1.5 * quantity.step * scale


def _is_label(quantity: Quantity, noun: str, text: str, facts: Facts) -> bool:
    """ "Partition 1", "revision 118": a number by which something is called."""
    before = text[max(0, quantity.start - _MOST_BEFORE) : quantity.start]
    is_called = quantity.is_whole and not quantity.is_word and _LABEL.search(before) is not None
    return is_called and not noun and facts.has_digits(text[quantity.start : quantity.end])


def _find_pair(
    quantity: Quantity, text: str, others: Sequence[Quantity]
) -> tuple[Quantity, Quantity] | None:
    """ "240 of 250 (96 %)": what a percentage right beside it is the share of."""
    for first, second in pairwise(others):
        if first.family == "percent" or second.family == "percent":
            continue
        if not _PAIR.fullmatch(text, first.end, second.start) or not first.number * second.number:
            continue
        apart = min(abs(first.start - quantity.end), abs(quantity.start - second.end))
        if apart <= 12:
            return first, second
    return None


def _find_only_pair(clause: Clause) -> tuple[Quantity, Quantity] | None:
    """ "240 of 250 are taken, which is 96 %": the only pair, beside the only percentage."""
    text = _blank(clause.sentence[:MAX_SENTENCE])
    found = list(find_claimed(text))
    pairs = [
        (first, second)
        for first, second in pairwise(found)
        if "percent" not in (first.family, second.family)
        and first.number * second.number
        and _PAIR.fullmatch(text, first.end, second.start)
    ]
    is_alone = sum(1 for each in found if each.family == "percent") == 1
    return pairs[0] if len(pairs) == 1 and is_alone else None


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

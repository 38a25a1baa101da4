"""Counts: "two of the three pods" follows from a list that nobody has counted."""

import re

from safety.grounding.facts import Facts
from safety.grounding.quantities import Quantity
from safety.grounding.words import content_words

MAX_COUNT = 1_000
_COUNTED = re.compile(r"\s*(?:of\s+)?(?:the\s+)?((?:[A-Za-z][\w-]*\s+){0,2}[A-Za-z][\w-]*)")
_TO_THERE = re.compile(r"[^,;:(]{0,200}")
_TOKEN = re.compile(r"[A-Za-z][\w-]{2,}")
_AS_IN_RESULTS = re.compile(r"[a-z]+[A-Z]|[A-Z]{2}|[A-Z][a-z]+[A-Z]|[-_]|\d")


def is_count(quantity: Quantity, text: str, noun: str, facts: Facts) -> bool:
    """A number of lines or rows, where what is counted occurs in the results.

    A word that is spelled as only machines spell, such as NotReady, is what has to be counted.
    """
    number = quantity.number
    if number > MAX_COUNT or number != int(number):
        return False
    wanted = int(number)
    behind = text[quantity.end :]
    counted = _COUNTED.match(behind)
    topics = content_words(counted[1]) if counted is not None else frozenset()
    if noun and not topics & facts.run_topics:
        return False
    told = _TO_THERE.match(behind)
    terms = [
        each
        for each in _TOKEN.findall(told[0] if told is not None else "")
        if _AS_IN_RESULTS.search(each)
    ]
    known = [each for each in terms if facts.mentions(each)]
    if known:
        return any(wanted in facts.count_terms(term) for term in known)
    words = content_words(text) & facts.run_topics
    if (words and wanted in facts.row_counts) or (not noun and wanted in facts.repeats):
        return True
    return any(wanted in facts.count_lines(word) for word in words)

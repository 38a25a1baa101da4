"""Counts: "two of the three pods" follows from a list that nobody has counted."""

import re

from safety.grounding.derivations import SMALL
from safety.grounding.facts import Facts
from safety.grounding.quantities import Quantity
from safety.grounding.records import find_tokens, is_name
from safety.grounding.words import content_words

MAX_COUNT = 1_000
_COUNTED = re.compile(r"\s*(?:of\s+)?(?:the\s+)?((?:[A-Za-z][\w-]*\s+){0,2}[A-Za-z][\w-]*)")
_OF = re.compile(r"(?:\bof|/)\s*(?:the\s+|all\s+)*$", re.IGNORECASE)
_LABEL = re.compile(r"[A-Za-z]\w{2,40}\s*(?::|=|\bx|[x×])\s*$")
_OF_SOME = re.compile(r"\s+of\s+(?:the|them|these|those|all|its)\b")
_TO_THERE = re.compile(r"[^,;:(]{0,200}")


def is_share_of_rows(quantity: Quantity, text: str, noun: str, facts: Facts) -> bool | None:
    """Whether so many rows have the word that follows; None where no such count is meant."""
    is_of_some = _OF_SOME.match(text, quantity.end) is not None
    if not quantity.is_whole or quantity.number > SMALL:
        return None
    if facts.is_topic(noun) and not is_of_some:
        return None
    if _OF.search(text[max(0, quantity.start - 20) : quantity.start]):
        return None
    told = _TO_THERE.match(text, quantity.end)
    behind = told[0] if told is not None else ""
    labelled = _LABEL.search(text[: quantity.start]) if not find_tokens(behind) else None
    words = find_tokens(labelled[0] if labelled is not None else behind)
    shares = [facts.shares[word] for word in words if word in facts.shares and not is_name(word)]
    return any(int(quantity.number) in share for share in shares) if shares else None


def is_count(quantity: Quantity, text: str, noun: str, facts: Facts) -> bool:
    """A number of lines or rows, where what is counted occurs in the results.

    Where a word stands beside it that some rows have and others have not, it is of these rows.
    """
    number = quantity.number
    if number > MAX_COUNT or number != int(number):
        return False
    wanted = int(number)
    if (
        _OF.search(text[max(0, quantity.start - 20) : quantity.start])
        and wanted in facts.row_counts
    ):
        return True
    behind = text[quantity.end :]
    counted = _COUNTED.match(behind)
    topics = content_words(counted[1]) if counted is not None else frozenset()
    if noun and not topics & facts.run_topics:
        return False
    shares = [pair for word in find_tokens(text) for pair in facts.shares_of.get(word, ())]
    if shares:
        return any(wanted in pair for pair in shares)
    words = content_words(text) & facts.run_topics
    if (words and wanted in facts.row_counts) or (not noun and wanted in facts.repeats):
        return True
    return any(wanted in facts.count_lines(word) for word in words)

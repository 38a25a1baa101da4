"""Counts: "two of the three pods" follows from a list that nobody has counted."""

import re

from safety.grounding.derivations import SMALL
from safety.grounding.facts import Facts
from safety.grounding.quantities import Quantity
from safety.grounding.records import find_tokens, is_name
from safety.grounding.spelled import read_words
from safety.grounding.words import content_words

MAX_COUNT = 1_000
_COUNTED = re.compile(r"\s*(?:of\s+)?(?:the\s+)?((?:[A-Za-z][\w-]*\s+){0,2}[A-Za-z][\w-]*)")
_NO_ROWS = frozenset({"times", "fold"})
_OF = re.compile(r"(?:\bof|/)\s*(?:the\s+|all\s+)*$", re.IGNORECASE)
_LABEL = re.compile(r"[A-Za-z]\w{2,40}\s*(?::|=|\bx|[x×])\s*$")
_OF_SOME = re.compile(r"\s+of\s+(?:the|them|these|those|all|its)\b")
_OF_MANY = re.compile(r"\s*(?:out )?of (?:the |all |its )?(\d{1,4}|[a-z]{3,9})\b", re.IGNORECASE)
_FIGURE = re.compile(r"\d")
_TO_THERE = re.compile(r"[^,;:(]{0,200}")


def is_share_of_rows(quantity: Quantity, text: str, noun: str, facts: Facts) -> bool | None:
    """Whether so many rows have the word that follows; None where no such count is meant."""
    if noun.lower() in _NO_ROWS:
        return None
    is_of_some = _OF_SOME.match(text, quantity.end) is not None
    if not quantity.is_whole or quantity.number > SMALL:
        return None
    if facts.is_topic(noun) and not is_of_some:
        return None
    if _OF.search(text[max(0, quantity.start - 20) : quantity.start]):
        return None
    some = _OF_MANY.match(text, quantity.end)
    told = _TO_THERE.match(text, some.end() if some is not None else quantity.end)
    behind = told[0] if told is not None else ""
    labelled = _LABEL.search(text[: quantity.start]) if not find_tokens(behind) else None
    said = labelled[0] if labelled is not None else behind
    words = {word for word in find_tokens(said) if word in facts.shares and not is_name(word)}
    whole = _find_whole(quantity, text)
    shares = [
        {count for count, total in facts.shares_of[word] if whole in (0, total)} for word in words
    ]
    shares = [share for share in shares if share]
    if not shares:
        return None
    wanted = int(quantity.number)
    if any(wanted in share for share in shares):
        return True
    # Of several words it may be the rows that have all of them, or one and a figure.
    is_plain = len(shares) == 1 and not _FIGURE.search(said)
    return False if is_plain else None


def _find_whole(quantity: Quantity, text: str) -> int:
    """Of how many the number is a part: "three of the six"; 0 where that is not said."""
    found = _OF_MANY.match(text, quantity.end)
    number = read_words(found[1]) if found is not None and not found[1].isdigit() else None
    if found is not None and found[1].isdigit():
        return int(found[1])
    return int(number or 0)


def is_count(quantity: Quantity, text: str, noun: str, facts: Facts) -> bool:
    """A number of lines or rows, where what is counted occurs in the results.

    Where a word stands beside it that some rows have and others have not, it is of these rows.
    """
    number = quantity.number
    if noun.lower() in _NO_ROWS:
        return False
    if number > MAX_COUNT or number != int(number):
        return False
    wanted = int(number)
    if (
        _OF.search(text[max(0, quantity.start - 20) : quantity.start])
        and wanted in facts.row_counts
    ):
        return True
    shares = [pair for word in find_tokens(text) for pair in facts.shares_of.get(word, ())]
    whole = _find_whole(quantity, text)
    if whole and whole in facts.row_counts and wanted <= whole:
        shares = [pair for pair in shares if pair[1] == whole]
        # Which of them are meant, words may say that no row has.
        return not shares or any(wanted in pair for pair in shares)
    behind = text[quantity.end :]
    counted = _COUNTED.match(behind)
    topics = content_words(counted[1]) if counted is not None else frozenset()
    if noun and not topics & facts.run_topics:
        return False
    if shares:
        return any(wanted in pair for pair in shares)
    words = content_words(text) & facts.run_topics
    if (words and wanted in facts.row_counts) or (not noun and wanted in facts.repeats):
        return True
    return any(wanted in facts.count_lines(word) for word in words)

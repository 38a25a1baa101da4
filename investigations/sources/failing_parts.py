"""What fails within a document that says itself that it is well."""

import re
from collections.abc import Mapping, Sequence

from investigations.sources.fields import read_moment, read_text
from investigations.sources.kinds import find_words, is_kind_of_alert
from investigations.sources.parts import Part
from investigations.sources.states import fold_word, names_state, state_of
from investigations.sources.telling import Leaf, fold
from investigations.sources.usual_fields import (
    BEFORE,
    FAILURES,
    ILL,
    WELL,
    is_kind_field,
    states_of_now,
)

_PAST = re.compile(
    rf"(?:{BEFORE}|from|histor|log|timeline|update|transition|change|event|activit)\w*"
)
"""Objects and lists that tell how it was."""


def failure_words(leaves: Sequence[Leaf]) -> list[str]:
    """The words for a failure in fields that are called like a state, wherever they stand."""
    return [each.text for each in states_of_now(leaves) if fold_word(each.text) in FAILURES]


def words_of_failing_parts(whole: Part, leaves: Sequence[Leaf]) -> list[str]:
    """The same of objects within a document, but for those that tell how it was: by their names, in
    a list with a later end, or all of them where the kind of the post is an end itself."""
    if _is_of_end(whole):
        return []
    parts = [each for each in states_of_now(leaves) if each.parent]
    known = [each for each in parts if not _PAST.match(fold(each.parent))]
    fails = [each for each in known if fold_word(each.text) in ILL]
    if not fails:
        return []
    told = _told_beside(leaves)
    last_well = {
        _among_which(each, told): each.place for each in known if fold_word(each.text) in WELL
    }
    return [
        each.text for each in fails if last_well.get(_among_which(each, told), -1) <= each.place
    ]


def _is_of_end(whole: Part) -> bool:
    """Whether the kind of a post is that of an end, as `monitor.up` is."""
    told = [(name, read_text(each)) for name, each in whole.fields.items()]
    kinds = [text for name, text in told if is_kind_field(name) and not names_state(text)]
    words = [word for text in kinds for word in find_words(text, is_state=False)]
    return bool(words) and state_of(*words) == "resolved" and any(map(is_kind_of_alert, kinds))


def _among_which(state: Leaf, told: Mapping[int, frozenset[tuple[str, str]]]) -> tuple[object, ...]:
    """The list that a state stands in, and all that its member tells beside it: of two that are the
    same but for their states, the second one is of the same thing, which was tried again."""
    beside = told.get(state.place, frozenset())
    return (state.parent, state.name, state.depth, beside)


def _told_beside(leaves: Sequence[Leaf]) -> dict[int, frozenset[tuple[str, str]]]:
    """By object, what it tells that is neither a state nor a moment."""
    told: dict[int, set[tuple[str, str]]] = {}
    for each in leaves:
        if not names_state(each.text) and read_moment(each.text) is None:
            told.setdefault(each.place, set()).add((each.name, each.text))
    return {place: frozenset(texts) for place, texts in told.items()}

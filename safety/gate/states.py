"""Whether an answer tells how a thing is, and not only that a call ended well."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from agents.types import JSON
from safety.checks import RUNNING, STOPPED
from safety.evidence import match_whole
from safety.word_lists import word_set

STATE_KEYS = word_set("""
    status state phase health healthy condition running ready available active replicas enabled
    uptime
""")
"""What a value is called that says how a thing is, as the last word of its name."""
_STATES = (
    *RUNNING, *STOPPED, "ready", "healthy", "unhealthy", "degraded", "pending", "starting",
    "restarting", "terminating", "terminated", "paused", "down", "online", "offline",
)  # fmt: skip
_STATE = re.compile(rf"(?i)(?<![\w/.-])(?:{'|'.join(_STATES)})(?![\w/-])")
_LABEL = re.compile(rf"(?i)(?<![\w-])(?:{'|'.join(sorted(STATE_KEYS))})\s*[:=]")
_DENIAL = re.compile(
    r"(?i)\b(?:no|not|none|nothing|never|without|cannot)\b|n't\b|(?<![\w/.-])0(?![\w/.])"
)
_CLAUSE = re.compile(r"[.,;!?|()]+(?:\s|$)|\n")
_FEW = 3
"""Words of an answer that can only be about what was asked."""
_ENVELOPE_KEYS = word_set("status result code message outcome")
_DONE = word_set("success successful succeeded done")
"""What the status of a call says of the call, whatever it asked for."""
_TROUBLE = word_set("error errors warning warnings message reason")
"""What is good to be empty."""
_UNTOLD = frozenset({"", "unknown", "none", "null", "n/a", "-"})
_KEY_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


@dataclass(frozen=True)
class Leaf:
    """One value of an answer, its name, and the object that it stands in."""

    key: str
    value: JSON
    holder: Mapping[str, JSON]
    has_empty_beside: bool


_NOWHERE = Leaf("", None, {}, False)


def leaves_of(answer: JSON, at: Leaf = _NOWHERE) -> Iterator[Leaf]:
    """Every value of an answer that holds no others."""
    if isinstance(answer, dict):
        has_empty = _has_empty(answer)
        for name, inner in answer.items():
            yield from leaves_of(inner, Leaf(name, None, answer, has_empty))
    elif isinstance(answer, list):
        for inner in answer:
            yield from leaves_of(inner, at)
    else:
        yield Leaf(at.key, answer, at.holder, at.has_empty_beside)


def _has_empty(holder: Mapping[str, JSON]) -> bool:
    """Whether what was found may be what is empty here."""
    return any(
        _last_word(key) not in _TROUBLE
        for key, each in holder.items()
        if each is None or each in ([], {})
    )


def says_state(text: str, names: Sequence[str]) -> bool:
    """Whether some clause says a state of what has one of these names, and does not deny it.

    Beside the name, a label (`Status: running`) says so, and an answer of few words.
    """
    is_short = len(text.split()) <= _FEW
    wholes = [match_whole(name) for name in names]
    return any(
        is_short or _LABEL.search(clause) or any(whole.search(clause) for whole in wholes)
        for clause in _CLAUSE.split(text)
        if _STATE.search(clause) and not _DENIAL.search(clause)
    )


def is_of_the_call(leaf: Leaf, *, is_about_thing: bool) -> bool:
    """Whether a value says how the call ended: a number of its protocol, or a word for its end.

    `ok` may say it of the thing, if that is named. Beside nothing found, only a state is no end.
    """
    if _last_word(leaf.key) not in _ENVELOPE_KEYS or isinstance(leaf.value, bool):
        return False
    if not isinstance(leaf.value, str):
        return leaf.value is not None
    word = leaf.value.strip().casefold()
    if word == "ok":
        return leaf.has_empty_beside or not is_about_thing
    is_of_nothing = leaf.has_empty_beside and not is_about_thing
    return word in _DONE or (is_of_nothing and _STATE.fullmatch(word) is None)


def tells_state(leaf: Leaf, names: Sequence[str], *, is_about_thing: bool) -> bool:
    """Whether a value of an answer says how the thing with these names is.

    `is_about_thing`: the object that holds it names the thing, or the tool is one for states.
    """
    if is_of_the_call(leaf, is_about_thing=is_about_thing):
        return False
    is_state = _last_word(leaf.key) in STATE_KEYS
    if isinstance(leaf.value, str):
        text = leaf.value.strip()
        if len(text.split()) > 1:
            return says_state(f"{leaf.key}: {text}", names)
        is_untold = text.casefold() in _UNTOLD or _DENIAL.search(text) is not None
        return not is_untold and (is_state or _STATE.fullmatch(text) is not None)
    is_count = isinstance(leaf.value, bool | int | float)
    return is_state and is_count and (is_about_thing or not leaf.has_empty_beside)


def asks_for_state(tool: str) -> bool:
    """Whether the name of a tool says that it answers how something is."""
    return not STATE_KEYS.isdisjoint(_words(tool))


def _last_word(key: str) -> str:
    return "".join(_words(key)[-1:])


def _words(name: str) -> list[str]:
    return [word.casefold() for word in _KEY_WORD.findall(name)]

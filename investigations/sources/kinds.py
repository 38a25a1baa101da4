"""Words for a state in what fields say: as a word alone, or within the kind of a post."""

import re
from collections.abc import Iterator

from investigations.sources.states import WORDS, names_state, state_of

_SUBJECTS = frozenset({
    "alert", "alarm", "incident", "monitor", "event", "check", "problem", "issue", "notification",
    "message", "uptime", "heartbeat", "host", "service", "site", "server",
})  # fmt: skip
SUBJECT_WORDS = "|".join(("new", "current", *sorted(_SUBJECTS)))
"""What a name may begin with and still be of the alert; alternatives of a pattern."""
_ENDS = frozenset({"resolve", "close", "recover", "recovery", "clear"})
_ENDS_OF_ALERTS = frozenset({"resolve", "resolved", "recover", "recovered", "recovery"})
_SUBJECTS_OF_KINDS = _SUBJECTS | frozenset(
    {"policy", "condition", "violation", "finding", "rule", "state", "health"}
)
_BEGINS = frozenset({"open", "trigger", "fire", "raise", "new"})
"""Words that say within a kind, as in `POLICY_CLOSE_CRITICAL`, what was done."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_KIND_OF_TEST = re.compile(
    r"test[_-]?(?:notification|message|alert|event|webhook|post|payload)", re.IGNORECASE
)
"""The kind of a post that is a test. In `load_test_alert` the test is what is watched."""
_CHANGE = re.compile(r"\w+ ?(?:->|=>|→) ?(\w+)")
_WITH_MORE = re.compile(r"(\w+) \((\w+)\)")
"""`Down (Acknowledged)` and `Down (Partial)`; of a part that is up, nothing is over."""
_ENDED_HOW = re.compile(
    r"(?:auto_|manually_)?(resolved|cleared|closed)"
    r"(?:_(?:un)?ack|_(?:true|false|benign)_positive|_by_policy)?",
    re.IGNORECASE,
)
"""`CLEARED_UNACK`, `resolved_true_positive`: an end with how it came to it, in forms that are known
as a whole. A connection may be `closed_by_peer`."""
_END_WITH_MORE = re.compile(
    r"(\w+) \((?:hard|soft|auto|automatic|automatically|manual|manually|was \w+)\)", re.IGNORECASE
)
"""`OK (Hard)` and `OK (was CRITICAL)`."""
_OF_STATUS = {
    **dict.fromkeys(("operational", "restored"), "up"),
    **dict.fromkeys(("partial_outage", "major_outage"), "down"),
    "degraded_performance": "degraded",
}
"""What pages of status call a state. In a type the first one is the kind of an issue, and a file or
a database that was restored may be what is wrong."""


def _is_end(word: str) -> bool:
    return not names_state(word) or state_of(word) == "resolved"


def is_word_of_status(text: str) -> bool:
    """Whether pages of status call a state so."""
    return text.strip().lower() in _OF_STATUS


def is_kind_of_alert(kind: str) -> bool:
    """Whether the kind of a post names an alert, what it is of, or what becomes of it alone."""
    words = {each.lower() for each in _WORD.findall(kind[:200])}
    return not words.isdisjoint(_SUBJECTS_OF_KINDS | _ENDS_OF_ALERTS)


def find_words(text: str, *, is_state: bool) -> Iterator[str]:
    """Of a type, a ping is the kind of a check. In `incident.resolved` it is the last word that
    says what has happened, and in `check.up` and `monitor_down` the one at the end. In `OK -> DOWN`
    it is the second."""
    if found := _CHANGE.fullmatch(text[:80].strip()):
        text = found[1]
    if names_state(text):
        if is_state or text.strip().lower() != "ping":
            yield text
        return
    if is_state:
        yield from _words_of_state(text)
        return
    if " " in text.strip():
        return
    kind = text[:200]
    if _KIND_OF_TEST.fullmatch(re.split(r"[.:/]", kind)[-1]):
        yield "test"
    parts = [each.lower() for each in _WORD.findall(kind)]
    yield from (each for each in reversed(parts) if each.endswith("ed") and each in WORDS)
    if parts[-2:] == ["health", "restored"]:
        yield "recovered"
    yield from (each for each in parts if each in _ENDS)
    if len(parts) > 1 and parts[-1] == "end":
        yield "ended"
    last = re.split(r"[.:/]", kind.lower())
    if len(last) > 1 and last[-1] in WORDS:
        yield last[-1]
    elif parts and parts[-1] in WORDS and not _SUBJECTS.isdisjoint(parts[:-1]):
        yield parts[-1]
    yield from (each for each in parts if each in _BEGINS)


def _words_of_state(text: str) -> Iterator[str]:
    """Of a text in a field for a state that is more than one of the known words."""
    if word := _OF_STATUS.get(text.strip().lower()):
        yield word
    told = text[:80].strip()
    if found := _ENDED_HOW.fullmatch(told):
        yield found[1]
    if (found := _END_WITH_MORE.fullmatch(told)) and _is_end(found[1]):
        yield found[1]
    if found := _WITH_MORE.fullmatch(told):
        yield from (each for each in (found[2], found[1]) if not _is_end(each))


def without_state_words(text: str) -> str:
    """`check.up` and `check.down` are of one kind, and so are all changes of a state."""
    if _CHANGE.fullmatch(text[:80].strip()) and any(find_words(text, is_state=True)):
        return ""
    if " " in text or not any(find_words(text, is_state=False)):
        return text
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+", text)
    kept = [each for each in parts if each.lower() not in WORDS and each.lower() != "restored"]
    # `HealthRestored` ends what `Health` began.
    return "".join(kept) if text.isalnum() else ".".join(kept).lower()

"""Words by which protocols say whether an alert holds. For bodies that have no protocol."""

import re
from collections.abc import Mapping

from investigations.sources.reading import State

_AROUND = re.compile(r"^[\W_]+|[\W_]+$")
_LONGEST = 40

WORDS: Mapping[str, State] = {
    **dict.fromkeys(
        ("firing", "alerting", "alarm", "triggered", "trigger", "open", "opened", "active",
         "activated", "problem", "down", "failed", "failure", "error", "critical", "warning",
         "new", "created", "fired", "detected", "reported", "raised", "offline", "failing",
         "unhealthy", "unavailable", "errored", "fire", "raise",
         "degraded", "violated", "breached"),
        "firing",
    ),
    **dict.fromkeys(
        ("resolved", "resolve", "ok", "okay", "closed", "close", "recovered", "recovery", "up",
         "cleared", "clear", "inactive", "deactivated", "normal", "success", "successful",
         "succeeded", "fixed", "healthy", "done", "ended", "canceled", "cancelled", "online",
         "passing", "passed", "available", "recover"),
        "resolved",
    ),
    **dict.fromkeys(
        ("acknowledged", "acknowledge", "ack", "acked", "acknowledgement", "acknowledgment"),
        "acknowledged",
    ),
    **dict.fromkeys(("test", "ping", "verification"), "test"),
}  # fmt: skip


OPEN = frozenset({
    "firing", "alerting", "alarm", "triggered", "open", "opened", "problem", "down", "failed",
    "failure", "critical", "fired", "failing", "unhealthy", "unavailable", "degraded", "violated",
    "breached",
})  # fmt: skip
"""Those of nothing that is over: what is `active` or `new` may be a monitor or a post."""


def names_state(word: str) -> bool:
    """Whether a word says that an alert holds or that it does not, and nothing else."""
    return fold_word(word) in WORDS


def fold_word(word: str) -> str:
    """A word in small letters without the signs around it, as in `🔴 Down`."""
    folded = word.strip().lower()
    if not folded or (folded[0].isalnum() and folded[-1].isalnum()) or len(folded) > _LONGEST:
        return folded
    return _AROUND.sub("", folded)


def state_of(*words: str) -> State:
    """The state that the first known word names; an alert that says nothing of it fires."""
    folded = map(fold_word, words)
    return next((WORDS[word] for word in folded if word in WORDS), "firing")

"""What sources call the weight of an alert, in five words of ours."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

Severity = Literal["critical", "high", "warning", "info", "unknown"]

_WORDS: Mapping[str, Severity] = {
    **dict.fromkeys(
        ("critical", "crit", "fatal", "emergency", "emerg", "disaster", "blocker", "highest",
         "page", "p0", "p1", "sev0", "sev1", "down", "unreachable"),
        "critical",
    ),
    **dict.fromkeys(("high", "error", "err", "major", "alert", "p2", "sev2"), "high"),
    **dict.fromkeys(
        ("warning", "warn", "medium", "moderate", "average", "minor", "p3", "sev3"), "warning"
    ),
    **dict.fromkeys(
        ("info", "information", "informational", "notice", "low", "lowest", "debug", "verbose",
         "normal", "none", "ok", "up", "success", "p4", "p5", "sev4", "sev5"),
        "info",
    ),
}  # fmt: skip
"""The usual vocabulary of levels. Numbers mean something else at every source: they are given a
meaning there, and a word that is not listed stays as it is, beside `unknown`."""


_ORDER: tuple[Severity, ...] = get_args(Severity)


def heaviest(severities: Sequence[Severity]) -> Severity:
    """The one that weighs most; `unknown` only where no other is."""
    return min(severities, key=_ORDER.index, default="unknown")


def normalise(word: str, of_source: Mapping[str, Severity]) -> Severity:
    """One of our words for the source's own."""
    folded = word.strip().lower()
    return of_source.get(folded) or _WORDS.get(folded, "unknown")

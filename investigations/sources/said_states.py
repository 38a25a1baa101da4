"""States that stand in no field which is called like one: in the first words of a title, or in a
few fields that say it together.

Each form is read as a whole or not at all: a state that is misread hides an alert that fires.
"""

import re
from collections.abc import Iterator, Mapping

from investigations.sources.fields import as_object, read_text
from investigations.sources.reading import JSON
from investigations.sources.telling import fold
from investigations.sources.usual_fields import Part, find_words

_FIRST = re.compile(
    r"[^\w\[]{0,10}(?:\[ ?(?P<tag>\w+)(?::\d+)? ?\]|(?P<told>\w+)(?= ?:)|(?P<word>\w+)(?= [-–—|] ))"
    r"\s*(?:[:|–—-]\s*)?"
)
_OVER = {
    "tag": frozenset({"resolved", "recovered", "fixed", "recovery", "ok"}),
    "told": frozenset({"resolved", "recovered", "fixed"}),
    "word": frozenset({"resolved", "recovered"}),
}
"""By how it is set off from what it is about: the less, the fewer words are believed."""
_FIRES = frozenset({"firing", "triggered", "alerting"})
_COUNTS_OTHERS = re.compile(r"\bfiring\b|^\d+\W", re.IGNORECASE)
"""`Resolved: 2, firing: 1` is a sum."""
_BACK = re.compile(
    r"[^.!?,;\n]{1,200}\bback to normal(?: after(?: \d+ \w+)+)?(?: ?: [\w#./ -]{1,100})?[\s.!]*"
    r"(?:\(<[^>\n]*>\))?",
    re.IGNORECASE,
)
"""One sentence about one thing."""
_IN_DOUBT = re.compile(
    r"\b(?:not|never|nor|no|cannot|until|unless|whether|if|when|before|but|though|still|yet|except"
    r"|and|while|however|or"
    r"|fail\w*|expect\w*|wait\w*|soon|will|should|must|may|might|almost|nearly)\b|n't\b",
    re.IGNORECASE,
)
_RUNS = ("build", "run", "pipeline")
_OF_RUN = frozenset({"name", "displayname", "fullname", "url", "fullurl", "project", "job", *_RUNS})
"""What stands beside a run that a post is about: the names of what was run."""
_WELL = frozenset({"healthy", "synced", "succeeded", "success", "successful", "ok"})
_TELLING_HEALTH = re.compile(r"\w*(?:health|sync|operation|status|state|phase)")
_SENSES_TROUBLE = frozenset({
    "problem", "smoke", "gas", "carbonmonoxide", "moisture", "safety", "tamper", "heat", "cold",
})  # fmt: skip
"""Sensors that are on while something is wrong."""

_TROUBLE = re.compile(
    r"\b(?:fail\w*|error\w*|degraded|unhealthy|critical|high|warning|down|missing|unknown)\b|n't\b"
    r"|\b(?:not|cannot|out of sync|outofsync)\b",
    re.IGNORECASE,
)
"""What no post says of an application that is well, whatever the field."""


def says_over(title: str) -> bool:
    """Whether a title says before anything else that its alert is over, as `RESOLVED: disk full`
    does, or that something is back to normal."""
    text = title[:400].strip()
    found = _FIRST.match(text)
    if found and _word_of(found) in _OVER[found.lastgroup or ""]:
        rest = text[found.end() :]
        return bool(rest) and not _COUNTS_OTHERS.search(rest)
    return _BACK.fullmatch(text) is not None and _IN_DOUBT.search(text) is None


def without_said_state(text: str) -> str:
    """A text without a state that it begins with: the rest is the same when the alert is over."""
    found = _FIRST.match(text[:400])
    if found and _word_of(found) in _OVER[found.lastgroup or ""] | _FIRES:
        return text[found.end() :].strip()
    return text


def words_of_forms(whole: Part) -> list[str]:
    """The words for a state that some fields of a document say together; none where they say
    nothing."""
    found = (_word_of_log(whole), _word_of_run(whole), _word_of_sensor(whole), _word_of_app(whole))
    return [word for text in found for word in find_words(text, is_state=True)]


def _word_of(found: re.Match[str]) -> str:
    return found[found.lastgroup or 0].lower()


def _word_of_log(whole: Part) -> str:
    """A post about the status of an alert has what was done first in its log: `Closed by Ana`."""
    kind = fold(read_text(whole.fields.get("type")))
    entry = read_text(whole.fields.get("logentry"))
    if not kind.startswith("alertstatus"):
        return ""
    return next((word for word in ("closed", "acknowledged") if entry.lower().startswith(word)), "")


def _word_of_run(whole: Part) -> str:
    """A run with a phase is what a post is about that says nothing else."""
    if any(read_text(value) for name, value in whole.fields.items() if name not in _OF_RUN):
        return ""
    run = next((each for name in _RUNS if (each := _folded(whole.fields.get(name)))), {})
    return run.get("status", "") if run.get("phase") else ""


def _word_of_sensor(whole: Part) -> str:
    """Of a sensor that knows two states, what it senses says which one is wrong."""
    told = {**_folded(whole.fields.get("attributes")), **_folded(whole.fields)}
    state, sensed = told.get("state", "").lower(), fold(told.get("deviceclass", ""))
    if state not in ("on", "off"):
        return ""
    if sensed in _SENSES_TROUBLE:
        return "problem" if state == "on" else "ok"
    if sensed == "connectivity":
        return "up" if state == "on" else "down"
    return ""


def _word_of_app(whole: Part) -> str:
    """What is deployed is well where its health and all else that tells how it is say so."""
    if any(isinstance(value, dict | list) and value for value in whole.fields.values()):
        return ""
    told = {
        name: text.lower()
        for name, text in _folded(whole.fields).items()
        if _TELLING_HEALTH.fullmatch(name)
    }
    is_healthy = any("health" in name and text == "healthy" for name, text in told.items())
    has_trouble = any(_TROUBLE.search(read_text(each)) for each in whole.fields.values())
    return "healthy" if is_healthy and _WELL.issuperset(told.values()) and not has_trouble else ""


def _folded(fields: object) -> dict[str, str]:
    return dict(_texts_of(as_object(fields)))


def _texts_of(fields: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if text := read_text(value):
            yield fold(name), text

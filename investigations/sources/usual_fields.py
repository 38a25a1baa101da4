"""What documents of nobody's protocol say of an alert: whether it holds, and what it weighs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from investigations.sources.fields import read_text
from investigations.sources.kinds import SUBJECT_WORDS, find_words, is_kind_of_alert
from investigations.sources.parts import Part, find_field, make_part, objects_in
from investigations.sources.reading import JSON, State
from investigations.sources.severity import normalise
from investigations.sources.states import OPEN, fold_word, names_state, state_of
from investigations.sources.telling import Leaf, fold, names_alert, walk

_STATES = tuple(
    re.compile(rf"(?:{SUBJECT_WORDS})*(?:{names})")
    for names in (
        r"(?:to)?(?:status|state)(?:friendlyname|name|text|string|change|value)?|currentmilestone",
        r"(?:action|transition)(?:friendlyname|name|text)?|trigger",
        r"(?:trigger)?type(?:friendlyname|name|text)?|event(?:name)?",
    )
)
"""Names of fields that tell a state, those first that tell nothing else."""
BEFORE = r"prev|prior(?!ity)|former|old|last|before|original|initial"
_OTHER_STATES = tuple(
    re.compile(rf"(?!(?:{BEFORE}|http|response|ssl|content)\w*)\w*(?:{names})")
    for names in (r"status|state|phase|conclusion|health", r"type|action|event|transition")
)
"""Names that end like those, whatever they are of."""
_NO_SEVERITY = frozenset({"ok", "clear", "cleared", "resolved", "recovered"})
_OWN_SEVERITY = re.compile(rf"(?:{SUBJECT_WORDS})*(?:string)?severity(?:string|name|text)?")
"""Names of severities that are the alert's own: that of a database beside it is not."""
_ANY_SEVERITY = re.compile(r"\w*severity(?:string|name|text)?|level")
_LIGHT = frozenset({"0", *map(str, range(4, 11))})
"""Most scales of numbers that have none for what is over begin with what weighs most."""
_NOW = re.compile(rf"(?!(?:{BEFORE}))\w*")
LEVELS = ("severity", "level")
WORDS_OF_OBJECT = ("name", "value", "label", "category")
"""Where the word for a state stands in an object that is called like one."""
_CODES = frozenset({"code", "statuscode", "httpcode", "text", "reason"})
_PLACES_WITH_STATES = re.compile(
    r"(?:new|current)*(?:(?:host|service|site|server)\w*"
    r"|(?:uptime|heartbeat)(?:status|state)\w*|(?:status|state)change)"
)
"""States of what an alert is on."""
_HOSTS_WITH_STATES = re.compile(
    r"(?:new|current)*(?:host|site|server|uptime|heartbeat)(?:status|state)\w*"
)
_OF_DELIVERY = re.compile(r"(?:new|current)*(?:message|notification)(?:status|state)\w*")
"""States of how it was told: `message_type` is the alert's own."""
_ENDS_OF_ALERTS = frozenset({"resolved", "resolve", "recovered", "recover", "recovery"})
_WORDS = re.compile(r"[A-Za-z]{2,}")
_TITLES = ("title", "alertname", "summary", "subject", "headline")
_LEVELS_OF_STATES = ("critical", "error", "warning")
_SEVERITIES = ("severity", "priority", "level", "urgency")
_WEIGHT = re.compile(
    r"\w*(?:severity|priority|urgency|importance|criticality)(?:string|name|text)?"
    r"|(?:alert|alarm|incident|event|importance|risk|threat)level"
)
_ANY_WEIGHT = re.compile(rf"{_WEIGHT.pattern}|level")
_FLAGS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("resolved", "recovered", "fixed", "closed", "cleared", "backtonormal"),
        ("resolved", "firing"),
    ),
    **dict.fromkeys(("firing", "open", "alerting", "triggered"), ("firing", "resolved")),
}
"""What fields that are true or false say of the state, by their names without `is`: if so, if not.
"""
_FLAGS_OF_ALERTS = frozenset({"resolved", "recovered", "backtonormal", "firing"})
"""Of these that only alerts have: a port may be open, a valve closed and a log cleared."""
_FLAG_WORDS = {"true": True, "false": False}
_ID_OF_ALERT = re.compile(
    r"(?:alert|alarm|incident|problem|issue)(?:key|id|uid|uuid|guid|number)|alias|fingerprint"
    r"|dedup(?:e|lication)?key"
)
_TEST_FLAGS = ("test", "istest", "testing", "testnotification", "istestnotification")
_WELL_DONE = frozenset({"success", "successful", "succeeded", "passed"})
_DONE = _WELL_DONE | {"done", "completed"}
_FINE = frozenset({"ok", "okay", "up", "healthy", "online", "available", "passing", "normal"})
WELL = _FINE | _DONE
_OF_WORK = frozenset({"done", "ended", "canceled", "cancelled"})
_OF_THINGS = _OF_WORK | {"close", "closed", "clear", "cleared"}
_STARTED = frozenset({"triggered", "fired", "firing", "opened", "raised"})
FAILURES = frozenset({"failed", "failure", "failing", "error", "errored", "critical"})
ILL = FAILURES | {"fail", "down", "unhealthy", "unavailable", "degraded"}
_TEST = re.compile(
    r"(?:[^\W\d_][^.!:]{0,40}[.!:] )?(?:this is |sending )?(?:an? |the |your )?"
    r"test(?:ing)? "
    r"(?:notification|message|alert|alarm|event|incident|payload|webhook|ping|post)"
    r"(?:[\W_]*| (?:sent )?from\b.{0,300})",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class _Word:
    """A word for a state. Where it may be of something beside the alert, `doubt` is a pattern for
    the names of weights: it is no end beside one that is not light, nor where anything fires."""

    word: str
    doubt: re.Pattern[str] | None = None
    is_state: bool = False
    is_of_kind: bool = False
    is_of_place: bool = False

    @property
    def is_open(self) -> bool:
        """Whether it is a state that nothing has which is over: no end beside it counts."""
        return self.is_state and fold_word(self.word) in OPEN

    @property
    def is_start(self) -> bool:
        """Whether it says in the kind of a post that an alert began: that something is `ok` beside
        it is said of the post."""
        return self.is_of_kind and fold_word(self.word) in _STARTED


def state_words(parts: Iterable[Part]) -> list[str]:
    """The words of known states, the most telling first; none where the parts tell no state.

    A status or a state says it. After that it is what was done, the kind of the post (`incident.
    resolved`), and a level that is none (`OK`). An end that may be of something beside the alert is
    none where anything fires, or weighs something.
    """
    known = list(parts)
    if any(each.fields.get(name) is True for each in known for name in _TEST_FLAGS):
        return ["test"]
    told = [each for part in known for each in _words_of(part)]
    fires = any(state_of(each.word) == "firing" for each in told)
    doubts = {each.doubt for each in told if each.doubt}
    outweighed = {each for each in doubts if fires or _weighs(known[0], each)}
    if any(each.is_of_place for each in told) and _is_called_after_trouble(known[0]):
        told = [each for each in told if not each.is_of_place or state_of(each.word) == "firing"]
    words = [
        each.word
        for each in told
        if each.doubt not in outweighed or state_of(each.word) == "firing"
    ]
    if state_of(*words) != "resolved":
        return words
    starts = [each.word for each in told if each.is_start] if is_fine(words) else []
    return [each.word for each in told if each.is_open] or starts or words


def _is_called_after_trouble(whole: Part) -> bool:
    """Whether a document has a title with no word in it for an end: that a host is up, which it
    tells as well, is no end of that."""
    title = find_field(_TITLES, whole)[:400]
    return bool(title) and all(state_of(each) != "resolved" for each in _WORDS.findall(title))


def _weighs(part: Part, names: re.Pattern[str]) -> bool:
    """Whether a part tells a weight of such a name that is not light, wherever it stands in it."""
    weights = (
        leaf.text.strip()
        for leaf in walk(dict(part.fields))
        if names.fullmatch(leaf.folded) and _is_of_now(leaf)
    )
    return any(map(_is_heavy, weights))


def has_severity(part: Part) -> bool:
    """Whether a severity that is not light stands in a part."""
    return _weighs(part, _ANY_SEVERITY)


def _is_of_now(leaf: Leaf) -> bool:
    return _is_told_now(leaf.folded) and _is_told_now(fold(leaf.parent))


def _is_heavy(weight: str) -> bool:
    """Whether it is not light; one of which nobody knows what it weighs may be heavy."""
    is_light = normalise(weight, {}) == "info" or state_of(weight) == "resolved"
    return bool(weight) and not is_light and weight not in _LIGHT


def other_state_words(leaves: Sequence[Leaf]) -> list[str]:
    """The words of known states in fields whose names end like that of a state, wherever they
    stand, those near the top first. They may be of something beside the alert."""
    found: list[tuple[int, str]] = []
    for leaf in leaves:
        if _is_told_now(fold(leaf.parent)):
            found += [(leaf.depth, word) for word in _words_of_other(leaf)]
    return [word for _, word in sorted(found, key=lambda each: each[0])]


def _words_of_other(leaf: Leaf) -> Iterator[str]:
    if kind := _kind_of_name(leaf.folded):
        yield from find_words(leaf.text, is_state=kind == "state")


@lru_cache(maxsize=4096)
def _kind_of_name(name: str) -> Literal["state", "act", ""]:
    """Whether a folded name is that of a state or of what was done, of whatever."""
    if _STATES[0].fullmatch(name) or _OTHER_STATES[0].fullmatch(name):
        return "state"
    is_act = _STATES[1].fullmatch(name) or _OTHER_STATES[1].fullmatch(name)
    return "act" if is_act else ""


@lru_cache(maxsize=4096)
def _is_told_now(name: str) -> bool:
    return _NOW.fullmatch(name) is not None


def is_done(words: Sequence[str]) -> bool:
    """Whether something was done well. That is no end of an alert: it may be the analysis that has
    found what is wrong."""
    return bool(words) and fold_word(words[0]) in _DONE


def is_fine(words: Sequence[str]) -> bool:
    """Whether something is well. That is no end while a part of it is not: it may be the answer
    that tells what fails."""
    return bool(words) and fold_word(words[0]) in _FINE


def states_of_now(leaves: Sequence[Leaf]) -> Iterator[Leaf]:
    """The fields that are called like a state of whatever, but for those of what it was before."""
    for each in leaves:
        if _kind_of_name(each.folded) == "state" and _is_told_now(fold(each.parent)):
            yield each


def words_of_members(leaves: Sequence[Leaf]) -> list[str]:
    """The words by which alerts in a document, such as the members of a group, say that they are
    open."""
    states = (each for each in leaves if each.is_of_alert and is_plain_state(each.folded))
    return [each.text for each in states if fold_word(each.text) in OPEN]


def is_state_field(name: str) -> bool:
    """Whether a folded name is that of a state."""
    return any(each.fullmatch(name) for each in (*_STATES, _OTHER_STATES[0]))


def is_own_state(name: str) -> bool:
    """Whether a folded name is that of a state of the alert, or of the kind of the post."""
    return any(each.fullmatch(name) for each in _STATES)


def is_kind_field(name: str) -> bool:
    """Whether a folded name is that of the kind of a post."""
    return _STATES[2].fullmatch(name) is not None


def is_flag(name: str, text: str) -> bool:
    """Whether a field is one that is true or false and tells a state."""
    return name.removeprefix("is") in _FLAGS and text.strip().lower() in _FLAG_WORDS


def is_plain_state(name: str) -> bool:
    """Whether a folded name is that of a state and of nothing else."""
    return _STATES[0].fullmatch(name) is not None


def says_test(title: str) -> bool:
    """Whether a title is that of a test notification, and says nothing else."""
    return _TEST.fullmatch(title[:400].strip(" *_`\"'[]")) is not None


def _words_of(part: Part) -> Iterator[_Word]:
    for each in _all_words_of(part):
        if not part.is_beside or state_of(each.word) == "firing":
            yield each


def _all_words_of(part: Part) -> Iterator[_Word]:
    texts = [(name, text) for name, each in part.fields.items() if (text := read_text(each))]
    is_alert = _is_alert(part) or any(names_alert(name) for name, _ in objects_in(part))
    for name, each in part.fields.items():
        if isinstance(each, dict) and is_plain_state(name):
            texts += [(name, text) for text in _words_of_object(each)]
    for pattern in _STATES:
        for name, text in texts:
            if pattern.fullmatch(name):
                is_state = pattern is _STATES[0]
                yield from _judge_words(name, text, is_state=is_state, is_alert=is_alert)
        if pattern is _STATES[0]:
            yield from _find_flags(part)
    for name, text in texts:
        is_level = name in LEVELS and state_of(text) == "resolved"
        if is_level or (_OWN_SEVERITY.fullmatch(name) and text.lower() in _NO_SEVERITY):
            yield _Word(text, _ANY_SEVERITY)


def _is_alert(part: Part) -> bool:
    """Whether it is called so, or has the number of one."""
    return names_alert(part.name) or any(map(_ID_OF_ALERT.fullmatch, part.fields))


def _judge_words(name: str, text: str, *, is_state: bool, is_alert: bool) -> Iterator[_Word]:
    """A place is up while something on it fails, a login succeeds that should not, and of a kind
    only some words and subjects are those of an alert. What was done may be done to a thing."""
    of_things = _OF_WORK if is_state else _OF_THINGS
    is_of_alert = is_state or names_state(text) or is_kind_of_alert(text)
    is_of_alert = is_of_alert and not _PLACES_WITH_STATES.fullmatch(name)
    is_of_delivery = _OF_DELIVERY.fullmatch(name) is not None
    for word in find_words(text, is_state=is_state):
        if is_of_delivery and fold_word(word) not in _ENDS_OF_ALERTS:
            continue
        is_of_kind = state_of(word) == "test" and not names_state(text)
        is_sure = (
            is_of_alert and not (is_of_kind or is_of_delivery) and fold_word(word) not in _WELL_DONE
        )
        if is_sure and not is_alert and names_state(text) and fold_word(text) in of_things:
            yield _Word(word, _ANY_SEVERITY, is_state)
        else:
            is_named = is_of_alert and not is_state and not names_state(text)
            doubt = None if is_sure else _ANY_WEIGHT
            is_of_host = is_state and _HOSTS_WITH_STATES.fullmatch(name) is not None
            yield _Word(word, doubt, is_state, is_named, is_of_host)


def _words_of_object(told: Mapping[str, JSON]) -> list[str]:
    """Of an object that is called like a state or a level, as in `{"status": {"name": "Closed"}}`,
    the words for one; an end only where no text of it says anything else. One with a code is an
    answer's: `{"code": 200, "text": "OK"}`."""
    inner = make_part(told)
    if not _CODES.isdisjoint(inner.fields):
        return []
    names = ("to",) if "from" in inner.fields else ("state", "status", *WORDS_OF_OBJECT)
    texts = [text for name in names if (text := read_text(inner.fields.get(name)))]
    words = [word for text in texts for word in find_words(text, is_state=True)]
    is_end = state_of(*words) != "firing"
    fires = [word for word in words if state_of(word) == "firing"]
    return fires if fires or (is_end and len(words) < len(texts)) else words


def _find_flags(part: Part) -> Iterator[_Word]:
    is_alert = _is_alert(part)
    for name, value in part.fields.items():
        plain = name.removeprefix("is")
        flag = _FLAG_WORDS.get(value.strip().lower()) if isinstance(value, str) else value
        if not isinstance(flag, bool) or plain not in _FLAGS:
            continue
        word = _FLAGS[plain][0 if flag else 1]
        # An alarm that has a number is raised and cleared, whatever it weighed.
        is_sure = plain in _FLAGS_OF_ALERTS or (plain == "cleared" and "alarmid" in part.fields)
        if is_sure or is_alert or word == "firing":
            yield _Word(word, None if is_sure else _ANY_WEIGHT)


def says_state(part: Part) -> bool:
    """Whether a part has a word for a state."""
    return any(_words_of(part))


def state_of_parts(parts: Iterable[Part]) -> State:
    return state_of(*state_words(parts))


def find_severity(part: Part) -> str:
    """The word of the most telling field, else of one whose name ends like it."""
    if word := find_field(_SEVERITIES, part):
        return word
    others = [(name, read_text(each)) for name, each in part.fields.items()]
    named = [text for name, text in others if text and _WEIGHT.fullmatch(name)]
    known = (text for text in named if normalise(text, {}) != "unknown")
    return next(known, next((text for name, text in others if name.endswith("severity")), ""))


def severity_of_leaves(leaves: Iterable[Leaf]) -> str:
    """That of any field whose name ends so, such as `detections.severity`, for want of a better."""
    told = (each.text for each in leaves if each.folded.endswith("severity") and _is_of_now(each))
    return next((each for each in told if normalise(each[:80], {}) != "unknown"), "")


def level_of_state(words: Iterable[str]) -> str:
    """The first word for a state that is a level, as in a status of `CRITICAL`."""
    return next((word for word in words if word.strip().lower() in _LEVELS_OF_STATES), "")

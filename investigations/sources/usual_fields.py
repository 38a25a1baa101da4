"""What documents of nobody's protocol say of an alert: whether it holds, and what it weighs."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from investigations.sources.fields import as_object, read_text
from investigations.sources.reading import JSON, State
from investigations.sources.severity import normalise
from investigations.sources.states import WORDS, names_state, state_of
from investigations.sources.telling import NAMES, Leaf, fold, names_alert

MOST_FIELDS = 500
"""Of one object that are looked at."""


@dataclass(frozen=True)
class Part:
    """A document, or an object in it that may be what it is about, with its name."""

    fields: Mapping[str, JSON]
    """By folded names; of two that fold alike, the first."""
    name: str = ""
    written: Mapping[str, str] = field(default_factory=dict)
    """The folded names as they are written."""

    def path_of(self, folded: str) -> str:
        name = self.written.get(folded, folded)
        return f"{self.name}.{name}" if self.name else name


_WRAPPERS = (
    "alert", "alarm", "incident", "issue", "problem", "finding", "check", "monitor", "data",
    "payload", "detail", "record", "result", "event", "notification",
)  # fmt: skip
"""Objects that may be what a document is about, the likeliest first."""
_WRAPPER = re.compile(rf"(?:webhook)?({'|'.join(_WRAPPERS)})(?:data|details?|info|object)")
"""The same where more is told by the name, as in `webhook_event_data`."""
_AFTER_ALERT = re.compile(r"(?:alert|alarm|incident|problem|level|severity)\w*")
_RUNS = frozenset({"build", "run", "job", "workflow", "pipeline"})
_ENVELOPES = ("data", "payload", "event", "detail")
_SUBJECTS = frozenset({
    "alert", "alarm", "incident", "monitor", "event", "check", "problem", "issue", "notification",
    "message", "uptime", "heartbeat", "host", "service", "site", "server",
})  # fmt: skip
SUBJECT_WORDS = "|".join(("new", "current", *sorted(_SUBJECTS)))
"""What a name may begin with and still be of the alert; alternatives of a pattern."""
_STATES = tuple(
    re.compile(rf"(?:{SUBJECT_WORDS})*(?:{names})")
    for names in (
        r"(?:status|state)(?:friendlyname|name|text|string)?|currentmilestone",
        r"(?:action|transition)(?:friendlyname|name|text)?|trigger",
        r"(?:trigger)?type(?:friendlyname|name|text)?|event(?:name)?",
    )
)
"""Names of fields that tell a state, those first that tell nothing else."""
_BEFORE = r"previous|prior|former|old|last|before"
_OTHER_STATES = tuple(
    re.compile(rf"(?!(?:{_BEFORE}|http|response|ssl|content)\w*)\w*(?:{names})")
    for names in (r"status|state|phase|conclusion|health", r"type|action|event|transition")
)
"""Names that end like those, whatever they are of."""
_NO_SEVERITY = frozenset({"ok", "clear", "cleared", "resolved", "recovered"})
_SEVERITY_NOW = re.compile(rf"(?!(?:{_BEFORE}))\w*severity")
_NOW = re.compile(rf"(?!(?:{_BEFORE}))\w*")
LEVELS = ("severity", "level")
WORDS_OF_OBJECT = ("name", "value", "label", "category")
"""Where the word for a state stands in an object that is called like one."""
_CODES = frozenset({"code", "statuscode", "httpcode", "text", "reason"})
_LEVELS_OF_STATES = ("critical", "error", "warning")
_SEVERITIES = ("severity", "priority", "level", "urgency")
_WEIGHT = re.compile(
    r"\w*(?:severity|priority|urgency|importance|criticality)(?:string|name|text)?"
    r"|(?:alert|alarm|incident|event|importance|risk|threat)level"
)
_FLAGS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(
        ("resolved", "recovered", "fixed", "closed", "cleared", "backtonormal"),
        ("resolved", "firing"),
    ),
    **dict.fromkeys(("firing", "open", "alerting", "triggered"), ("firing", "resolved")),
}
"""What fields that are true or false say of the state, by their names without `is`: if so, if not.
"""
_FLAG_WORDS = {"true": True, "false": False}
_TEST_FLAGS = ("test", "istest", "testing", "testnotification", "istestnotification")
_DONE = frozenset({"success", "successful", "succeeded", "passed", "done", "completed"})
_FAILURES = frozenset({"failed", "failure", "failing", "error", "errored", "critical"})
_ENDS = frozenset({"resolve", "close", "recover", "recovery", "clear"})
_BEGINS = frozenset({"open", "trigger", "fire", "raise", "new"})
"""Words that say within a kind, as in `POLICY_CLOSE_CRITICAL`, what was done."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_KIND_OF_TEST = re.compile(
    r"test[_-]?(?:notification|message|alert|event|webhook|post|payload)", re.IGNORECASE
)
"""The kind of a post that is a test. In `load_test_alert` the test is what is watched."""
_OF_STATUS = {
    "operational": "up",
    **dict.fromkeys(("partial_outage", "major_outage"), "down"),
    "degraded_performance": "degraded",
}
"""What pages of status call a state; the first one is in a type the kind of an issue."""
_TEST = re.compile(
    r"(?:[^\W\d_][^.!:]{0,40}[.!:] )?(?:this is |sending )?(?:an? |the |your )?"
    r"test(?:ing)? "
    r"(?:notification|message|alert|alarm|event|incident|payload|webhook|ping|post)"
    r"(?:[\W_]*| (?:sent )?from\b.{0,300})",
    re.IGNORECASE,
)


def parts_of(body: Mapping[str, JSON]) -> list[Part]:
    """A document, and the objects in it that may be what it is about."""
    whole = _make_part(body)
    inner = _inner_of(whole)
    others: list[Part] = []
    for envelope in _ENVELOPES:
        if envelope in inner:
            others += _objects_of(inner[envelope])
            inner = {**_inner_of(inner[envelope]), **inner}
    known = [inner[name] for name in _WRAPPERS if name in inner]
    current = (as_object(each.fields.get("current")) for each in known)
    known += [_make_part(each, "current") for each in current if each]
    named = [*others, *_subjects_of(whole)]
    # What has a title of its own is not about an order or a backup that stands beside it.
    if find_field((*NAMES, "alert"), whole, *known):
        named = [each for each in named if names_alert(each.name)]
    return [whole, *known, *named]


def _subjects_of(whole: Part) -> Iterator[Part]:
    """Objects of other names that have an id and say how they are: what a document is about. Where
    more is told, that is one which is called like an alert, or a run that the kind of the post
    names; any other may be a thing beside the alert."""
    tells_more = _tells_more(whole)
    for name, each in whole.fields.items():
        if name in _WRAPPERS or not isinstance(each, dict) or "id" not in each:
            continue
        if tells_more and not names_alert(name) and not _is_kind_of_post(name, whole):
            continue
        part = _make_part(each, name)
        levels = (part.fields.get(level) for level in LEVELS)
        if any(map(_texts_of, levels)) or any(_words_of(part)):
            yield part


def _tells_more(whole: Part) -> bool:
    """Whether a document has several objects, a level, a field that is called after an alert, or a
    text of several words, whatever it is called."""
    objects = [each for each in whole.fields.values() if each and isinstance(each, dict | list)]
    is_named = any(map(_AFTER_ALERT.fullmatch, whole.fields))
    texts = (each for each in whole.fields.values() if isinstance(each, str))
    return len(objects) > 1 or is_named or any(" " in each.strip() for each in texts)


def _is_kind_of_post(name: str, whole: Part) -> bool:
    kinds = (fold(read_text(whole.fields.get(each))) for each in ("event", "eventtype", "type"))
    return name in _RUNS and any(each.startswith(name) for each in kinds)


def _objects_of(envelope: Part) -> list[Part]:
    """Where there is but one, it is what the envelope holds, whatever its name; of several it is
    one that has an id and a title of its own."""
    found = [(name, each) for name, each in envelope.fields.items() if isinstance(each, dict)]
    if len(found) > 1:
        found = [(name, each) for name, each in found if {"id", "title"} <= each.keys()][:1]
    return [_make_part(each, name) for name, each in found if name not in _WRAPPERS]


def _make_part(body: Mapping[str, JSON], name: str = "") -> Part:
    folded: dict[str, JSON] = {}
    written: dict[str, str] = {}
    for own, value in islice(body.items(), MOST_FIELDS):
        if (short := fold(own)) not in folded:
            folded[short], written[short] = value, own
    return Part(folded, name, written)


def _inner_of(part: Part) -> dict[str, Part]:
    found = {name: _make_part(each, name) for name, each in _objects_named(part)}
    return {name: found[name] for name in _WRAPPERS if name in found}


def _objects_named(part: Part) -> Iterator[tuple[str, dict[str, JSON]]]:
    """By what each may be, those last that are called so: `event` counts before `event_data`."""
    for name, value in part.fields.items():
        wrapper = _WRAPPER.fullmatch(name)
        if wrapper and name not in _WRAPPERS and isinstance(value, dict) and value:
            yield wrapper[1], value
    for name in _WRAPPERS:
        if value := as_object(part.fields.get(name)):
            yield name, value


def state_words(parts: Iterable[Part]) -> list[str]:
    """The words of known states, the most telling first; none where the parts tell no state.

    A status or a state says it. After that it is what was done, the kind of the post (`incident.
    resolved`), and a level that is none (`OK`).
    """
    known = list(parts)
    if any(each.fields.get(name) is True for each in known for name in _TEST_FLAGS):
        return ["test"]
    return [word for part in known for word in _words_of(part)]


def other_state_words(leaves: Sequence[Leaf]) -> list[str]:
    """The words of known states in fields whose names end like that of a state, wherever they
    stand, those near the top first. They may be of something beside the alert."""
    found: list[tuple[int, str]] = []
    for leaf in leaves:
        if _NOW.fullmatch(fold(leaf.parent)):
            found += [(leaf.depth, word) for word in _words_of_other(leaf)]
    return [word for _, word in sorted(found, key=lambda each: each[0])]


def _words_of_other(leaf: Leaf) -> Iterator[str]:
    for pattern in (_STATES[0], _OTHER_STATES[0]):
        if pattern.fullmatch(leaf.folded):
            yield from find_words(leaf.text, is_state=True)
            return
    if _STATES[1].fullmatch(leaf.folded) or _OTHER_STATES[1].fullmatch(leaf.folded):
        yield from find_words(leaf.text, is_state=False)


def is_done(words: Sequence[str]) -> bool:
    """Whether something was done well. That is no end of an alert: it may be the analysis that has
    found what is wrong."""
    return bool(words) and words[0].strip().lower() in _DONE


def failure_words(leaves: Sequence[Leaf]) -> list[str]:
    """The words for a failure in fields that are called like a state, wherever they stand."""
    states = (
        each
        for each in leaves
        if _NOW.fullmatch(fold(each.parent))
        and (_STATES[0].fullmatch(each.folded) or _OTHER_STATES[0].fullmatch(each.folded))
    )
    return [each.text for each in states if each.text.strip().lower() in _FAILURES]


def is_state_field(name: str) -> bool:
    """Whether a folded name is that of a state."""
    return any(each.fullmatch(name) for each in (*_STATES, _OTHER_STATES[0]))


def is_own_state(name: str) -> bool:
    """Whether a folded name is that of a state of the alert, or of the kind of the post."""
    return any(each.fullmatch(name) for each in _STATES)


def is_word_of_status(text: str) -> bool:
    """Whether pages of status call a state so."""
    return text.strip().lower() in _OF_STATUS


def is_flag(name: str, text: str) -> bool:
    """Whether a field is one that is true or false and tells a state."""
    return name.removeprefix("is") in _FLAGS and text.strip().lower() in _FLAG_WORDS


def is_plain_state(name: str) -> bool:
    """Whether a folded name is that of a state and of nothing else."""
    return _STATES[0].fullmatch(name) is not None


def says_test(title: str) -> bool:
    """Whether a title is that of a test notification, and says nothing else."""
    return _TEST.fullmatch(title[:400].strip(" *_`\"'[]")) is not None


def _words_of(part: Part) -> Iterator[str]:
    texts = [(name, text) for name, each in part.fields.items() if (text := read_text(each))]
    texts += [
        (name, text)
        for name, each in part.fields.items()
        if isinstance(each, dict) and is_plain_state(name)
        for text in _texts_of(each)
    ]
    for pattern in _STATES:
        for name, text in texts:
            if pattern.fullmatch(name):
                yield from find_words(text, is_state=pattern is _STATES[0])
        if pattern is _STATES[0]:
            yield from _find_flags(part)
    for name, text in texts:
        is_level = name in LEVELS and state_of(text) == "resolved"
        if is_level or (_SEVERITY_NOW.fullmatch(name) and text.lower() in _NO_SEVERITY):
            yield text


def _texts_of(told: JSON) -> list[str]:
    """A text; of an object that is called like a state or a level, as in `{"status": {"name":
    "Closed"}}`, where it stands. One with a code is an answer's: `{"code": 200, "text": "OK"}`."""
    if not isinstance(told, dict):
        return [text] if (text := read_text(told)) else []
    inner = _make_part(told)
    if not _CODES.isdisjoint(inner.fields):
        return []
    texts = (read_text(inner.fields.get(name)) for name in ("state", "status", *WORDS_OF_OBJECT))
    return [text for text in texts if text]


def _find_flags(part: Part) -> Iterator[str]:
    for name, value in part.fields.items():
        flag = _FLAG_WORDS.get(value.strip().lower()) if isinstance(value, str) else value
        if isinstance(flag, bool) and (words := _FLAGS.get(name.removeprefix("is"))):
            yield words[0] if flag else words[1]


def find_words(text: str, *, is_state: bool) -> Iterator[str]:
    """Of a type, a ping is the kind of a check. In `incident.resolved` it is the last word that
    says what has happened, and in `check.up` and `monitor_down` the one at the end."""
    if names_state(text):
        if is_state or text.strip().lower() != "ping":
            yield text
        return
    if is_state and (word := _OF_STATUS.get(text.strip().lower())):
        yield word
    if is_state or " " in text.strip():
        return
    kind = text[:200]
    if _KIND_OF_TEST.fullmatch(re.split(r"[.:/]", kind)[-1]):
        yield "test"
    parts = [each.lower() for each in _WORD.findall(kind)]
    yield from (each for each in reversed(parts) if each.endswith("ed") and each in WORDS)
    yield from (each for each in parts if each in _ENDS)
    if len(parts) > 1 and parts[-1] == "end":
        yield "ended"
    last = re.split(r"[.:/]", kind.lower())
    if len(last) > 1 and last[-1] in WORDS:
        yield last[-1]
    elif parts and parts[-1] in WORDS and not _SUBJECTS.isdisjoint(parts[:-1]):
        yield parts[-1]
    yield from (each for each in parts if each in _BEGINS)


def state_of_parts(parts: Iterable[Part]) -> State:
    return state_of(*state_words(parts))


def find_field(names: Iterable[str], *parts: Part) -> str:
    """The first of these fields that says anything, however its name is written."""
    for part in parts:
        for name in names:
            if text := read_text(part.fields.get(name)):
                return text
    return ""


def find_severity(part: Part) -> str:
    """The word of the most telling field, else of one whose name ends like it."""
    if word := find_field(_SEVERITIES, part):
        return word
    others = [(name, read_text(each)) for name, each in part.fields.items()]
    named = [text for name, text in others if text and _WEIGHT.fullmatch(name)]
    known = (text for text in named if normalise(text, {}) != "unknown")
    return next(known, next((text for name, text in others if name.endswith("severity")), ""))


def level_of_state(words: Iterable[str]) -> str:
    """The first word for a state that is a level, as in a status of `CRITICAL`."""
    return next((word for word in words if word.strip().lower() in _LEVELS_OF_STATES), "")

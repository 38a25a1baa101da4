"""What documents of nobody's protocol say in fields with usual names: whether the alert holds, and
what names it from one post to the next."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from investigations.sources.fields import as_object, read_moment, read_text
from investigations.sources.reading import JSON, State, key_of_document
from investigations.sources.severity import normalise
from investigations.sources.states import WORDS, names_state, state_of
from investigations.sources.telling import fold, is_name_of_alert

MOST_FIELDS = 500
"""Of one object that are looked at."""


@dataclass(frozen=True)
class Part:
    """A document, or an object in it that may be what it is about, with its name."""

    fields: Mapping[str, JSON]
    """By folded names; of two that fold alike, the first."""
    name: str = ""


IDENTITIES = (
    "dedupkey", "dedupekey", "deduplicationkey", "fingerprint", "alertuid", "alertkey",
    "incidentkey", "incidentid", "incidentidentifier", "entityid", "alertid",
)  # fmt: skip
"""Fields that name the alert and not the post."""
_WRAPPERS = (
    "alert", "alarm", "incident", "issue", "problem", "finding", "check", "monitor", "data",
    "payload", "detail", "record", "result", "event", "notification",
)  # fmt: skip
"""Objects that may be what a document is about, the likeliest first."""
_ENVELOPES = ("data", "payload", "event", "detail")
_SUBJECTS = frozenset({
    "alert", "alarm", "incident", "monitor", "event", "check", "problem", "issue", "notification",
    "message", "uptime", "heartbeat", "host", "service", "site", "server",
})  # fmt: skip
_SUBJECT = rf"(?:new|current|{'|'.join(sorted(_SUBJECTS))})*"
_STATES = tuple(
    re.compile(_SUBJECT + names)
    for names in (
        r"(?:status|state)(?:friendlyname|name|text)?",
        r"(?:action|transition)(?:friendlyname|name|text)?|trigger",
        r"type(?:friendlyname|name|text)?|event",
    )
)
"""Names of fields that tell a state, those first that tell nothing else."""
_LEVELS = ("severity", "level")
_LEVELS_OF_STATES = ("critical", "error", "warning")
_SEVERITIES = ("severity", "priority", "level", "urgency")
_FLAGS: Mapping[str, tuple[str, str]] = {
    **dict.fromkeys(("resolved", "recovered", "fixed", "closed"), ("resolved", "firing")),
    **dict.fromkeys(("firing", "open", "alerting", "triggered"), ("firing", "resolved")),
    "test": ("test", ""),
}
"""What fields that are true or false say of the state, by their names without `is`: if so, if not.
"""
_NAMING = frozenset({"name", "check", "monitor", "rule", "alarm", "alertname"})
_PLACES = frozenset({
    "host", "hostname", "instance", "resource", "node", "device", "target", "service", "cluster",
    "namespace", "environment", "region", "group", "scope", "check", "monitor", "rule", "name",
})  # fmt: skip
_MEASURED = re.compile(
    r"\w*(?:value|duration|time|timestamp|date|count|code|seconds|percent|latency|level|left)"
)
_CHANGING = re.compile(
    r"\w*(?:title|subject|message|summary|description|details?|reason|output|body|cause"
    r"|errors?)|text"
    r"|(?:event|message|notification|request|delivery|trace|execution|run|log|u)?(?:id|uuid)"
)
"""Names of what may be another thing in the next post about the same alert."""
_KINDS = ("type", "kind", "event", "check")
_LONGEST_LABEL = 100


def parts_of(body: Mapping[str, JSON]) -> list[Part]:
    """A document, and the objects in it that may be what it is about."""
    whole = Part(_fold_names(body))
    inner = _inner_of(whole)
    others: list[Part] = []
    for envelope in _ENVELOPES:
        if envelope in inner:
            others += _only_object_of(inner[envelope])
            inner = {**_inner_of(inner[envelope]), **inner}
    return [whole, *(inner[name] for name in _WRAPPERS if name in inner), *others]


def _only_object_of(envelope: Part) -> list[Part]:
    """Where there is but one, it is what the envelope holds, whatever its name."""
    found = [(name, each) for name, each in envelope.fields.items() if isinstance(each, dict)]
    if len(found) != 1 or found[0][0] in _WRAPPERS:
        return []
    name, only = found[0]
    return [Part(_fold_names(only), name)]


def _fold_names(body: Mapping[str, JSON]) -> dict[str, JSON]:
    folded: dict[str, JSON] = {}
    for name, value in islice(body.items(), MOST_FIELDS):
        folded.setdefault(fold(name), value)
    return folded


def _inner_of(part: Part) -> dict[str, Part]:
    found = ((name, as_object(part.fields.get(name))) for name in _WRAPPERS)
    return {name: Part(_fold_names(each), name) for name, each in found if each}


def state_words(parts: Iterable[Part]) -> list[str]:
    """The words of known states, the most telling first; none where the parts tell no state.

    A status or a state says it. After that it is what was done, the kind of the post (`incident.
    resolved`), and a level that is none (`OK`).
    """
    return [word for part in parts for word in _words_of(part)]


def _words_of(part: Part) -> Iterator[str]:
    texts = [(name, text) for name, each in part.fields.items() if (text := read_text(each))]
    for pattern in _STATES:
        for name, text in texts:
            if pattern.fullmatch(name):
                yield from _find_words(text, is_state=pattern is _STATES[0])
        if pattern is _STATES[0]:
            yield from _find_flags(part)
    levels = (text for name, text in texts if name in _LEVELS)
    yield from (text for text in levels if state_of(text) == "resolved")


def _find_flags(part: Part) -> Iterator[str]:
    for name, value in part.fields.items():
        if isinstance(value, bool):
            words = _FLAGS.get(name.removeprefix("is"), ("", ""))
            yield from filter(None, [words[0] if value else words[1]])


def _find_words(text: str, *, is_state: bool) -> Iterator[str]:
    """Of a type, a ping is the kind of a check. In `incident.resolved` it is the last word that
    says what has happened, and in `check.up` and `monitor_down` the one at the end."""
    if names_state(text):
        if is_state or text.strip().lower() != "ping":
            yield text
        return
    if is_state:
        return
    kind = text[:200].lower()
    parts = re.split(r"[\W_]+", kind)
    yield from (each for each in reversed(parts) if each.endswith("ed") and each in WORDS)
    last = re.split(r"[.:/]", kind)
    if len(last) > 1 and last[-1] in WORDS:
        yield last[-1]
    elif parts[-1] in WORDS and not _SUBJECTS.isdisjoint(parts[:-1]):
        yield parts[-1]


def state_of_parts(parts: Iterable[Part]) -> State:
    return state_of(*state_words(parts))


def key_of_parts(body: Mapping[str, JSON], parts: Sequence[Part]) -> str:
    """What stays from post to post: what names the alert, the id of what has a state with where it
    is, or the fields that are names and places. Else the document without its state."""
    for part in parts:
        if identity := find_field(IDENTITIES, part):
            return identity
    tells_state = bool(state_words(parts))
    # What has a level in place of a state (`CRITICAL`, then `OK`) tells none while it fires.
    if (tells_state or find_field(_LEVELS, *parts)) and (key := _key_of_id(parts)):
        return key
    if tells_state and (key := _key_of_names(body)):
        return key
    return key_of_document(_without_state(body))


def find_field(names: Iterable[str], *parts: Part) -> str:
    """The first of these fields that says anything, however its name is written."""
    for part in parts:
        for name in names:
            if text := read_text(part.fields.get(name)):
                return text
    return ""


def find_severity(part: Part) -> str:
    """The word of the most telling field, else of one whose name ends with `severity`."""
    if word := find_field(_SEVERITIES, part):
        return word
    others = (read_text(each) for name, each in part.fields.items() if name.endswith("severity"))
    return next((each for each in others if each), "")


def level_of_state(words: Iterable[str]) -> str:
    """The first word for a state that is a level, as in a status of `CRITICAL`."""
    return next((word for word in words if word.strip().lower() in _LEVELS_OF_STATES), "")


def _key_of_id(parts: Sequence[Part]) -> str:
    """Around what has an id, an envelope has one of its own, which is that of the post. Of one
    monitor more than one thing is checked."""
    part = next((each for each in (*parts[1:], parts[0]) if read_text(each.fields.get("id"))), None)
    if part is None:
        return ""
    texts = {name: read_text(value) for name, value in part.fields.items()}
    told = [text for name, text in sorted(texts.items()) if name in _PLACES and text]
    if part.name in ("monitor", "check"):
        told += [_without_words(find_field((name,), each)) for each in parts for name in _KINDS]
    return " ".join((texts["id"], *filter(None, told)))


def _key_of_names(body: Mapping[str, JSON]) -> str:
    """Of a document that names what it watches. What it holds in objects and lists tells apart as
    well: two alerts must never become one, while one may be taken for two."""
    if len(body) > MOST_FIELDS:
        return ""
    kept: dict[str, JSON] = {}
    for name, value in body.items():
        if isinstance(value, dict | list):
            if not _CHANGING.fullmatch(fold(name)):
                kept[name] = value
        elif text := _what_stays(fold(name), read_text(value)):
            kept[fold(name)] = text
    is_named = any(name in _NAMING or is_name_of_alert(name) for name in kept)
    return key_of_document(kept) if is_named else ""


def _what_stays(name: str, text: str) -> str:
    """Of a field, what is the same when the alert is over; empty where nothing is."""
    if len(text) > _LONGEST_LABEL or _CHANGING.fullmatch(name):
        return ""
    if _MEASURED.fullmatch(name) or read_moment(text) is not None:
        return ""
    # The number of a state, beside the field that says it in words.
    is_state = any(each.fullmatch(name) for each in _STATES) and text.isdigit()
    is_judgement = is_state or names_state(text) or normalise(text, {}) != "unknown"
    return "" if is_judgement else _without_words(text)


def _without_words(text: str) -> str:
    """`check.up` and `check.down` are of one kind."""
    if " " in text or not any(_find_words(text, is_state=False)):
        return text
    return ".".join(each for each in re.split(r"[\W_]+", text.lower()) if each not in WORDS)


def _without_state(body: Mapping[str, JSON]) -> dict[str, JSON]:
    """A document that says `firing` and the same one that says `resolved` are about one alert."""
    return {
        name: value
        for name, value in body.items()
        if not names_state(read_text(value)) or not _STATES[0].fullmatch(fold(name))
    }

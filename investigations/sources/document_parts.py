"""What a document of nobody's protocol is about: itself, or an object in it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from investigations.sources.fields import as_object, read_text
from investigations.sources.parts import Part, find_field, make_part, objects_in
from investigations.sources.reading import JSON
from investigations.sources.states import fold_word
from investigations.sources.telling import NAMES, fold, names_alert
from investigations.sources.usual_fields import ILL, LEVELS, find_severity, says_state

_WRAPPERS = (
    "alert", "alarm", "incident", "issue", "problem", "finding", "check", "monitor", "data",
    "payload", "detail", "record", "result", "event", "notification",
)  # fmt: skip
"""Objects that may be what a document is about, the likeliest first."""
_EVENT_DATA = re.compile(r"(?:webhook)?(event|notification)data")
"""What an event brings, as in `webhook_event_data`."""
_AFTER_ALERT = re.compile(r"(?:alert|alarm|incident|problem|level|severity)\w*")
_RUNS = frozenset({"build", "run", "job", "workflow", "pipeline"})
_OUTCOMES = ("status", "state", "health", "result", "outcome", "phase", "conclusion")
_ENVELOPES = ("data", "payload", "event", "detail")


def parts_of(body: Mapping[str, JSON]) -> list[Part]:
    """A document, and the objects in it that may be what it is about."""
    whole = make_part(body)
    inner = _inner_of(whole)
    others: list[Part] = []
    for envelope in _ENVELOPES:
        if envelope in inner:
            others += _objects_of(inner[envelope])
            inner = {**_inner_of(inner[envelope]), **inner}
    is_told = bool(find_field((*NAMES, "alert"), whole) or find_severity(whole))
    is_told = is_told or any(names_alert(name) for name, _ in objects_in(whole))
    if is_told:
        inner = {name: _beside(each) for name, each in inner.items()}
    known = [inner[name] for name in _WRAPPERS if name in inner]
    current = ((as_object(each.fields.get("current")), each.is_beside) for each in known)
    known += [replace(make_part(each, "current"), is_beside=it) for each, it in current if each]
    # What is said of an alert may hold the alert itself.
    within = (as_object(each.fields.get("alert")) for each in known if each.name == "alert")
    known += [make_part(each, "alert") for each in within if each]
    named = [*others, *_subjects_of(whole)]
    # What has a title of its own is not about an order or a backup that stands beside it.
    if is_told or find_field((*NAMES, "alert"), *known):
        named = [each for each in named if names_alert(each.name)]
    return [whole, *known, *named]


def _subjects_of(whole: Part) -> Iterator[Part]:
    """Objects of other names that have an id and say how they are: what a document is about. Where
    more is told, that is one which is called like an alert, or a run that the kind of the post
    names; any other may be a thing beside the alert."""
    tells_more, fails = _tells_more(whole), _fails(whole)
    for name, each in whole.fields.items():
        if name in _WRAPPERS or not isinstance(each, dict) or "id" not in each:
            continue
        if tells_more and not names_alert(name) and not _is_kind_of_post(name, whole):
            continue
        part = make_part(each, name)
        if any(map(part.fields.get, LEVELS)) or says_state(part):
            yield replace(part, is_beside=fails and not names_alert(name))


def _fails(whole: Part) -> bool:
    """Whether a document says itself that it failed: an end in an object in it is beside that."""
    told = (read_text(each) for name, each in whole.fields.items() if name.endswith(_OUTCOMES))
    return any(fold_word(each) in ILL for each in told)


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
    return [make_part(each, name) for name, each in found if name not in _WRAPPERS]


def _beside(part: Part) -> Part:
    return part if names_alert(part.name) else replace(part, is_beside=True)


def _inner_of(part: Part) -> dict[str, Part]:
    found = {name: make_part(each, name) for name, each in _objects_named(part)}
    return {name: found[name] for name in _WRAPPERS if name in found}


def _objects_named(part: Part) -> Iterator[tuple[str, dict[str, JSON]]]:
    """By what each may be, those last that are called so: `event` counts before `event_data`."""
    for name, value in objects_in(part):
        if found := _EVENT_DATA.fullmatch(name):
            yield found[1], value
    for name in _WRAPPERS:
        if value := as_object(part.fields.get(name)):
            yield name, value

"""What documents of nobody's protocol say in fields with usual names: whether the alert holds, and
what names it from one post to the next."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from investigations.sources.fields import as_object, read_moment, read_text
from investigations.sources.reading import JSON, State, key_of_document
from investigations.sources.severity import normalise
from investigations.sources.states import WORDS, names_state, state_of
from investigations.sources.telling import fold, is_name_of_alert

Part = Mapping[str, JSON]

IDENTITIES = (
    "dedupkey", "dedupekey", "deduplicationkey", "fingerprint", "alertuid", "alertkey",
    "incidentkey", "incidentid", "alertid",
)  # fmt: skip
"""Fields that name the alert and not the post."""
_WRAPPERS = frozenset({
    "alert", "alarm", "incident", "event", "data", "payload", "detail", "finding", "issue",
    "problem", "check", "monitor", "record", "result", "notification",
})  # fmt: skip
_SUBJECT = r"(?:new|current|alert|alarm|incident|monitor|event|check|problem|issue|notification)*"
_STATES = tuple(
    re.compile(_SUBJECT + names)
    for names in (
        r"(?:status|state)(?:friendlyname|name|text)?",
        r"(?:action|transition)(?:friendlyname|name|text)?",
        r"type(?:friendlyname|name|text)?|event",
    )
)
"""Names of fields that tell a state, those first that tell nothing else."""
_LEVELS = ("severity", "level")
_NAMING = frozenset({"name", "check", "monitor", "rule", "alarm", "alertname"})
_PLACES = frozenset({
    "host", "hostname", "instance", "resource", "node", "device", "target", "service", "cluster",
    "namespace", "environment", "region", "group", "scope", "check", "monitor", "rule", "name",
})  # fmt: skip
_OWN_ID = re.compile(
    r"(?:check|monitor|rule|policy|condition|probe|site|host|service|device)(?:id|uuid)"
)
_CHANGING = re.compile(
    r"\w*(?:message|summary|description|details?|text|reason|output|body|cause|value|duration"
    r"|time|timestamp|date|count|code|id|at)"
)
"""Names of what may be another thing in the next post about the same alert."""
_LONGEST_LABEL = 100


def parts_of(body: Part) -> list[Part]:
    """A document, and the objects in it that may be what it is about."""
    return [body, *(as_object(each) for name, each in body.items() if fold(name) in _WRAPPERS)]


def state_words(parts: Iterable[Part]) -> list[str]:
    """The words of known states, the most telling first; none where the parts tell no state.

    A status or a state says it. After that it is what was done, the kind of the post (`incident.
    resolved`), and a level that is none (`OK`).
    """
    return [word for part in parts for word in _words_of(part)]


def _words_of(part: Part) -> Iterator[str]:
    texts = [(fold(name), read_text(value)) for name, value in part.items()]
    for pattern in _STATES:
        for name, text in texts:
            if pattern.fullmatch(name):
                yield from _find_words(text, is_state=pattern is _STATES[0])
    levels = (text for name, text in texts if name in _LEVELS)
    yield from (text for text in levels if state_of(text) == "resolved")


def _find_words(text: str, *, is_state: bool) -> Iterator[str]:
    """Of a type, a ping is the kind of a check. In `incident.resolved` it is the last word that
    says what has happened."""
    if names_state(text):
        if is_state or text.strip().lower() != "ping":
            yield text
        return
    parts = [] if is_state else re.split(r"[\W_]+", text[:200].lower())
    yield from (each for each in reversed(parts) if each.endswith("ed") and each in WORDS)


def state_of_parts(parts: Iterable[Part]) -> State:
    return state_of(*state_words(parts))


def key_of_parts(body: Part, parts: Sequence[Part]) -> str:
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
        plain = {fold(name): value for name, value in part.items()}
        for name in names:
            if text := read_text(plain.get(name)):
                return text
    return ""


def _key_of_id(parts: Sequence[Part]) -> str:
    """Around what has an id, an envelope has one of its own; so the innermost counts."""
    part = next((each for each in reversed(parts) if read_text(each.get("id"))), None)
    if part is None:
        return ""
    texts = {fold(name): read_text(value) for name, value in part.items()}
    places = [text for name, text in sorted(texts.items()) if name in _PLACES and text]
    return " ".join((texts["id"], *places))


def _key_of_names(body: Part) -> str:
    """Of a document that names what it watches."""
    texts = {fold(name): read_text(each) for name, each in body.items()}
    kept: dict[str, JSON] = {name: text for name, text in texts.items() if _stays(name, text)}
    is_named = any(name in _NAMING or is_name_of_alert(name) for name in kept)
    return key_of_document(kept) if is_named else ""


def _stays(name: str, text: str) -> bool:
    if not text or len(text) > _LONGEST_LABEL:
        return False
    if _OWN_ID.fullmatch(name):
        return True
    is_word = any(each.isalpha() for each in text) and read_moment(text) is None
    is_judgement = names_state(text) or normalise(text, {}) != "unknown"
    is_kind = any(_find_words(text, is_state=False))
    return is_word and not is_judgement and not is_kind and not _CHANGING.fullmatch(name)


def _without_state(body: Part) -> dict[str, JSON]:
    """A document that says `firing` and the same one that says `resolved` are about one alert."""
    return {
        name: value
        for name, value in body.items()
        if not _STATES[0].fullmatch(fold(name)) or not names_state(read_text(value))
    }

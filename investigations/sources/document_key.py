"""What names the alert in a document of nobody's form: the same in every post about it, another for
every other alert, and said by which fields."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

from investigations.sources.fields import read_moment, read_text
from investigations.sources.reading import JSON, key_of_document
from investigations.sources.severity import normalise
from investigations.sources.states import WORDS, names_state, state_of
from investigations.sources.telling import fold, is_name_of_alert
from investigations.sources.usual_fields import (
    LEVELS,
    MOST_FIELDS,
    Part,
    find_field,
    find_words,
    is_plain_state,
    is_state_field,
)

IDENTITIES = (
    "dedupkey", "dedupekey", "deduplicationkey", "fingerprint", "alertuid", "alertkey",
    "incidentkey", "incidentid", "incidentidentifier", "entityid", "alertid",
)  # fmt: skip
"""Fields that name the alert and not the post."""
_ID_OF_ALERT = re.compile(
    r"(?:alert|alarm|incident|issue|problem|finding|violation|episode|error|fault|anomaly)"
    r"(?:instance|unique|correlation)?(?:key|id|uid|uuid|guid|identifier|fingerprint|hash)"
)
"""The same, however they are called."""
_ID_OF_WATCHED = re.compile(
    r"\w*(?:rule|check|monitor|sensor|detector|policy|alert|definition)(?:key|id|uid|uuid|guid)"
)
"""What is watched, by its number."""
_NAMING = frozenset({"name", "check", "monitor", "rule", "alarm", "alertname"})
_PLACES = frozenset({
    "host", "hostname", "instance", "resource", "node", "device", "target", "service", "cluster",
    "namespace", "environment", "region", "group", "scope", "check", "monitor", "rule", "name",
})  # fmt: skip
_MEASURED = re.compile(
    r"\w*(?:value|duration|times?|timestamp|date|count|code|seconds|percent|latency|level|left)"
)
_CHANGING = re.compile(
    r"\w*(?:title|subject|message|summary|description|details?|reason|output|body|cause"
    r"|errors?|log)|text"
    r"|(?:event|message|notification|request|delivery|trace|execution|run|log|transition"
    r"|occurrence|u|gu)?(?:id|uuid|guid)"
)
"""Names of what may be another thing in the next post about the same alert."""
_PAGE_OF_POST = re.compile(
    r"(?!\w*(?:alert|alarm|incident|issue|problem|monitor|check|host|site|target|service|page))"
    r"\w+(?:link|url|uri|href)|rca\w*"
)
"""Addresses of what was found this time, a run or a query, and not of what is watched."""
_RUNS = frozenset({"build", "run", "execution", "attempt"})
"""What an object is called of which there is another one the next time."""
_CLOCK = re.compile(r"\b\d{1,2}:\d\d(?::\d\d)?\b")
_MEASURE = re.compile(r"[-+]?\d[\d.,]* ?(?:%|[A-Za-zµ°]{1,12})(?: ?\d[\d.,]* ?[A-Za-zµ%]{1,12})*")
"""A number with its unit, as in `95 %` and `2h 3m`."""
_KINDS = ("type", "kind", "event", "check")
_LONGEST_LABEL = 100
_LONGEST_PATH = 2_000


@dataclass(frozen=True)
class FoundKey:
    """A key, and the fields that it is made of, as they are called in the document."""

    text: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Field:
    """A value that is neither an object nor a list, and where it stands."""

    path: str
    """As it is written."""
    place: str
    """The same, folded: what a key is made of does not change with how names are written."""
    name: str
    owner: str
    """The folded name of the object that it stands in."""
    value: JSON

    @property
    def text(self) -> str:
        return read_text(self.value)

    @property
    def names_what_is_watched(self) -> bool:
        """Whether it names a check, a rule or an alert, and so a thing that has no other state."""
        if self.name in _NAMING - {"name"}:
            return True
        names = (self.name, self.owner + self.name)
        return any(is_name_of_alert(each) or _ID_OF_WATCHED.fullmatch(each) for each in names)


def key_of_parts(body: Mapping[str, JSON], parts: Sequence[Part], *, tells_state: bool) -> FoundKey:
    """What stays from post to post: what names the alert, the id of what has a state with where it
    is, or the fields that are names and places. Else the document without its state."""
    for part in parts:
        if found := _find_identity(part):
            return found
    # What has a level in place of a state (`CRITICAL`, then `OK`) tells none while it fires.
    if (tells_state or find_field(LEVELS, *parts)) and (found := _key_of_id(parts)):
        return found
    fields = list(_list_fields(body))
    if len(fields) <= MOST_FIELDS and (found := _key_of_names(fields, tells_state=tells_state)):
        return found
    return FoundKey(key_of_document(_without_state(body)))


def _find_identity(part: Part) -> FoundKey | None:
    name = next((each for each in IDENTITIES if read_text(part.fields.get(each))), "")
    if not name:
        others = (each for each in part.fields if _ID_OF_ALERT.fullmatch(each))
        name = next((each for each in others if read_text(part.fields[each])), "")
    return FoundKey(read_text(part.fields[name]), (part.path_of(name),)) if name else None


def _key_of_id(parts: Sequence[Part]) -> FoundKey | None:
    """Around what has an id, an envelope has one of its own, which is that of the post. Of one
    monitor more than one thing is checked."""
    part = next((each for each in (*parts[1:], parts[0]) if read_text(each.fields.get("id"))), None)
    if part is None:
        return None
    texts = {name: read_text(value) for name, value in part.fields.items()}
    places = [name for name, text in sorted(texts.items()) if name in _PLACES and text]
    told = [texts[name] for name in places]
    used = [part.path_of(name) for name in ("id", *places)]
    if part.name in ("monitor", "check"):
        for each, name in ((each, name) for each in parts for name in _KINDS):
            if kind := _without_words(find_field((name,), each)):
                told.append(kind)
                used.append(each.path_of(name))
    return FoundKey(" ".join((texts["id"], *filter(None, told))), tuple(dict.fromkeys(used)))


# ---- Names and places -------------------------------------------------------------------------


def _list_fields(body: Mapping[str, JSON]) -> Iterator[_Field]:
    """Level by level, one more than the bound where there are more. What is in an object that is
    called like a text about this time is left out with it."""
    waiting = deque[tuple[str, str, str, str, JSON]]((n, n, "", "", body[n]) for n in body)
    for _ in range(2 * MOST_FIELDS):
        if not waiting:
            return
        path, own, base, owner, value = waiting.popleft()
        # Each child repeats the path, so that a long one costs as often as there are children.
        if len(path) > _LONGEST_PATH or len(waiting) > 2 * MOST_FIELDS:
            break
        name = fold(own)
        if isinstance(value, dict | list) and _CHANGING.fullmatch(name):
            continue
        if isinstance(value, dict):
            for below, each in islice(value.items(), 2 * MOST_FIELDS + 2):
                waiting.append((f"{path}.{below}", below, f"{base}{name}.", name, each))
        elif isinstance(value, list):
            for n, each in enumerate(islice(value, 2 * MOST_FIELDS + 2)):
                waiting.append((f"{path}[{n}]", own, f"{base}{n}.", owner, each))
        else:
            yield _Field(path, base + name, name, owner, value)
    yield from (_Field("", "", "", "", None) for _ in range(MOST_FIELDS + 1))


def _key_of_names(fields: Iterable[_Field], *, tells_state: bool) -> FoundKey | None:
    """Of a document that names what it watches, all that does not tell how it is this time: two
    alerts must never become one, while one may be taken for two."""
    kept = [(each, text) for each in fields if (text := _what_stays(each))]
    watched = any(each.names_what_is_watched for each, _ in kept)
    if not watched and not (tells_state and any(each.name == "name" for each, _ in kept)):
        return None
    told: dict[str, JSON] = {}
    for each, text in kept:
        told[each.path if each.place in told else each.place] = text
    return FoundKey(key_of_document(told), tuple(each.path for each, _ in kept))


def _what_stays(field: _Field) -> str:
    """Of a field, what is the same when the alert is over; empty where nothing is."""
    text, name = field.text, field.name
    if not text or len(text) > _LONGEST_LABEL or _tells_this_time(field):
        return ""
    # A number or a word for a state, also one that nobody knows.
    is_state = (is_state_field(name) and text.isdigit()) or (
        is_plain_state(name) and text.isalpha() and text.isascii()
    )
    is_judgement = is_state or names_state(text) or normalise(text, {}) != "unknown"
    # A ping is what a check does.
    if state_of(text) == "test" and name in _NAMING:
        return text
    return "" if is_judgement else _without_words(text)


def _tells_this_time(field: _Field) -> bool:
    """Whether by name or by form it is a measure, a moment, a text about it, or the number of the
    post or of a run."""
    text, name = field.text, field.name
    if _CHANGING.fullmatch(name) or _MEASURED.fullmatch(name) or _PAGE_OF_POST.fullmatch(name):
        return True
    if field.owner in ("event", "notification") and _CHANGING.fullmatch(field.owner + name):
        return True
    if field.owner in _RUNS and any(character.isdigit() for character in text):
        return True
    is_number = isinstance(field.value, float) and not field.value.is_integer()
    return is_number or is_moment(text) or _MEASURE.fullmatch(text) is not None or _lists(name)


def is_moment(text: str) -> bool:
    return read_moment(text) is not None or _CLOCK.search(text) is not None


def _lists(name: str) -> bool:
    """Whether a name says of which of several things it holds now, as `failed_locations` does."""
    begins = (each for each in WORDS if each.endswith(("ed", "ing", "y")) and len(each) > 4)
    return name.endswith("s") and name.startswith(tuple(begins))


def _without_words(text: str) -> str:
    """`check.up` and `check.down` are of one kind."""
    if " " in text or not any(find_words(text, is_state=False)):
        return text
    parts = re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[^\W_]+", text)
    return ".".join(each.lower() for each in parts if each.lower() not in WORDS)


def _without_state(body: Mapping[str, JSON]) -> dict[str, JSON]:
    """A document that says `firing` and the same one that says `resolved` are about one alert, and
    so are two that differ in nothing but a moment."""
    kept = {
        name: value
        for name, value in body.items()
        if not (names_state(read_text(value)) and is_state_field(fold(name)))
    }
    timeless = {name: value for name, value in kept.items() if read_moment(value) is None}
    return timeless or kept

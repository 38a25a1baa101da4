"""What names the alert in a document of nobody's form: the same in every post about it, another for
every other alert, and said by which fields."""

import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import islice

from investigations.sources.document_ids import (
    PLACES,
    FoundKey,
    find_identity,
    is_judged,
    key_of_id,
)
from investigations.sources.fields import read_moment, read_text
from investigations.sources.kinds import SUBJECT_WORDS, is_word_of_status, without_state_words
from investigations.sources.parts import MOST_FIELDS, Part, find_field
from investigations.sources.reading import JSON, key_of_document
from investigations.sources.said_titles import without_said_state
from investigations.sources.severity import normalise
from investigations.sources.states import WORDS, names_state
from investigations.sources.telling import fold, is_name_of_alert, words_of_name
from investigations.sources.usual_fields import (
    LEVELS,
    WORDS_OF_OBJECT,
    is_flag,
    is_own_state,
    is_plain_state,
    is_state_field,
)

_ID_OF_WATCHED = re.compile(
    r"\w*(?:rule|check|monitor|sensor|detector|policy|alert|definition)(?:key|id|uid|uuid|guid)"
)
"""What is watched, by its number."""
_ENDPOINTS = frozenset({"endpoint", "endpointname"})
_LIVES = frozenset({
    "triggered", "resolved", "firing", "up", "down", "online", "offline", "healthy", "unhealthy",
})  # fmt: skip
"""States of what is checked again and again; of an endpoint, many errors may be told."""
_NAMING = frozenset({"name", "check", "monitor", "rule", "alarm", "alertname"})
_MEASURED = frozenset({
    "value", "duration", "time", "times", "timestamp", "date", "count", "seconds", "percent",
    "latency", "level", "left",
})  # fmt: skip
_PASSING = frozenset({"value", "duration", "seconds", "latency"})
"""Those that are no number of a thing, as a level is that of a house, wherever they stand."""
_TEXTS = frozenset({
    "title", "subject", "message", "summary", "description", "detail", "details", "reason",
    "output", "body", "cause", "error", "errors", "log",
})  # fmt: skip
"""The last words of the names of what may be another thing in the next post about the same alert.
They are compared with the words of a name as it is written: `account` is no count."""
_TOLD_NOW = re.compile(
    rf"(?:error|{SUBJECT_WORDS}|status|last|previous|prior)*(?:{'|'.join(_MEASURED | _TEXTS)}|text)"
    r"|(?:status|http|response|exit|return)*(?:status|http|response|exit|return)code"
)
"""The same where a name is written in one, after words that are of the alert and of no thing."""
_EARLIER = re.compile(r"(?:last|previous|prior|former|old)(?:status|state|type|result)")
_NUMBER_OF_POST = re.compile(
    r"(?:webhook)?(?:event|message|notification|request|delivery|trace|execution|run|log|transition"
    r"|occurrence|u|gu)?(?:id|uuid|guid)"
)
_ADDRESSES = frozenset({"link", "url", "uri", "href"})
_OF_THIS_TIME = frozenset({
    "build", "run", "execution", "query", "search", "result", "results", "report", "log", "logs",
    "trace", "snapshot", "screenshot", "image", "rca", "ack", "acknowledge", "resolve", "silence",
})  # fmt: skip
"""What an address is called after that is of what was found this time, and not of what is watched.
"""
_MADE_ANEW = frozenset({"build", "run", "execution", "attempt"})
"""What an object is called of which there is another one the next time."""
_CHANGE_WITH_RUN = frozenset({"commit", "sha", "revision"})
_COUNTED_IN_RUN = frozenset({"total", "failed", "passed", "skipped"})
_PHASES = frozenset({"queued", "started", "completed", "finalized"})
_NUMBERS_OF_RUN = frozenset({"id", "uuid", "number", "num", "no", "queueid"})
_LEVELS = frozenset({"severity", "level", "priority", "urgency", "importance", "criticality"})
_TIMES = frozenset({
    "time", "times", "timestamp", "date", "datetime", "epoch", "at", "ts", "since", "when", "now",
    "on", "start", "started", "end", "ended", "until",
})  # fmt: skip
_CLOCKS = frozenset({"time", "timestamp", "datetime", "epoch", "unix"})
_CLOCK = re.compile(r"(?<![\w.:-])(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?![\w:-])")
_YEAR = re.compile(r"(?<![\w.:-])(?:19|20)\d\d(?![\w.:])")
_UNIT = (
    r"(?:ns|us|µs|ms|msec|sec|seconds?|mins?|minutes?|hrs?|hours?|days?"
    r"|[kKMGTP]i?[Bb]|[kKMG]?bps)"
)
_MEASURE = re.compile(
    rf"[-+]?\d[\d.,]*(?: ?%| ?{_UNIT}| [A-Za-z°µ])|(?:\d+ ?[dhms] ?){{2,4}}|\d+[.,]\d+ ?[a-zµ°]+"
)
"""A number with its unit, as in `95 %`, `3 s` and `2h 3m`. `12B` is the name of a place as well."""
_MARKED = re.compile("[✅❌] - `")
"""What each of the conditions of Gatus has before it."""
_KINDS_OF_POST = frozenset({"type", "kind", "event", "action", "transition", "trigger"})
_STATES = frozenset({"status", "state", "phase", "conclusion"})
_SAY_STATE = frozenset({"state", "status", "severity", "level", *WORDS_OF_OBJECT})
_ENDS_OF_CHANGE = frozenset({"from", "to"})
_BESIDE_STATE = frozenset({"color", "colour", "icon", "rank", "order", "slug"})
"""What stands beside the word in an object that is called like a state, and changes with it."""
_JUDGING = frozenset(each for each in WORDS if each.endswith(("ed", "ing", "y")) and len(each) > 4)
_LONGEST_PATH = 2_000


@dataclass(frozen=True)
class _Field:
    """A value that is neither an object nor a list, and where it stands."""

    path: str
    """As it is written."""
    place: str
    """The same, folded: what a key is made of does not change with how names are written."""
    name: str
    """Its own name, folded."""
    written: str
    owner: str
    """The folded name of the object that it stands in."""
    value: JSON

    @property
    def text(self) -> str:
        return read_text(self.value)

    @property
    def words(self) -> tuple[str, ...]:
        return words_of_name(self.written)

    @property
    def last_word(self) -> str:
        return self.words[-1] if self.words else ""

    @property
    def numbers_post(self) -> bool:
        """Whether it is the number of the post, of an event or of a run."""
        if self.owner in _MADE_ANEW and self.name.removeprefix(self.owner) in _NUMBERS_OF_RUN:
            return True
        whole = self.owner + self.name if self.owner in ("event", "notification") else self.name
        return any(_NUMBER_OF_POST.fullmatch(each) for each in (self.name, whole))

    @property
    def tells_state(self) -> bool:
        """Whether it is called like a state, or like a kind of post, which tells one as well."""
        is_earlier = _EARLIER.fullmatch(self.name) is not None
        return is_own_state(self.name) or is_earlier or self.last_word in _STATES | _KINDS_OF_POST

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
        if found := find_identity(part, parts[0]):
            return found
    # What has a level in place of a state (`CRITICAL`, then `OK`) tells none while it fires.
    # A state may have a word that nobody knows (`investigating`).
    judged = tells_state or find_field(LEVELS, *parts) or any(map(is_judged, parts))
    if judged and (found := key_of_id(parts)):
        return found
    fields = list(_list_fields(body))
    if len(fields) <= MOST_FIELDS and (found := _key_of_names(fields, tells_state=tells_state)):
        return found
    return FoundKey(key_of_document(_without_state(body)))


# ---- Names and places -------------------------------------------------------------------------


def _list_fields(body: Mapping[str, JSON]) -> Iterator[_Field]:
    """Level by level, one more than the bound where there are more."""
    waiting = deque[tuple[str, str, str, str, JSON]]((n, n, "", "", body[n]) for n in body)
    for _ in range(2 * MOST_FIELDS):
        if not waiting:
            return
        path, own, base, owner, value = waiting.popleft()
        # Each child repeats the path, so that a long one costs as often as there are children.
        if len(path) > _LONGEST_PATH or len(waiting) > 2 * MOST_FIELDS:
            break
        name = fold(own)
        # Which of several things fail now, as `failed_locations` says it too.
        if isinstance(value, dict) and words_of_name(own)[-1:] == ("errors",):
            continue
        if isinstance(value, dict):
            for below, each in islice(_without_judgement(name, value), 2 * MOST_FIELDS + 2):
                waiting.append((f"{path}.{below}", below, f"{base}{name}.", name, each))
        elif isinstance(value, list):
            for n, each in enumerate(islice(value, 2 * MOST_FIELDS + 2)):
                waiting.append((f"{path}[{n}]", own, f"{base}{n}.", owner, each))
        else:
            yield _Field(path, base + name, name, own, owner, value)
    yield from (_Field("", "", "", "", "", None) for _ in range(MOST_FIELDS + 1))


def _without_judgement(name: str, told: Mapping[str, JSON]) -> Iterator[tuple[str, JSON]]:
    """Of an object that is called like a state or a level, as in `{"status": {"name": "Open"}}`,
    what does not say it. Where another field says it, its name and id are those of a thing."""
    if not is_plain_state(name) and name not in _LEVELS:
        yield from told.items()
        return
    texts = {fold(own): read_text(value) for own, value in told.items()}
    known = {each for each in texts if each in _SAY_STATE and _is_known(texts[each])}
    is_of_thing = bool(known) and "name" in texts and "name" not in known
    if all(_is_known(texts.get(each, "")) for each in _ENDS_OF_CHANGE):
        known |= _ENDS_OF_CHANGE
    of_state = known | _BESIDE_STATE if is_of_thing else _SAY_STATE | _BESIDE_STATE | {"id", "key"}
    for own, value in told.items():
        field = _Field(own, fold(own), fold(own), own, name, value)
        if field.name not in of_state | known and not _is_moment(field):
            yield own, value


def _is_known(text: str) -> bool:
    return names_state(text) or is_word_of_status(text) or normalise(text, {}) != "unknown"


def _key_of_names(fields: Iterable[_Field], *, tells_state: bool) -> FoundKey | None:
    """Of a document that names what it watches, all that does not tell how it is this time: two
    alerts must never become one, while one may be taken for two."""
    known = list(fields)
    numbers = {each.text for each in known if each.numbers_post} - {""}
    kept = [
        (each, text)
        for each in known
        if (text := _what_stays(each)) and not _is_address_of_post(each, numbers)
    ]
    watched = any(each.names_what_is_watched for each, _ in kept)
    if not watched and not (tells_state and _has_name(known, kept)):
        return None
    told: dict[str, JSON] = {}
    for each, text in kept:
        told[each.path if each.place in told else each.place] = text
    return FoundKey(key_of_document(told), tuple(each.path for each, _ in kept))


def _has_name(fields: Sequence[_Field], kept: Sequence[tuple[_Field, str]]) -> bool:
    """Whether what has a state is called by a name, or is an endpoint that is checked."""
    names = {each.name for each, _ in kept if not is_plain_state(each.owner)}
    if "name" in names:
        return True
    is_checked = any(
        is_plain_state(each.name) and (each.text.lower() in _LIVES or is_word_of_status(each.text))
        for each in fields
    )
    return is_checked and not names.isdisjoint(_ENDPOINTS)


def _what_stays(field: _Field) -> str:
    """Of a field, what is the same when the alert is over; empty where nothing is."""
    text = field.text
    if not text or _tells_this_time(field) or _judges(field):
        return ""
    return without_state_words(text) if field.tells_state else text


def _judges(field: _Field) -> bool:
    """Whether a field that is called like a state or a level says one. A host may be called `high`,
    and a shard `p1`."""
    text, name = field.text, field.name
    # A number or a word for a state, also one that nobody knows.
    is_told = (field.last_word in _STATES or is_own_state(name)) and (
        text.isdigit()
        or (is_plain_state(name) and text.replace(" ", "").isalpha() and text.isascii())
        or is_word_of_status(text)
    )
    if is_told or field.last_word in _LEVELS or is_flag(name, text):
        return True
    return field.tells_state and _is_known(text)


def _tells_this_time(field: _Field) -> bool:
    """Whether by name or by form it is a measure, a moment, a text about it, or the number of the
    post or of a run."""
    text, name, last = field.text, field.name, field.last_word
    if last in _MEASURED | _TEXTS or _TOLD_NOW.fullmatch(name):
        return True
    if last in _ADDRESSES and not _OF_THIS_TIME.isdisjoint(field.words[:-1]):
        return True
    if field.numbers_post or (field.owner in _MADE_ANEW and name in _ADDRESSES):
        return True
    if field.place.partition(".")[0] in _MADE_ANEW and _is_of_run(field):
        return True
    if last == "conditions" and _MARKED.match(text):
        return True
    is_number = isinstance(field.value, float) and not field.value.is_integer()
    return is_number or _is_moment(field) or _MEASURE.fullmatch(text) is not None or _lists(field)


def _is_of_run(field: _Field) -> bool:
    """Whether it is another one in the next run of the same job."""
    is_phase = field.name == "phase" and field.text.lower() in _PHASES
    is_count = field.name in _COUNTED_IN_RUN and field.text.isdecimal()
    return is_phase or is_count or field.name in _CHANGE_WITH_RUN


def _is_address_of_post(field: _Field, numbers: Set[str]) -> bool:
    """Whether it is an address with the number of the post in it."""
    is_address = field.last_word in _ADDRESSES and "://" in field.text
    return is_address and not numbers.isdisjoint(re.findall(r"[\w-]+", field.text))


def _is_moment(field: _Field) -> bool:
    """Whether it is a moment by form, or by name and form: figures may be an account or an address,
    and what has two dots may be a port."""
    text = field.text
    if field.last_word in _TIMES or not _CLOCKS.isdisjoint(field.words):
        return read_moment(text) is not None or _CLOCK.search(text) is not None
    if field.name in PLACES or field.names_what_is_watched:
        return False
    if re.match(r"\d{4}-\d\d-\d\d", text):
        return read_moment(text) is not None
    return _CLOCK.search(text) is not None and _YEAR.search(text) is not None


def _is_of_now(field: _Field) -> bool:
    """Whether it is a moment, or a number that was measured."""
    is_number = isinstance(field.value, int | float) and not isinstance(field.value, bool)
    return (is_number and field.last_word in _PASSING) or _is_moment(field)


def _lists(field: _Field) -> bool:
    """Whether a name says of which of several things it holds now, as `failed_locations` does."""
    return field.last_word.endswith("s") and field.words[0] in _JUDGING


def _without_told_state(name: str, value: JSON) -> JSON:
    if not isinstance(value, str):
        return value
    return without_state_words(value) if is_own_state(fold(name)) else without_said_state(value)


def _is_judgement(name: str, text: str) -> bool:
    """Whether a field says a state or, in words, what the alert weighs, which is less when it is
    over. The number of a level may be that of a thing."""
    if is_state_field(fold(name)):
        return names_state(text)
    return not _LEVELS.isdisjoint(words_of_name(name)[-1:]) and _is_known(text)


def _without_state(body: Mapping[str, JSON]) -> dict[str, JSON]:
    """A document that says `firing` and the same one that says `resolved` are about one alert, and
    so are two that differ in nothing but a moment."""
    kept: dict[str, JSON] = {}
    for name, value in body.items():
        if isinstance(value, dict):
            left = dict(_without_judgement(fold(name), value))
            kept |= {name: left} if left or not value else {}
        elif not _is_judgement(name, read_text(value)):
            kept[name] = _without_told_state(name, value)
    timeless = {
        name: value
        for name, value in kept.items()
        if not _is_of_now(_Field(name, fold(name), fold(name), name, "", value))
    }
    return timeless or kept

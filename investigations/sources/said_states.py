"""States that stand in no field which is called like one: in the first words of a title, or in a
few fields that say it together.

Each form is read as a whole or not at all: a state that is misread hides an alert that fires.
"""

import re
from collections.abc import Iterator, Mapping

from investigations.sources.fields import as_object, read_moment, read_text
from investigations.sources.kinds import find_words
from investigations.sources.parts import Part
from investigations.sources.reading import JSON, is_over
from investigations.sources.telling import fold

_FIRST = re.compile(
    r"[^\w\[]{0,10}(?:\[ ?(?P<tag>\w+)(?::\d+| on \{[^{}]{0,200}\})? ?\]"
    r"|(?P<told>\w+)(?= ?:)|(?P<word>\w+)(?= [-–—|] ))"
    r"\s*(?:[:|–—-]\s*)?"
)
_OVER = frozenset({"resolved", "recovered", "fixed"})
_FIRES = frozenset({"firing", "triggered", "alerting"})
_FIRES_IN_LINE = re.compile(
    r"\W{0,10}(?:\d{1,4}[.):] ?)?(?:\[ ?(?:firing|triggered|alerting)\b"
    r"|\W{0,10}(?:firing|alerting)\b ?(?:[:|–—*\]-]+(?! ?\d)|$))",
    re.IGNORECASE,
)
"""Not when something fired: `Triggered: 10:05` and `Firing: 2026-11-30`."""
_LONGEST_TEXT = 100_000
_COUNTS_OTHERS = re.compile(r"\bfiring\b|^\d+\W", re.IGNORECASE)
"""`Resolved: 2, firing: 1` is a sum."""
_BACK = re.compile(
    r"Jenkins build is back to normal ?: [^\n]{1,200} #\d+"
    r"|[^\n]{1,200} - #\d+ Back to normal after(?: \d+ \w+)+(?: \(<[^>\n]*>\))?"
)
"""What mail and chat plugins of Jenkins write. The same words in any other sentence say nothing:
they may be of something beside the alert."""
_NAMES_OF_RUN = ("build", "run", "pipeline")
_BESIDE_RUN = frozenset(
    {"name", "displayname", "fullname", "url", "fullurl", "project", "job", *_NAMES_OF_RUN}
)
"""All that may stand beside a run that a post is about: the names of what was run."""
_BEFORE_ITS_END = frozenset({"queued", "started"})
_CLEARINGS = frozenset({"normal", "auto", "manual"})
_NAMES_OF_APP = frozenset({"application", "app", "appname"})
_BESIDE_APP = frozenset({
    *_NAMES_OF_APP, "name", "project", "namespace", "cluster", "server", "revision", "url",
})  # fmt: skip
_HEALTHS = frozenset({"health", "healthstatus"})
_STATES_OF_APP = frozenset({*_HEALTHS, "sync", "syncstatus", "phase", "operationphase"})
_WELL = frozenset({"healthy", "synced", "succeeded"})
"""The words of Argo CD."""
_BESIDE_SENSOR = frozenset({
    "entityid", "name", "friendlyname", "state", "oldstate", "newstate", "deviceclass",
    "attributes", "lastchanged", "lastupdated", "timestamp", "time", "area", "device",
})  # fmt: skip
_SENSES_TROUBLE = frozenset({
    "problem", "smoke", "gas", "carbonmonoxide", "moisture", "safety", "tamper", "heat", "cold",
    "battery",
})  # fmt: skip
"""Sensors that are on while something is wrong."""
_LOGGED = re.compile(r"(closed|acknowledged)(?: (?:by|via|from) .*|\W*)", re.IGNORECASE | re.DOTALL)


def says_over(title: str) -> bool:
    """Whether a text, whole and as it was sent, says before anything else that its alert is over:
    `RESOLVED: disk full` and `[Resolved] disk full` do, as programs write it. In small letters
    without brackets it may be anybody's sentence."""
    text = title[:400].strip()
    found = _FIRST.match(text)
    if found and found.lastgroup and _word_of(found) in _OVER:
        is_set_off = found.lastgroup == "tag" or found[found.lastgroup].isupper()
        rest = text[found.end() :]
        return is_set_off and bool(rest) and not _COUNTS_OTHERS.search(rest)
    return _BACK.fullmatch(text) is not None


def says_firing(text: str) -> bool:
    """Whether a line of a text says before anything else that something fires: a post that says at
    its top what is over may say below what is not."""
    return any(map(_FIRES_IN_LINE.match, text[:_LONGEST_TEXT].splitlines()))


def without_said_state(text: str) -> str:
    """A text without a state that it begins with: the rest is the same when the alert is over."""
    found = _FIRST.match(text[:400])
    if found and _word_of(found) in _OVER | _FIRES:
        return text[found.end() :].strip()
    return text


def words_of_forms(whole: Part) -> list[str]:
    """The words for a state that some fields of a document say together; none where they say
    nothing."""
    forms = (
        _word_of_log, _word_of_run, _word_of_device, _word_of_clearing, _word_of_reason,
        _word_of_sensor, _word_of_app, _word_of_dummy,
    )  # fmt: skip
    found = [form(whole) for form in forms]
    return [word for text in found for word in find_words(text, is_state=True)]


def says_acknowledged(whole: Part) -> bool:
    """Whether an open alert of MongoDB Atlas tells who has it, and until a moment that lies ahead:
    after it, the alert is nobody's."""
    told = _folded(whole.fields)
    until = read_moment(told.get("acknowledgeduntil"))
    is_told = {"eventtypename", "acknowledgingusername"} <= told.keys()
    return is_told and until is not None and not is_over(until)


def _word_of(found: re.Match[str]) -> str:
    return found[found.lastgroup or 0].lower()


def _word_of_log(whole: Part) -> str:
    """A post about the status of an alert has what was done first in its log: `Closed by Ana`."""
    kind = fold(read_text(whole.fields.get("type")))
    found = _LOGGED.fullmatch(read_text(whole.fields.get("logentry")))
    return found[1].lower() if found and kind.startswith("alertstatus") else ""


def _word_of_run(whole: Part) -> str:
    """The one run that a post is about which says nothing else."""
    told = _filled(whole)
    runs = told & set(_NAMES_OF_RUN)
    if len(runs) != 1 or not told <= _BESIDE_RUN:
        return ""
    run = _folded(whole.fields[next(iter(runs))])
    phase, status = run.get("phase", ""), run.get("status", "")
    if phase.lower() in _BEFORE_ITS_END and not status:
        return "acknowledged"
    return status if phase else ""


def _word_of_reason(whole: Part) -> str:
    """Wavefront says in the reason of a notification what has become of the alert."""
    told = _folded(whole.fields)
    found = re.fullmatch(r"ALERT_([A-Z]+)", told.get("reason", ""))
    return found[1].lower() if found and {"alertid", "notificationid"} <= told.keys() else ""


def _word_of_device(whole: Part) -> str:
    """Meraki tells of a device in two kinds of alerts that it is there no more, and that it is."""
    told = _folded(whole.fields)
    words = {"stopped_reporting": "down", "started_reporting": "up"}
    return words.get(told.get("alerttypeid", ""), "") if "deviceserial" in told else ""


def _word_of_clearing(whole: Part) -> str:
    """AppOptics says in a field of its own how an incident came to its end."""
    told = _folded(whole.fields)
    is_incident = {"incidentkey", "triggertime"} <= told.keys()
    return "cleared" if is_incident and told.get("clear", "").lower() in _CLEARINGS else ""


def _word_of_dummy(whole: Part) -> str:
    """What the button of Graylog sends that tests a notification."""
    return "test" if read_text(whole.fields.get("eventdefinitiontype")) == "test-dummy-v1" else ""


def _word_of_sensor(whole: Part) -> str:
    """Of a sensor that knows two states, what it senses says which one is wrong."""
    told = {**_folded(whole.fields.get("attributes")), **_folded(whole.fields)}
    state, sensed = told.get("state", "").lower(), fold(told.get("deviceclass", ""))
    if state not in ("on", "off") or not _filled(whole) <= _BESIDE_SENSOR:
        return ""
    if sensed in _SENSES_TROUBLE:
        return "problem" if state == "on" else "ok"
    if sensed == "connectivity":
        return "up" if state == "on" else "down"
    return ""


def _word_of_app(whole: Part) -> str:
    """An application of which nothing is told but its names and that it is well."""
    names, told = _filled(whole), _folded(whole.fields)
    if names.isdisjoint(_NAMES_OF_APP) or not names <= _BESIDE_APP | _STATES_OF_APP:
        return ""
    states = {text.lower() for name, text in told.items() if name in _STATES_OF_APP}
    is_healthy = any(told.get(name, "").lower() == "healthy" for name in _HEALTHS)
    return "healthy" if is_healthy and states <= _WELL else ""


def _filled(whole: Part) -> set[str]:
    """The names of all fields in which something stands, of whatever type."""
    return {name for name, value in whole.fields.items() if value not in (None, "", [], {})}


def _folded(fields: object) -> dict[str, str]:
    return dict(_filled_texts(as_object(fields)))


def _filled_texts(fields: Mapping[str, JSON]) -> Iterator[tuple[str, str]]:
    for name, value in fields.items():
        if text := read_text(value):
            yield fold(name), text

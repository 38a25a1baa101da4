"""States that stand in no field which is called like one: a few fields say them together.

Each form is read as a whole or not at all: a state that is misread hides an alert that fires.
"""

import re
from collections.abc import Iterator, Mapping

from investigations.sources.fields import as_object, read_moment, read_text
from investigations.sources.kinds import find_words
from investigations.sources.parts import Part
from investigations.sources.reading import JSON, is_over
from investigations.sources.telling import fold

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


def words_of_forms(whole: Part) -> list[str]:
    """The words for a state that some fields of a document say together; none where they say
    nothing."""
    forms = (
        _word_of_log, _word_of_run, _word_of_device, _word_of_clearing, _word_of_reason,
        _word_of_sensor, _word_of_app, _word_of_dummy, _word_of_number, _word_of_component,
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


def _word_of_number(whole: Part) -> str:
    """LibreNMS gives an alert the state 0 when it is over, and 2 when somebody has it."""
    told = _folded(whole.fields)
    if "sysname" not in told or told.keys().isdisjoint(("alertid", "faults", "elapsed", "uid")):
        return ""
    return {"0": "ok", "2": "acknowledged"}.get(told.get("state", ""), "")


def _word_of_component(whole: Part) -> str:
    """Statuspage tells of a component what it was and what it is now."""
    told = _folded(whole.fields.get("componentupdate"))
    is_change = {"newstatus", "oldstatus"} <= told.keys() and "component" in _filled(whole)
    return told["newstatus"] if is_change else ""


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

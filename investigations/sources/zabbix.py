"""Zabbix: the parameters of a media type, filled with macros that the user chooses."""

from collections.abc import Mapping

from pydantic import AliasChoices, Field

from investigations.sources.fields import (
    Labels,
    Part,
    Text,
    Url,
    as_object,
    fold_names,
    read_text,
)
from investigations.sources.reading import (
    JSON,
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_SEVERITIES: Mapping[str, Severity] = {
    "not classified": "unknown", "information": "info", "warning": "warning",
    "average": "warning", "high": "high", "disaster": "critical",
    "0": "unknown", "1": "info", "2": "warning", "3": "warning", "4": "high", "5": "critical",
}  # fmt: skip
_STATES: Mapping[str, State] = {
    "1": "firing", "problem": "firing", "0": "resolved", "ok": "resolved", "resolved": "resolved",
}  # fmt: skip
_NO_ALERT_SOURCES = {"1": "discovery", "2": "autoregistration"}


def _any_of(*names: str) -> Text:
    return Field("", validation_alias=_spelt(*names))


def _spelt(*names: str) -> AliasChoices:
    """In any spelling: of `eventValue` nothing but `eventvalue` is left once it is folded."""
    return AliasChoices(*names, *(name.replace("_", "") for name in names))


class Event(Part):
    event_id: Text = _any_of("event_id", "eventid", "id")
    value: Text = _any_of("event_value", "value")
    status: Text = _any_of("event_status", "trigger_status", "status")
    source: Text = _any_of("event_source", "source")
    update_status: Text = _any_of("event_update_status", "update_status")
    name: Text = _any_of("event_name", "trigger_name", "name", "alert_subject", "subject", "title",
                         "trigger", "problem", "problem_name")  # fmt: skip
    severity: Text = _any_of("event_severity", "trigger_severity", "severity")
    nseverity: Text = _any_of("event_nseverity", "trigger_nseverity", "nseverity")
    tags: Labels = Field({}, validation_alias=_spelt("event_tags", "tags"))
    tags_json: Labels = Field({}, validation_alias=_spelt("event_tagsjson", "event_tags_json"))
    opdata: Text = _any_of("event_opdata", "opdata")
    trigger_id: Text = _any_of("trigger_id", "triggerid")
    host: Text = _any_of("host_name", "hostname", "host", "host_host")
    ip: Text = _any_of("host_ip", "ip")
    url: Url = _any_of("zabbix_url", "url", "link")
    trigger_url: Url = _any_of("trigger_url", "event_trigger_url")


def read(post: Post) -> Reading:
    event = Event.model_validate(fold_names(post.body))
    state, reason = _judge(event, as_object(post.body))
    named = {"host": event.host, "host_ip": event.ip, "trigger": event.trigger_id}
    of_trigger = " ".join(each for each in (event.trigger_id, event.host) if each)
    own_key = event.event_id or (of_trigger if event.trigger_id else all_of(event.host, event.name))
    about = event.name if not event.host or event.host in event.name else ""
    tags = {**event.tags, **event.tags_json}
    alert = make_alert(
        state,
        reason=reason,
        key=own_key,
        titles=(about, f"{event.name} on {event.host}" if event.name else "", event.opdata),
        severity=event.severity or event.nseverity,
        severities=_name_weight(event),
        service=tags.get("service", "") or event.host,
        labels={**named, **tags},
        links=Links(alert=_address_of(event), runbook=event.trigger_url),
        # Its date and time are in the server's own zone, which no macro tells.
        body=post.body,
    )
    return Reading(source="zabbix", alerts=(alert,))


def _name_weight(event: Event) -> Mapping[str, Severity]:
    """A server names its severities as its users like, in their language; the number stays."""
    word = event.severity.lower()
    if word in _SEVERITIES or event.nseverity not in _SEVERITIES:
        return _SEVERITIES
    return {**_SEVERITIES, word: _SEVERITIES[event.nseverity]}


def _judge(event: Event, body: Mapping[str, JSON]) -> tuple[State, str]:
    is_told = event.event_id or event.name or event.trigger_id
    if not is_told and any(map(_is_unfilled, body.values())):
        return "test", "test notification: no macro is filled in"
    if kind := _NO_ALERT_SOURCES.get(event.source):
        return "other", f"an event of {kind} is no alert"
    state = _STATES.get(event.value) or _STATES.get(event.status.lower(), "firing")
    if event.update_status == "1" and state == "firing":
        return "acknowledged", "acknowledgement or comment"
    return state, ""


def _is_unfilled(value: JSON) -> bool:
    """Whether a macro stands there as it was written, as in the test of a media type."""
    return isinstance(value, str) and bool(value.strip()) and not read_text(value)


def _address_of(event: Event) -> str:
    if not event.url or not event.trigger_id or not event.event_id:
        return event.url
    query = f"triggerid={event.trigger_id}&eventid={event.event_id}"
    return f"{event.url.rstrip('/')}/tr_events.php?{query}"


SOURCE = Source(
    name="zabbix",
    label="Zabbix",
    signs=(
        ("event_id", "event_value"),
        ("event_id", "trigger_id"),
        ("eventid", "triggerid"),
        ("event_name", "event_severity", "event_value"),
        ("event_nseverity", "event_value"),
        ("trigger_id", "event_value"),
        ("event_tags", "event_source", "event_value"),
        ("eventId", "eventValue"),
        ("triggerId", "eventValue"),
    ),
    expects="an object with `event_id`, `event_value` and `event_name`, as the parameters of the "
    "media type say",
    read=read,
    is_template=True,
)

"""Icinga 2: its event stream, as relays post it, and its notification scripts (Nagios' macros)."""

from collections.abc import Mapping
from dataclasses import replace

from investigations.sources.fields import Flag, Moment, Part, Text, as_object, read_text
from investigations.sources.nagios import SEVERITIES, judge, read_notification
from investigations.sources.reading import Post, Reading, State, make_alert
from investigations.sources.signs import Source

_SERVICE_STATES = {"0": "OK", "1": "WARNING", "2": "CRITICAL", "3": "UNKNOWN"}
_HOST_STATES = {"0": "UP", "1": "DOWN"}
_NO_ALERT: Mapping[str, tuple[State, str]] = {
    "AcknowledgementSet": ("acknowledged", ""),
    "CheckResult": ("other", "a result of a check is posted, no change"),
}
_OF_DOWNTIMES = ("DowntimeAdded", "DowntimeRemoved", "DowntimeStarted", "DowntimeTriggered")
_SOFT = "0"


class CheckResult(Part):
    state: Text = ""
    output: Text = ""
    exit_status: Text = ""
    execution_end: Moment = None


class Event(Part):
    type: Text = ""
    state: Text = ""
    state_type: Text = ""
    downtime_depth: Text = ""
    acknowledgement: Flag = False
    notification_type: Text = ""
    timestamp: Moment = None
    check_result: CheckResult = CheckResult()


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "check_result" not in body and "type" not in body:
        return Reading(source="icinga2", alerts=(replace(read_notification(post), left_out=""),))
    event = Event.model_validate(body)
    host, service = _name_of(body.get("host")), _name_of(body.get("service"))
    scale = _SERVICE_STATES if service else _HOST_STATES
    given = event.state or event.check_result.state
    word = scale.get(given, given.upper())
    state, reason = _judge(event, word)
    moment = event.timestamp or event.check_result.execution_end
    output = event.check_result.output
    what = f"{service} on {host}" if service else host
    alert = make_alert(
        state,
        reason=reason,
        key="!".join(each for each in (host, service) if each),
        titles=(f"{what}: {output}" if output else what, event.type),
        severity=word,
        severities=SEVERITIES,
        service=service or host,
        labels={"host": host, "service": service},
        starts_at=moment if state == "firing" else None,
        ends_at=moment if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="icinga2", alerts=(alert,))


def _judge(event: Event, word: str) -> tuple[State, str]:
    if event.type in _NO_ALERT:
        return _NO_ALERT[event.type]
    if event.type not in ("", "StateChange", "Notification"):
        return "other", f"{event.type} is no alert"
    state, reason = judge(event.notification_type, word)
    if state != "firing" or event.type != "StateChange":
        return state, reason
    if event.state_type == _SOFT:
        return "other", "a soft state: the check is tried again"
    if event.downtime_depth not in ("", "0"):
        return "other", "in a downtime"
    return ("acknowledged", "") if event.acknowledgement else ("firing", "")


def _name_of(value: object) -> str:
    if isinstance(value, dict):
        return read_text(value.get("name") or value.get("display_name"))
    return read_text(value)


SOURCE = Source(
    name="icinga2",
    label="Icinga 2",
    signs=(
        ("type", "host", "check_result"),
        ("host", "service", "check_result"),
        ("type=AcknowledgementSet", "host"),
        *((f"type={kind}", "downtime") for kind in _OF_DOWNTIMES),
        *((f"type={kind}", "comment") for kind in ("CommentAdded", "CommentRemoved")),
        ("type=AcknowledgementCleared", "host"),
        ("type=Flapping", "host"),
    ),
    expects="an event with `type`, `host` and `check_result`, or the macros of a notification",
    read=read,
    is_template=True,
    also=("nagios",),
)

"""ServiceNow: records of incidents, and events of Event Management, as a business rule or a flow
posts them, or one asks its tables for them."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BeforeValidator

from investigations.sources.fields import Moment, Part, Url, as_object, read_text, split_members
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
)
from investigations.sources.severity import Severity, normalise
from investigations.sources.signs import Source

_RESOLVED = ("6", "7", "8", "resolved", "closed", "canceled", "cancelled")
_IN_WORK = ("2", "3", "4", "5", "in progress", "on hold")
_SEVERITIES: Mapping[str, Severity] = {
    "1": "critical", "2": "high", "3": "warning", "4": "info", "5": "info",
}  # fmt: skip
_EVENT_SEVERITIES: Mapping[str, Severity] = {
    "0": "info", "1": "critical", "2": "high", "3": "warning", "4": "warning", "5": "info",
}  # fmt: skip
_LISTS = ("records", "result")
_WRAPPERS = ("result", "record", "incident", "data")


def _read_shown(value: object) -> str:
    """A field as text, whether it came with its shown value, as a reference, or plain."""
    if isinstance(value, dict):
        return read_text(value.get("display_value")) or read_text(value.get("value"))
    return read_text(value)


Shown = Annotated[str, BeforeValidator(_read_shown)]


class Event(Part):
    source: Shown = ""
    node: Shown = ""
    resource: Shown = ""
    metric_name: Shown = ""
    type: Shown = ""
    message_key: Shown = ""
    short_description: Shown = ""
    description: Shown = ""
    severity: Shown = ""
    state: Shown = ""
    resolution_state: Shown = ""
    time_of_event: Annotated[Moment, BeforeValidator(_read_shown)] = None


class Record(Part):
    sys_id: Shown = ""
    number: Shown = ""
    short_description: Shown = ""
    description: Shown = ""
    state: Shown = ""
    priority: Shown = ""
    severity: Shown = ""
    category: Shown = ""
    cmdb_ci: Shown = ""
    business_service: Shown = ""
    assignment_group: Shown = ""
    opened_at: Annotated[Moment, BeforeValidator(_read_shown)] = None
    reopened_time: Annotated[Moment, BeforeValidator(_read_shown)] = None
    resolved_at: Annotated[Moment, BeforeValidator(_read_shown)] = None
    link: Url = ""
    url: Url = ""


def read(post: Post) -> Reading:
    body = as_object(post.body)
    place = next((name for name in _LISTS if isinstance(body.get(name), list)), "")
    if not place:
        return Reading(source="servicenow", alerts=(_read_record(body),))
    members, bad, left_out = split_members(body[place], place)
    alerts = tuple(map(_read_record, members))
    return Reading("servicenow", alerts, unreadable=bad, left_out=left_out)


def _read_record(body: dict[str, JSON]) -> AlertReading:
    found = _find_record(body)
    if "message_key" in found or "metric_name" in found:
        return _read_event(body, Event.model_validate(found))
    record = Record.model_validate(found)
    state, reason = _judge(record.state.lower())
    word = record.priority or record.severity
    # Where shown values are sent, it is "1 - Critical".
    level = word[:1] if word[:1] in _SEVERITIES else word
    named = {
        "number": record.number,
        "cmdb_ci": record.cmdb_ci,
        "category": record.category,
        "assignment_group": record.assignment_group,
    }
    return make_alert(
        state,
        reason=reason,
        key=record.sys_id or record.number,
        titles=(record.short_description, record.description, record.number),
        severity=word,
        severities={word.lower(): normalise(level, _SEVERITIES)},
        service=record.business_service or record.cmdb_ci,
        labels=named,
        links=Links(alert=record.link or record.url),
        # One that is opened again has the time when it was first opened still.
        starts_at=(record.reopened_time or record.opened_at) if state == "firing" else None,
        ends_at=record.resolved_at if state == "resolved" else None,
        body=body,
    )


def _read_event(body: dict[str, JSON], event: Event) -> AlertReading:
    """An event or alert of Event Management: a severity of 0 clears it."""
    is_over = event.severity == "0" or event.resolution_state.lower() in ("closing", "closed")
    is_over = is_over or event.state.lower() == "closed"
    where = " ".join(each for each in (event.node, event.resource, event.metric_name) if each)
    return make_alert(
        "resolved" if is_over else "firing",
        key=event.message_key or all_of(event.source, event.node, event.resource, event.type),
        titles=(event.short_description, event.description, where),
        severity=event.severity,
        severities=_EVENT_SEVERITIES,
        service=event.node,
        labels={"node": event.node, "resource": event.resource, "metric": event.metric_name},
        starts_at=None if is_over else event.time_of_event,
        ends_at=event.time_of_event if is_over else None,
        body=body,
    )


def _judge(state: str) -> tuple[State, str]:
    if state in _RESOLVED:
        return "resolved", ""
    if state in _IN_WORK:
        return "acknowledged", "acknowledgement: somebody works on it"
    return "firing", ""


def _find_record(body: Mapping[str, object]) -> Mapping[str, object]:
    for name in _WRAPPERS:
        inner = as_object(body.get(name))
        if "sys_id" in inner or "short_description" in inner:
            return inner
    return body


SOURCE = Source(
    name="servicenow",
    label="ServiceNow",
    signs=(
        ("sys_id", "number", "short_description"),
        ("number", "short_description", "state"),
        ("records[].message_key",),
        ("message_key", "node", "severity"),
        ("result.sys_id", "result.short_description"),
        ("record.sys_id", "record.short_description"),
        ("incident.sys_id", "incident.short_description"),
    ),
    expects="an incident's record with `sys_id`, `number`, `short_description` and `state`",
    read=read,
    is_template=True,
)

"""PagerDuty: its webhooks, and events of both versions, as other tools emit them."""

from datetime import datetime

from pydantic import Field

from investigations.sources.fields import (
    Labels,
    Moment,
    Object,
    Part,
    Text,
    Url,
    as_object,
    split_members,
)
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    key_of_labels,
    make_alert,
)
from investigations.sources.severity import Severity
from investigations.sources.signs import Source

_REOPENED = "incident.reopened"
_STATES: dict[str, State] = {
    "incident.triggered": "firing",
    _REOPENED: "firing",
    "incident.resolved": "resolved",
    "incident.acknowledged": "acknowledged",
    "pagey.ping": "test",
}
_OLDER_STATES: dict[str, State] = {
    "incident.trigger": "firing",
    "incident.acknowledge": "acknowledged",
    "incident.resolve": "resolved",
}
_ACTIONS: dict[str, State] = {
    "trigger": "firing",
    "acknowledge": "acknowledged",
    "resolve": "resolved",
}
_KEYS = ("routing_key", "service_key")
_URGENCIES: dict[str, Severity] = {"low": "info"}


class Reference(Part):
    id: Text = ""
    summary: Text = ""
    name: Text = ""
    html_url: Url = ""


class Trigger(Part):
    subject: Text = ""


class Incident(Part):
    id: Text = ""
    incident_key: Text = ""
    title: Text = ""
    summary: Text = ""
    html_url: Url = ""
    created_at: Moment = None
    service: Reference = Reference()
    priority: Reference = Reference()
    urgency: Text = ""
    trigger: Trigger = Field(Trigger(), validation_alias="trigger_summary_data")


class Event(Part):
    id: Text = ""
    event_type: Text = ""
    occurred_at: Moment = None
    data: Object = {}


class Message(Part):
    event: Text = ""
    type: Text = ""
    created_on: Moment = None
    incident: Object = {}
    data: Object = {}


class EventPayload(Part):
    summary: Text = ""
    source: Text = ""
    severity: Text = ""
    timestamp: Moment = None
    component: Text = ""
    group: Text = ""
    custom_details: Labels = {}


class EventV2(Part):
    event_action: Text = ""
    dedup_key: Text = ""
    client_url: Url = ""
    payload: EventPayload = EventPayload()


class EventV1(Part):
    event_type: Text = ""
    incident_key: Text = ""
    description: Text = ""
    client_url: Url = ""
    details: Labels = {}


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "messages" in body:
        return _read_messages(body)
    if "event_action" in body:
        return Reading(source="pagerduty", alerts=(_read_event_v2(body),))
    if "service_key" in body:
        return Reading(source="pagerduty", alerts=(_read_event_v1(body),))
    if "event" not in body:
        return Reading(source="pagerduty", notice="a change event is no alert")
    event = Event.model_validate(body.get("event"))
    state = _STATES.get(event.event_type, "other")
    # A note or a responder is told with the incident inside.
    incident = Incident.model_validate(event.data.get("incident") or event.data)
    alert = make_alert(
        state,
        reason=event.event_type if state == "other" else "",
        key=incident.id or incident.incident_key or event.id,
        titles=(incident.title, incident.summary, incident.id, event.event_type),
        severity=incident.priority.summary or incident.urgency,
        severities={} if incident.priority.summary else _URGENCIES,
        service=incident.service.summary,
        labels={"incident_key": incident.incident_key} if incident.incident_key else {},
        links=Links(alert=incident.html_url),
        starts_at=_start_of(event, incident) if state == "firing" else None,
        ends_at=event.occurred_at if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="pagerduty", alerts=(alert,), group_key=incident.id, delivery_id=event.id)


def _start_of(event: Event, incident: Incident) -> datetime | None:
    """One that is reopened has the time of its creation still."""
    return event.occurred_at if event.event_type == _REOPENED else incident.created_at


def _read_messages(body: dict[str, JSON]) -> Reading:
    """The webhooks before version 3, which hold several messages."""
    members, bad, left_out = split_members(body["messages"], "messages")
    alerts = tuple(_read_message(each) for each in members)
    return Reading("pagerduty", alerts, unreadable=bad, left_out=left_out)


def _read_message(body: dict[str, JSON]) -> AlertReading:
    message = Message.model_validate(body)
    incident = Incident.model_validate(message.incident or message.data.get("incident"))
    kind = message.event or message.type
    state = _OLDER_STATES.get(kind, "other")
    return make_alert(
        state,
        reason=kind if state == "other" else "",
        key=incident.id or incident.incident_key,
        titles=(incident.title, incident.summary, incident.trigger.subject, incident.id),
        severity=incident.priority.summary or incident.urgency,
        severities={} if incident.priority.summary else _URGENCIES,
        service=incident.service.summary or incident.service.name,
        links=Links(alert=incident.html_url),
        starts_at=incident.created_at if state == "firing" else None,
        ends_at=message.created_on if state == "resolved" else None,
        body=body,
    )


def _read_event_v2(body: dict[str, JSON]) -> AlertReading:
    event = EventV2.model_validate(body)
    payload = event.payload
    state = _ACTIONS.get(event.event_action.lower(), "other")
    named = {"summary": payload.summary, "source": payload.source, "component": payload.component}
    return make_alert(
        state,
        reason=event.event_action if state == "other" else "",
        key=event.dedup_key or key_of_labels(named),
        titles=(payload.summary, event.dedup_key),
        severity=payload.severity,
        service=payload.component or payload.source,
        labels=payload.custom_details,
        links=Links(alert=event.client_url),
        starts_at=payload.timestamp if state == "firing" else None,
        body=_without_keys(body),
    )


def _read_event_v1(body: dict[str, JSON]) -> AlertReading:
    event = EventV1.model_validate(body)
    state = _ACTIONS.get(event.event_type.lower(), "other")
    return make_alert(
        state,
        reason=event.event_type if state == "other" else "",
        key=event.incident_key,
        titles=(event.description, event.incident_key),
        labels=event.details,
        links=Links(alert=event.client_url),
        body=_without_keys(body),
    )


def _without_keys(body: dict[str, JSON]) -> dict[str, JSON]:
    """They are secrets of whoever sends."""
    return {name: value for name, value in body.items() if name not in _KEYS}


SOURCE = Source(
    name="pagerduty",
    label="PagerDuty",
    signs=(
        ("event.event_type", "event.data"),
        ("routing_key", "event_action"),
        ("event_action", "payload.summary"),
        ("event_action", "dedup_key"),
        ("service_key", "event_type"),
        # A change, which is no alert.
        ("routing_key", "payload.summary"),
        ("messages[].incident",),
        ("messages[].data.incident",),
    ),
    least=("event{}",),
    expects="an object with `event.event_type` and `event.data` (webhooks version 3), or with "
    "`event_action` and `payload` (events version 2)",
    read=read,
)

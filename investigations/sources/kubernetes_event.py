"""Kubernetes events of the core API and of events.k8s.io, alone, in lists and from a watch."""

import re

from pydantic import AliasChoices, Field

from investigations.sources.fields import Moment, Part, Text, as_object, split_members
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Post,
    Reading,
    State,
    key_of_labels,
    make_alert,
)
from investigations.sources.signs import Source


class Reference(Part):
    kind: Text = ""
    namespace: Text = ""
    name: Text = ""
    uid: Text = ""


class Metadata(Part):
    namespace: Text = ""
    uid: Text = ""
    resourceVersion: Text = ""
    creationTimestamp: Moment = None


class Component(Part):
    component: Text = ""
    host: Text = ""


class Event(Part):
    metadata: Metadata = Metadata()
    about: Reference = Field(
        Reference(), validation_alias=AliasChoices("involvedObject", "regarding")
    )
    reason: Text = ""
    told: Text = Field("", validation_alias=AliasChoices("message", "note"))
    type: Text = ""
    severity: Text = ""
    """What controllers of Flux tell in place of a type."""
    source: Component = Field(
        Component(), validation_alias=AliasChoices("source", "deprecatedSource")
    )
    reportingComponent: Text = Field(
        "", validation_alias=AliasChoices("reportingComponent", "reportingController")
    )
    first: Moment = Field(
        None, validation_alias=AliasChoices("firstTimestamp", "deprecatedFirstTimestamp")
    )
    eventTime: Moment = Field(None, validation_alias=AliasChoices("eventTime", "timestamp"))
    clusterName: Text = ""


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "items" in body:
        members, bad, left_out = split_members(body["items"], "items")
        alerts = tuple(_read_event(each) for each in members)
        notice = "" if alerts or bad else "no events: the list is empty"
        return Reading("kubernetes_event", alerts, notice=notice, unreadable=bad, left_out=left_out)
    # As a watch tells it, and as eventrouter does.
    inner = body.get("object") or body.get("event")
    if isinstance(inner, dict):
        if body.get("type") == "DELETED":
            return Reading("kubernetes_event", notice="a deleted event is no alert")
        body = inner
    alert = _read_event(body)
    metadata = Event.model_validate(body).metadata
    return Reading(
        "kubernetes_event", (alert,), delivery_id=f"{metadata.uid}/{metadata.resourceVersion}"
    )


def _read_event(body: dict[str, JSON]) -> AlertReading:
    """An event is never told to be over. Its object and reason stay the same while its count, its
    times and often its message change."""
    event = Event.model_validate(body)
    about = event.about
    namespace = about.namespace or event.metadata.namespace
    named = {
        "reason": event.reason,
        "component": event.source.component or event.reportingComponent,
        "node": event.source.host,
        "cluster": event.clusterName,
    }
    place = {"kind": about.kind, "name": about.name, "namespace": namespace}
    which = about.uid or key_of_labels(place)
    is_normal = event.type == "Normal" or (not event.type and event.severity == "info")
    state: State = "other" if is_normal else "firing"
    what = f"{about.kind} {about.name}".strip()
    is_named = re.search(rf"(?<!\w){re.escape(about.name[:300])}(?!\w)", event.told)
    seen = what if about.name and not is_named else ""
    return make_alert(
        state,
        reason="normal event" if state == "other" else "",
        key=f"{which}/{event.reason}" if which else "",
        titles=(": ".join(each for each in (event.reason, seen, event.told) if each), what),
        severity=event.type or event.severity,
        service=about.name,
        labels=place | named,
        starts_at=event.first or event.eventTime or event.metadata.creationTimestamp,
        tells_end=False,
        body=body,
    )


SOURCE = Source(
    name="kubernetes_event",
    label="Kubernetes events",
    signs=(
        ("kind=Event", "metadata"),
        ("involvedObject{}", "reason"),
        ("regarding{}", "reason"),
        ("kind=EventList", "items[]"),
        ("object.kind=Event", "type"),
        ("verb", "event.involvedObject", "event.reason"),
    ),
    expects="an event with `involvedObject` or `regarding`, and `reason`",
    read=read,
)

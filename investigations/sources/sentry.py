"""Sentry: issues, issue alerts, metric alerts, and the old plugin's posts."""

from collections.abc import Mapping

from investigations.sources.fields import (
    Labels,
    Moment,
    Object,
    Part,
    Text,
    Url,
    as_object,
    read_text,
    read_url,
)
from investigations.sources.reading import (
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
)
from investigations.sources.signs import Source

_ISSUE_STATES: Mapping[str, tuple[State, str]] = {
    "created": ("firing", ""),
    "triggered": ("firing", ""),
    "unresolved": ("firing", ""),
    "resolved": ("resolved", ""),
    "assigned": ("acknowledged", "acknowledgement: somebody has the issue"),
    "ignored": ("acknowledged", "acknowledgement: the issue is archived"),
    "archived": ("acknowledged", "acknowledgement: the issue is archived"),
}


class Event(Part):
    issue_id: Text = ""
    event_id: Text = ""
    title: Text = ""
    message: Text = ""
    culprit: Text = ""
    level: Text = ""
    datetime: Moment = None
    environment: Text = ""
    tags: Labels = {}
    web_url: Url = ""


class Project(Part):
    slug: Text = ""
    name: Text = ""


class Issue(Part):
    id: Text = ""
    shortId: Text = ""
    title: Text = ""
    culprit: Text = ""
    level: Text = ""
    firstSeen: Moment = None
    lastSeen: Moment = None
    web_url: Url = ""
    permalink: Url = ""
    project: Project = Project()


class Rule(Part):
    id: Text = ""
    name: Text = ""


class MetricAlert(Part):
    id: Text = ""
    title: Text = ""
    date_started: Moment = None
    date_closed: Moment = None
    alert_rule: Rule = Rule()


class Plugin(Part):
    id: Text = ""
    project_slug: Text = ""
    project: Text = ""
    message: Text = ""
    culprit: Text = ""
    level: Text = ""
    url: Url = ""
    event: Object = {}


def read(post: Post) -> Reading:
    body = as_object(post.body)
    delivery = post.headers.get("request-id", "")
    data = as_object(body.get("data"))
    action = read_text(body.get("action")).lower()
    alert = _read_one(post, body, data, action)
    if alert is None:
        kind = post.headers.get("sentry-hook-resource", "this kind of post")
        return Reading(
            source="sentry", notice=f"{kind} {action} is about no alert", delivery_id=delivery
        )
    return Reading(source="sentry", alerts=(alert,), delivery_id=delivery)


def _read_one(
    post: Post, body: Mapping[str, object], data: Mapping[str, object], action: str
) -> AlertReading | None:
    if "metric_alert" in data:
        return _read_metric_alert(post, data, action)
    if isinstance(data.get("issue"), dict) and "comment" not in data:
        return _read_issue(post, Issue.model_validate(data["issue"]), action)
    if event := as_object(data.get("event") or data.get("error")):
        return _read_event(post, Event.model_validate(event))
    if "event" in body and "data" not in body:
        return _read_plugin(post, Plugin.model_validate(body))
    return None


def _read_event(post: Post, event: Event) -> AlertReading:
    """An issue alert. It never says that anything is over; that is told of the issue."""
    is_sample = event.tags.get("sample_event") == "yes"
    return make_alert(
        "test" if is_sample else "firing",
        reason="test notification" if is_sample else "",
        key=event.issue_id or event.event_id,
        titles=(event.title, event.message, event.culprit),
        severity=event.level,
        labels={**event.tags, "environment": event.environment, "culprit": event.culprit},
        links=Links(alert=event.web_url),
        starts_at=event.datetime,
        body=post.body,
    )


def _read_issue(post: Post, issue: Issue, action: str) -> AlertReading:
    state, reason = _ISSUE_STATES.get(action, ("other", f"issue {action} is no new alert"))
    # An issue that comes back was first seen long ago; when one was resolved is told nowhere.
    begins = issue.lastSeen if action == "unresolved" else issue.firstSeen
    return make_alert(
        state,
        reason=reason,
        key=issue.id or issue.shortId,
        titles=(issue.title, issue.culprit, issue.shortId),
        severity=issue.level,
        service=issue.project.slug or issue.project.name,
        labels={"culprit": issue.culprit, "issue": issue.shortId},
        links=Links(alert=issue.web_url or issue.permalink),
        starts_at=begins if state == "firing" else None,
        body=post.body,
    )


def _read_metric_alert(post: Post, data: Mapping[str, object], action: str) -> AlertReading:
    incident = MetricAlert.model_validate(data["metric_alert"])
    title = read_text(data.get("description_title"))
    state: State = "resolved" if action == "resolved" else "firing"
    return make_alert(
        state,
        key=all_of("metric", incident.id or incident.alert_rule.id or title),
        titles=(incident.alert_rule.name, incident.title, title),
        severity=action if state == "firing" else "",
        labels={"rule": incident.alert_rule.name},
        links=Links(alert=read_url(data.get("web_url"))),
        starts_at=incident.date_started,
        ends_at=incident.date_closed if state == "resolved" else None,
        body=post.body,
    )


def _read_plugin(post: Post, told: Plugin) -> AlertReading:
    event = Event.model_validate(told.event)
    return make_alert(
        "firing",
        key=told.id or event.issue_id,
        titles=(event.title, told.message, told.culprit),
        severity=told.level or event.level,
        service=told.project_slug or told.project,
        labels=event.tags,
        links=Links(alert=told.url),
        body=post.body,
    )


SOURCE = Source(
    name="sentry",
    label="Sentry",
    signs=(
        ("header:sentry-hook-resource", "action", "data"),
        ("action", "data.event.issue_id"),
        ("action", "data.event.event_id"),
        ("action", "data.issue.id"),
        ("action", "data.metric_alert"),
        ("project_slug", "culprit", "event"),
    ),
    least=("data{}", "action"),
    expects="an object with `action` and `data`, with the header Sentry-Hook-Resource",
    read=read,
)

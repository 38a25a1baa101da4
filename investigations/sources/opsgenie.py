"""Opsgenie, and the alerts of Jira Service Management, which have taken its form."""

from dataclasses import replace

from investigations.sources.fields import Labels, Moment, Part, Text, Texts, as_object
from investigations.sources.reading import Post, Reading, State, make_alert
from investigations.sources.signs import Source

_STATES: dict[str, State] = {
    "create": "firing",
    "close": "resolved",
    "delete": "resolved",
    "acknowledge": "acknowledged",
}


class Alert(Part):
    alertId: Text = ""
    id: Text = ""
    alias: Text = ""
    tinyId: Text = ""
    message: Text = ""
    entity: Text = ""
    priority: Text = ""
    createdAt: Moment = None
    updatedAt: Moment = None
    tags: Texts = ()
    details: Labels = {}


class Envelope(Part):
    action: Text = ""
    alert: Alert = Alert()


def read(post: Post) -> Reading:
    envelope = Envelope.model_validate(post.body)
    alert = envelope.alert
    state = _STATES.get(envelope.action.lower(), "other")
    reading = make_alert(
        state,
        reason=f"{envelope.action} is no new alert" if state == "other" else "",
        key=alert.alias or alert.alertId or alert.id,
        titles=(alert.message, alert.alias, alert.tinyId),
        severity=alert.priority,
        service=alert.details.get("service", "") or alert.entity,
        labels={**alert.details, **{tag: tag for tag in alert.tags}},
        starts_at=alert.createdAt,
        ends_at=alert.updatedAt if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="opsgenie", alerts=(reading,))


def read_for_jira(post: Post) -> Reading:
    """The same under the other name."""
    return replace(read(post), source="jira_sm")


def is_ops_alert(post: Post) -> bool:
    body = as_object(post.body)
    return "action" in body and isinstance(body.get("alert"), dict)


SOURCE = Source(
    name="opsgenie",
    label="Opsgenie",
    signs=(
        ("action", "alert.alertId"),
        ("action", "alert.tinyId"),
        ("action", "alert.alias", "integrationId"),
    ),
    least=("action", "alert{}"),
    expects="an object with `action` and `alert`",
    read=read,
)

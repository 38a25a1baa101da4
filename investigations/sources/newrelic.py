"""New Relic: workflows, whose body is a template, and the older notification channels."""

from collections.abc import Mapping

from investigations.sources.fields import Labels, Moment, Part, Text, Texts, Url, as_object
from investigations.sources.reading import (
    Links,
    Post,
    Reading,
    State,
    all_of,
    make_alert,
    name_and_told,
)
from investigations.sources.signs import Source

_STATES: Mapping[str, State] = {
    "created": "firing",
    "activated": "firing",
    "open": "firing",
    "closed": "resolved",
    "resolved": "resolved",
    "deactivated": "resolved",
    "acknowledged": "acknowledged",
    "test": "test",
}

_ACKNOWLEDGED = ("acknowledged", "issue_acknowledged", "user_action")
"""What made the workflow send, where somebody did something about an issue that is active."""


class Issue(Part):
    id: Text = ""
    issueId: Text = ""
    issueUrl: Url = ""
    title: Texts = ()
    priority: Text = ""
    state: Text = ""
    trigger: Text = ""
    impactedEntities: Texts = ()
    alertPolicyNames: Texts = ()
    alertConditionNames: Texts = ()
    condition_name: Text = ""
    details: Text = ""
    createdAt: Moment = None
    closedAt: Moment = None


class OlderIncident(Part):
    incident_id: Text = ""
    incident_url: Url = ""
    account_id: Text = ""
    condition_name: Text = ""
    policy_name: Text = ""
    current_state: Text = ""
    severity: Text = ""
    details: Text = ""
    event_type: Text = ""
    timestamp: Moment = None
    runbook_url: Url = ""
    violation_chart_url: Url = ""
    labels: Labels = {}


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "current_state" in body:
        return _read_older(post)
    issue = Issue.model_validate(body)
    state = _STATES.get(issue.state.lower(), "firing")
    if state == "firing" and issue.trigger.lower() in _ACKNOWLEDGED:
        state = "acknowledged"
    told = name_and_told(issue.condition_name, issue.details)
    titles = (*issue.title, told, *issue.alertConditionNames, *issue.alertPolicyNames)
    alert = make_alert(
        state,
        key=issue.id or issue.issueId,
        titles=titles,
        severity=issue.priority,
        service=", ".join(issue.impactedEntities[:3]),
        labels={
            "policy": ", ".join(issue.alertPolicyNames),
            "condition": ", ".join(issue.alertConditionNames),
            "entities": ", ".join(issue.impactedEntities),
        },
        links=Links(alert=issue.issueUrl),
        starts_at=issue.createdAt,
        ends_at=issue.closedAt if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="newrelic", alerts=(alert,))


def _read_older(post: Post) -> Reading:
    told = OlderIncident.model_validate(post.body)
    # The test of a channel sends an incident without a number.
    is_test = told.incident_id == "0"
    state = "test" if is_test else _STATES.get(told.current_state.lower(), "firing")
    alert = make_alert(
        state,
        key=told.incident_id or all_of(told.account_id, told.policy_name, told.condition_name),
        titles=(name_and_told(told.condition_name, told.details), told.policy_name),
        severity=told.severity,
        labels={**told.labels, "policy": told.policy_name, "condition": told.condition_name},
        links=Links(told.incident_url, told.violation_chart_url, told.runbook_url),
        starts_at=told.timestamp if state == "firing" else None,
        ends_at=told.timestamp if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="newrelic", alerts=(alert,))


SOURCE = Source(
    name="newrelic",
    label="New Relic",
    signs=(
        ("issueUrl", "title", "state"),
        ("impactedEntities", "state", "priority"),
        ("alertPolicyNames", "state"),
        ("condition_name", "current_state", "policy_name"),
    ),
    expects="an object with `id`, `title`, `state` and `priority`, as the template of the "
    "workflow says",
    read=read,
    is_template=True,
)

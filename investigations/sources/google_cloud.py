"""Google Cloud Monitoring."""

from collections.abc import Mapping

from investigations.sources.fields import Labels, Members, Moment, Part, Text, Url, as_object
from investigations.sources.reading import (
    Links,
    Post,
    Reading,
    State,
    make_alert,
    name_and_told,
)
from investigations.sources.signs import Source

_STATES: Mapping[str, State] = {
    "open": "firing",
    "closed": "resolved",
    "acknowledged": "acknowledged",
}


class Labelled(Part):
    type: Text = ""
    labels: Labels = {}


class Documentation(Part):
    links: Members = ()


class DocumentationLink(Part):
    url: Url = ""


class Metadata(Part):
    user_labels: Labels = {}


class Incident(Part):
    incident_id: Text = ""
    scoping_project_id: Text = ""
    url: Url = ""
    started_at: Moment = None
    ended_at: Moment = None
    state: Text = ""
    summary: Text = ""
    severity: Text = ""
    policy_name: Text = ""
    condition_name: Text = ""
    resource: Labelled = Labelled()
    metric: Labelled = Labelled()
    metadata: Metadata = Metadata()
    policy_user_labels: Labels = {}
    documentation: Documentation = Documentation()


def read(post: Post) -> Reading:
    body = as_object(post.body)
    told = Incident.model_validate(body.get("incident"))
    state = _STATES.get(told.state.lower(), "firing")
    is_test = body.get("version") == "test"
    runbooks = [DocumentationLink.model_validate(each).url for each in told.documentation.links]
    # The name of a policy may be its path.
    name = told.condition_name if "/" in told.policy_name else told.policy_name
    alert = make_alert(
        "test" if is_test else state,
        key=told.incident_id,
        titles=(name_and_told(name, told.summary), told.condition_name),
        severity=told.severity,
        labels={
            "project": told.scoping_project_id,
            **told.resource.labels,
            **told.metric.labels,
            **told.metadata.user_labels,
            **told.policy_user_labels,
        },
        links=Links(alert=told.url, runbook=next((each for each in runbooks if each), "")),
        starts_at=told.started_at,
        ends_at=told.ended_at if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="gcp_monitoring", alerts=(alert,))


SOURCE = Source(
    name="gcp_monitoring",
    label="Google Cloud Monitoring",
    signs=(("incident.incident_id", "incident.state"), ("incident.policy_name", "version")),
    least=("incident{}",),
    expects="an object with `incident` and `version`",
    read=read,
)

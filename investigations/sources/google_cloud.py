"""Google Cloud Monitoring, and Error Reporting, which posts through its channels."""

from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from investigations.sources.fields import Labels, Members, Moment, Part, Text, Url, as_object
from investigations.sources.reading import (
    AlertReading,
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


class ErrorGroup(Part):
    project_id: Text = ""
    detail_link: Url = ""


class ErrorEvent(Part):
    log_message: Text = ""
    service: Text = ""
    version: Text = ""


class ErrorReport(Part):
    subject: Text = ""
    group_info: ErrorGroup = ErrorGroup()
    event_info: ErrorEvent = ErrorEvent()


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "group_info" in body:
        return Reading("gcp_monitoring", (_read_error(post, ErrorReport.model_validate(body)),))
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


def _read_error(post: Post, report: ErrorReport) -> AlertReading:
    """A group of errors that is new or has come back, as Error Reporting tells it through the same
    channels. It is never told to be over."""
    group, event = report.group_info, report.event_info
    return make_alert(
        "firing",
        key=_key_of_group(group.detail_link),
        titles=(report.subject, event.log_message),
        severity="error",
        service=event.service,
        labels={"project": group.project_id, "version": event.version},
        links=Links(alert=group.detail_link),
        tells_end=False,
        body=post.body,
    )


def _key_of_group(address: str) -> str:
    """Its address, without the span of time that is shown first: the group may be named in the path
    or behind it."""
    parts = urlsplit(address)
    told = [each for each in parse_qsl(parts.query) if not each[0].lower().startswith("time")]
    return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(sorted(told)), ""))


SOURCE = Source(
    name="gcp_monitoring",
    label="Google Cloud Monitoring",
    signs=(
        ("incident.incident_id", "incident.state"),
        ("incident.policy_name", "version"),
        ("group_info.detail_link", "exception_info", "event_info"),
    ),
    least=("incident{}",),
    expects="an object with `incident` and `version`",
    read=read,
)

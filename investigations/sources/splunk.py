"""Splunk: the webhook action of a search with the first row of its result, and a detector of Splunk
Observability (SignalFx before)."""

from investigations.sources.fields import (
    Labels,
    Moment,
    Object,
    Part,
    Text,
    Url,
    as_object,
    read_labels,
)
from investigations.sources.reading import (
    Links,
    Post,
    Reading,
    key_of_labels,
    make_alert,
    name_and_told,
)
from investigations.sources.signs import Source

_PLACES = ("host", "source", "sourcetype", "index", "service")
"""The fields of a row that say where it comes from. Any other may change from run to run."""


class Search(Part):
    sid: Text = ""
    search_name: Text = ""
    app: Text = ""
    owner: Text = ""
    results_link: Url = ""
    result: Object = {}


class Detection(Part):
    incidentId: Text = ""
    detectorId: Text = ""
    detector: Text = ""
    detectorUrl: Url = ""
    rule: Text = ""
    description: Text = ""
    severity: Text = ""
    status: Text = ""
    timestamp: Moment = None
    dimensions: Labels = {}
    runbookUrl: Url = ""


class Row(Part):
    severity: Text = ""
    urgency: Text = ""
    service: Text = ""


class Time(Part):
    moment: Moment = None


def read(post: Post) -> Reading:
    if "incidentId" in as_object(post.body):
        return _read_detection(post)
    search = Search.model_validate(post.body)
    labels = read_labels(search.result)
    row = Row.model_validate(search.result)
    places = {name: labels[name] for name in _PLACES if labels.get(name)}
    name = search.search_name or search.sid
    where = labels.get("host", "")
    alert = make_alert(
        "firing",
        key=f"{name} {key_of_labels(places)}".strip(),
        titles=(f"{name} ({where})" if name and where else name, "Splunk search"),
        severity=row.severity or row.urgency,
        service=row.service,
        labels={name: value for name, value in labels.items() if not name.startswith("_")},
        links=Links(alert=search.results_link),
        starts_at=Time(moment=search.result.get("_time")).moment,
        tells_end=False,
        body=post.body,
    )
    # Each run of the search has an id of its own.
    return Reading(source="splunk", alerts=(alert,), delivery_id=search.sid)


def _read_detection(post: Post) -> Reading:
    """What a detector has found. It is over when all is well again, or nobody looks any more."""
    told = Detection.model_validate(post.body)
    is_over = told.status.lower() not in ("", "anomalous")
    rule = told.rule or told.detector
    alert = make_alert(
        "resolved" if is_over else "firing",
        key=told.incidentId,
        titles=(name_and_told(rule, told.description), told.detector),
        severity=told.severity,
        labels={"detector": told.detector, "rule": told.rule, **told.dimensions},
        links=Links(alert=told.detectorUrl, runbook=told.runbookUrl),
        starts_at=None if is_over else told.timestamp,
        ends_at=told.timestamp if is_over else None,
        body=post.body,
    )
    return Reading(source="splunk", alerts=(alert,))


SOURCE = Source(
    name="splunk",
    label="Splunk",
    signs=(
        ("sid", "search_name"),
        ("search_name", "results_link"),
        ("sid", "results_link", "result"),
        ("incidentId", "detectorId", "rule"),
        ("incidentId", "detector", "rule"),
    ),
    least=("search_name",),
    expects="an object with `search_name`, `sid` and `result`, or one of a detector with "
    "`incidentId`, `detector` and `rule`",
    read=read,
)

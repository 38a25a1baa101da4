"""Splunk's webhook action: the name of a search and the first row of its result."""

from investigations.sources.fields import Moment, Object, Part, Text, Url, read_labels
from investigations.sources.reading import Links, Post, Reading, key_of_labels, make_alert
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


class Row(Part):
    severity: Text = ""
    urgency: Text = ""
    service: Text = ""


class Time(Part):
    moment: Moment = None


def read(post: Post) -> Reading:
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


SOURCE = Source(
    name="splunk",
    label="Splunk",
    signs=(
        ("sid", "search_name"),
        ("search_name", "results_link"),
        ("sid", "results_link", "result"),
    ),
    least=("search_name",),
    expects="an object with `search_name`, `sid` and `result`",
    read=read,
)

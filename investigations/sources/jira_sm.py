"""Jira Service Management: issues by webhook or automation, and alerts in Opsgenie's form."""

from urllib.parse import urlsplit

from investigations.sources.fields import (
    Members,
    Moment,
    Part,
    Text,
    Texts,
    as_object,
    read_moment,
    read_text,
)
from investigations.sources.opsgenie import is_ops_alert, read_for_jira
from investigations.sources.reading import Links, Post, Reading, State, make_alert
from investigations.sources.signs import Source

_UPDATED = "issue_updated"


class Named(Part):
    name: Text = ""


class Category(Part):
    key: Text = ""


class Status(Part):
    name: Text = ""
    statusCategory: Category = Category()


class Fields(Part):
    summary: Text = ""
    status: Status = Status()
    priority: Named = Named()
    labels: Texts = ()
    created: Moment = None
    resolutiondate: Moment = None
    project: Named = Named()


class Issue(Part):
    key: Text = ""
    self: Text = ""
    fields: Fields = Fields()


class Change(Part):
    items: Members = ()


def read(post: Post) -> Reading:
    if is_ops_alert(post):
        return read_for_jira(post)
    body = as_object(post.body)
    event = read_text(body.get("webhookEvent"))
    issue = Issue.model_validate(body.get("issue") or body)
    state, reason = _judge(event, issue, Change.model_validate(body.get("changelog")))
    fields = issue.fields
    # One that is opened again has the time of its creation still.
    begins = read_moment(body.get("timestamp")) if event.endswith(_UPDATED) else fields.created
    alert = make_alert(
        state,
        reason=reason,
        key=issue.key,
        titles=(fields.summary, issue.key),
        severity=fields.priority.name,
        service=fields.project.name,
        labels={label: label for label in fields.labels},
        links=Links(alert=_address_of(issue)),
        starts_at=begins if state == "firing" else None,
        ends_at=fields.resolutiondate if state == "resolved" else None,
        body=post.body,
    )
    return Reading(source="jira_sm", alerts=(alert,))


def _judge(event: str, issue: Issue, change: Change) -> tuple[State, str]:
    """Comments and edits are posted as well, also those that we cause: they start nothing."""
    if event.endswith("issue_deleted") or issue.fields.status.statusCategory.key == "done":
        return "resolved", ""
    if event in ("", "jira:issue_created"):
        return "firing", ""
    changed = [as_object(item) for item in change.items]
    if any(item.get("field") == "resolution" and not item.get("to") for item in changed):
        return "firing", ""
    return "other", f"{event.removeprefix('jira:')} of an open issue is no new alert"


def _address_of(issue: Issue) -> str:
    """`self` is an address of the API; people read the issue below `/browse/`."""
    try:
        place = urlsplit(issue.self)
    except ValueError:
        return ""
    known = place.scheme in ("http", "https") and place.netloc and issue.key
    return f"{place.scheme}://{place.netloc}/browse/{issue.key}" if known else ""


SOURCE = Source(
    name="jira_sm",
    label="Jira Service Management",
    signs=(("webhookEvent", "issue.key"), ("key", "fields.summary")),
    least=("action", "alert{}"),
    also=("opsgenie",),
    expects="an object with `webhookEvent` and `issue`, or with `action` and `alert`",
    read=read,
)

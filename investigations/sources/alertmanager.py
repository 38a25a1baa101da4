"""Alertmanager's webhook, version 4, and the bare list that Prometheus and vmalert send to it."""

from collections.abc import Mapping

from pydantic import Field

from investigations.sources.fields import (
    Labels,
    Moment,
    Part,
    Text,
    Url,
    read_url,
    split_members,
)
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    is_over,
    key_of_labels,
    make_alert,
    name_and_told,
)
from investigations.sources.signs import Source

_TELLING = ("summary", "title", "message", "description")
"""Annotations that tell what is wrong, the shortest ones first."""


class StatusOfMember(Part):
    """As the API of Alertmanager answers it."""

    state: Text = ""


class Member(Part):
    status: Text = ""
    status_object: StatusOfMember = Field(StatusOfMember(), validation_alias="status")
    labels: Labels = {}
    annotations: Labels = {}
    startsAt: Moment = None
    endsAt: Moment = None
    generatorURL: Url = ""
    fingerprint: Text = ""
    severity: Text = ""

    @property
    def severity_word(self) -> str:
        """That of its labels, else what a template of the user's says beside them."""
        return self.labels.get("severity") or self.labels.get("priority") or self.severity


class Group(Part):
    groupKey: Text = ""
    truncatedAlerts: Text = ""
    status: Text = ""


def read_group(post: Post) -> Reading:
    group = Group.model_validate(post.body)
    members, bad, left_out = split_members(_members_of(post.body), "alerts")
    alerts = tuple(_read_member(each, group.status) for each in members)
    return Reading(
        source="alertmanager",
        alerts=alerts,
        group_key=group.groupKey,
        notice="" if alerts or bad else "no alerts: the group is empty",
        unreadable=bad,
        left_out=(*left_out, *tell_truncated(group.truncatedAlerts)),
    )


def read_bare_list(post: Post) -> Reading:
    members, bad, left_out = split_members(post.body, "")
    return Reading(
        source="prometheus",
        alerts=tuple(_read_member(each, "") for each in members),
        unreadable=bad,
        left_out=left_out,
    )


def tell_truncated(number: str) -> tuple[str, ...]:
    """What the sender itself has left out."""
    if not number.isdigit() or number == "0":
        return ()
    return (f"{number} alerts that the sender left out (truncatedAlerts)",)


def state_of(status: str, member: Member) -> str:
    """Firing or resolved: a member's own status, else its end, else the status of the group."""
    own = member.status.lower()
    if own in ("firing", "resolved"):
        return own
    if is_over(member.endsAt):
        return "resolved"
    return "resolved" if status.lower() == "resolved" else "firing"


def titles_of(labels: Mapping[str, str], annotations: Mapping[str, str]) -> tuple[str, ...]:
    """The alert's name with what an annotation tells of it, else the first label."""
    told = next((text for each in _TELLING if (text := annotations.get(each, "").strip())), "")
    return name_and_told(labels.get("alertname", ""), told), *labels.values()


def links_of(member: Member, dashboard: str = "") -> Links:
    annotations = member.annotations
    return Links(
        alert=member.generatorURL,
        dashboard=dashboard
        or read_url(annotations.get("dashboard_url") or annotations.get("dashboard")),
        runbook=read_url(annotations.get("runbook_url") or annotations.get("runbook")),
    )


def _members_of(body: JSON) -> JSON:
    return body.get("alerts") if isinstance(body, dict) else None


def _read_member(body: dict[str, JSON], status: str) -> AlertReading:
    member = Member.model_validate(body)
    state: State = "resolved" if state_of(status, member) == "resolved" else "firing"
    is_suppressed = state == "firing" and member.status_object.state == "suppressed"
    own_key = member.fingerprint or key_of_labels(member.labels)
    return make_alert(
        "other" if is_suppressed else state,
        reason="silenced or inhibited where it comes from" if is_suppressed else "",
        key=own_key,
        titles=titles_of(member.labels, member.annotations),
        severity=member.severity_word,
        labels=member.labels,
        links=links_of(member),
        starts_at=member.startsAt,
        ends_at=member.endsAt,
        body=body,
    )


ALERTMANAGER = Source(
    name="alertmanager",
    label="Alertmanager",
    signs=(
        ("alerts[]", "groupKey", "version"),
        ("alerts[]", "receiver", "groupLabels"),
        ("alerts[]", "status", "commonLabels"),
    ),
    # Written by hand, or by what stands in for it, it has its alerts and little else. What has
    # a title of its own is a document about alerts, such as those that we make.
    bare=("alerts[].labels.alertname", "!title"),
    least=("alerts[]",),
    expects="an object with `alerts`, a list, as Alertmanager's webhook_configs send it",
    read=read_group,
    alert_opens="What raised the alert",
)
PROMETHEUS = Source(
    name="prometheus",
    label="Prometheus or vmalert",
    signs=(
        ("[].labels{}", "[].annotations"),
        ("[].labels{}", "[].startsAt"),
        ("[].labels{}", "[].generatorURL"),
        ("[].labels.alertname",),
    ),
    least=("[].labels{}",),
    expects="a list of alerts with `labels`, as Alertmanager's API v2 takes it",
    read=read_bare_list,
)

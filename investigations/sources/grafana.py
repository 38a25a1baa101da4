"""Grafana: alerting since version 8, and the older dashboard alerts."""

import re

from investigations.sources.alertmanager import (
    Member,
    links_of,
    state_of,
    tell_truncated,
    titles_of,
)
from investigations.sources.fields import Labels, Part, Text, Url, as_object, split_members
from investigations.sources.reading import (
    JSON,
    AlertReading,
    Links,
    Post,
    Reading,
    State,
    key_of_labels,
    make_alert,
)
from investigations.sources.signs import Source

_NO_DATA = ("DatasourceNoData", "DatasourceError")


class GrafanaMember(Member):
    dashboardURL: Url = ""
    panelURL: Url = ""


class Group(Part):
    status: Text = ""
    orgId: Text = ""
    groupKey: Text = ""
    truncatedAlerts: Text = ""
    title: Text = ""
    message: Text = ""


class LegacyAlert(Part):
    ruleId: Text = ""
    ruleName: Text = ""
    ruleUrl: Url = ""
    title: Text = ""
    message: Text = ""
    state: Text = ""
    orgId: Text = ""
    dashboardId: Text = ""
    panelId: Text = ""
    tags: Labels = {}


def read(post: Post) -> Reading:
    body = as_object(post.body)
    if "alerts" not in body and ("ruleName" in body or "ruleId" in body):
        return _read_legacy(body)
    group = Group.model_validate(body)
    members, bad, left_out = split_members(body.get("alerts"), "alerts")
    alerts = tuple(_read_member(each, group) for each in members)
    return Reading(
        source="grafana",
        alerts=alerts,
        group_key=group.groupKey,
        notice="" if alerts or bad else "no alerts: the group is empty",
        unreadable=bad,
        left_out=(*left_out, *tell_truncated(group.truncatedAlerts)),
    )


def _read_member(body: dict[str, JSON], group: Group) -> AlertReading:
    member = GrafanaMember.model_validate(body)
    state: State = "resolved" if state_of(group.status, member) == "resolved" else "firing"
    name = member.labels.get("alertname", "")
    # The group key of a real group is made of its labels and begins with a brace.
    is_test = group.groupKey.startswith("test-") or (
        name == "TestAlert" and member.labels.get("instance") == "Grafana"
    )
    own_key = member.fingerprint or key_of_labels(member.labels)
    return make_alert(
        "test" if is_test else state,
        key=f"{group.orgId or '1'}/{own_key}" if own_key else "",
        titles=(*_titles_of(member), _COUNTED.sub("", group.title), group.message),
        severity=member.severity_word,
        labels=member.labels,
        links=links_of(member, member.panelURL or member.dashboardURL),
        starts_at=member.startsAt,
        ends_at=member.endsAt,
        body=body,
    )


def _titles_of(member: GrafanaMember) -> tuple[str, ...]:
    """Without data, Grafana puts a name of its own in place of the rule's."""
    name, rule = member.labels.get("alertname", ""), member.labels.get("rulename", "")
    if name in _NO_DATA and rule:
        return (f"{name}: {rule}",)
    return titles_of(member.labels, member.annotations)


_COUNTED = re.compile(r"^\[[A-Z]{1,20}(:\d{1,9})?\]\s*")
"""What stands before the title of a group: its state, and how many alerts are in it."""
_LEGACY: dict[str, State] = {
    "alerting": "firing",
    "no_data": "firing",
    "ok": "resolved",
    "pending": "other",
    "paused": "other",
}


def _read_legacy(body: dict[str, JSON]) -> Reading:
    alert = LegacyAlert.model_validate(body)
    word = alert.state.lower()
    state = _LEGACY.get(word, "firing")
    # The test button sends no rule's number.
    is_test = alert.ruleId == "0" or alert.ruleName == "Test notification"
    place = "/".join(each for each in (alert.dashboardId, alert.panelId) if each)
    rule = alert.ruleId or alert.ruleName or place
    reading = make_alert(
        "test" if is_test else state,
        reason="" if is_test else word if state == "other" else "",
        key=f"{alert.orgId or '1'}/rule {rule}" if rule else "",
        titles=(alert.ruleName, alert.title, alert.message),
        severity=alert.tags.get("severity", ""),
        labels=alert.tags,
        links=Links(alert=alert.ruleUrl),
        body=body,
    )
    return Reading(source="grafana", alerts=(reading,))


SOURCE = Source(
    name="grafana",
    label="Grafana",
    signs=(
        ("alerts[]", "orgId"),
        ("alerts[]", "state", "title", "message"),
        ("ruleName", "state", "evalMatches"),
        ("ruleId", "ruleName", "state"),
        ("ruleName", "ruleUrl", "state"),
    ),
    least=("alerts[]",),
    expects="an object with `alerts`, a list, or for old dashboard alerts `ruleName` and `state`",
    read=read,
)

"""An alert that comes back after it was over is investigated again, as each source tells of it."""

import itertools
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest
from django.utils import timezone

from config import get_config, use_config
from config.schema.incidents import IncidentsConfig
from investigations.models import AlertEpisode, AlertSession, Incident, MemberChange
from investigations.services.deliveries import take_delivery
from investigations.sources.reading import JSON, Post
from investigations.sources.registry import read_post_of

pytestmark = pytest.mark.django_db
DAY = "2026-11-21"
_numbers = itertools.count()


@pytest.fixture(autouse=True)
def rules() -> Iterator[None]:
    with use_config(replace(get_config(), incidents=IncidentsConfig(group_wait="0s"))):
        yield


def pagerduty(kind: str, at: str) -> JSON:
    incident: JSON = {"id": "Q1", "title": "Disk full", "created_at": f"{DAY}T07:00:00Z"}
    event: JSON = {"id": f"e{at}", "event_type": f"incident.{kind}", "data": incident}
    return {"event": {**event, "occurred_at": f"{DAY}T{at}:00Z"}}  # type: ignore[dict-item]


def sentry(action: str, at: str) -> JSON:
    if action == "triggered":
        event: JSON = {"issue_id": "12", "title": "KeyError", "datetime": f"{DAY}T{at}:00Z"}
        return {"action": action, "data": {"event": event}}
    issue: JSON = {"id": "12", "title": "KeyError", "firstSeen": f"{DAY}T07:00:00Z"}
    return {"action": action, "data": {"issue": {**issue, "lastSeen": f"{DAY}T{at}:00Z"}}}  # type: ignore[dict-item]


def jira(change: str, at: str) -> JSON:
    over = change == "done"
    fields: JSON = {
        "summary": "Disk full",
        "created": f"{DAY}T07:00:00.000+0000",
        "resolutiondate": f"{DAY}T{at}:00.000+0000" if over else None,
        "status": {"statusCategory": {"key": "done" if over else "new"}},
    }
    items: JSON = [{"field": "resolution", "from": "1", "to": None}] if change == "back" else []
    event = "jira:issue_created" if change == "new" else "jira:issue_updated"
    moment = 1_795_244_400_000 + (int(at[:2]) - 7) * 3_600_000
    return {
        "webhookEvent": event, "timestamp": moment, "issue": {"key": "OPS-1", "fields": fields},
        "changelog": {"items": items},
    }  # fmt: skip


def dependabot(action: str, at: str) -> JSON:
    alert: JSON = {
        "number": 7,
        "created_at": f"{DAY}T07:00:00Z",
        "updated_at": f"{DAY}T{at}:00Z",
        "fixed_at": f"{DAY}T{at}:00Z" if action == "fixed" else None,
        "security_advisory": {"summary": "Overflow"},
    }
    return {"action": action, "alert": alert, "repository": {"full_name": "a/b"}}


def security_hub(state: str, at: str) -> JSON:
    finding: JSON = {
        "Id": "f1", "Title": "Bucket is open", "CreatedAt": f"{DAY}T07:00:00Z",
        "UpdatedAt": f"{DAY}T{at}:00Z", "Workflow": {"Status": state},
    }  # fmt: skip
    return {"detail-type": "Security Hub Findings - Imported", "source": "aws.securityhub",
            "detail": {"findings": [finding]}}  # fmt: skip


def service_now(state: str, at: str) -> JSON:
    record: JSON = {
        "sys_id": "9d3", "number": "INC1", "short_description": "Disk full", "state": state,
        "opened_at": f"{DAY} 07:00:00", "resolved_at": f"{DAY} {at}:00" if state == "6" else "",
        "reopened_time": f"{DAY} {at}:00" if state == "1" and at != "07:00" else "",
    }  # fmt: skip
    return record


LIVES = {
    "pagerduty": (pagerduty, ("triggered", "resolved", "reopened", "resolved")),
    "sentry": (sentry, ("created", "resolved", "unresolved", "resolved")),
    "sentry, by alerts of events": (sentry, ("triggered", "resolved", "triggered", "resolved")),
    "jira_sm": (jira, ("new", "done", "back", "done")),
    "github": (dependabot, ("created", "fixed", "reintroduced", "fixed")),
    "aws_eventbridge": (security_hub, ("NEW", "RESOLVED", "NEW", "RESOLVED")),
    "servicenow": (service_now, ("1", "6", "1", "6")),
}


@pytest.mark.parametrize("name", LIVES)
def test_what_fires_is_over_and_fires_again_is_told_so_each_time(name):
    make, told = LIVES[name]
    states: list[str] = []
    for number, word in enumerate(told):
        body = make(word, f"{7 + number:02}:00")
        reading = read_post_of(name.partition(",")[0], Post(body), {})
        take_delivery(reading, body={"n": next(_numbers)}, author="test")
        states.append(Incident.objects.latest("opened_at").state)

    assert states == ["firing", "recovered", "reopened", "recovered"]
    assert Incident.objects.count() == 1


def test_who_comes_back_is_the_same_member_also_after_an_end_without_a_beginning():
    told = [("firing", 7, 0), ("resolved", 7, 8), ("resolved", 9, 10), ("firing", 11, 0)]
    for state, begins, ends in told:
        member: JSON = {
            "status": state, "fingerprint": "f", "startsAt": f"{DAY}T{begins:02}:00:00Z",
            "endsAt": f"{DAY}T{ends:02}:00:00Z" if ends else None,
        }  # fmt: skip
        body: JSON = {"version": "4", "groupKey": "g", "alerts": [member]}
        take_delivery(read_post_of("alertmanager", Post(body), {}), body=body, author="test")

    incident = Incident.objects.get()
    assert (incident.state, incident.member_count, incident.firing_count) == ("reopened", 1, 1)


@pytest.mark.parametrize(
    ("source", "body", "outcome"),
    [
        (
            "splunk",
            {"search_name": "Backup failed", "sid": "1", "result": {"host": "db"}},
            "started",
        ),
        ("generic", {"message": "backup of db failed"}, "started"),
        ("generic", {"message": "backup of db failed", "status": "down"}, "duplicate"),
        ("prometheus", [{"labels": {"alertname": "BackupFailed"}}], "duplicate"),
    ],
)
def test_what_is_never_told_to_be_over_is_looked_into_again_the_next_night(source, body, outcome):
    def take() -> str:
        reading = read_post_of(source, Post(body), {})
        taken = take_delivery(reading, body={"n": next(_numbers)}, author="test")
        return taken.delivery.outcome

    first, soon = take(), take()
    yesterday = timezone.now() - timedelta(hours=23)
    AlertEpisode.objects.update(last_seen_at=yesterday, first_seen_at=yesterday)
    Incident.objects.update(opened_at=yesterday, last_joined_at=yesterday, last_seen_at=yesterday)

    assert (first, soon, take()) == ("started", "duplicate", outcome)
    assert Incident.objects.count() == (2 if outcome == "started" else 1)


def cloud_event(state: str, number: str) -> Post:
    headers = {"ce-id": number, "ce-specversion": "1.0", "ce-source": "s", "ce-type": f"a.{state}"}
    return Post({"pump": "P-3"}, headers)


def test_a_body_that_comes_again_under_another_number_is_another_post():
    told = [cloud_event("fired", "1"), cloud_event("resolved", "2"), cloud_event("fired", "1")]
    outcomes = [
        take_delivery(read_post_of("cloudevents", post, {}), body=post.body, author="test")
        for post in told
    ]

    assert [each.delivery.outcome for each in outcomes] == ["started", "resolved", "duplicate"]


def numbered(kind: str, number: int, reason: str = "", subject: str = "pump/P-3") -> Post:
    event: JSON = {
        "specversion": "1.0", "id": str(number), "source": "/plant", "type": f"com.x.alert.{kind}",
        "subject": subject, "data": {"reason": reason} if reason else {},
    }  # fmt: skip
    return Post(event)


@pytest.mark.parametrize(
    ("posts", "outcomes", "firing"),
    [
        # Each event has an id of its own; what it is about stays.
        ([("fired", 1), ("fired", 2), ("resolved", 3)], "started duplicate resolved", 0),
        ([("fired.v1", 1, "Hot"), ("resolved.v2", 2, "Hot"), ("fired.v1", 3, "Hot")],
         "started resolved started", 1),
        # Not what has another reason or another subject.
        ([("fired", 1, "Hot"), ("fired", 2, "Leaks"), ("resolved", 3, "Leaks")],
         "started started resolved", 1),
        ([("fired", 1, "Hot"), ("resolved", 2, "Hot", "pump/P-4")], "started resolved", 1),
        # Without a subject an event may be about anything.
        ([("fired", 1, "", ""), ("fired", 2, "", ""), ("resolved", 3, "", "")],
         "started started resolved", 2),
    ],
)  # fmt: skip
def test_events_that_are_numbered_are_known_by_what_they_are_about(posts, outcomes, firing):
    told = [
        take_delivery(read_post_of("cloudevents", post, {}), body=post.body, author="test")
        for post in itertools.starmap(numbered, posts)
    ]

    assert [each.delivery.outcome for each in told] == outcomes.split()
    assert sum(Incident.objects.values_list("firing_count", flat=True)) == firing


def test_a_batch_of_events_tells_of_each_thing_what_happened_last():
    body: JSON = [
        {**numbered(kind, number).body, "time": f"{DAY}T0{number}:00:00Z"}  # type: ignore[dict-item]
        for kind, number in (("resolved", 2), ("fired", 1), ("fired", 3))
    ]

    taken = take_delivery(read_post_of("cloudevents", Post(body), {}), body=body, author="test")

    assert [(each.alert.key, each.kind) for each in taken.alerts] == [("/plant 3", "started")]


def test_what_comes_after_a_storm_is_no_part_of_it():
    def take(name: str) -> str:
        body: JSON = [{"labels": {"alertname": name}}]
        reading = read_post_of("prometheus", Post(body), {})
        return take_delivery(reading, body=body, author="test").delivery.outcome

    rules = IncidentsConfig(group_wait="0s", storm_after=6)
    with use_config(replace(get_config(), incidents=rules)):
        in_storm = [take(f"burst {number}") for number in range(12)]
        earlier = timezone.now() - timedelta(minutes=2)
        Incident.objects.update(opened_at=earlier, last_joined_at=earlier)
        # One or two still come in, as they did before; that is no storm.
        MemberChange.objects.exclude(pk=MemberChange.objects.latest("id").pk).update(at=earlier)
        after = [take("another cause"), take("burst 3"), take("a third cause")]

    assert in_storm[6:] == ["started", *["joined"] * 5]
    assert after == ["started", "duplicate", "started"]
    storm = Incident.objects.get(kind=Incident.Kind.STORM)
    assert storm.member_count == 12
    waiting = AlertSession.objects.filter(status="pending")
    assert {each.incident_id for each in waiting} >= {storm.pk}
    assert waiting.count() == 3


def test_a_second_storm_is_an_incident_of_its_own():
    def take(*names: str) -> None:
        body: JSON = [{"labels": {"alertname": name}} for name in names]
        reading = read_post_of("prometheus", Post(body), {})
        take_delivery(reading, body={"n": next(_numbers)}, author="test")

    rules = IncidentsConfig(group_wait="0s", storm_after=4)
    with use_config(replace(get_config(), incidents=rules)):
        for number in range(8):
            take(f"burst {number}")
        earlier = timezone.now() - timedelta(minutes=5)
        Incident.objects.update(opened_at=earlier, last_joined_at=earlier)
        MemberChange.objects.update(at=earlier)
        for number in range(8):
            take(f"second {number}", "burst 5")

    storms = Incident.objects.filter(kind=Incident.Kind.STORM).order_by("opened_at")
    assert [each.member_count for each in storms] == [8, 8]
    assert [each.takes_members for each in storms] == [False, True]

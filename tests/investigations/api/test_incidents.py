"""Incidents and deliveries over REST."""

import pytest

from investigations.models import AlertEpisode, Incident, MemberChange
from investigations.services.intake import read_alert, submit_alert
from tests.factories import (
    DeliveryFactory,
    EpisodeFactory,
    IncidentFactory,
    MemberChangeFactory,
    SessionFactory,
)


def test_a_list_of_incidents_is_narrowed_and_read_page_by_page(api):
    incidents = [
        IncidentFactory(),
        IncidentFactory(recovered=True),
        IncidentFactory(severity="warning", source="grafana"),
    ]
    session = SessionFactory(incident=incidents[0])
    storm = IncidentFactory(kind="storm")
    IncidentFactory(absorbed_by=storm)

    first = api.get("/api/v1/incidents?page_size=3").json()
    second = api.get(f"/api/v1/incidents?page_size=3&before={first['next_cursor']}").json()

    found = [each["id"] for each in [*first["incidents"], *second["incidents"]]]
    assert found == [str(each.pk) for each in [storm, *reversed(incidents)]]
    assert second["incidents"][0]["sessions"][0]["id"] == str(session.pk)
    assert second["next_cursor"] is None
    for query, wanted in (
        ("state=recovered", incidents[1]),
        ("severity=warning,info", incidents[2]),
        ("source=grafana", incidents[2]),
    ):
        narrowed = api.get(f"/api/v1/incidents?{query}").json()["incidents"]
        assert [each["id"] for each in narrowed] == [str(wanted.pk)]


def test_a_plain_alert_has_no_state_because_nobody_tells_its_end(api):
    session = submit_alert(read_alert({"data": "disk full"}), author="test")
    followed = IncidentFactory()

    listed = api.get("/api/v1/incidents").json()["incidents"]
    firing = api.get("/api/v1/incidents?state=firing").json()["incidents"]
    detail = api.get(f"/api/v1/incidents/{session.incident_id}").json()

    states = {each["kind"]: (each["state"], each["firing_count"]) for each in listed}
    assert states == {"alert": (None, None), "group": ("firing", 1)}
    assert [each["id"] for each in firing] == [str(followed.pk)]
    assert detail["incident"]["state"] is None
    assert [each["state"] for each in detail["members"]] == [None]


@pytest.mark.parametrize(
    ("query", "field"),
    [("state=fireing", "state"), ("severity=x", "severity"), ("before=x", "before")],
)
def test_a_wrong_word_is_refused_by_name(api, query, field):
    answer = api.get(f"/api/v1/incidents?{query}")

    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_an_incident_tells_when_each_member_came_and_went(api):
    member = EpisodeFactory(state=AlertEpisode.State.RESOLVED)
    for kind in MemberChange.Kind.values:
        MemberChangeFactory(episode=member, kind=kind)
    earlier = IncidentFactory()
    Incident.objects.filter(pk=member.incident_id).update(previous=earlier, member_count=3)

    answer = api.get(f"/api/v1/incidents/{member.incident_id}").json()

    assert answer["incident"]["previous_id"] == str(earlier.pk)
    [told] = answer["members"]
    assert (told["key"], told["state"]) == (member.key, "resolved")
    assert [each["kind"] for each in told["changes"]] == ["joined", "resolved", "reopened"]
    assert answer["more_members"] == 2


def test_deliveries_are_listed_without_their_body_and_read_with_it(api):
    ignored = DeliveryFactory(outcome="ignored", why="test notification")
    DeliveryFactory()

    [item] = api.get("/api/v1/deliveries?outcome=ignored").json()["deliveries"]
    whole = api.get(f"/api/v1/deliveries/{ignored.pk}").json()

    assert (item["id"], item["why"]) == (str(ignored.pk), "test notification")
    assert "body" not in item
    assert whole["body"] == ignored.body

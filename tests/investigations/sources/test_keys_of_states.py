"""A state is in no key, in whatever form it is told, and what is no state stays in it."""

from collections.abc import Mapping

import pytest

from investigations.sources.reading import AlertReading, Post
from investigations.sources.registry import read_post


def read(body: Mapping[str, object]) -> AlertReading:
    return read_post(Post(dict(body))).alerts[0]  # type: ignore[arg-type]  # JSON, as written below


FULL = {"title": "Disk of db-1 is full"}


@pytest.mark.parametrize("beside", [{}, {"host": "db-1"}, {"monitor": "disk"}, {"name": "disk"}])
@pytest.mark.parametrize(
    ("opened", "closed"),
    [
        ({"name": "Open"}, {"name": "Closed"}),
        ({"id": 3, "name": "Open"}, {"id": 6, "name": "Closed"}),
        ({"name": "Open", "category": "new"}, {"name": "Closed", "category": "done"}),
        ({"name": "Open", "rank": 1}, {"name": "Resolved", "rank": 9}),
        ({"value": "open", "color": "red"}, {"value": "closed", "color": "green"}),
        ({"name": "Open", "since": "2026-11-30T08:00:00Z"}, {"name": "Closed"}),
        ({"state": "active", "entity": "h-1"}, {"state": "inactive", "entity": "h-1"}),
        ({"state": "down", "name": "job-a"}, {"state": "down", "name": "job-a"}),
    ],
)
@pytest.mark.parametrize(
    "levels",
    [
        ({}, {}),
        ({"severity": "high"}, {"severity": "high"}),
        ({"severity": {"name": "Critical", "id": 1}}, {"severity": {"name": "Normal", "id": 4}}),
    ],
)
def test_an_object_that_is_a_state_changes_no_key(beside, opened, closed, levels):
    first = read(FULL | beside | {"status": opened} | levels[0])
    last = read(FULL | beside | {"status": closed} | levels[1])

    assert first.state == "firing"
    assert first.key == last.key


def test_a_name_in_such_an_object_is_not_that_of_what_is_watched():
    status = {"state": "down", "name": "job-a"}

    assert read(FULL | {"status": status}).key != read({"title": "CPU", "status": status}).key


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"state": "down", "name": "job-a"}, {"state": "down", "name": "job-b"}),
        ({"state": "down", "node": "a"}, {"state": "down", "node": "b"}),
        ({"state": "active", "entity_name": "a"}, {"state": "active", "entity_name": "b"}),
    ],
)
def test_what_is_no_state_in_such_an_object_tells_two_alerts_apart(first, second):
    for beside in ({}, {"monitor": "disk"}):
        assert read(FULL | beside | {"status": first}).key != (
            read(FULL | beside | {"status": second}).key
        )


def error_of(address: str) -> AlertReading:
    group = {"project_id": "p", "detail_link": f"https://console.cloud.google.com/{address}"}
    return read({"group_info": group, "exception_info": {"type": "X"}, "event_info": {}})


def test_groups_of_errors_are_told_apart_by_the_whole_of_their_address():
    keys = {
        error_of(each).key
        for each in ("errors/detail?id=1&project=p", "errors/detail?id=2&project=p", "errors/1?p=q")
    }

    assert len(keys) == 3
    assert error_of("errors/1?project=p&time=P1D").key == error_of("errors/1?project=p").key
    assert error_of("errors/1?a=b&project=p").key == error_of("errors/1?project=p&a=b").key


@pytest.mark.parametrize(
    ("first", "last"),
    [
        (
            {"alert": "CPU", "host": "a", "status": "firing", "severity": "critical"},
            {"alert": "CPU", "host": "a", "status": "resolved", "severity": "ok"},
        ),
        (
            {"title": "CPU", "host": "a", "status": "firing", "severity": "critical"},
            {"title": "CPU", "host": "a", "status": "resolved", "severity": "info"},
        ),
        (
            {"alertname": "CPU", "from_state": "ok", "to_state": "critical"},
            {"alertname": "CPU", "from_state": "critical", "to_state": "ok"},
        ),
        (
            {"alarmName": "CPU", "oldStateValue": "OK", "newStateValue": "ALARM"},
            {"alarmName": "CPU", "oldStateValue": "ALARM", "newStateValue": "OK"},
        ),
        (
            FULL | {"status": {"from": "ok", "to": "critical"}},
            FULL | {"status": {"from": "critical", "to": "ok"}},
        ),
        (
            {
                "component_update": {"old_status": "operational", "new_status": "major_outage"},
                "component": {"id": "c1", "name": "API", "status": "major_outage"},
            },
            {
                "component_update": {"old_status": "major_outage", "new_status": "operational"},
                "component": {"id": "c1", "name": "API", "status": "operational"},
            },
        ),
        (
            {"subject": "[FIRING]", "message": "CPU is high"},
            {"subject": "[RESOLVED]", "message": "CPU is high"},
        ),
        (
            {"title": "Firing", "message": "CPU is high"},
            {"title": "Resolved", "message": "CPU is high"},
        ),
    ],
)
def test_an_end_has_the_key_of_its_start_whatever_it_weighs_and_whatever_was_before(first, last):
    fires, ends = read(first), read(last)

    assert (fires.state, ends.state) == ("firing", "resolved")
    assert fires.key == ends.key


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({"what": "Leak", "level": 3}, {"what": "Leak", "level": 4}),
        ({"message": "HTTP errors", "count": 404}, {"message": "HTTP errors", "count": 500}),
    ],
)
def test_a_number_that_may_be_that_of_a_thing_tells_two_alerts_apart(first, second):
    assert read(first).key != read(second).key


@pytest.mark.parametrize("title", ["[RESOLVED]", "Resolved", "RESOLVED", "FIRING", "[prod]"])
def test_the_title_under_a_heading_that_is_nothing_but_a_marker_is_the_message(title):
    assert read({"title": title, "message": "CPU is high"}).title == "CPU is high"


def test_a_notification_under_the_heading_of_a_test_is_one():
    assert read({"title": "Test", "message": "This is a test notification"}).state == "test"
    assert read({"title": "Test", "message": "Disk of db-1 is full"}).state == "firing"


def test_a_heading_that_may_be_said_of_a_thing_ends_nothing():
    for title in ("OK", "UP", "[CLOSED]", "Recovery", "Unresolved"):
        assert read({"title": title, "message": "Disk of db-1 is full"}).state == "firing"


@pytest.mark.parametrize(
    ("first", "last"),
    [
        ({"source": "monitor"}, {"source": "api"}),
        ({"sender": "probe"}, {"sender": "ana"}),
        ({"system": "a", "account": "b"}, {}),
        ({"project": {"id": 4, "name": "a"}}, {"project": {"id": 4, "name": "b"}}),
    ],
)
def test_who_tells_of_an_alert_with_a_number_changes_no_key(first, last):
    fires = read({"incident_id": 42, "status": "open"} | first)

    assert fires.key == read({"incident_id": 42, "status": "resolved"} | last).key


@pytest.mark.parametrize("name", ["host", "project", "repository", "tenant"])
def test_where_an_alert_with_a_number_is_and_whose_it_is_stands_in_its_key(name):
    alert = {"alert_id": 7, "status": "open"}

    assert read(alert | {name: "a"}).key != read(alert | {name: "b"}).key
    assert read(alert | {name: {"name": "a"}}).key != read(alert | {name: {"name": "b"}}).key

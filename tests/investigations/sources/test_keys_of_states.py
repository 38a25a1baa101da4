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

"""A session that waits for work says so while nobody is there to do it."""

import json
import time

import pytest

from investigations.selectors.system.workers import WORKERS_KEY
from tests.factories import ExecutionFactory, SessionFactory, StageFactory

pytestmark = pytest.mark.django_db


@pytest.fixture
def worker(clean_redis):
    def tell(name="worker-1", **known):
        presence = {"seen_at": time.time(), "active": 1, **known}
        clean_redis.hset(WORKERS_KEY, name, json.dumps(presence))

    return tell


def read_strip(viewer, session, piece=""):
    page = viewer.get(f"/sessions/{session.pk}/{piece}").content.decode()
    strip = page[page.index('id="workers"') :]
    return strip[: strip.index("</div>")]


@pytest.mark.parametrize("piece", ["", "workers/"], ids=["page", "piece"])
def test_without_a_worker_it_says_when_it_goes_on(viewer, running, clean_redis, piece):
    strip = read_strip(viewer, running, piece)

    assert "No worker is running. This goes on when one is there." in strip
    assert 'href="/system/' in strip
    assert " hidden" not in strip


def test_a_queued_one_says_when_it_starts(viewer, clean_redis):
    strip = read_strip(viewer, SessionFactory())

    assert "This investigation starts when one is there." in strip


def test_with_a_worker_it_says_nothing(viewer, running, worker):
    worker()

    assert " hidden" in read_strip(viewer, running)


def test_a_worker_that_stops_takes_nothing_more(viewer, running, worker):
    worker(stopping=True)
    assert "The only worker is stopping." in read_strip(viewer, running)

    worker("worker-2")

    assert " hidden" in read_strip(viewer, running)


def test_a_worker_that_was_not_heard_of_for_long_is_not_there(viewer, running, worker):
    worker(seen_at=time.time() - 300)

    assert "No worker is running." in read_strip(viewer, running)


def test_an_ended_session_needs_no_worker_but_for_an_answer(viewer, finished, clean_redis):
    assert " hidden" in read_strip(viewer, finished)
    stage = StageFactory(session=finished, stage_type="chat", active=True, stage_index=9)
    ExecutionFactory(stage=stage, active=True)

    assert "This goes on when one is there." in read_strip(viewer, finished)

"""One worker, two web processes: it does not matter whom a browser or a client talks to."""

from collections.abc import Iterator

import httpx
import pytest

from investigations.models import AlertSession, Event
from tests.e2e.conftest import Play, wait_until_ended
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER
from tests.e2e.test_live import Web, post_alert
from tests.e2e.watching import Watcher, watch
from tests.processes import Process, find_free_port, start_web

pytestmark = pytest.mark.worker


@pytest.fixture(scope="module")
def running_webs(
    django_db_setup: None, django_db_blocker, product_environment: dict[str, str]
) -> Iterator[tuple[Web, Web]]:
    ports = (find_free_port(), find_free_port())
    with django_db_blocker.unblock():
        processes = [start_web(port, **product_environment) for port in ports]
    try:
        for process in processes:
            process.wait_until_ready()
        yield Web(ports[0]), Web(ports[1])
    finally:
        for process in processes:
            process.stop()


@pytest.fixture
def webs(live_db: None, running_webs: tuple[Web, Web]) -> tuple[Web, Web]:
    return running_webs


def check_same(session: AlertSession, *watchers: Watcher) -> None:
    stored = Event.objects.filter(session=session).order_by("seq")
    assert stored.count() == session.last_seq
    for watcher in watchers:
        watcher.wait_for_seq(session.last_seq)
        assert watcher.seen == list(stored.values_list("payload", flat=True))


def test_watchers_of_both_web_processes_are_told_the_same(
    worker: Process, webs: tuple[Web, Web], play: Play
):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    first, second = webs
    session = post_alert(first, {"alert_type": "parallel", "data": "slow"})
    with watch(first.socket_url, session.pk) as one, watch(second.socket_url, session.pk) as other:
        rehearsal.wait_until_held("first", replies=2, timeout=30)
        one.wait_for_seq(2)
        other.wait_for_seq(2)
        rehearsal.release("first")

        session = wait_until_ended(session)

        assert session.status == "completed"
        check_same(session, one, other)
        assert ("completed",) in other.select("session.status", "status")
        assert ("look", "completed") in other.select("stage.status", "stage_name", "status")


def test_a_cancel_at_one_web_process_is_seen_at_the_other(
    worker: Process, webs: tuple[Web, Web], play: Play
):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    first, second = webs
    session = post_alert(first, {"alert_type": "parallel", "data": "slow"})
    with watch(first.socket_url, session.pk) as one, watch(second.socket_url, session.pk) as other:
        rehearsal.wait_until_held("first", replies=2, timeout=30)

        answer = httpx.post(f"{second.url}/api/v1/sessions/{session.pk}/cancel", timeout=20)

        assert answer.status_code == 200, answer.text
        session = wait_until_ended(session)
        assert session.status == "cancelled"
        check_same(session, one, other)
        assert one.select("session.status", "status")[-2:] == [("cancelling",), ("cancelled",)]
        rehearsal.release("first")

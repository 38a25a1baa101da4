"""Which worker processes are there, by what they tell Redis every few seconds."""

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import cast

import redis
from django.conf import settings

WORKERS_KEY = "tarsy:workers"
"""Redis hash: worker id -> JSON `{seen_at, active}`, renewed with each heartbeat."""


@dataclass(frozen=True)
class Worker:
    id: str
    active: int
    """Executions it runs."""
    seconds_silent: float


def live_workers() -> list[Worker]:
    """Workers heard of lately; none when Redis does not answer either."""
    try:
        told = cast(Mapping[bytes, bytes], client().hgetall(WORKERS_KEY))
    except redis.RedisError:
        return []
    workers = [_read(name.decode(), json.loads(presence)) for name, presence in told.items()]
    limit = settings.HEARTBEAT_SECONDS * 3 + 1
    return sorted((w for w in workers if w.seconds_silent <= limit), key=lambda w: w.id)


@cache
def client() -> redis.Redis:
    """For short questions: a health check must not hang with what it checks."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1.0, socket_connect_timeout=1.0)


def _read(name: str, presence: Mapping[str, object]) -> Worker:
    seen_at = float(cast(float, presence["seen_at"]))
    return Worker(name, int(cast(int, presence["active"])), max(0.0, time.time() - seen_at))

"""Which worker processes are there, by what they tell Redis every few seconds."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Literal, cast

import psutil
import redis
from django.conf import settings

from tarsy.errors import Mistake

WORKERS_KEY = "tarsy:workers"
"""Redis hash: worker id -> JSON `{seen_at, active, stopping, needs}`, renewed with each
heartbeat."""

STARTING_SECONDS = 60
"""How long a start may take until its first worker is heard of."""
FORGOTTEN_SECONDS = 600
"""A process that has said nothing for so long is gone, and is looked for no longer."""


@dataclass(frozen=True)
class Worker:
    id: str
    active: int
    """Executions it runs."""
    seconds_silent: float
    is_stopping: bool = False
    """It ends what it runs and takes nothing more."""
    needs: tuple[Mistake, ...] = ()
    """The keys and tokens that its environment lacks."""

    @property
    def is_live(self) -> bool:
        """Heard of lately: no more than three heartbeats are missing."""
        return self.seconds_silent <= settings.HEARTBEAT_SECONDS * 3 + 1


def are_coming(workers: Sequence[Worker]) -> bool:
    """Whether the first worker may still be on its way: none was heard of since this process,
    which is likely to be of the same start, began moments ago. Not yet known is not broken."""
    is_young = time.time() - psutil.Process().create_time() < STARTING_SECONDS
    return not workers and is_young


def live_workers() -> list[Worker]:
    """Workers heard of lately; none when Redis does not answer either."""
    return _live() or []


def who_works() -> Literal["somebody", "stopping", "nobody", "unknown"]:
    """Whether anybody takes work; unknown when Redis does not answer."""
    live = _live()
    if live is None:
        return "unknown"
    if not live:
        return "nobody"
    return "stopping" if all(worker.is_stopping for worker in live) else "somebody"


def _live() -> list[Worker] | None:
    """Those heard of lately; None when Redis does not answer."""
    try:
        return [worker for worker in read_workers(client()) if worker.is_live]
    except redis.RedisError:
        return None


def read_workers(redis_client: redis.Redis) -> list[Worker]:
    """Every worker that is not forgotten yet, in order of id. Raises RedisError."""
    now = read_clock(redis_client)
    told = cast(Mapping[bytes, bytes], redis_client.hgetall(WORKERS_KEY))
    workers = [_read(name.decode(), json.loads(presence), now) for name, presence in told.items()]
    return sorted(workers, key=lambda worker: worker.id)


def read_clock(redis_client: redis.Redis) -> float:
    """Seconds by the clock of Redis, which those who tell and those who read share. Raises
    RedisError."""
    seconds, microseconds = redis_client.time()
    return seconds + microseconds / 1e6


@cache
def client() -> redis.Redis:
    """For short questions: a health check must not hang with what it checks."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=1.0, socket_connect_timeout=1.0)


def _read(name: str, presence: Mapping[str, object], now: float) -> Worker:
    seen_at = float(cast(float, presence["seen_at"]))
    return Worker(
        name,
        int(cast(int, presence["active"])),
        max(0.0, now - seen_at),
        bool(presence.get("stopping")),
        _read_needs(presence.get("needs")),
    )


def _read_needs(told: object) -> tuple[Mistake, ...]:
    """What a worker said that it lacks; nothing from one of an older version."""
    if not isinstance(told, list):
        return ()
    return tuple(Mistake(str(file), int(line), str(message)) for file, line, message in told)

"""How the parts of the product are: database, Redis, workers and the queue."""

import platform
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib.metadata import version
from typing import Literal, cast

import redis
from django.conf import settings
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.utils import timezone

from config import get_config
from investigations.models import AlertSession
from investigations.selectors.sessions import count_active_and_queued, visible_sessions
from investigations.selectors.system.workers import Worker, are_coming, client, read_workers

State = Literal["up", "degraded", "down"]
CROWDED = 0.9
STUCK_SECONDS = 60
"""A session that waits longer than this while there is room for it is not taken by anybody."""


@dataclass(frozen=True)
class Part:
    """A part of the product: what it is, and what to do where it is not up."""

    name: str
    state: State
    detail: str
    latency_ms: float | None = None
    trouble: str = ""
    to_do: str = ""


@dataclass(frozen=True)
class Queue:
    """Sessions that run and wait. `oldest_at` is when the first one in line came."""

    running: int
    most: int
    queued: int
    oldest_at: datetime | None

    @property
    def is_stuck(self) -> bool:
        if self.oldest_at is None or self.running >= self.most:
            return False
        return (timezone.now() - self.oldest_at).total_seconds() > STUCK_SECONDS


@dataclass(frozen=True)
class Core:
    """What everything else rests on."""

    database: Part
    redis: Part
    workers: tuple[Worker, ...]
    queue: Queue
    versions: Mapping[str, str]

    @property
    def live_workers(self) -> tuple[Worker, ...]:
        return tuple(worker for worker in self.workers if worker.is_live)

    @property
    def parts(self) -> tuple[Part, ...]:
        return (self.database, self.redis, self._workers_part(), self._queue_part())

    def _workers_part(self) -> Part:
        live = self.live_workers
        if self.redis.state == "down":
            return Part("Workers", "degraded", "not known: they tell Redis that they live")
        if are_coming(self.workers):
            return Part("Workers", "degraded", "none was heard of yet: TARSy has just started")
        if not live:
            return Part(
                "Workers", "down", "none was heard of lately",
                trouble="No worker was heard of lately",
                to_do="Alerts are taken in and wait. Start a worker, or read the log of the one "
                "that should run: `celery -A tarsy.worker worker -P threads`.",
            )  # fmt: skip
        agents = sum(worker.active for worker in live)
        detail = f"{_count(len(live), 'process', 'processes')}, {_count(agents, 'agent')} running"
        silent = len(self.workers) - len(live)
        if not silent:
            return Part("Workers", "up", detail)
        return Part(
            "Workers", "degraded", f"{detail}; {silent} silent",
            trouble=f"{_count(silent, 'worker')} fell silent within the last ten minutes",
            to_do="Killed, or hanging: read the log of each, they are named under Workers. What "
            "they ran goes on in another one within half a minute.",
        )  # fmt: skip

    def _queue_part(self) -> Part:
        queue = self.queue
        detail = f"{queue.running} of {queue.most} sessions run, {queue.queued} queued"
        if not (queue.is_stuck and self.live_workers):
            return Part("Queue", "up", detail)
        return Part(
            "Queue", "degraded", detail,
            trouble="A session waits although there is room for it",
            to_do="Read the log of the workers: the dispatcher of one takes it within seconds.",
        )  # fmt: skip


def missing_migrations() -> int:
    """How many changes of the schema this database has not got yet."""
    executor = MigrationExecutor(connection)
    return len(executor.migration_plan(executor.loader.graph.leaf_nodes()))


def read_core() -> Core:
    """Ask each part once. Raises when the database does not answer; Redis may be away."""
    database, database_version = _read_database()
    redis_part, redis_version, workers = _read_redis()
    versions = {"PostgreSQL": database_version, "Redis": redis_version}
    return Core(database, redis_part, tuple(workers), _read_queue(), versions)


def _read_database() -> tuple[Part, str]:
    with connection.cursor() as cursor:
        started = time.perf_counter()
        cursor.execute("SELECT 1")
        latency = (time.perf_counter() - started) * 1000
        cursor.execute(
            "SELECT current_setting('server_version'), current_setting('max_connections')::int,"
            " (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')"
        )
        whole, most, used = cursor.fetchone()
    missing = missing_migrations()
    number = str(whole).split()[0]
    applied = f"{missing} migrations missing" if missing else "migrations applied"
    detail = f"{number} on {_host_of_database()}, {used} of {most} connections, {applied}"
    if missing:
        return Part(
            "PostgreSQL", "down", detail, latency,
            f"{_count(missing, 'migration')} missing",
            "Run `manage.py migrate`; until then pages and workers may fail.",
        ), number  # fmt: skip
    if used >= CROWDED * most:
        return Part(
            "PostgreSQL", "degraded", detail, latency,
            f"{used} of {most} database connections are taken",
            "Raise max_connections of PostgreSQL, or run fewer processes.",
        ), number  # fmt: skip
    return Part("PostgreSQL", "up", detail, latency), number


def _host_of_database() -> str:
    host = str(connection.settings_dict["HOST"] or "a local socket")
    return "a local socket" if host.startswith("/") else host


def _read_redis() -> tuple[Part, str, Sequence[Worker]]:
    try:
        started = time.perf_counter()
        client().ping()
        latency = (time.perf_counter() - started) * 1000
        info = cast(Mapping[str, object], client().info())
        workers = read_workers(client())
    except redis.RedisError as error:
        reason = type(error).__name__
        return Part(
            "Redis", "down", f"does not answer on {_host_of_redis()} ({reason})", None,
            "Redis does not answer",
            "Pages are not live and new alerts are noticed a little later; nothing is lost. "
            "Look whether it runs, and whether REDIS_URL leads to it.",
        ), "", ()  # fmt: skip
    number = str(info.get("valkey_version") or info.get("redis_version") or "")
    evicted = int(str(info.get("evicted_keys") or 0))
    kept = "nothing evicted" if not evicted else f"{_count(evicted, 'key')} evicted"
    megabytes = int(str(info.get("used_memory") or 0)) / 1e6
    detail = f"{number} on {_host_of_redis()}, {megabytes:.1f} MB, {kept}"
    if evicted:
        return Part(
            "Redis", "degraded", detail, latency, "Redis throws things away for want of memory",
            "Set `maxmemory-policy noeviction` and give it more memory.",
        ), number, workers  # fmt: skip
    return Part("Redis", "up", detail, latency), number, workers


def _host_of_redis() -> str:
    """Where it is, without the password that the address may hold."""
    arguments = client().connection_pool.connection_kwargs
    return str(arguments.get("host") or arguments.get("path") or "its address")


def _read_queue() -> Queue:
    running, queued = count_active_and_queued()
    first = (
        visible_sessions()
        .filter(status=AlertSession.Status.PENDING)
        .order_by("created_at", "id")
        .values_list("created_at", flat=True)
        .first()
    )
    return Queue(running, get_config().queue.max_concurrent_sessions, queued, first)


def _count(number: int, one: str, many: str = "") -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def product_versions() -> Mapping[str, str]:
    """Of what runs in this process, and of what its workers run on."""
    names = ("Django", "celery", "channels", "psycopg", "mcp", "litellm")
    own = {"TARSy": settings.VERSION, "Python": platform.python_version()}
    return {**own, **{name: version(name) for name in names}}

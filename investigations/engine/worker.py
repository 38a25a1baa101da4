"""What every worker process does beside its tasks, each in a thread of its own.

dispatcher   claims waiting sessions when the ring sounds, and every `poll_interval` anyway
heartbeat    renews the leases of this process, and hears of cancelled and lost ones
sweeper      finds lost work (one process at a time)
tool monitor watches the tool servers (one process, until it ends)
"""

import json
import logging
import os
import random
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from functools import cache

import redis
from django.conf import settings
from django.db import Error as DatabaseError
from django.db import close_old_connections

from config import get_config
from config.words import count
from investigations.doorbell import ring_channel
from investigations.engine.tool_monitor import CLOSE_SECONDS, watch_tool_servers
from investigations.selectors.system.workers import (
    FORGOTTEN_SECONDS,
    WORKERS_KEY,
    read_clock,
    read_workers,
)
from investigations.services.executions import find_cancelling, renew_leases
from investigations.services.recovery import sweep
from investigations.services.sessions import claim_next_session
from tarsy.aio import WorkerLoop, worker_loop

logger = logging.getLogger(__name__)

LAST_WORD_SECONDS = 2.5


_naming = threading.Lock()


def worker_id() -> str:
    """This process, and no other before or after it; the same in each of its threads."""
    # The cache alone lets two threads that ask at once make two names, one of which nobody renews.
    with _naming:
        return _make_worker_id()


@cache
def _make_worker_id() -> str:
    return f"{socket.gethostname()}-{os.getpid()}-{uuid.uuid4().hex[:8]}"


class WorkerThreads:
    """The four threads, started and stopped together."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._monitor = threading.Thread(target=self._watch, name="tool monitor", daemon=True)
        self._heart = threading.Thread(target=self._beat, name="heartbeat", daemon=True)
        self._threads = [
            threading.Thread(target=self._dispatch, name="dispatcher", daemon=True),
            self._heart,
            threading.Thread(target=self._sweep, name="sweeper", daemon=True),
            self._monitor,
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()
        _tell_presence(0)

    def stop(self) -> None:
        """Claim nothing more and hand back what runs."""
        self._stop.set()
        if running := len(worker_loop().running_keys()):
            logger.info(
                "Stopping; to go on elsewhere or at the next start: %s", count(running, "agent")
            )
        worker_loop().stop_all("interrupted")

    def wait_until_closed(self) -> None:
        """After `stop`: give the monitor the seconds it needs to end the servers it started."""
        if self._monitor.is_alive():
            self._monitor.join(CLOSE_SECONDS)
        if self._heart.is_alive():
            # Its last word comes before the farewell.
            self._heart.join(LAST_WORD_SECONDS)
        _say_farewell()

    def _dispatch(self) -> None:
        ring = _Ring()
        while not self._stop.is_set():
            _survive(_claim_all)
            queue = get_config().queue
            jitter = random.uniform(0, queue.poll_interval_jitter.total_seconds())
            ring.wait(queue.poll_interval.total_seconds() + jitter, self._stop)

    def _beat(self) -> None:
        while not self._stop.wait(settings.HEARTBEAT_SECONDS):
            _survive(lambda: renew_and_listen(worker_loop()))
        _tell_presence(len(worker_loop().running_keys()), is_stopping=True)

    def _sweep(self) -> None:
        while not self._stop.wait(settings.SWEEP_SECONDS * random.uniform(0.8, 1.2)):
            _survive(sweep)

    def _watch(self) -> None:
        while not self._stop.is_set():
            _survive(lambda: watch_tool_servers(self._stop, worker_id()))
            self._stop.wait(settings.MCP_HEALTH_SECONDS * random.uniform(0.5, 1.0))


@cache
def threads() -> WorkerThreads:
    """The threads of this process."""
    return WorkerThreads()


def _claim_all() -> None:
    while claim_next_session() is not None:
        pass


def renew_and_listen(loop: WorkerLoop) -> None:
    """Renew the leases of what runs here; stop what was cancelled or taken from us."""
    running = set(loop.running_keys())
    held = {lease.lease_token: lease for lease in renew_leases(worker_id(), sorted(running))}
    for key in running & held.keys():
        if held[key].is_cancelling:
            loop.stop(key, "cancelled")
    # It may have ended in this very moment: only what two beats miss in a row is lost.
    missing = running - held.keys()
    for key in missing & _missed_before:
        loop.stop(key, "lease_lost")
    _missed_before.clear()
    _missed_before.update(missing)
    _tell_presence(len(running))


_missed_before: set[str] = set()


def stop_cancelled() -> None:
    """Stop this process's executions whose session is being cancelled."""
    loop = worker_loop()
    for lease_token in find_cancelling(worker_id()):
        loop.stop(lease_token, "cancelled")


def _tell_presence(active: int, *, is_stopping: bool = False) -> None:
    told: dict[str, object] = {"active": active, "stopping": is_stopping}
    told["needs"] = [[need.file, need.line, need.message] for need in get_config().needs]
    try:
        with _open_redis(2.0) as client:
            told["seen_at"] = read_clock(client)
            client.hset(WORKERS_KEY, worker_id(), json.dumps(told))
            client.expire(WORKERS_KEY, FORGOTTEN_SECONDS)
            _forget_dead_workers(client)
    except redis.RedisError as error:
        logger.warning("Presence not told: %s", error)


def _forget_dead_workers(client: redis.Redis) -> None:
    """Take out those who were killed: nobody else does. One that only hung is back with its next
    heartbeat."""
    workers = read_workers(client)
    if dead := [worker.id for worker in workers if worker.seconds_silent > FORGOTTEN_SECONDS]:
        client.hdel(WORKERS_KEY, *dead)


def _say_farewell() -> None:
    """A process that ends by itself is not looked for."""
    with suppress(redis.RedisError), _open_redis(0.5) as client:
        client.hdel(WORKERS_KEY, worker_id())


def _open_redis(seconds: float) -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL, socket_timeout=seconds, socket_connect_timeout=seconds
    )


class _Ring:
    """Waits for the ring; without Redis it waits for the time to pass."""

    def __init__(self) -> None:
        self._listener: redis.client.PubSub | None = None

    def wait(self, seconds: float, stop: threading.Event) -> None:
        """Return when rung, after `seconds`, or when stopped (looked at twice a second)."""
        until = time.monotonic() + seconds
        while not stop.is_set() and (left := until - time.monotonic()) > 0:
            if self._heard(min(left, 0.5), stop):
                return

    def _heard(self, seconds: float, stop: threading.Event) -> bool:
        try:
            if self._listener is None:
                client = redis.Redis.from_url(
                    settings.REDIS_URL, socket_timeout=5.0, socket_connect_timeout=2.0
                )
                self._listener = client.pubsub(ignore_subscribe_messages=True)  # type: ignore[no-untyped-call]
                self._listener.subscribe(ring_channel())
            return self._listener.get_message(timeout=seconds) is not None
        except redis.RedisError:
            self._listener = None
            stop.wait(seconds)
            return False


def _survive(work: Callable[[], object]) -> None:
    """A thread that outlives a restarted database: log, go on, come back."""
    close_old_connections()
    try:
        work()
    except DatabaseError as error:
        logger.warning("The database did not answer, trying again: %s", error)
    except Exception:
        logger.exception("A worker thread hit an error of ours and goes on")
    finally:
        close_old_connections()

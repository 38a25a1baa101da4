"""The one asyncio loop of a worker process, and the doors between it and the threads around it.

Agents wait far more than they compute, so all of a process's executions share one loop in one
thread. Task bodies block on it, ORM calls leave it through `db`, and messages to browsers through
`send_soon`, so nothing on the loop ever waits for a socket it does not await.
"""

import asyncio
import contextvars
import logging
import select
import threading
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import groupby
from operator import itemgetter
from typing import Any, Literal, ParamSpec, TypeVar

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

StopReason = Literal["cancelled", "interrupted", "lease_lost"]
MAX_UNSENT = 2_000
FRESH_SECONDS = 10.0

_Unsent = tuple[Callable[[Sequence[Any]], None], Any]


class WorkerLoop:
    """Runs coroutines for threads, by key, and stops them with a reason."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="agents-loop", daemon=True)
        self._database = ThreadPoolExecutor(settings.DATABASE_THREADS, thread_name_prefix="db")
        self._sender = ThreadPoolExecutor(1, thread_name_prefix="send")
        self._unsent: list[_Unsent] = []
        self._is_sending = False
        self._sending = threading.Lock()
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._reasons: dict[str, StopReason] = {}
        self._reason_for_all: StopReason | None = None
        self._thread.start()

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    def run(self, key: str, main: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run `main` on the loop under `key` and wait for it here.

        Once everything was told to stop, `main` begins only to be stopped at its first wait.
        """

        async def tracked() -> T:
            task = asyncio.current_task()
            if task is None:
                raise RuntimeError("a coroutine runs in a task")
            self._running[key] = task
            if self._reason_for_all is not None:
                self._stop(key, self._reason_for_all)
            try:
                return await main()
            finally:
                self._running.pop(key, None)
                self._reasons.pop(key, None)

        return asyncio.run_coroutine_threadsafe(tracked(), self._loop).result()

    def stop(self, key: str, reason: StopReason) -> None:
        """Cancel what runs under `key`; `stop_reason` tells it why. Safe from any thread."""
        self._loop.call_soon_threadsafe(self._stop, key, reason)

    def _stop(self, key: str, reason: StopReason) -> None:
        task = self._running.get(key)
        if task is None or key in self._reasons:
            return
        self._reasons[key] = reason
        task.cancel()

    def stop_all(self, reason: StopReason) -> None:
        """Stop what runs and what is yet to come; `is_stopping` tells callers to bring nothing."""
        self._reason_for_all = reason
        self._loop.call_soon_threadsafe(self._stop_running, reason)

    def _stop_running(self, reason: StopReason) -> None:
        for key in self.running_keys():
            self._stop(key, reason)

    @property
    def is_stopping(self) -> bool:
        return self._reason_for_all is not None

    def stop_reason(self, key: str) -> StopReason | None:
        return self._reasons.get(key)

    def running_keys(self) -> list[str]:
        return list(self._running)

    async def db(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call a service or selector on one of a fixed number of database threads.

        A call that was handed over runs to its end, and a cancellation is raised after it: what
        comes next never meets a write that is still on its way.
        """
        context = contextvars.copy_context()  # Log lines of the thread carry the caller's ids.
        call = partial(_with_fresh_connection, function, *args, **kwargs)
        answer = self._loop.run_in_executor(self._database, context.run, call)
        try:
            return await asyncio.shield(answer)
        except asyncio.CancelledError:
            await _outlast(answer)
            raise

    def run_in_database_thread(
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """The same for a thread outside the loop, so that connections stay bounded."""
        call = partial(_with_fresh_connection, function, *args, **kwargs)
        return self._database.submit(call).result()

    def send_soon(self, send: Callable[[Sequence[T]], None], item: T) -> None:
        """Have `send` called on the sender thread with this item and what else waits for it.

        In order; dropped when too much waits (it is only a hint). A thread that works beside a busy
        loop gets its turn a hundred times a second, so it must take all there is each time.
        """
        with self._sending:
            if len(self._unsent) >= MAX_UNSENT:
                return
            self._unsent.append((send, item))
            if self._is_sending:
                return
            self._is_sending = True
        self._sender.submit(self._send_all)

    def _send_all(self) -> None:
        while batch := self._take_unsent():
            for send, group in groupby(batch, key=itemgetter(0)):
                try:
                    send([item for _, item in group])
                except Exception:
                    logger.exception("Not sent")

    def _take_unsent(self) -> "list[_Unsent]":
        with self._sending:
            batch, self._unsent = self._unsent, []
            self._is_sending = bool(batch)
        return batch


async def _outlast(answer: "asyncio.Future[T]") -> None:
    while not answer.done():
        with suppress(asyncio.CancelledError):
            await asyncio.wait([answer])


def _with_fresh_connection(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    # Celery's own fixup never sees these threads; without this a restarted database stays lost.
    close_old_connections()
    if _is_fresh(connection):
        connection.health_check_done = True  # type: ignore[attr-defined]  # missing in the stubs
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
        _last_use.at = time.monotonic()


_last_use = threading.local()


def _is_fresh(used: BaseDatabaseWrapper) -> bool:
    """Whether asking a connection for its health would be a round trip for nothing.

    It was used just now, and its server has not said a word since, as one that ends does.
    """
    if used.connection is None or time.monotonic() - getattr(_last_use, "at", 0) > FRESH_SECONDS:
        return False
    waiting = select.poll()
    waiting.register(used.connection.fileno(), select.POLLIN)
    return not waiting.poll(0)


_worker_loop: WorkerLoop | None = None
_lock = threading.Lock()


def worker_loop() -> WorkerLoop:
    """The process's loop, started at first use (never before a fork)."""
    global _worker_loop
    with _lock:
        if _worker_loop is None:
            _worker_loop = WorkerLoop()
        return _worker_loop

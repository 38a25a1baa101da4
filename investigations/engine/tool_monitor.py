"""Watches the tool servers from exactly one worker process, and tells Redis what it sees.

The process that holds an advisory lock is the one; PostgreSQL gives the lock to another as soon as
its connection is gone. The servers are asked on an asyncio loop in a thread of its own: the loop of
the agents never waits for a check.
"""

import asyncio
import json
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial

import redis
from django.conf import settings
from django.db import connection

from config import get_config
from config.usage import servers_in_use
from investigations.engine.own_servers import own_servers
from investigations.engine.records import people_records
from investigations.selectors.system.tool_servers import (
    HEALTH_KEY,
    KEPT_SECONDS,
    TOOLS_KEY,
    ServerHealth,
    read_health,
    read_tools,
)
from investigations.selectors.system.workers import client
from mcp_bridge.monitor import Pace, watch_servers
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_status import SeenTool, ServerStatus

logger = logging.getLogger(__name__)

MONITOR_LOCK = 0x7A_52_04
"""Advisory lock that lets one process watch the tool servers."""

CLOSE_SECONDS = 4.5
"""How long a stopping process waits for the watch: a child that listens to nothing takes 4 s."""

LOOK_SECONDS = 0.5
"""How soon a change is told, and a stop is noticed."""


def watch_tool_servers(stop: threading.Event, worker_id: str) -> None:
    """Watch until stopped. Returns at once when another process does, or when the lock is lost."""
    with _lead() as lead:
        if lead is None:
            return
        config = get_config()
        watched = {name: config.mcp_servers[name] for name in servers_in_use(config)}
        logger.info("Watching the tool servers: %s", ", ".join(watched) or "there are none")
        board = _Board(worker_id, watched)
        watch = _WatchThread(watched, board)
        watch.start()
        try:
            _report_until_stopped(stop, lead, watch, board)
        finally:
            watch.close()


def _report_until_stopped(
    stop: threading.Event, lead: "_Lead", watch: "_WatchThread", board: "_Board"
) -> None:
    next_report = 0.0
    while watch.is_alive and not stop.is_set():
        now = time.monotonic()
        if now >= next_report:
            if not lead.is_held():
                logger.warning("The lock on watching tool servers was lost; another may have it")
                return
            next_report = now + settings.MCP_HEALTH_SECONDS
            board.tell()
        elif board.has_news:
            board.tell()
        stop.wait(LOOK_SECONDS)


class _Lead:
    """The lock of this thread's connection, for as long as that connection lives."""

    def __init__(self, backend: int) -> None:
        self._backend = backend

    def is_held(self) -> bool:
        """Whether the connection is still the one that took the lock. Raises when it is cut."""
        return _backend_of_connection() == self._backend


@contextmanager
def _lead() -> Iterator[_Lead | None]:
    """Hold the lock, or None when another process does."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [MONITOR_LOCK])
        is_ours = bool(cursor.fetchone()[0])
    try:
        yield _Lead(_backend_of_connection()) if is_ours else None
    finally:
        if is_ours:
            # Ends the lock, also where the connection cannot be asked for anything any more.
            connection.close()


def _backend_of_connection() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_backend_pid()")
        return int(cursor.fetchone()[0])


MOST_LEFT_OUT = 10
"""Tools of one server that are told of because something is wrong with them."""


class _Board:
    """What is known of each server: written by the watch, told to Redis by the thread that leads.

    It begins with what was told before, so that a takeover changes nothing until it has looked.
    """

    def __init__(self, worker_id: str, watched: Mapping[str, ServerConfig]) -> None:
        self._worker_id = worker_id
        self._lock = threading.Lock()
        before = read_health()
        told = before.servers if before else {}
        self._servers = {name: health for name, health in told.items() if name in watched}
        self._tools = {name: tools for name, tools in read_tools().items() if name in watched}
        self.has_news = False

    def note(self, status: ServerStatus) -> None:
        name, now = status.server_id, time.time()
        with self._lock:
            before = self._servers.get(name)
            is_well = not status.error
            is_change = before is None or before.healthy != is_well
            since = now if before is None or is_change else before.since
            # A look that asks for no tools says nothing of what is wrong with them.
            is_listing = status.tools is not None or before is None
            left_out = status.left_out if is_listing or before is None else before.left_out
            self._servers[name] = ServerHealth(
                id=name,
                healthy=is_well,
                since=since,
                checked_at=now,
                error=status.error,
                latency_ms=status.latency_ms,
                protocol_version=status.protocol_version,
                left_out=tuple(left_out)[:MOST_LEFT_OUT],
            )
            if status.tools is not None:
                self._tools[name] = [_shown(tool) for tool in status.tools]
            self.has_news = self.has_news or is_change or status.tools is not None
        if is_change:
            _log_change(name, status.error, is_first=before is None)

    def tell(self) -> None:
        """Put everything into Redis; what cannot be told now is told with the next report."""
        with self._lock:
            servers = [asdict(health) for health in self._servers.values()]
            tools = json.dumps(self._tools)
            self.has_news = False
        report = {"worker_id": self._worker_id, "reported_at": time.time(), "servers": servers}
        try:
            with client().pipeline() as pipe:
                pipe.set(HEALTH_KEY, json.dumps(report), ex=KEPT_SECONDS)
                pipe.set(TOOLS_KEY, tools, ex=KEPT_SECONDS)
                pipe.execute()
        except redis.RedisError as error:
            logger.warning("The state of the tool servers is not told: %s", error)


class _WatchThread:
    """Asks the servers on an event loop of its own and notes on the board what they answer."""

    def __init__(self, watched: Mapping[str, ServerConfig], board: _Board) -> None:
        self._watched = watched
        self._board = board
        self._began = threading.Event()
        self._cancel: Callable[[], object] = lambda: None
        self._thread = threading.Thread(target=self._run, name="tool servers", daemon=True)

    @property
    def is_alive(self) -> bool:
        return self._thread.is_alive()

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """End the watch and wait until everything it opened is closed, but not for ever."""
        self._began.wait(CLOSE_SECONDS)
        with suppress(RuntimeError):  # The loop is closed: it had ended by itself.
            self._cancel()
        self._thread.join(CLOSE_SECONDS)

    def _run(self) -> None:
        try:
            asyncio.run(self._watch())
        except asyncio.CancelledError:
            pass
        except Exception:
            logger.exception("The watch over the tool servers ended by an error of ours")
        finally:
            self._began.set()

    async def _watch(self) -> None:
        task, loop = asyncio.current_task(), asyncio.get_running_loop()
        if task is None:
            raise RuntimeError("a coroutine runs in a task")
        self._cancel = partial(loop.call_soon_threadsafe, task.cancel)
        self._began.set()
        every = float(settings.MCP_HEALTH_SECONDS)
        pace = Pace(between_checks=every, longest_pause=4 * every)
        await watch_servers(
            self._watched, self._board.note, in_process=own_servers(people_records()), pace=pace
        )


def _shown(tool: SeenTool) -> dict[str, object]:
    return {**asdict(tool), "classes": dict(tool.classes)}


def _log_change(server_id: str, error: str, *, is_first: bool) -> None:
    if error:
        logger.warning("The tool server %s is not available: %s", server_id, error)
    elif not is_first:
        logger.info("The tool server %s is available again", server_id)

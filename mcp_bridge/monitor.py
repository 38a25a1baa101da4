"""Watches tool servers for as long as it is let: each in a task of its own, none waits for another.

A connection of its own is held open to each server, so that a look costs one small question and no
child process is started for it. What does not answer is closed and opened again, at once the first
time and ever more rarely after that.
"""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from mcp_bridge.connection import Deadlines, ServerConnection
from mcp_bridge.failures import ServerUnavailable
from mcp_bridge.server_config import ServerConfig
from mcp_bridge.server_status import ServerStatus, ask_status, connect, explain_error
from mcp_bridge.transports import InProcessFactories
from mcp_bridge.wire.http import HttpClients

logger = logging.getLogger(__name__)

OURS = "an error of this product stopped the check; it is in the worker's log"


@dataclass(frozen=True)
class Pace:
    """Seconds. `longest_pause` is how rarely a server that stays away is tried."""

    between_checks: float = 15.0
    ping: float = 5.0
    start: float = 30.0
    restart: float = 10.0
    close: float = 8.0
    """More than it takes to end a child that listens to nothing: 2 s, SIGTERM, 2 s, SIGKILL."""
    longest_pause: float = 60.0
    between_listings: float = 300.0
    """How long a list of tools is taken to be the current one."""


Report = Callable[[ServerStatus], None]


async def watch_servers(
    servers: Mapping[str, ServerConfig],
    report: Report,
    *,
    in_process: InProcessFactories,
    pace: Pace = Pace(),
) -> None:
    """Check every server again and again and report each look, until cancelled.

    Everything that was opened is closed when this ends. `report` must not block.
    """
    async with HttpClients() as http_clients, asyncio.TaskGroup() as group:
        open_one = partial(connect, http_clients=http_clients, in_process=in_process)
        for name, config in servers.items():
            watch = _Watch(name, config, partial(open_one, name, config), pace)
            group.create_task(watch.run(report), name=f"watch {name}")
        await asyncio.Event().wait()  # Without any server, too, it goes on until it is cancelled.


class _Watch:
    """One server under watch."""

    def __init__(
        self,
        server_id: str,
        config: ServerConfig,
        connect: Callable[[Deadlines], ServerConnection],
        pace: Pace,
    ) -> None:
        self._server_id = server_id
        self._config = config
        self._connect = connect
        self._pace = pace
        self._connection: ServerConnection | None = None
        self._listed_at = 0.0
        self._failures = 0

    async def run(self, report: Report) -> None:
        try:
            while True:
                report(await self._look())
                await asyncio.sleep(self._pause())
        finally:
            await self._close()

    async def _look(self) -> ServerStatus:
        try:
            status = await self._look_twice()
        except ServerUnavailable as error:
            self._failures += 1
            return ServerStatus(self._server_id, explain_error(error, self._config))
        except Exception:
            # A defect met at one server must not end the watch over the others.
            logger.exception("checking the tool server %s failed", self._server_id)
            self._failures += 1
            await self._close()
            return ServerStatus(self._server_id, OURS)
        self._failures = 0
        return status

    async def _look_twice(self) -> ServerStatus:
        """What was open and went away is opened once more before it counts as gone: a server that
        was restarted is well, only its connection is not."""
        if self._connection is None:
            return await self._open_and_list(self._pace.start)
        try:
            return await self._ask(self._connection)
        except ServerUnavailable:
            await self._close()
            return await self._open_and_list(self._pace.restart)

    async def _ask(self, connection: ServerConnection) -> ServerStatus:
        if self._config.transport.type == "in_process":
            return ServerStatus(self._server_id, protocol_version=connection.protocol_version)
        started = time.monotonic()
        if started - self._listed_at > self._pace.between_listings:
            return await self._list(connection, started)
        await connection.ping(self._pace.ping)
        return ServerStatus(
            self._server_id,
            latency_ms=round((time.monotonic() - started) * 1000),
            protocol_version=connection.protocol_version,
        )

    async def _open_and_list(self, seconds: float) -> ServerStatus:
        deadlines = Deadlines(start=seconds, restart=seconds, close=self._pace.close)
        connection = self._connection = self._connect(deadlines)
        started = time.monotonic()
        try:
            await connection.start()
            return await self._list(connection, started)
        except ServerUnavailable:
            await self._close()
            raise

    async def _list(self, connection: ServerConnection, started: float) -> ServerStatus:
        status, _ = await ask_status(self._server_id, self._config, connection, started)
        self._listed_at = time.monotonic()
        return status

    async def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    def _pause(self) -> float:
        usual = self._pace.between_checks
        longest = max(usual, self._pace.longest_pause)
        # Not in step with each other: many servers are not asked at the same moment.
        doubled = usual * 2.0 ** min(max(0, self._failures - 1), 10)
        return min(doubled, longest) * random.uniform(0.9, 1.0)

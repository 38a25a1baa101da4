"""A real Daphne, and browsers that remember what they saw."""

import asyncio
import json
import os
import socket
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
import redis
from django.conf import settings
from django.db import connection
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from investigations.doorbell import stream_channel
from tests.forked import Fork
from tests.processes import Process, find_free_port

PATIENCE = 20.0


@dataclass
class Server:
    port: int
    process: subprocess.Popen[bytes] | Fork

    @property
    def url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/api/v1/ws"


def _database_url() -> str:
    info = connection.get_connection_params()
    parts = {key: info[key] for key in ("user", "password", "host", "port") if info.get(key)}
    return (
        f"postgres://{parts.get('user', '')}:{parts.get('password', '')}@/{info['dbname']}"
        f"?host={parts.get('host', '')}&port={parts.get('port', '')}"
    )


@contextmanager
def _daphne(**environ: str) -> Iterator[Server]:
    port = find_free_port()
    process = Process(
        *("-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "-v", "1", "tarsy.asgi:application"),
        environment={
            **os.environ,
            "DATABASE_URL": _database_url(),
            "REDIS_URL": settings.REDIS_URL,
            "TARSY_AUTH": "none",
            "LOG_LEVEL": "WARNING",
            **environ,
        },
        ready="",
        is_forked=True,
    )
    try:
        wait_for(lambda: _accepts(port, process))
        yield Server(port, process.child)
    finally:
        process.stop()


def _accepts(port: int, process: Process) -> bool:
    assert process.child.poll() is None, f"Daphne did not start: {process.output}"
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
        return True
    return False


def wait_for(condition: Callable[[], Any], *, seconds: float = PATIENCE) -> None:
    """Like `until`, outside of a loop."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


async def until(condition: Callable[[], Any], *, seconds: float = PATIENCE) -> Any:
    """Wait for a condition; fails the test when it does not come true in time."""
    async with asyncio.timeout(seconds):
        while not (found := condition()):
            await asyncio.sleep(0.02)
    return found


@pytest.fixture
def daphne(transactional_db) -> Callable[..., Any]:
    """`with daphne(TARSY_AUTH="login") as server`: one with an environment of its own."""
    return _daphne


@pytest.fixture(scope="module")
def shared_server(django_db_setup, django_db_blocker) -> Iterator[Server]:
    with django_db_blocker.unblock():
        url = _database_url()
    with _daphne(DATABASE_URL=url) as running:
        yield running


@pytest.fixture
def server(shared_server, transactional_db) -> Server:
    """The usual one; tests share it, as browsers do."""
    return shared_server


@dataclass
class Browser:
    """One socket and everything that came through it."""

    socket: ClientConnection
    seen: list[dict[str, Any]] = field(default_factory=list)
    close_code: int | None = None

    async def say(self, **message: Any) -> None:
        await self.socket.send(json.dumps(message))

    async def listen(self) -> None:
        with suppress(ConnectionClosed):
            async for text in self.socket:
                self.seen.append(json.loads(text))
        self.close_code = self.socket.close_code

    def seqs(self, channel_id: object | None = None) -> list[int]:
        return [
            message["db_event_id"]
            for message in self.seen
            if "db_event_id" in message
            and (channel_id is None or message["session_id"] == str(channel_id))
        ]

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [message for message in self.seen if message["type"] == kind]

    async def has_stored(self, count: int) -> None:
        await until(lambda: len(self.seqs()) >= count)

    async def sees(self, kind: str, count: int = 1) -> dict[str, Any]:
        await until(lambda: len(self.of_type(kind)) >= count)
        return self.of_type(kind)[count - 1]


@asynccontextmanager
async def browse(server: Server, **options: Any) -> AsyncIterator[Browser]:
    """Open a socket and keep listening to it."""
    async with connect(server.url, **options) as socket_:
        browser = Browser(socket_)
        listening = asyncio.create_task(browser.listen())
        try:
            yield browser
        finally:
            await socket_.close()
            await listening


@pytest.fixture
def doorbell() -> Iterator[redis.Redis]:
    with redis.Redis.from_url(settings.REDIS_URL) as client:
        yield client


def cut_subscriptions(doorbell: redis.Redis, channel: str) -> int:
    """Kill every connection that listens to this Redis database; returns how many."""
    assert doorbell.pubsub_numsub(stream_channel(channel))[0][1] >= 1
    ours = str(settings.REDIS_DATABASE)
    listening = [each for each in doorbell.client_list(_type="pubsub") if each["db"] == ours]
    return sum(doorbell.client_kill_filter(_id=each["id"]) for each in listening)

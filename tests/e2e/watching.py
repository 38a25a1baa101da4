"""A WebSocket client in a thread of its own that writes down what it is sent."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import websockets

from tests.processes import wait_for


class Watcher:
    """What one socket was told of one session, as it came; only what is stored."""

    def __init__(self, socket_url: str, session_id: str) -> None:
        self.seen: list[dict[str, Any]] = []
        self._url = socket_url
        self._session_id = session_id
        self._stop = threading.Event()

    def wait_for_seq(self, seq: int, within: float = 30.0) -> None:
        wait_for(
            lambda: bool(self.seen) and self.seen[-1]["db_event_id"] >= seq,
            within=within,
            what=f"message {seq} on the socket",
        )

    def select(self, kind: str, *fields: str) -> list[tuple[Any, ...]]:
        """These fields of each message of a type, in order."""
        return [tuple(m[name] for name in fields) for m in self.seen if m["type"] == kind]

    def run(self) -> None:
        asyncio.run(self._follow())

    def stop(self) -> None:
        self._stop.set()

    async def _follow(self) -> None:
        async with websockets.connect(self._url) as socket:
            channel = f"session:{self._session_id}"
            await socket.send(json.dumps({"action": "subscribe", "channel": channel}))
            while not self._stop.is_set():
                try:
                    text = await asyncio.wait_for(socket.recv(), timeout=0.2)
                except TimeoutError:
                    continue
                message = json.loads(text)
                if "db_event_id" in message:
                    self.seen.append(message)


@contextmanager
def watch(socket_url: str, session_id: object) -> Iterator[Watcher]:
    watcher = Watcher(socket_url, str(session_id))
    thread = threading.Thread(target=watcher.run, name="watcher", daemon=True)
    thread.start()
    try:
        yield watcher
    finally:
        watcher.stop()
        thread.join(10)

"""A rehearsal server in a thread of the test's own process."""

import asyncio
import socket
import threading
from types import TracebackType
from typing import Self

from agents.rehearsal.script import Script
from agents.rehearsal.server import (
    LoggedRequest,
    Rehearsal,
    RehearsalServer,
    listen,
    mount,
    spell_url,
)

_START_TIMEOUT = 15.0
_STOP_TIMEOUT = 10.0


class RunningRehearsal:
    """A rehearsal server in a thread of this process. Use as a context manager, or `stop()` it."""

    def __init__(self, rehearsal: Rehearsal, listener: socket.socket) -> None:
        self.url = spell_url(listener)
        self._rehearsal = rehearsal
        self._listener = listener
        self._ready = threading.Event()
        self._server = RehearsalServer(mount(rehearsal), self._note_ready)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread = threading.Thread(target=self._serve, name="rehearsal", daemon=True)
        self._thread.start()
        if not self._ready.wait(_START_TIMEOUT):
            raise RuntimeError(f"the rehearsal server did not start within {_START_TIMEOUT:g} s")

    @property
    def requests(self) -> list[LoggedRequest]:
        """What was asked so far, oldest first."""
        return list(self._rehearsal.requests)

    def release(self, name: str) -> None:
        """Let every reply go on, now and later, that waits for `hold: name`."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._rehearsal.holds.release, name)

    def count_held(self, name: str) -> int:
        return self._rehearsal.holds.count_waiting(name)

    def wait_until_held(self, name: str, *, replies: int = 1, timeout: float = 10.0) -> None:
        """Block until so many replies wait for `hold: name`. Raises `TimeoutError`.

        From a coroutine call it through `asyncio.to_thread`: the client must go on reading.
        """
        if not self._rehearsal.holds.wait_until_held(name, replies=replies, timeout=timeout):
            raise TimeoutError(f"{replies} replies were not held at {name!r} within {timeout:g} s")

    def stop(self) -> None:
        """Stop serving; replies still on their way are cut off."""
        self._server.should_exit = True
        self._server.force_exit = True
        self._thread.join(_STOP_TIMEOUT)
        self._listener.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def _note_ready(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._ready.set()

    def _serve(self) -> None:
        asyncio.run(self._server.serve(sockets=[self._listener]))


def start_rehearsal(
    script: Script, *, host: str = "127.0.0.1", port: int = 0, pace: float | None = None
) -> RunningRehearsal:
    """Serve a script from a thread of this process, ready when this returns."""
    return RunningRehearsal(Rehearsal(script, pace=pace), listen(host, port))

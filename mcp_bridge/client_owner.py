"""Holds the client of one tool server open, in a task of its own.

anyio's scopes must be left in the task that entered them. So one task, the owner, opens the
client, keeps it and closes it; everybody else calls through the open client and asks the owner
to stop. Closing never depends on who asks, and nothing leaks when an agent is cancelled.
"""

import asyncio
import logging
import random
from contextlib import AbstractAsyncContextManager
from typing import Protocol

from mcp import Client

from masking.visible_text import clean_line
from mcp_bridge.failures import SERVER_FAILURES, ServerUnavailable, describe_failure
from mcp_bridge.wire.stderr import StderrTail
from mcp_bridge.wire.taming import Wire

logger = logging.getLogger(__name__)

START_GRACE = 0.1
LOGGED_REASON = 600


class OpenClient(Protocol):
    """How a client is opened; entered and left by the owner alone."""

    def __call__(self, *, wire: Wire) -> AbstractAsyncContextManager[Client]: ...


class ClientOwner:
    """Opens a client, opens it again where it was lost, and closes it.

    `close_seconds` is what closing is waited for before it is cancelled, and again after.
    """

    def __init__(self, server_id: str, open_client: OpenClient, close_seconds: float) -> None:
        self._server_id = server_id
        self._open_client = open_client
        self._close_seconds = close_seconds
        self._task: asyncio.Task[None] | None = None
        self._stop = asyncio.Event()
        self._restart_lock = asyncio.Lock()
        self._is_closed = False
        self._why_closed = "it is not connected"
        self.client: Client | None = None
        self.wire = Wire()

    @property
    def is_down(self) -> bool:
        return self.client is None or self.wire.is_ended

    @property
    def why_down(self) -> str:
        if self.client is None:
            return self._why_closed
        return self.wire.end_reason or "its connection ended"

    async def start(self, seconds: float) -> None:
        """Open the client, or raise `ServerUnavailable` once the time is over."""
        ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self.wire = Wire()
        self._task = asyncio.create_task(
            self._own(ready, self._stop, seconds, self.wire), name=f"tool server {self._server_id}"
        )
        # The owner may need seconds more to end a child that does not answer; nobody waits for it.
        await asyncio.wait({ready}, timeout=seconds + START_GRACE)
        if not ready.done():
            raise ServerUnavailable(f"it did not start within {seconds:g} s")
        self.client = ready.result()

    async def restart(
        self, *, after: Client | None, seconds: float, pause: tuple[float, float]
    ) -> None:
        """Open it again, once for all calls that lost the same client. Where that fails, it is down
        and `why_down` says why."""
        async with self._restart_lock:
            if self._is_closed or self.client is not after:
                return
            await self._end_task()
            await asyncio.sleep(random.uniform(*pause))
            try:
                await self.start(seconds)
            except ServerUnavailable as error:
                self._why_closed = str(error)
                return
            # It may have come back as another.
            self.wire.tools_changed = True

    async def close(self) -> None:
        """Close it for good. Its process is gone when this returns, unless it cannot be killed."""
        self._is_closed = True
        await self._end_task()

    async def _own(
        self, ready: asyncio.Future[Client], stop: asyncio.Event, seconds: float, wire: Wire
    ) -> None:
        """Open, serve and close the client, all in this task."""
        stderr = wire.stderr
        try:
            async with (
                asyncio.timeout(seconds) as clock,
                self._open_client(wire=wire) as client,
            ):
                clock.reschedule(None)
                ready.set_result(client)
                await stop.wait()
        except asyncio.CancelledError:
            _refuse(ready, ServerUnavailable("starting it was cancelled"))
            raise
        except TimeoutError:
            reason = f"it did not start within {seconds:g} s"
            _refuse(ready, ServerUnavailable(_with_stderr(reason, stderr)))
        except (ServerUnavailable, BaseExceptionGroup, *SERVER_FAILURES) as error:
            reason = describe_failure(error)
            if not _refuse(ready, ServerUnavailable(_with_stderr(reason, stderr))):
                told = clean_line(reason, LOGGED_REASON)
                logger.info("tool server %s ended badly: %s", self._server_id, told)
        except Exception as error:
            # A defect of an in-process server or of the SDK must not hang whoever waits for it.
            logger.exception("tool server %s failed", self._server_id)
            _refuse(ready, ServerUnavailable(describe_failure(error)))
        finally:
            wire.is_ended = True

    async def _end_task(self) -> None:
        task, self._task, self.client = self._task, None, None
        if task is None:
            return
        self._stop.set()
        done, _ = await asyncio.wait({task}, timeout=self._close_seconds)
        if not done:
            task.cancel()
            await asyncio.wait({task}, timeout=self._close_seconds)


def _refuse(ready: asyncio.Future[Client], error: Exception) -> bool:
    """Tell who waits for the start, if anybody still does."""
    if ready.done():
        return False
    ready.set_exception(error)
    # Whoever asked may have been cancelled; the exception is then nobody's to read.
    ready.exception()
    return True


def _with_stderr(reason: str, stderr: StderrTail) -> str:
    return f"{reason}; it said: {stderr.text}" if stderr.text else reason

"""Sending to one socket without piling up what the other side does not read.

Daphne's send never waits, so a client that stops reading would cost us its whole stream in memory.
We look at what its transport still holds and wait for room. Where the server does not show its
transport, what was sent since the client's last word is counted instead.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from investigations.stream_messages import Payload

UNSENT_LIMIT = 1024 * 1024
UNANSWERED_LIMIT = 32 * 1024 * 1024
_LOOK_SECONDS = 0.02


class Stalled(Exception):
    """The client has not read for too long."""


class Outlet:
    """The way out of one socket."""

    def __init__(self, send: Callable[[Any], Awaitable[None]], *, patience: float) -> None:
        self._send = send
        self._patience = patience
        self._unanswered = 0

    def hear(self) -> None:
        """The client said something, so it reads what it gets."""
        self._unanswered = 0

    async def send(self, text: str) -> None:
        """Send once there is room. Raises Stalled when there is none for too long."""
        await self._wait_for_room()
        self._unanswered += len(text)
        await self._send({"type": "websocket.send", "text": text})

    async def say(self, payload: Payload) -> None:
        """The same for what is no text yet."""
        await self.send(json.dumps(payload))

    async def _wait_for_room(self) -> None:
        unsent = unsent_bytes(self._send)
        if unsent is None:
            if self._unanswered > UNANSWERED_LIMIT:
                raise Stalled
            return
        deadline = asyncio.get_running_loop().time() + self._patience
        while unsent > UNSENT_LIMIT:
            await asyncio.sleep(_LOOK_SECONDS)
            left = unsent_bytes(self._send) or 0
            now = asyncio.get_running_loop().time()
            if left < unsent:
                deadline = now + self._patience
            elif now > deadline:
                raise Stalled
            unsent = left


def unsent_bytes(send: Callable[[Any], Awaitable[None]]) -> int | None:
    """What Daphne's transport still holds of this socket; None when it cannot be seen.

    `send` is a partial over the protocol, whose Twisted transport keeps two buffers.
    """
    protocol = next(iter(getattr(send, "args", ())), None)
    transport: Any = getattr(protocol, "transport", None)
    try:
        return int(len(transport.dataBuffer) - transport.offset + transport._tempDataLen)
    except AttributeError:
        return None

"""The stream: one consumer per socket at /api/v1/ws."""

import asyncio
import json
import logging
import uuid
from collections.abc import Mapping
from functools import cache
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError

from investigations.stream.channels import CLOSE_SLOW, Channels
from investigations.stream.open_sockets import OpenSockets
from investigations.stream.sender import Outlet, Stalled
from investigations.stream.socket_identity import find_source, may_connect, request_of
from investigations.stream.stored_reads import in_thread
from tarsy.build import read_build

logger = logging.getLogger(__name__)

CLOSE_BAD_MESSAGE, CLOSE_UNIDENTIFIED = 4400, 4401
CLOSE_TOO_MANY = 4429
"""Sockets of one source, or messages of one socket."""
LONGEST_MESSAGE = 64 * 1024
MOST_MESSAGES = 600
"""A client may send so many in a minute; a page sends a few."""


class StreamConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Actions: subscribe, unsubscribe, catchup, ping. Everything else is ignored."""

    _outlet: Outlet
    _channels: Channels
    _source: str | None = None
    """What it counts for; None where it was refused."""
    _watch: asyncio.Task[None] | None = None
    _last_heard = 0.0
    _counted_from = 0.0
    _counted = 0

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            # However it ended: a consumer that fails is told of no disconnection.
            if self._source is not None:
                _open_sockets().leave(self._source)

    async def connect(self) -> None:
        request = request_of(self.scope)
        # In a thread: the name of a proxy may have to be looked up.
        if not await asyncio.to_thread(may_connect, request):
            await self.close()
            return
        await self.accept()
        source = await in_thread(find_source, request)
        if source is None:
            await self.close(CLOSE_UNIDENTIFIED)
            return
        if not _open_sockets().enter(source, settings.STREAM_MOST_SOCKETS):
            logger.warning("Another socket of %s was refused", source)
            await self.close(CLOSE_TOO_MANY)
            return
        self._source = source
        self._outlet = Outlet(self.base_send, patience=settings.STREAM_SILENCE_SECONDS / 2)
        self._channels = Channels(self._outlet, self.close)
        self._last_heard = self._counted_from = _now()
        self._watch = asyncio.create_task(self._watch_over())
        hello = {"connection_id": str(uuid.uuid4()), "build": read_build()}
        await self._outlet.say({"type": "connection.established", **hello})

    async def disconnect(self, code: int) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._channels.leave_all()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if self._watch is None:
            return
        self._last_heard = _now()
        self._outlet.hear()
        if len(text_data or bytes_data or "") > LONGEST_MESSAGE:
            await self.close(CLOSE_BAD_MESSAGE)
            return
        if self._is_too_many():
            await self.close(CLOSE_TOO_MANY)
            return
        message = _parse(text_data)
        try:
            await self._act(message)
        except Stalled:
            await self.close(CLOSE_SLOW)

    def _is_too_many(self) -> bool:
        if self._last_heard - self._counted_from > 60:
            self._counted_from, self._counted = self._last_heard, 0
        self._counted += 1
        return self._counted > MOST_MESSAGES

    async def _act(self, message: Mapping[str, Any]) -> None:
        match message.get("action"):
            case "ping":
                await self._outlet.say({"type": "pong"})
            case "subscribe" | "unsubscribe" | "catchup" as action:
                channel = message.get("channel")
                if not isinstance(channel, str) or not channel:
                    await self._outlet.say(
                        {"type": "error", "message": f"{action} needs a channel"}
                    )
                elif action == "subscribe":
                    await self._channels.subscribe(channel, message)
                elif action == "unsubscribe":
                    self._channels.leave(channel)
                else:
                    await self._channels.catch_up(channel, message)

    async def _watch_over(self) -> None:
        """Close a silent socket, and one whose login or token is no longer good."""
        limit = float(settings.STREAM_SILENCE_SECONDS)
        checked = _now()
        while True:
            await asyncio.sleep(limit / 4)
            if _now() - self._last_heard > limit:
                await self.close(CLOSE_SLOW)
                return
            if _now() - checked < limit:
                continue
            try:
                source = await in_thread(find_source, request_of(self.scope))
            except DatabaseError as error:
                # The watch must outlive this, or a revoked token would be good for ever.
                logger.warning("Identity of a socket not checked, trying again: %s", error)
                continue
            if source is None:
                await self.close(CLOSE_UNIDENTIFIED)
                return
            checked = _now()


class RefuseSocket(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Any other path."""

    async def connect(self) -> None:
        await self.close()


def _now() -> float:
    return asyncio.get_running_loop().time()


def _parse(text: str | None) -> Mapping[str, Any]:
    """The message, empty when it is none: upstream's clients rely on that."""
    try:
        message = json.loads(text or "")
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


@cache
def _open_sockets() -> OpenSockets:
    return OpenSockets()

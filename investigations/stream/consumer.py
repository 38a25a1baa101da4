"""The stream: one consumer per socket at /api/v1/ws."""

import asyncio
import json
import logging
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest

from investigations.access.identity import NotIdentified, identify
from investigations.access.limits import source_of
from investigations.access.roles import VIEW
from investigations.selectors.timeline import is_visible
from investigations.stream.following import ListFollower, SessionFollower
from investigations.stream.fragment_cache import FragmentCache
from investigations.stream.hub import Hub, hub_of_process
from investigations.stream.open_sockets import OpenSockets
from investigations.stream.sender import Outlet, Stalled
from investigations.stream.socket_identity import may_connect, request_of
from investigations.stream.stored_reads import StoredStream, in_thread, read_heads
from investigations.stream_messages import SESSIONS_CHANNEL, Payload, session_channel
from tarsy.build import read_build

logger = logging.getLogger(__name__)

CLOSE_BAD_MESSAGE, CLOSE_UNIDENTIFIED, CLOSE_SLOW = 4400, 4401, 4408
CLOSE_TOO_MANY = 4429
"""Sockets of one source, or messages of one socket."""
LONGEST_MESSAGE = 64 * 1024
MOST_SUBSCRIPTIONS = 100
MOST_MESSAGES = 600
"""A client may send so many in a minute; a page sends a few."""
LARGEST_SEQ = 2**63 - 1


class Refused(Exception):
    """A subscription cannot be; the text is for the client."""


@dataclass
class Subscription:
    """A channel this socket follows."""

    channel: str
    follower: SessionFollower | ListFollower
    task: asyncio.Task[None]


class StreamConsumer(AsyncWebsocketConsumer):  # type: ignore[misc]
    """Actions: subscribe, unsubscribe, catchup, ping. Everything else is ignored."""

    _request: HttpRequest
    _outlet: Outlet
    _source: str | None = None
    """What it counts for; None where it was refused."""
    _watch: asyncio.Task[None] | None = None
    _last_heard = 0.0
    _counted_from = 0.0
    _counted = 0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._subscriptions: dict[str, Subscription] = {}

    @property
    def _hub(self) -> Hub:
        return hub_of_process(read_heads)

    # ---- The socket -----------------------------------------------------------------------------

    async def __call__(self, *args: Any) -> None:
        try:
            await super().__call__(*args)
        finally:
            # However it ended: a consumer that fails is told of no disconnection.
            if self._source is not None:
                _open_sockets().leave(self._source)

    async def connect(self) -> None:
        self._request = request_of(self.scope)
        # In a thread: the name of a proxy may have to be looked up.
        if not await asyncio.to_thread(may_connect, self._request):
            await self.close()
            return
        await self.accept()
        source = await in_thread(_find_source, self._request)
        if source is None:
            await self.close(CLOSE_UNIDENTIFIED)
            return
        if not _open_sockets().enter(source, settings.STREAM_MOST_SOCKETS):
            logger.warning("Another socket of %s was refused", source)
            await self.close(CLOSE_TOO_MANY)
            return
        self._source = source
        self._outlet = Outlet(self.base_send, patience=settings.STREAM_SILENCE_SECONDS / 2)
        self._last_heard = self._counted_from = _now()
        self._watch = asyncio.create_task(self._watch_over())
        hello = {"connection_id": str(uuid.uuid4()), "build": read_build()}
        await self._say({"type": "connection.established", **hello})

    async def disconnect(self, code: int) -> None:
        if self._watch is not None:
            self._watch.cancel()
        for channel in tuple(self._subscriptions):
            self._leave(channel)

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
                await self._say({"type": "pong"})
            case "subscribe" | "unsubscribe" | "catchup" as action:
                channel = message.get("channel")
                if not isinstance(channel, str) or not channel:
                    await self._say({"type": "error", "message": f"{action} needs a channel"})
                elif action == "subscribe":
                    await self._subscribe(channel, message)
                elif action == "unsubscribe":
                    self._leave(channel)
                else:
                    await self._catch_up(channel, message)

    async def _say(self, payload: Payload) -> None:
        await self._outlet.send(json.dumps(payload))

    # ---- Subscriptions --------------------------------------------------------------------------

    async def _subscribe(self, channel: str, message: Mapping[str, Any]) -> None:
        try:
            follower = await self._make_follower(channel, message)
            self._leave(channel)
            await self._hub.attach(channel, follower)
        except Refused as refusal:
            await self._say_refused(channel, str(refusal))
            return
        except (TimeoutError, DatabaseError):
            logger.exception("A subscription failed")
            await self._say_refused(channel, "the stream is not available now, try again")
            return
        await self._say({"type": "subscription.confirmed", "channel": channel})
        task = asyncio.create_task(self._run(channel, follower))
        self._subscriptions[channel] = Subscription(channel, follower, task)

    async def _say_refused(self, channel: str, reason: str) -> None:
        await self._say({"type": "subscription.error", "channel": channel[:200], "message": reason})

    async def _make_follower(
        self, channel: str, message: Mapping[str, Any]
    ) -> SessionFollower | ListFollower:
        if channel not in self._subscriptions and len(self._subscriptions) >= MOST_SUBSCRIPTIONS:
            raise Refused(f"at most {MOST_SUBSCRIPTIONS} channels per connection")
        send = partial(self._deliver, channel, message.get("format") == "html")
        if channel == SESSIONS_CHANNEL:
            return ListFollower(channel, send)
        session_id = _session_of(channel)
        if session_id is None or not await in_thread(is_visible, session_id):
            raise Refused('there is no such channel; use "sessions" or "session:<id>"')
        return SessionFollower(session_id, channel, _seq_of(message, 0), StoredStream(), send)

    async def _run(self, channel: str, follower: SessionFollower | ListFollower) -> None:
        """Follow until the client leaves. Whatever breaks closes the socket: it comes back."""
        try:
            await follower.run()
        except Stalled:
            await self.close(CLOSE_SLOW)
        except Exception:
            # Else the socket would go on answering pings, and its page would look live.
            logger.exception("The stream of %s broke", channel)
            await self.close(1011)

    async def _deliver(
        self, channel: str, as_html: bool, payload: Payload, text: str | None
    ) -> None:
        if as_html and "db_event_id" in payload:
            html = await _fragments().fragment_of(channel, payload)
            if html is not None:
                payload, text = {**payload, "html": html}, None
        await self._outlet.send(text if text is not None else json.dumps(payload))

    async def _catch_up(self, channel: str, message: Mapping[str, Any]) -> None:
        """In turn with what arrives where the channel is followed, else once and no more."""
        try:
            seq = _seq_of(message, None)
            if subscription := self._subscriptions.get(channel):
                subscription.follower.rewind(seq)
            else:
                follower = await self._make_follower(channel, message)
                await follower.replay()
        except Refused as refusal:
            await self._say({"type": "error", "message": str(refusal)})
        except (TimeoutError, DatabaseError):
            logger.exception("A catch-up failed")
            reason = "the stream is not available now, try again"
            await self._say({"type": "error", "message": reason})

    def _leave(self, channel: str) -> None:
        subscription = self._subscriptions.pop(channel, None)
        if subscription is not None:
            subscription.task.cancel()
            self._hub.detach(channel, subscription.follower)

    # ---- Watching over it -----------------------------------------------------------------------

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
            self._request = request_of(self.scope)
            try:
                source = await in_thread(_find_source, self._request)
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


def _find_source(request: HttpRequest) -> str | None:
    """Whom a socket counts for; None where it may not see anything."""
    try:
        identity = identify(request)
    except NotIdentified:
        return None
    return source_of(request, identity) if identity.may(VIEW) else None


def _parse(text: str | None) -> Mapping[str, Any]:
    """The message, empty when it is none: upstream's clients rely on that."""
    try:
        message = json.loads(text or "")
    except (ValueError, RecursionError):
        return {}
    return message if isinstance(message, dict) else {}


def _session_of(channel: str) -> uuid.UUID | None:
    """The id in `session:<id>`, only in the spelling that senders use."""
    try:
        session_id = uuid.UUID(channel.removeprefix("session:"))
    except ValueError:
        return None
    return session_id if session_channel(session_id) == channel else None


def _seq_of(message: Mapping[str, Any], default: int | None) -> int:
    seq = message.get("last_event_id", default)
    if seq is None and default is not None:
        return default
    if not isinstance(seq, int) or isinstance(seq, bool) or not 0 <= seq <= LARGEST_SEQ:
        raise Refused("last_event_id must be a whole number from 0 on")
    return seq


@cache
def _open_sockets() -> OpenSockets:
    return OpenSockets()


@cache
def _fragments() -> FragmentCache:
    return FragmentCache()

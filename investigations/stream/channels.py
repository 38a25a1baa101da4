"""The channels that one socket follows, and how each reaches it."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from django.db import DatabaseError

from investigations.selectors.session_page.live_text import read_written
from investigations.selectors.timeline import is_visible
from investigations.stream.following import ListFollower, SessionFollower
from investigations.stream.fragment_cache import FragmentCache
from investigations.stream.hub import Hub, hub_of_process
from investigations.stream.sender import Outlet, Stalled
from investigations.stream.stored_reads import StoredStream, in_thread, read_heads
from investigations.stream.written_texts import WrittenTexts
from investigations.stream_messages import SESSIONS_CHANNEL, STREAM_CHUNK, Payload, session_channel

logger = logging.getLogger(__name__)

CLOSE_SLOW = 4408
_CLOSE_BROKEN = 1011
MOST_SUBSCRIPTIONS = 100
LARGEST_SEQ = 2**63 - 1
_NOT_NOW = "the stream is not available now, try again"

Follower = SessionFollower | ListFollower


class Refused(Exception):
    """A subscription cannot be; the text is for the client."""


@dataclass
class Subscription:
    """A channel that is followed."""

    follower: Follower
    task: asyncio.Task[None]


class Channels:
    """What one socket follows; `close` ends the socket with a code."""

    def __init__(self, outlet: Outlet, close: Callable[[int], Awaitable[None]]) -> None:
        self._outlet = outlet
        self._close = close
        self._subscriptions: dict[str, Subscription] = {}

    @property
    def _hub(self) -> Hub:
        return hub_of_process(read_heads)

    async def subscribe(self, channel: str, message: Mapping[str, Any]) -> None:
        """Follow a channel as a message asks for it, anew where it is followed already."""
        try:
            follower = await self._make_follower(channel, message)
            self.leave(channel)
            await self._hub.attach(channel, follower)
            await follower.settle()
        except Refused as refusal:
            await self._say_refused(channel, str(refusal))
            return
        except (TimeoutError, DatabaseError):
            logger.exception("A subscription failed")
            await self._say_refused(channel, _NOT_NOW)
            return
        await self._outlet.say({"type": "subscription.confirmed", "channel": channel})
        task = asyncio.create_task(self._run(channel, follower))
        self._subscriptions[channel] = Subscription(follower, task)

    async def catch_up(self, channel: str, message: Mapping[str, Any]) -> None:
        """In turn with what arrives where the channel is followed, else once and no more."""
        try:
            seq = _seq_of(message, None)
            if subscription := self._subscriptions.get(channel):
                subscription.follower.rewind(seq)
            else:
                follower = await self._make_follower(channel, message)
                await follower.replay()
        except Refused as refusal:
            await self._outlet.say({"type": "error", "message": str(refusal)})
        except (TimeoutError, DatabaseError):
            logger.exception("A catch-up failed")
            await self._outlet.say({"type": "error", "message": _NOT_NOW})

    def leave(self, channel: str) -> None:
        subscription = self._subscriptions.pop(channel, None)
        if subscription is not None:
            subscription.task.cancel()
            self._hub.detach(channel, subscription.follower)

    def leave_all(self) -> None:
        for channel in tuple(self._subscriptions):
            self.leave(channel)

    async def _say_refused(self, channel: str, reason: str) -> None:
        refusal = {"type": "subscription.error", "channel": channel[:200], "message": reason}
        await self._outlet.say(refusal)

    async def _make_follower(self, channel: str, message: Mapping[str, Any]) -> Follower:
        if channel not in self._subscriptions and len(self._subscriptions) >= MOST_SUBSCRIPTIONS:
            raise Refused(f"at most {MOST_SUBSCRIPTIONS} channels per connection")
        send = partial(self._deliver, channel, message.get("format") == "html")
        if channel == SESSIONS_CHANNEL:
            return ListFollower(channel, send)
        session_id = _session_of(channel)
        if session_id is None or not await in_thread(is_visible, session_id):
            raise Refused('there is no such channel; use "sessions" or "session:<id>"')
        return SessionFollower(session_id, channel, _seq_of(message, 0), StoredStream(), send)

    async def _run(self, channel: str, follower: Follower) -> None:
        """Follow until the client leaves. Whatever breaks closes the socket: it comes back."""
        try:
            await follower.run()
        except Stalled:
            await self._close(CLOSE_SLOW)
        except Exception:
            # Else the socket would go on answering pings, and its page would look live.
            logger.exception("The stream of %s broke", channel)
            await self._close(_CLOSE_BROKEN)

    async def _deliver(
        self, channel: str, as_html: bool, payload: Payload, text: str | None
    ) -> None:
        if as_html and "db_event_id" in payload:
            html = await _fragments().fragment_of(channel, payload)
            if html is not None:
                payload, text = {**payload, "html": html}, None
        elif as_html and payload["type"] == STREAM_CHUNK:
            blocks = await _texts().draw(payload)
            if blocks is not None:
                payload, text = {**payload, "blocks": blocks}, None
        if text is None:
            await self._outlet.say(payload)
        else:
            await self._outlet.send(text)


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
def _texts() -> WrittenTexts:
    return WrittenTexts(read_written)


@cache
def _fragments() -> FragmentCache:
    return FragmentCache()

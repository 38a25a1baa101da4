"""Feeds every socket of a web process from its one line to Redis.

Redis is a doorbell and may drop what it likes: followers read what they miss from the database.
The hub tells them three things: a message came, the connection was new (so anything may be
missing), and how far the stream of a session really is.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Protocol
from weakref import WeakKeyDictionary

from django.conf import settings

from investigations.stream.redis_line import RedisLine
from investigations.stream_messages import SESSIONS_CHANNEL, Payload

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
SUBSCRIBE_SECONDS = 10.0


@dataclass(frozen=True)
class Told:
    """A message came by. `text` is the payload as it was published."""

    payload: Payload
    text: str


@dataclass(frozen=True)
class Reconnected:
    """The subscription is new: messages may have been missed."""


@dataclass(frozen=True)
class Head:
    """The newest stored `seq`."""

    seq: int


Notice = Told | Reconnected | Head
ReadHeads = Callable[[list[str]], Awaitable[Mapping[str, int]]]


class Follower(Protocol):
    """Whoever follows a channel. Called from the hub's loop; must not wait."""

    def notice(self, notice: Notice) -> None: ...


class _Subscription:
    """One channel at Redis. `connection` numbers the one that acknowledged it last."""

    def __init__(self) -> None:
        self.acknowledged = asyncio.Event()
        self.connection = 0


class Hub:
    """Feeds followers. Everything runs on one event loop; nothing connects before it is needed.

    `read_heads` maps session channels to the newest `seq`, with one query for all of them.
    """

    def __init__(
        self, redis_url: str, read_heads: ReadHeads, *, heartbeat: float = HEARTBEAT_SECONDS
    ) -> None:
        self._line = RedisLine(
            redis_url,
            heartbeat=heartbeat,
            acknowledged=self._acknowledge,
            received=self._tell,
        )
        self._read_heads = read_heads
        self._heartbeat = heartbeat
        self._followers: dict[str, set[Follower]] = defaultdict(set)
        self._subscriptions: dict[str, _Subscription] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def attach(self, channel: str, follower: Follower) -> None:
        """Follow a channel; returns once Redis acknowledged. Raises TimeoutError when it does not.

        What is stored after this returns is rung for or found by the heartbeat.
        """
        self._start()
        self._followers[channel].add(follower)
        subscription = self._subscriptions.get(channel)
        try:
            async with asyncio.timeout(SUBSCRIBE_SECONDS):
                if subscription is None:
                    subscription = self._subscriptions[channel] = _Subscription()
                    await self._line.subscribe(channel)
                await subscription.acknowledged.wait()
        except BaseException:
            self.detach(channel, follower)
            raise

    def detach(self, channel: str, follower: Follower) -> None:
        """Stop following; the subscription goes with the last follower."""
        followers = self._followers.get(channel)
        if followers is None:
            return
        followers.discard(follower)
        if followers:
            return
        del self._followers[channel]
        self._subscriptions.pop(channel, None)
        self._line.unsubscribe(channel)

    async def close(self) -> None:
        """Stop for good."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._tasks.clear()

    def _start(self) -> None:
        if not self._tasks:
            self._tasks = [
                asyncio.create_task(self._line.listen()),
                asyncio.create_task(self._beat()),
            ]

    def _acknowledge(self, channel: str, connection: int) -> None:
        subscription = self._subscriptions.get(channel)
        if subscription is None:
            return
        is_new = subscription.connection not in (0, connection)
        subscription.connection = connection
        subscription.acknowledged.set()
        if is_new:
            self._notice(channel, Reconnected())

    def _tell(self, channel: str, data: bytes) -> None:
        if channel not in self._followers:
            return
        try:
            payload = json.loads(data)
        except ValueError:
            logger.warning("A message on %s is not JSON", channel)
            return
        self._notice(channel, Told(payload, data.decode()))

    def _notice(self, channel: str, notice: Notice) -> None:
        for follower in tuple(self._followers.get(channel, ())):
            follower.notice(notice)

    async def _beat(self) -> None:
        """Find tails whose doorbell was lost."""
        while True:
            await asyncio.sleep(self._heartbeat)
            channels = [channel for channel in self._followers if channel != SESSIONS_CHANNEL]
            if not channels:
                continue
            try:
                heads = await self._read_heads(channels)
            except Exception:
                # Whatever is wrong with the database, the next beat asks again.
                logger.exception("Heads of the streams could not be read")
                continue
            for channel, seq in heads.items():
                self._notice(channel, Head(seq))


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub_of_process(read_heads: ReadHeads) -> Hub:
    """The hub of this event loop, which is the process's only one outside of tests."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.REDIS_URL, read_heads)
    return _hubs[loop]

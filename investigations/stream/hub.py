"""One Redis subscription per web process, which feeds every socket of the process.

Redis is a doorbell and may drop what it likes: followers read what they miss from the database.
The hub tells them three things: a message came, the connection was new (so anything may be
missing), and how far the stream of a session really is.
"""

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import redis.asyncio
from django.conf import settings
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from investigations.publish import stream_channel
from investigations.stream_messages import SESSIONS_CHANNEL, Payload

logger = logging.getLogger(__name__)

HEARTBEAT_SECONDS = 2.0
SUBSCRIBE_SECONDS = 10.0
SILENCE_BEATS = 4
"""After so many heartbeats without any word from Redis the connection counts as dead."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 3.0


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
        self._redis_url = redis_url
        self._read_heads = read_heads
        self._heartbeat = heartbeat
        self._followers: dict[str, set[Follower]] = defaultdict(set)
        self._subscriptions: dict[str, _Subscription] = {}
        self._pubsub: PubSub | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._farewells: set[asyncio.Task[None]] = set()
        self._connections = 0
        self._last_word = 0.0

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
                    await self._ask(channel)
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
        if self._pubsub is not None and channel != SESSIONS_CHANNEL:
            farewell = asyncio.ensure_future(self._forget(channel))
            self._farewells.add(farewell)
            farewell.add_done_callback(self._farewells.discard)

    async def close(self) -> None:
        """Stop for good."""
        tasks = [*self._tasks, *self._farewells]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._tasks.clear()

    def _start(self) -> None:
        if self._tasks:
            return
        self._tasks = [asyncio.create_task(self._listen()), asyncio.create_task(self._beat())]

    async def _ask(self, channel: str) -> None:
        # Without a connection the listener subscribes to everything once it has one.
        if self._pubsub is None:
            return
        try:
            await self._pubsub.subscribe(stream_channel(channel))
        except (RedisError, OSError) as error:
            logger.info("Subscribing waits for the next connection: %s", error)

    async def _forget(self, channel: str) -> None:
        if channel in self._followers or self._pubsub is None:
            return
        try:
            await self._pubsub.unsubscribe(stream_channel(channel))
        except (RedisError, OSError) as error:
            logger.info("Unsubscribing was not needed any more: %s", error)

    # ---- Listening ------------------------------------------------------------------------------

    async def _listen(self) -> None:
        pause = _FIRST_PAUSE
        while True:
            self._connections += 1
            try:
                async with aclosing(self._connect_and_read()) as messages:
                    async for message in messages:
                        self._take(message)
                        pause = _FIRST_PAUSE
            except (RedisError, OSError, TimeoutError) as error:
                logger.warning("The subscription to Redis broke, connecting again: %s", error)
            except Exception:
                # Every socket of the process hangs on this task, so it outlives any surprise.
                logger.exception("The subscription to Redis failed, connecting again")
            await asyncio.sleep(pause)
            pause = min(pause * 2, _LONGEST_PAUSE)

    def _take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "subscribe":
            self._acknowledge(_client_channel(message["channel"]))
        elif message["type"] == "message":
            self._tell(_client_channel(message["channel"]), message["data"])

    async def _connect_and_read(self) -> AsyncGenerator[Mapping[str, Any], None]:
        client = redis.asyncio.Redis.from_url(
            self._redis_url,
            socket_connect_timeout=2.0,
            socket_timeout=5.0,
            socket_keepalive=True,
            retry=Retry(NoBackoff(), 0),
        )
        pubsub = client.pubsub()
        try:
            # `sessions` stays subscribed, so that there is always something to listen to.
            channels = {SESSIONS_CHANNEL, *self._followers}
            await pubsub.subscribe(*(stream_channel(channel) for channel in channels))
            self._pubsub = pubsub
            self._last_word = asyncio.get_running_loop().time()
            # Whoever came while we were connecting is not in that list.
            for late in set(self._followers) - channels:
                await self._ask(late)
            while True:
                message = await pubsub.get_message(timeout=self._heartbeat)
                if message is None:
                    await self._check_silence(pubsub)
                    continue
                self._last_word = asyncio.get_running_loop().time()
                yield message
        finally:
            self._pubsub = None
            await pubsub.aclose()  # type: ignore[no-untyped-call]
            await client.aclose()

    async def _check_silence(self, pubsub: PubSub) -> None:
        silence = asyncio.get_running_loop().time() - self._last_word
        if silence > self._heartbeat * SILENCE_BEATS:
            raise TimeoutError(f"no word for {silence:.0f} s")
        await pubsub.ping()

    def _acknowledge(self, channel: str) -> None:
        subscription = self._subscriptions.get(channel)
        if subscription is None:
            return
        is_new = subscription.connection not in (0, self._connections)
        subscription.connection = self._connections
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

    # ---- Heartbeat ------------------------------------------------------------------------------

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


def _client_channel(redis_channel: bytes) -> str:
    return redis_channel.decode().removeprefix(stream_channel(""))


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub_of_process(read_heads: ReadHeads) -> Hub:
    """The hub of this event loop, which is the process's only one outside of tests."""
    loop = asyncio.get_running_loop()
    if loop not in _hubs:
        _hubs[loop] = Hub(settings.REDIS_URL, read_heads)
    return _hubs[loop]

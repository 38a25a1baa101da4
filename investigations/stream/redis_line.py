"""The line to Redis on which a web process listens, made again whenever it breaks."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from typing import Any

import redis.asyncio
from redis.asyncio.client import PubSub
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import RedisError

from investigations.doorbell import stream_channel
from investigations.stream_messages import SESSIONS_CHANNEL

logger = logging.getLogger(__name__)

SILENCE_BEATS = 4
"""After so many heartbeats without any word from Redis the connection counts as dead."""
_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 3.0


class RedisLine:
    """One subscription of many client channels.

    `acknowledged` is told each channel that is subscribed and the number of the connection that it
    is subscribed on; `received` each message of a channel. Both are called from `listen` and must
    not wait.
    """

    def __init__(
        self,
        redis_url: str,
        *,
        heartbeat: float,
        acknowledged: Callable[[str, int], None],
        received: Callable[[str, bytes], None],
    ) -> None:
        self._redis_url = redis_url
        self._heartbeat = heartbeat
        self._acknowledged = acknowledged
        self._received = received
        # `sessions` stays subscribed, so that there is always something to listen to.
        self._wanted = {SESSIONS_CHANNEL}
        self._pubsub: PubSub | None = None
        self._farewells: set[asyncio.Task[None]] = set()
        self._connections = 0
        self._last_word = 0.0

    async def subscribe(self, channel: str) -> None:
        """Ask for a channel, now or with the next connection; `acknowledged` tells when it is."""
        self._wanted.add(channel)
        await self._ask(channel)

    def unsubscribe(self, channel: str) -> None:
        """Let go of a channel in a while, unless it is asked for again before."""
        if channel == SESSIONS_CHANNEL:
            return
        self._wanted.discard(channel)
        if self._pubsub is not None:
            farewell = asyncio.ensure_future(self._forget(channel))
            self._farewells.add(farewell)
            farewell.add_done_callback(self._farewells.discard)

    async def listen(self) -> None:
        """Listen until cancelled."""
        pause = _FIRST_PAUSE
        try:
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
                    # Every socket of the process hangs on this, so it outlives any surprise.
                    logger.exception("The subscription to Redis failed, connecting again")
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE)
        finally:
            farewells = tuple(self._farewells)
            for farewell in farewells:
                farewell.cancel()
            await asyncio.gather(*farewells, return_exceptions=True)

    def _take(self, message: Mapping[str, Any]) -> None:
        if message["type"] == "subscribe":
            self._acknowledged(_client_channel(message["channel"]), self._connections)
        elif message["type"] == "message":
            self._received(_client_channel(message["channel"]), message["data"])

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
            channels = set(self._wanted)
            await pubsub.subscribe(*map(stream_channel, channels))
            self._pubsub = pubsub
            self._last_word = asyncio.get_running_loop().time()
            # Whoever came while we were connecting is not in that list.
            for late in self._wanted - channels:
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

    async def _ask(self, channel: str) -> None:
        # Without a connection everything is asked for once there is one.
        if self._pubsub is None:
            return
        try:
            await self._pubsub.subscribe(stream_channel(channel))
        except (RedisError, OSError) as error:
            logger.info("Subscribing waits for the next connection: %s", error)

    async def _forget(self, channel: str) -> None:
        if channel in self._wanted or self._pubsub is None:
            return
        try:
            await self._pubsub.unsubscribe(stream_channel(channel))
        except (RedisError, OSError) as error:
            logger.info("Unsubscribing was not needed any more: %s", error)


def _client_channel(redis_channel: bytes) -> str:
    return redis_channel.decode().removeprefix(stream_channel(""))

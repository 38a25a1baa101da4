"""What a consumer does when something of ours breaks under it."""

import asyncio
from unittest.mock import Mock

import pytest
from django.db import OperationalError
from redis.asyncio.client import PubSub

from investigations.access.identity import NotIdentified
from investigations.doorbell import stream_channel
from investigations.stream import fragment_cache, hub
from investigations.stream.channels import Channels
from investigations.stream.consumer import MOST_MESSAGES, StreamConsumer
from investigations.stream.redis_line import RedisLine
from tests.investigations.streaming.conftest import until

NOBODY = "redis://127.0.0.1:1/0"
"""Where no Redis answers."""


class _Broken:
    """A follower that fails in a way nobody thought of."""

    async def run(self) -> None:
        raise KeyError("status")


@pytest.fixture
def closed(monkeypatch):
    """The codes the socket was closed with."""
    codes: list[int] = []

    async def close(self, code=None):
        codes.append(code)

    monkeypatch.setattr(StreamConsumer, "close", close)
    return codes


async def test_stream_that_breaks_in_any_way_closes_its_socket(closed):
    await Channels(None, StreamConsumer().close)._run("sessions", _Broken())
    assert closed == [1011]


async def test_lost_login_is_noticed_after_the_database_was_away(closed, monkeypatch, settings):
    settings.STREAM_SILENCE_SECONDS = 0.04
    answers = iter([OperationalError("the database is away"), NotIdentified("revoked")])

    def identify(_request):
        raise next(answers)

    monkeypatch.setattr("investigations.stream.socket_identity.identify", identify)
    consumer = StreamConsumer()
    consumer.scope = {"type": "websocket", "path": "/api/v1/ws", "headers": []}
    consumer._last_heard = float("inf")

    async with asyncio.timeout(10):
        await consumer._watch_over()

    assert closed == [4401]


def test_what_a_client_says_is_counted_anew_each_minute():
    consumer = StreamConsumer()

    for minute in (1, 2, 3):
        consumer._last_heard = minute * 61.0
        assert not any(consumer._is_too_many() for _ in range(MOST_MESSAGES))

    assert consumer._is_too_many()


async def test_who_asked_first_for_a_fragment_may_leave_and_the_others_get_it(monkeypatch):
    is_made = asyncio.Event()

    async def render(_payload):
        await is_made.wait()
        return "<p>"

    monkeypatch.setattr(fragment_cache, "_render", render)
    cache = fragment_cache.FragmentCache()
    first, second = (
        asyncio.create_task(cache.fragment_of("session:1", {"db_event_id": 1})) for _ in range(2)
    )
    await asyncio.sleep(0)

    first.cancel()
    await asyncio.gather(first, return_exceptions=True)
    is_made.set()

    assert await second == "<p>"


async def test_a_follower_that_could_not_be_attached_hears_nothing_later(monkeypatch):
    monkeypatch.setattr(hub, "SUBSCRIBE_SECONDS", 0.01)
    heard: list[object] = []
    line = hub.Hub(NOBODY, read_heads=None)
    follower = Mock(notice=heard.append)

    with pytest.raises(TimeoutError):
        await line.attach("session:1", follower)
    line._tell("session:1", b"{}")
    await line.close()

    assert heard == []


async def test_a_line_on_which_redis_says_nothing_counts_as_dead():
    line = RedisLine(NOBODY, heartbeat=0.01, acknowledged=print, received=print)
    line._last_word = asyncio.get_running_loop().time() - 1

    with pytest.raises(TimeoutError, match="no word"):
        await line._check_silence(None)


async def test_a_channel_that_is_asked_for_while_the_line_connects_is_subscribed(
    monkeypatch, settings
):
    acknowledged: set[str] = set()
    line = RedisLine(
        settings.REDIS_URL,
        heartbeat=1,
        acknowledged=lambda channel, _connection: acknowledged.add(channel),
        received=print,
    )
    subscribe = PubSub.subscribe

    async def subscribe_as_another_comes(pubsub, *channels):
        if stream_channel("sessions") in channels:  # The first question of a connection.
            await line.subscribe("session:late")
        await subscribe(pubsub, *channels)

    monkeypatch.setattr(PubSub, "subscribe", subscribe_as_another_comes)
    listening = asyncio.create_task(line.listen())
    try:
        await until(lambda: "session:late" in acknowledged)
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)

    assert acknowledged == {"sessions", "session:late"}

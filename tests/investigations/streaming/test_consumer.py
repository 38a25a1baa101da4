"""What a consumer does when something of ours breaks under it."""

import asyncio

import pytest
from django.db import OperationalError

from investigations.access.identity import NotIdentified
from investigations.stream.channels import Channels
from investigations.stream.consumer import StreamConsumer


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

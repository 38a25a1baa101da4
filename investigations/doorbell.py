"""The doorbell: what was stored, told to open browsers and waiting workers through Redis.

At most once and allowed to fail: a browser that misses a message reads it from the database, a
worker that misses the ring polls. So nothing here ever raises.
"""

import json
import logging
from collections.abc import Iterator, Sequence
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from investigations.stream_messages import STREAM_CHUNK, Payload, block_key, write_piece

logger = logging.getLogger(__name__)

BLOCK_KEPT_SECONDS = 900
"""After its first piece; the finished block is in the database long before."""

PATIENCE_SECONDS = 1.5
"""Whoever rings has a request or a database thread in its hands; an alert rings three times."""


def ring_channel() -> str:
    """The Redis channel on which workers hear that sessions wait to be claimed."""
    return f"tarsy:{settings.REDIS_DATABASE}:ring"


def stream_channel(channel: str) -> str:
    """The Redis channel that carries a client channel (`sessions`, `session:<id>`)."""
    return f"tarsy:{settings.REDIS_DATABASE}:stream:{channel}"


@cache
def _client() -> redis.Redis:
    return redis.Redis.from_url(
        settings.REDIS_URL,
        socket_timeout=PATIENCE_SECONDS,
        socket_connect_timeout=PATIENCE_SECONDS,
        health_check_interval=30,
        # A connection that was closed meanwhile is made again; one that is mute stays mute.
        retry=Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),
    )


Message = tuple[str, str]
"""A client channel and what is sent to it."""


def publish(messages: Sequence[Message]) -> None:
    """Send messages in order."""
    commands = [_tell(channel, text) for channel, text in messages]
    _send(commands, "Not published, browsers will catch up: %s")


def publish_live(messages: Sequence[tuple[str, Payload]]) -> None:
    """Send what is not stored, each to its client channel, in order.

    Of a block that streams, what was sent so far is kept for those who join late.
    """
    commands: list[_Command] = []
    for channel, payload in messages:
        if payload["type"] == STREAM_CHUNK:
            commands += _keep_chunk(payload)
        commands.append(_tell(channel, json.dumps(payload)))
    _send(commands, "Not published, the finished block will show it: %s")


def publish_and_ring(messages: Sequence[tuple[str, Payload]]) -> None:
    """Send messages, each to its client channel, and wake every dispatcher, in one round trip."""
    commands = [_tell(channel, json.dumps(payload)) for channel, payload in messages]
    _send([*commands, ("PUBLISH", ring_channel(), "1")], "No ring, dispatchers will poll: %s")


_Command = tuple[str | int, ...]


def _tell(channel: str, text: str) -> _Command:
    return ("PUBLISH", stream_channel(channel), text)


def _keep_chunk(chunk: Payload) -> Iterator[_Command]:
    """Each piece with its place, so that what came behind one that was lost is known for it."""
    key, piece = block_key(chunk["event_id"]), write_piece(chunk["offset"], chunk["delta"])
    if chunk["offset"] == 0:
        yield ("RPUSH", key, piece)
        yield ("EXPIRE", key, BLOCK_KEPT_SECONDS)
    else:
        yield ("RPUSHX", key, piece)


def _send(commands: Sequence[_Command], warning: str) -> None:
    """Send commands in one round trip."""
    if not commands:
        return
    try:
        with _client().pipeline(transaction=False) as pipe:
            for command in commands:
                pipe.execute_command(*command)  # type: ignore[no-untyped-call]  # redis's own
            pipe.execute()
    except redis.RedisError as error:
        logger.warning(warning, error)

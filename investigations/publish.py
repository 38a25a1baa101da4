"""The doorbell: what was stored, told to open browsers and waiting workers through Redis.

At most once and allowed to fail: a browser that misses a message reads it from the database, a
worker that misses the ring polls. So nothing here ever raises.
"""

import json
import logging
from collections.abc import Sequence
from functools import cache

import redis
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from investigations.timeline import Payload, block_key

logger = logging.getLogger(__name__)

BLOCK_KEPT_SECONDS = 900
"""After its last piece; the finished block is in the database long before."""

PATIENCE_SECONDS = 1.5
"""Whoever rings has a request or a database thread in its hands; an alert rings three times."""

RING_CHANNEL = "tarsy:ring"
"""Sessions wait to be claimed."""


def stream_channel(channel: str) -> str:
    """The Redis channel that carries a client channel (`sessions`, `session:<id>`)."""
    return f"tarsy:stream:{channel}"


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


def publish(channel: str, payloads: Sequence[Payload]) -> None:
    """Send messages of one client channel, in order."""
    if not payloads:
        return
    try:
        with _client().pipeline(transaction=False) as pipe:
            for payload in payloads:
                pipe.publish(stream_channel(channel), json.dumps(payload))
            pipe.execute()
    except redis.RedisError as error:
        logger.warning("Not published, browsers will catch up: %s", error)


def publish_chunk(channel: str, chunk: Payload) -> None:
    """Send a piece of a streaming block, and keep what was sent so far for those who join late."""
    key = block_key(chunk["event_id"])
    try:
        with _client().pipeline(transaction=False) as pipe:
            pipe.append(key, chunk["delta"])
            pipe.expire(key, BLOCK_KEPT_SECONDS)
            pipe.publish(stream_channel(channel), json.dumps(chunk))
            pipe.execute()
    except redis.RedisError as error:
        logger.warning("Not published, the finished block will show it: %s", error)


def publish_and_ring(messages: Sequence[tuple[str, Payload]]) -> None:
    """Send messages, each to its client channel, and wake every dispatcher, in one round trip."""
    try:
        with _client().pipeline(transaction=False) as pipe:
            for channel, payload in messages:
                pipe.publish(stream_channel(channel), json.dumps(payload))
            pipe.publish(RING_CHANNEL, "1")
            pipe.execute()
    except redis.RedisError as error:
        logger.warning("No ring, dispatchers will poll: %s", error)

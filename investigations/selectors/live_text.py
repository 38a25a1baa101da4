"""The text of blocks that still stream, which no table holds yet."""

import uuid
from collections.abc import Sequence
from functools import cache
from typing import cast

import redis
from django.conf import settings

from investigations.models import TimelineEvent
from investigations.timeline import block_key


def read_live_texts(events: Sequence[TimelineEvent]) -> dict[uuid.UUID, str]:
    """What was streamed so far, by event; nothing for finished ones, or without Redis."""
    streaming = [event for event in events if event.status == TimelineEvent.Status.STREAMING]
    if not streaming:
        return {}
    try:
        found = _client().mget([block_key(str(event.pk)) for event in streaming])
    except redis.RedisError:
        return {}
    texts = cast(Sequence[bytes | None], found)
    return {
        event.pk: text.decode("utf-8", "replace")
        for event, text in zip(streaming, texts, strict=True)
        if text
    }


@cache
def _client() -> redis.Redis:
    """A page must not hang with Redis."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)

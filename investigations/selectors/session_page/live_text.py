"""The text of blocks that still stream, which no table holds yet."""

import uuid
from collections.abc import Sequence
from functools import cache
from typing import cast

import redis
from django.conf import settings

from investigations.models import TimelineEvent
from investigations.stream_messages import block_key, join_pieces


def read_live_texts(events: Sequence[TimelineEvent]) -> dict[uuid.UUID, str]:
    """What was streamed so far, by event; nothing for finished ones, or without Redis."""
    streaming = [event for event in events if event.status == TimelineEvent.Status.STREAMING]
    if not streaming:
        return {}
    try:
        with _client().pipeline(transaction=False) as pipe:
            for event in streaming:
                pipe.lrange(block_key(str(event.pk)), 0, -1)
            found = cast(list[list[bytes]], pipe.execute())
    except redis.RedisError:
        return {}
    texts = (join_pieces(each.decode("utf-8", "replace") for each in pieces) for pieces in found)
    return {event.pk: text for event, text in zip(streaming, texts, strict=True) if text}


def read_written(event_id: uuid.UUID) -> str | None:
    """What was streamed so far of a text that is Markdown; None of any other."""
    event = TimelineEvent.objects.filter(pk=event_id, event_type__in=TimelineEvent.MARKDOWN).first()
    return None if event is None else read_live_texts([event]).get(event.pk, "")


@cache
def _client() -> redis.Redis:
    """A page must not hang with Redis."""
    return redis.Redis.from_url(settings.REDIS_URL, socket_timeout=0.5, socket_connect_timeout=0.5)

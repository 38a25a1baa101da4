"""Who has the page of a session open: kept in Redis, and forgotten soon after they close it."""

import time
import uuid
from collections.abc import Sequence
from typing import cast

import redis

from investigations.selectors.system.workers import client

SEEN_SECONDS = 75
"""A page tells every half minute that it is open; one that told nothing for so long is closed."""
MOST_NAMED = 20
_ANONYMOUS = ("", "anonymous")


def look_at(session_id: uuid.UUID, actor: str) -> Sequence[str]:
    """Note that somebody looks at a session; returns who else does, whoever came first.

    Nobody is told apart without a login. Without Redis nobody is known.
    """
    key = f"tarsy:lookers:{session_id}"
    now = time.time()
    try:
        with client().pipeline() as pipe:
            if actor not in _ANONYMOUS:
                pipe.zadd(key, {actor: now})
            pipe.zremrangebyscore(key, "-inf", now - SEEN_SECONDS)
            pipe.expire(key, SEEN_SECONDS)
            pipe.zrange(key, 0, MOST_NAMED)
            names = cast(Sequence[bytes], pipe.execute()[-1])
    except redis.RedisError:
        return ()
    known = (name.decode("utf-8", "replace") for name in names)
    return [name for name in known if name != actor]

"""Whether one more session may wait."""

import math
import time

from django.db import connection

from config import get_config
from investigations.models import AlertSession
from investigations.selectors.sessions import visible_sessions
from tarsy.errors import QueueFull

RETRY_AFTER_SECONDS = 30

_QUEUE_LOCK = 0x7A_52_02


def refuse_full_queue() -> None:
    """Raise QueueFull where `queue.max_queue_size` sessions wait. To be called in a transaction."""
    limit = get_config().queue.max_queue_size
    if limit is None or _room.is_ample(limit):
        return
    # Counting and inserting must be one step, or a burst gets in all at once.
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_QUEUE_LOCK])
    waiting = visible_sessions().filter(status=AlertSession.Status.PENDING).count()
    if waiting >= limit:
        raise QueueFull(waiting, limit, RETRY_AFTER_SECONDS)
    _room.note(waiting)


class _Room:
    """Whether the queue was seen a moment ago to be so far from full that nobody need look.

    Looking costs every alert a lock that all alerts share. It is spared where no burst could fill
    what was free in the meantime: near the limit, and under small ones, each alert looks.
    """

    BELIEVED_SECONDS = 0.2
    LEAST_LIMIT = 5_000

    def __init__(self) -> None:
        self._waiting = 0
        self._seen_at = -math.inf

    def note(self, waiting: int) -> None:
        self._waiting, self._seen_at = waiting, time.monotonic()

    def is_ample(self, limit: int) -> bool:
        is_fresh = time.monotonic() - self._seen_at < self.BELIEVED_SECONDS
        return is_fresh and limit >= self.LEAST_LIMIT and self._waiting < limit / 2


_room = _Room()

"""What people ask a worker for on the page System: what is under way, and the last of each."""

import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import ClassVar, TypeVar, cast

import redis

from investigations.selectors.system.workers import client

EXPIRES_SECONDS = 15
"""A worker that is free later than this need not begin: nobody waits any more."""


class AskedWork:
    """Moments are seconds of the system clock; `ended_at` is None while it is under way.

    What has not ended after `longest_seconds` was never begun, or lost with its worker. They are no
    fewer than it may take, or a second one would begin beside it.
    """

    longest_seconds: ClassVar[int]
    asked_at: float
    ended_at: float | None

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None and time.time() - self.asked_at < self.longest_seconds

    @property
    def is_lost(self) -> bool:
        return self.ended_at is None and not self.is_under_way

    @property
    def asked(self) -> datetime:
        return datetime.fromtimestamp(self.asked_at, UTC)

    @property
    def ended(self) -> datetime | None:
        return None if self.ended_at is None else datetime.fromtimestamp(self.ended_at, UTC)


Work = TypeVar("Work", bound=AskedWork)


def read_kept(key: str, read: Callable[[bytes], Work]) -> Mapping[str, Work]:
    """The last work of each name in a Redis hash, but what nobody can read: another version may
    have written it. None when Redis does not answer."""
    try:
        kept = cast(Mapping[bytes, bytes], client().hgetall(key))
    except redis.RedisError:
        return {}
    found: dict[str, Work] = {}
    for name, text in kept.items():
        try:
            work = read(text)
            # A moment that no clock can show is as odd as none.
            _ = work.asked, work.ended
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError):
            continue
        found[name.decode()] = work
    return found

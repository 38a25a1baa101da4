"""Trials of tool servers that people ask for: what is under way and what came of the last one."""

import json
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import cast

import redis

from investigations.selectors.system.workers import client

TRIALS_KEY = "tarsy:tool_servers:trials"
"""Redis hash: server id -> JSON of its last trial."""
EXPIRES_SECONDS = 15
"""A worker that is free later than this need not begin: nobody waits any more."""
START_SECONDS = 20.0
CLOSE_SECONDS = 8.0
_SLACK_SECONDS = 2
LONGEST_SECONDS = EXPIRES_SECONDS + math.ceil(START_SECONDS + CLOSE_SECONDS) + _SLACK_SECONDS
"""A trial that has not ended by then was never begun, or lost with its worker. No shorter than a
trial may take, or a second one of the same server would begin beside it."""


@dataclass(frozen=True)
class Trial:
    """Moments are seconds of the system clock; `ended_at` is None while it is under way."""

    asked_at: float
    ended_at: float | None = None
    error: str = ""
    latency_ms: int | None = None
    tool_count: int = 0

    @property
    def is_under_way(self) -> bool:
        return self.ended_at is None and time.time() - self.asked_at < LONGEST_SECONDS

    @property
    def is_lost(self) -> bool:
        return self.ended_at is None and not self.is_under_way

    @property
    def asked(self) -> datetime:
        return datetime.fromtimestamp(self.asked_at, UTC)

    @property
    def ended(self) -> datetime | None:
        return None if self.ended_at is None else datetime.fromtimestamp(self.ended_at, UTC)


def read_trials() -> Mapping[str, Trial]:
    """The last trial of each server; none when Redis does not answer."""
    try:
        kept = cast(Mapping[bytes, bytes], client().hgetall(TRIALS_KEY))
    except redis.RedisError:
        return {}
    return {name.decode(): Trial(**json.loads(text)) for name, text in kept.items()}

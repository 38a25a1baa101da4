"""`queue`: how many sessions run at once, and the times that govern them."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from config.schema.fields import Block, Count, Duration, Integer, Limit, PositiveDuration


class QueueConfig(Block):
    """Rules between two keys (jitter and interval, heartbeat and threshold): `checks.rules`."""

    worker_count: Annotated[Integer, Field(ge=1, le=50)] = 5
    max_concurrent_sessions: Count = 5
    max_queue_size: Limit = 10_000
    """How many sessions may wait; `null` is no limit."""
    poll_interval: PositiveDuration = timedelta(seconds=1)
    poll_interval_jitter: Annotated[Duration, Field(ge=timedelta(0))] = timedelta(milliseconds=500)
    session_timeout: PositiveDuration = timedelta(minutes=40)
    approval_timeout: PositiveDuration = timedelta(minutes=5)
    graceful_shutdown_timeout: PositiveDuration = timedelta(minutes=40)
    scoring_shutdown_timeout: Annotated[Duration, Field(ge=timedelta(0))] = timedelta(minutes=3)
    orphan_detection_interval: PositiveDuration = timedelta(minutes=5)
    orphan_threshold: PositiveDuration = timedelta(minutes=5)
    heartbeat_interval: PositiveDuration = timedelta(seconds=30)

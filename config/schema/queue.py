"""`queue`: how many sessions run at once, and the times that govern them."""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from config.schema.fields import Block, Count, Duration, Integer, Limit, PositiveDuration


class QueueConfig(Block):
    """Rules between two keys (jitter and interval, heartbeat and threshold): `checks.rules`."""

    worker_count: Annotated[Integer, Field(ge=1, le=50)] = 5
    """How many workers run."""
    max_concurrent_sessions: Count = 5
    """How many sessions are investigated at once, over all workers."""
    max_queue_size: Limit = 10_000
    """How many sessions may wait; `null` is no limit. More alerts get 429."""
    poll_interval: PositiveDuration = timedelta(seconds=1)
    """How often a worker looks for waiting sessions when nothing rings."""
    poll_interval_jitter: Annotated[Duration, Field(ge=timedelta(0))] = timedelta(milliseconds=500)
    """How much is added to `poll_interval` at most, at random. It must be shorter."""
    session_timeout: PositiveDuration = timedelta(minutes=40)
    """How long an investigation may take, and how long an answer in the chat."""
    approval_timeout: PositiveDuration = timedelta(minutes=5)
    """How long a request for an approval waits before it expires."""
    graceful_shutdown_timeout: PositiveDuration = timedelta(minutes=40)
    """How long a worker that stops waits for its agents."""
    scoring_shutdown_timeout: Annotated[Duration, Field(ge=timedelta(0))] = timedelta(minutes=3)
    """How long a worker that stops waits for judgements."""
    orphan_detection_interval: PositiveDuration = timedelta(minutes=5)
    """How often sessions without a worker are looked for."""
    orphan_threshold: PositiveDuration = timedelta(minutes=5)
    """How long a worker may be silent before its sessions are taken over."""
    heartbeat_interval: PositiveDuration = timedelta(seconds=30)
    """How often a worker says that it lives."""

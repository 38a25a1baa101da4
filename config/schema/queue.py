"""`queue`: how many sessions run at once, and the times that govern them.

How long a lease lasts stands in the environment: `tarsy.lease_times`.
"""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from config.schema.fields import Block, Count, Duration, Limit, PositiveDuration


class QueueConfig(Block):
    """The keys that count. That the jitter is shorter than the interval: `config.checks.rules`."""

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

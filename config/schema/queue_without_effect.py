"""The keys of `queue` that are read and checked and then have no effect.

They stand here so that a file written for another program loads. What holds instead is said in
`config.checks.support`; how long a lease lasts, for one, in `tarsy.lease_times`.
"""

from datetime import timedelta
from typing import Annotated

from pydantic import Field

from config.schema.fields import Duration, Integer, PositiveDuration
from config.schema.queue import QueueConfig


class QueueWithInertKeys(QueueConfig):
    """`queue` as a file may write it. The rest of the product sees `QueueConfig` alone.

    The rule between heartbeat and threshold: `config.checks.rules`.
    """

    worker_count: Annotated[Integer, Field(ge=1, le=50)] = 5
    """How many workers run."""
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

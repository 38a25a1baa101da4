"""How long the lease of a worker on an agent's work lasts, and how often it is looked at."""

from typing import NamedTuple

from tarsy.env import Env


class LeaseTimes(NamedTuple):
    """In seconds. After `stale` without a renewal another worker may take the work over."""

    heartbeat: int
    """Between two renewals by the worker that holds it."""
    stale: int
    sweep: int
    """Between two searches for leases that are stale, and for other lost work."""


def read_lease_times(env: Env) -> LeaseTimes:
    """The times from the environment. A mistake is remembered there."""
    heartbeat = env.integer("TARSY_HEARTBEAT_SECONDS", 5, minimum=1)
    stale = env.integer("TARSY_LEASE_STALE_SECONDS", 25, minimum=2)
    if stale < 2 * heartbeat:
        env.wrong(
            "TARSY_LEASE_STALE_SECONDS",
            "must be at least twice TARSY_HEARTBEAT_SECONDS, or running agents are taken for dead",
        )
    return LeaseTimes(heartbeat, stale, env.integer("TARSY_SWEEP_SECONDS", 5, minimum=1))

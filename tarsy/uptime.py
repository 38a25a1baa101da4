"""A clock that nobody sets and nothing stops."""

import time


def uptime() -> float:
    """Seconds since the machine was started, those in which it or the process was stopped included.

    Only differences between two readings of one machine mean anything.
    """
    return time.clock_gettime(time.CLOCK_BOOTTIME)

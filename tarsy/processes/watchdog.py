"""Ends process groups when the process that watches over them dies, by SIGKILL too.

    python watchdog.py GRACE

Reads lines `+GROUP` and `-GROUP` from stdin. At the end of the input, which the kernel brings
about however the writer dies, every group still listed gets SIGTERM, and SIGKILL after GRACE
seconds. Runs as a file with `python -I -S`: standard library only.
"""

import contextlib
import os
import signal
import sys
import time


def watch(grace: float) -> None:
    groups: set[int] = set()
    for line in sys.stdin:
        group = int(line[1:])
        if line.startswith("+"):
            groups.add(group)
        else:
            groups.discard(group)

    _signal(groups, signal.SIGTERM)
    deadline = time.monotonic() + grace
    while time.monotonic() < deadline and any(map(is_alive, groups)):
        time.sleep(0.05)
    _signal(groups, signal.SIGKILL)


def is_alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _signal(groups: set[int], number: signal.Signals) -> None:
    for group in groups:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, number)


if __name__ == "__main__":
    for ignored in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(ignored, signal.SIG_IGN)
    watch(float(sys.argv[1]))

"""Processes that are certainly the ones that were meant: a number alone may be another's by now."""

import os
import select
import signal
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class ProcessIdentity:
    """A number and the moment since boot at which the kernel gave it to this very process."""

    pid: int
    start_ticks: int


class HeldProcess:
    """A process that cannot be confused with another one while it is held."""

    def __init__(self, identity: ProcessIdentity, descriptor: int | None) -> None:
        self.identity = identity
        self._descriptor = descriptor

    def send(self, number: signal.Signals) -> None:
        """Send a signal; to one that has just ended, nothing."""
        with suppress(ProcessLookupError):
            if self._descriptor is not None:
                signal.pidfd_send_signal(self._descriptor, number)
            elif is_running(self.identity):
                os.kill(self.identity.pid, number)

    def has_ended_within(self, seconds: float) -> bool:
        """Whether it ends in this time."""
        if self._descriptor is not None:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            return bool(poll.poll(max(0.0, seconds) * 1000))
        until = time.monotonic() + seconds
        while is_running(self.identity):
            if time.monotonic() >= until:
                return False
            time.sleep(_POLL_SECONDS)
        return True


@contextmanager
def hold(identity: ProcessIdentity) -> Iterator[HeldProcess | None]:
    """The process, where it still runs and its number has not become another's; else None."""
    try:
        descriptor = _open(identity.pid)
    except ProcessLookupError:
        yield None
        return
    try:
        # Looked at after it was opened: from here on the descriptor means what was compared.
        yield HeldProcess(identity, descriptor) if is_running(identity) else None
    finally:
        if descriptor is not None:
            os.close(descriptor)


def identify(pid: int) -> ProcessIdentity | None:
    """The process that has this number now; None where there is none. A zombie runs no more."""
    if pid <= 0:
        return None
    try:
        # The name within parentheses may hold anything, so the fields are counted from its end.
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return _identify_elsewhere(pid)
    fields = stat.rpartition(")")[2].split()
    if len(fields) < 20 or fields[0] in ("Z", "X"):
        return None
    return ProcessIdentity(pid, int(fields[19]))


def is_running(identity: ProcessIdentity) -> bool:
    return identify(identity.pid) == identity


def find_session_of(leader: ProcessIdentity) -> list[ProcessIdentity]:
    """A process, everything in its session and everything below it; none where it has ended."""
    below: list[int] = []
    with suppress(psutil.Error, OSError):
        below = [each.pid for each in psutil.Process(leader.pid).children(recursive=True)]
    found = {each.pid: each for each in [leader, *find_session(leader.pid)]}
    found |= {pid: each for pid in below if (each := identify(pid)) is not None}
    return list(found.values()) if is_running(leader) else []


def find_session(session: int) -> list[ProcessIdentity]:
    """All processes in a session."""
    pids = [pid for pid in psutil.pids() if pid > 0 and _session_of(pid) == session]
    return [each for pid in pids if (each := identify(pid)) is not None]


def end_all(processes: Iterable[ProcessIdentity], *, seconds: float) -> list[ProcessIdentity]:
    """Ask processes to end and kill what has not in time. Gives those that still run."""
    processes = list(processes)
    _send_all(processes, signal.SIGTERM)
    if remaining := _wait_for_all(processes, seconds):
        _send_all(remaining, signal.SIGKILL)
        return _wait_for_all(remaining, 2.0)
    return []


def _send_all(processes: list[ProcessIdentity], number: signal.Signals) -> None:
    for identity in processes:
        with hold(identity) as process:
            if process is not None:
                process.send(number)


def _wait_for_all(processes: list[ProcessIdentity], seconds: float) -> list[ProcessIdentity]:
    until = time.monotonic() + seconds
    for identity in processes:
        with hold(identity) as process:
            if process is not None:
                process.has_ended_within(until - time.monotonic())
    return [identity for identity in processes if is_running(identity)]


def _open(pid: int) -> int | None:
    """A descriptor that stays with this process; None on systems that have no such thing."""
    if not hasattr(os, "pidfd_open"):
        return None
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        raise
    except OSError:
        return None


def _session_of(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:
        return None


def _identify_elsewhere(pid: int) -> ProcessIdentity | None:
    """The same on a system without /proc."""
    if Path("/proc/self/stat").exists():
        return None
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        return ProcessIdentity(pid, round(process.create_time() * _TICKS_PER_SECOND))
    except (psutil.Error, OSError):
        return None

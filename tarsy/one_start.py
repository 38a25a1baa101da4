"""One `make demo` or `make run` for each directory, and a way for others to ask for it."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

_LOCK = "quickstart.lock"
_ASKED_WITHIN = 1.0
"""Longer than anybody asks. Whoever asks holds the lock for a moment, and that is no start."""
_POLL_SECONDS = 0.02


@contextmanager
def hold_start(var_dir: Path) -> Iterator[None]:
    """Hold the directory for this start. Raises BlockingIOError where another has it."""
    var_dir.mkdir(parents=True, exist_ok=True)
    with (var_dir / _LOCK).open("a+") as lock:
        _hold(lock)
        yield


def is_started(var_dir: Path) -> bool:
    """Whether a TARSy runs from there, or is about to."""
    try:
        with (var_dir / _LOCK).open() as lock:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _hold(lock: IO[str]) -> None:
    until = time.monotonic() + _ASKED_WITHIN
    while True:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        else:
            return
        time.sleep(_POLL_SECONDS)

"""One `make demo` or `make run` for each directory, and a way for others to ask for it."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_LOCK = "quickstart.lock"


@contextmanager
def hold_start(var_dir: Path) -> Iterator[None]:
    """Hold the directory for this start. Raises BlockingIOError where another has it."""
    var_dir.mkdir(parents=True, exist_ok=True)
    with (var_dir / _LOCK).open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
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

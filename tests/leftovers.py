"""Ends what a killed test run has left behind.

Runs as a process of its own, whose standard input is held open by the process that runs the
tests. However that one ends, the kernel closes the pipe; whatever still runs then with the mark of
the tests in its environment is killed, and their var directory is removed.
"""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

MARK = "RUN_OF_TESTS"
"""The variable by which processes of a run are known, whatever else tests set."""
PROC = Path("/proc")
LONGEST_SEARCH = 20
"""Rounds: a process may start another while we look."""
LONGEST_REMOVAL = 200
"""Rounds, of a tenth of a second."""


@contextmanager
def cleared_away(var_dir: Path) -> Iterator[None]:
    """Inside, everything that this process starts dies with it, also when it is killed."""
    pipe, held_open = os.pipe()
    os.environ[MARK] = str(var_dir)
    try:
        # Without site-packages it is there in a few milliseconds.
        words = [sys.executable, "-I", "-S", __file__, str(var_dir)]
        subprocess.run(words, stdin=pipe, env={}, check=True)
        os.close(pipe)
        yield
    finally:
        os.close(held_open)


def kill_all_of(run: str) -> None:
    """Kill every process that was started by this run of tests, until there is none."""
    for _ in range(LONGEST_SEARCH):
        found = list(_find(f"{MARK}={run}".encode()))
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        if not found:
            return


def remove(directory: Path) -> None:
    """Remove a directory in which servers may be writing yet: they end by themselves, soon."""
    for _ in range(LONGEST_REMOVAL):
        shutil.rmtree(directory, ignore_errors=True)
        if not directory.exists():
            return
        time.sleep(0.1)


def _find(variable: bytes) -> Iterator[int]:
    for each in PROC.iterdir():
        # A process that has ended, or one of somebody else, has nothing to read.
        with suppress(OSError):
            if each.name.isdigit() and variable in (each / "environ").read_bytes().split(b"\0"):
                yield int(each.name)


if __name__ == "__main__":
    # No child of the tests, some of which kill all that they have, and not ended by Ctrl+C.
    if os.fork():
        os._exit(0)
    os.setsid()
    sys.stdin.read()
    kill_all_of(sys.argv[1])
    remove(Path(sys.argv[1]))

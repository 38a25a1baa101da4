import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tarsy.embedded.files import REPOSITORY, Files

USE_SERVERS = """
import json, sys
from pathlib import Path
from tarsy.embedded import ensure
with ensure(Path(sys.argv[1]), durable=False) as servers:
    print(json.dumps([servers.database_url, servers.redis_url, servers.pids]), flush=True)
    sys.stdin.read()
"""


def wait_until(condition: Callable[[], bool], within: float = 20.0) -> None:
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "the condition did not come true in time"
        time.sleep(0.02)


def is_gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


class UserProcess:
    """Another process that uses the servers of a var directory until it is told to leave."""

    def __init__(self, var_dir: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", USE_SERVERS, str(var_dir)],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.database_url = self.redis_url = ""
        self.pids: list[int] = []

    def wait_for_servers(self) -> "UserProcess":
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line, "the process ended without servers"
        self.database_url, self.redis_url, self.pids = json.loads(line)
        return self

    def leave(self) -> None:
        self._process.communicate(timeout=20)

    def kill(self) -> None:
        self._process.send_signal(signal.SIGKILL)
        self._process.communicate(timeout=20)

    def end(self) -> None:
        if self._process.poll() is None:
            self.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()


@pytest.fixture(scope="module")
def var_dir() -> Iterator[Path]:
    """One directory for a module: making a database takes a second."""
    with _short_directory() as directory:
        yield directory / "var"
        wait_until(lambda: not _is_locked(Files.of(directory / "var").running_lock))


@pytest.fixture
def fresh_dir() -> Iterator[Path]:
    with _short_directory() as directory:
        yield directory


@pytest.fixture
def use_servers() -> Iterator[Callable[[Path], UserProcess]]:
    """Starts processes that use servers, and ends those that are left over."""
    started: list[UserProcess] = []

    def start(var_dir: Path) -> UserProcess:
        started.append(UserProcess(var_dir))
        return started[-1]

    yield start
    for user in started:
        user.end()


@contextlib.contextmanager
def _short_directory() -> Iterator[Path]:
    directory = Path(tempfile.mkdtemp(prefix="tarsy-embedded-"))
    try:
        yield directory
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _is_locked(path: Path) -> bool:
    from tarsy.embedded.errors import EmbeddedError
    from tarsy.embedded.files import locked

    if not path.exists():
        return False
    try:
        with locked(path, within=0):
            return False
    except EmbeddedError:
        return True

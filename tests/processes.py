"""Real processes of the product for tests: workers, the web server."""

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar

from django.conf import settings
from django.db import connection

from tests.forked import Fork, forks

ROOT = Path(__file__).resolve().parent.parent
T = TypeVar("T")


def wait_for(
    condition: Callable[[], T],
    *,
    within: float = 30.0,
    what: str = "the condition",
    every: float = 0.05,
) -> T:
    """Return the first true value of `condition`; fail with its last value after `within` s."""
    until = time.monotonic() + within
    value = condition()
    while not value:
        if time.monotonic() > until:
            raise AssertionError(f"{what} did not come true within {within} s; last: {value!r}")
        time.sleep(every)
        value = condition()
    return value


def child_environment(**more: str) -> dict[str, str]:
    """The environment of a process that shares this test's database and Redis."""
    database = connection.settings_dict
    user, password = database["USER"], database["PASSWORD"]
    credentials = f"{user}:{password}@" if password else f"{user}@"
    query = "" if "/" not in database["HOST"] else f"?host={database['HOST']}"
    host = "" if query else f"{database['HOST']}:{database['PORT'] or 5432}"
    if query and database["PORT"]:
        query += f"&port={database['PORT']}"
    return {
        **os.environ,
        "DATABASE_URL": f"postgres://{credentials}{host}/{database['NAME']}{query}",
        "REDIS_URL": settings.REDIS_URL,
        "PYTHONUNBUFFERED": "1",
        "LOG_FORMAT": "console",
        "TARSY_LEASE_STALE_SECONDS": "4",
        "TARSY_SWEEP_SECONDS": "1",
        "TARSY_REDISPATCH_SECONDS": "2",
        "TARSY_HEARTBEAT_SECONDS": "1",
        **more,
    }


class Process:
    """A process with its output in a file, killed when it does not end by itself.

    A new interpreter with these arguments; where `is_forked`, a fork of one that has imported what
    workers import, and the arguments begin with `-m`.
    """

    def __init__(
        self,
        *arguments: str,
        environment: Mapping[str, str],
        ready: str,
        is_forked: bool = False,
    ) -> None:
        descriptor, self._log = tempfile.mkstemp(
            prefix="tarsy-", suffix=".log", dir=os.environ.get("TARSY_VAR_DIR")
        )
        os.close(descriptor)
        self._ready = ready
        start = forks().start if is_forked else _start_interpreter
        self.child = start(arguments, environment, self._log)

    @property
    def output(self) -> str:
        return Path(self._log).read_text(encoding="utf-8", errors="replace")

    def wait_until_ready(self, within: float = 60.0) -> None:
        def is_ready() -> bool:
            if self.child.poll() is not None:
                raise AssertionError(f"ended with {self.child.returncode}:\n{self.output[-4000:]}")
            return self._ready in self.output

        try:
            wait_for(is_ready, within=within, what=f"{self._ready!r} in the log")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output[-4000:]}") from error

    def kill(self) -> None:
        """SIGKILL, as a power cut or an out-of-memory killer would."""
        self.child.kill()
        self.child.wait(10)

    def stop(self, within: float = 15.0) -> int:
        """SIGTERM; returns the exit code."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGTERM)
            try:
                self.child.wait(within)
            except subprocess.TimeoutExpired:
                self.kill()
        return int(self.child.wait(within))


def _start_interpreter(
    arguments: Sequence[str], environment: Mapping[str, str], log: str
) -> "subprocess.Popen[bytes] | Fork":
    with Path(log).open("ab") as output:
        return subprocess.Popen(
            [sys.executable, *arguments],
            cwd=ROOT,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )


def run_command(
    *arguments: str, environment: Mapping[str, str], stdin: str = "", within: float = 60.0
) -> subprocess.CompletedProcess[str]:
    """What `manage.py` does with these arguments, to its end, as a fork."""
    with tempfile.TemporaryDirectory(dir=os.environ.get("TARSY_VAR_DIR")) as directory:
        given, output, errors = (Path(directory) / name for name in ("in", "out", "err"))
        given.write_text(stdin, encoding="utf-8")
        output.touch()
        errors.touch()
        child = forks().start(
            ("-m", "manage", *arguments),
            environment,
            str(output),
            errors=str(errors),
            given=str(given),
        )
        try:
            code = child.wait(within)
        finally:
            child.kill()
        return subprocess.CompletedProcess(
            arguments, code, output.read_text(encoding="utf-8"), errors.read_text(encoding="utf-8")
        )


def start_worker(**environment: str) -> Process:
    return Process(
        *("-m", "celery", "-A", "tarsy.worker", "worker", "-P", "threads", "-c", "16"),
        *("--without-gossip", "--without-mingle", "-l", "INFO"),
        environment=child_environment(**environment),
        ready=" ready.",
        is_forked=True,
    )


FIRST_PORT = 12_000
PORTS_EACH = 1_000
_ports = cycle(range(PORTS_EACH))


def find_free_port() -> int:
    """A port that stays free until it is used: none that connections get by themselves (those
    begin at 32,768), none of another process of this test run, and not the one given before."""
    first = FIRST_PORT + PORTS_EACH * int(os.environ.get("PYTEST_XDIST_WORKER", "gw0")[2:])
    start = os.getpid() % PORTS_EACH
    for offset in islice(_ports, PORTS_EACH):
        port = first + (start + offset) % PORTS_EACH
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise AssertionError(f"no port is free from {first} on")


def start_web(port: int, **environment: str) -> Process:
    return Process(
        *("-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "tarsy.asgi:application"),
        environment=child_environment(LOG_LEVEL="INFO", **environment),
        ready="Listening on TCP",
        is_forked=True,
    )

"""Starts processes of the product as forks of one that has already imported what they import, and
read what ships with the product and is the same for all of them.

A worker imports 2,400 modules, for seconds; a fork of a process that has them starts in a fraction.
What depends on the settings is imported by the fork alone, after it has got its own environment, so
it is a whole process like any other: it runs `python -m MODULE ARGUMENTS` from the first line to
its exit code.

The process that forks is no child of the tests; it ends, and its forks with it, when they do.
"""

import ctypes
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path

from config.builtins import read_builtin_text
from config.pack_files import read_built_in_packs
from mcp_bridge.known_servers import read_table

ROOT = Path(__file__).resolve().parent.parent
# Nothing here reads a setting, starts a thread or opens a file while it is imported.
IMPORTED = (
    "celery.apps.worker",
    "celery.bin.celery",
    "celery.concurrency.thread",
    "celery.worker.consumer",
    "kombu.transport.redis",
    "aiohttp",
    "autobahn.wamp.message",
    "autobahn.websocket.protocol",
    "cryptography.x509",
    "django.contrib.admin.apps",
    "django.contrib.admindocs.views",
    "django.core.management",
    "django.db.backends.postgresql.base",
    "django.db.migrations.executor",
    "django.db.models",
    "django.forms",
    "django.template.loader",
    "django.test.utils",
    "django.views.generic",
    "django_stubs_ext",
    "drf_spectacular.utils",
    "httpcore",
    "markdown_it",
    "rest_framework.fields",
    "structlog.stdlib",
    "twisted.internet.asyncioreactor",
    "twisted.internet.endpoints",
    "twisted.web.http",
    "agents.provider_check.running",
    "agents.run",
    "config",
    "investigations.engine.own_servers",
    "investigations.sources.registry",
    "mcp_bridge.toolbox",
    "rules.run",
    "safety.gate.safety_gate",
    "safety.grounding.judge",
    "safety.grounding.likely_passages",
)
PR_SET_PDEATHSIG = 1


class Fork:
    """A process to watch, as `subprocess.Popen` is one."""

    def __init__(self, forks: "Forks", pid: int) -> None:
        self.pid = pid
        self._forks = forks

    @property
    def returncode(self) -> int | None:
        return self._forks.codes.get(self.pid)

    def poll(self) -> int | None:
        self._forks.read(within=0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        until = time.monotonic() + (timeout if timeout is not None else threading.TIMEOUT_MAX)
        while (code := self.poll()) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            self._forks.read(within=min(left, 1))
        return code

    def send_signal(self, number: int) -> None:
        # Until its end has been read here its number belongs to nobody else.
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Forks:
    """The tests' end: asks for forks and hears how they ended."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            subprocess.run(
                [sys.executable, "-m", "tests.forked"],
                cwd=ROOT,
                stdin=theirs.fileno(),
                check=True,
                timeout=60,
            )
        self._socket = ours
        self._lock = threading.Lock()
        self._unread = b""
        self._started: list[int] = []
        self.codes: dict[int, int] = {}

    def start(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        log: str,
        *,
        errors: str | None = None,
        given: str = os.devnull,
    ) -> Fork:
        """Run what `python -m MODULE ...` runs, with its output at the end of a file, its errors
        there or in another one, and a file to read from.

        Raises EOFError where the process that forks is gone.
        """
        option, module, *rest = arguments
        assert option == "-m", "only modules can be run by a fork"
        asked = [module, rest, dict(environment), [given, log, errors or log]]
        self._socket.sendall(json.dumps(asked).encode() + b"\n")
        while not self._started:
            self.read(within=60)
        return Fork(self, self._started.pop())

    def read(self, within: float) -> None:
        """Take what has been said, waiting up to `within` s for the first word."""
        with self._lock:
            if not select.select([self._socket], [], [], within)[0]:
                return
            said = self._socket.recv(65536)
            if not said:
                raise EOFError("the process that forks is gone")
            *lines, self._unread = (self._unread + said).split(b"\n")
            for line in lines:
                pid, code = json.loads(line)
                if code is None:
                    self._started.append(pid)
                else:
                    self.codes[pid] = code


@cache
def forks() -> Forks:
    """The one process that forks for these tests, from the first fork on."""
    return Forks()


# ---- The process that forks ----------------------------------------------------------------------


def _read_what_ships() -> None:
    """Files of the product that every process reads once; the same in each."""
    read_built_in_packs()
    read_builtin_text()
    read_table()


def _serve(asking: socket.socket) -> tuple[str, list[str]]:
    """Fork for whoever asks, and tell how forks end. Returns in the forks: what each is to run."""
    woken, wake = socket.socketpair()
    wake.setblocking(False)
    signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    unread = b""
    while True:
        ready, _, _ = select.select([asking, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            for pid, code in _take_ended():
                _say(asking, pid, code)
        if asking not in ready:
            continue
        if not (said := asking.recv(65536)):
            os._exit(0)
        *lines, unread = (unread + said).split(b"\n")
        for line in lines:
            module, arguments, environment, streams = json.loads(line)
            if pid := os.fork():
                _say(asking, pid, None)
                continue
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            for each in (asking, woken, wake):
                each.close()
            _become(environment, streams)
            return module, arguments


def _take_ended() -> Iterator[tuple[int, int]]:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            yield pid, os.waitstatus_to_exitcode(status)


def _say(asking: socket.socket, pid: int, code: int | None) -> None:
    try:
        asking.sendall(json.dumps([pid, code]).encode() + b"\n")
    except OSError:
        os._exit(0)


def _become(environment: Mapping[str, str], streams: Sequence[str]) -> None:
    """A session, an environment and streams of its own; and an end with the one that forks."""
    _die_with_parent()
    os.setsid()
    os.environ.clear()
    os.environ.update(environment)
    for stream, path in enumerate(streams):
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND if stream else os.O_RDONLY)
        os.dup2(descriptor, stream)
        os.close(descriptor)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _main() -> None:
    asking = socket.socket(fileno=os.dup(0))
    if os.fork():
        os._exit(0)
    os.setsid()
    for module in IMPORTED:
        import_module(module)
    _read_what_ships()
    gc.collect()
    gc.freeze()
    module, arguments = _serve(asking)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=True)
    return


if __name__ == "__main__":
    _main()

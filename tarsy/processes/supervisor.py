"""Runs the processes of the product as one: one output, one way to stop, no silent death."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, TextIO

from tarsy.processes import watchdog

# Ctrl-C has to be done within 5 seconds, and the embedded servers stop after the processes
# (`tarsy.embedded.keeper`). What is killed meanwhile goes on at the next start.
TERM_GRACE = 2.5
RESTARTS = 3
FIRST_BACKOFF = 1.0
# A process that ran this long had recovered: its restarts are counted from none again.
SETTLED_AFTER = 60.0
LONGEST_LINE = 64 * 1024
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
COLOURS = (36, 33, 32, 35, 34, 31)


@dataclass(frozen=True)
class ProcessSpec:
    """One process: its name before every line, its command, and its environment."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class Supervisor:
    """Runs processes until a stop signal, or until one of them keeps dying.

    Each has a process group of its own, so that what it started ends with it. `run` must be called
    in the main thread, which has the signals.
    """

    def __init__(self, specs: Sequence[ProcessSpec], *, output: TextIO | None = None) -> None:
        self._output = output or sys.stdout
        width = max((len(spec.name) for spec in specs), default=0)
        self._children = [
            _Child(spec, spec.name.ljust(width), COLOURS[number % len(COLOURS)])
            for number, spec in enumerate(specs)
        ]
        self._label = "".ljust(width)
        self._selector = selectors.DefaultSelector()
        self._watchdog: subprocess.Popen[bytes] | None = None
        self._stop_signal: int | None = None
        self._failure: BaseException | None = None
        self._printing = threading.Lock()

    def run(self, on_started: Callable[[], None] | None = None) -> int:
        """Start all, call `on_started`, and stay until the end. Returns the exit code.

        0 after SIGINT, SIGTERM or SIGHUP; 1 when a process died more often than it is restarted.
        `on_started` is called in a thread of its own, so that lines and deaths show meanwhile; a
        stop does not wait for it, and what it raises stops everything and is raised here.
        """
        with self._signals(), self._watched():
            try:
                for child in self._children:
                    self._start(child)
                if on_started is not None:
                    self._call_beside(on_started)
                return self._supervise()
            finally:
                self._stop_all()

    def say(self, text: str) -> None:
        """Print a line of the supervisor's own among those of the processes."""
        self._print(self._label, 1, text)

    def _call_beside(self, on_started: Callable[[], None]) -> None:
        def call() -> None:
            try:
                on_started()
            except BaseException as error:
                self._failure = error

        threading.Thread(target=call, name="on-started", daemon=True).start()

    def _supervise(self) -> int:
        while self._stop_signal is None:
            if self._failure is not None:
                raise self._failure
            self._pass_lines_on(timeout=0.2)
            for child in self._children:
                if not self._look_after(child):
                    return 1
        return 0

    def _look_after(self, child: "_Child") -> bool:
        """Restart the child if it died and may be; False when it died too often."""
        now = time.monotonic()
        if child.restart_at is not None:
            if now >= child.restart_at:
                self._start(child)
            return True
        if child.process is None or (code := child.process.poll()) is None:
            return True

        self._collect(child)
        if now - child.started_at > SETTLED_AFTER:
            child.restarts = 0
        if child.restarts == RESTARTS:
            self.say(f"{child.spec.name} {_describe(code)} after {RESTARTS} restarts; stopping all")
            return False
        backoff = FIRST_BACKOFF * 2**child.restarts
        child.restarts += 1
        child.restart_at = now + backoff
        self.say(
            f"{child.spec.name} {_describe(code)}; "
            f"restart {child.restarts} of {RESTARTS} in {backoff:.0f} s"
        )
        return True

    def _start(self, child: "_Child") -> None:
        child.restart_at = None
        child.started_at = time.monotonic()
        child.process = subprocess.Popen(
            child.spec.argv,
            env={**child.spec.env, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._tell_watchdog(f"+{child.process.pid}")
        assert child.process.stdout is not None
        os.set_blocking(child.process.stdout.fileno(), False)
        self._selector.register(child.process.stdout, selectors.EVENT_READ, child)

    def _collect(self, child: "_Child") -> None:
        """Read the last words of a dead child and end what is left of its group."""
        process = child.process
        if process is None or process.stdout is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
        self._read(child, process.stdout)
        if child.unfinished:
            self._print(child.label, child.colour, child.unfinished.decode(errors="replace"))
        child.unfinished = b""
        with contextlib.suppress(KeyError):
            self._selector.unregister(process.stdout)
        process.stdout.close()
        self._tell_watchdog(f"-{process.pid}")
        child.process = None

    def _pass_lines_on(self, timeout: float) -> None:
        if not self._selector.get_map():
            time.sleep(timeout)
            return
        for key, _ in self._selector.select(timeout):
            child: _Child = key.data
            if child.process is None or child.process.stdout is None:
                continue
            if not self._read(child, child.process.stdout):
                self._selector.unregister(child.process.stdout)

    def _read(self, child: "_Child", stdout: IO[bytes]) -> bool:
        """Print the whole lines that are there; False at the end of the output."""
        while True:
            try:
                part = os.read(stdout.fileno(), 65536)
            except BlockingIOError:
                return True
            if not part:
                return False
            *lines, child.unfinished = (child.unfinished + part).split(b"\n")
            if len(child.unfinished) > LONGEST_LINE:
                lines.append(child.unfinished)
                child.unfinished = b""
            for line in lines:
                self._print(child.label, child.colour, line.decode(errors="replace"))
            if len(part) < 65536:
                return True  # the others' turn

    def _stop_all(self) -> None:
        self.say("Stopping")
        deadline = time.monotonic() + TERM_GRACE
        alive = [child for child in self._children if child.process is not None]
        for child in alive:
            _signal_group(child, signal.SIGTERM)
        while any(child.is_alive() for child in alive) and time.monotonic() < deadline:
            self._pass_lines_on(timeout=0.05)
        for child in alive:
            if child.is_alive():
                self.say(f"{child.spec.name} does not stop, killing it")
                _signal_group(child, signal.SIGKILL)
        for child in alive:
            if child.process is not None:
                child.process.wait()
            self._collect(child)
        self._selector.close()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        previous = {number: signal.signal(number, self._on_signal) for number in STOP_SIGNALS}
        try:
            yield
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)

    def _on_signal(self, number: int, _frame: object) -> None:
        self._stop_signal = number

    @contextmanager
    def _watched(self) -> Iterator[None]:
        argv = [sys.executable, "-I", "-S", watchdog.__file__, str(TERM_GRACE)]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, bufsize=0, start_new_session=True
        ) as self._watchdog:
            yield

    def _tell_watchdog(self, line: str) -> None:
        if self._watchdog is None or self._watchdog.stdin is None:
            return
        try:
            self._watchdog.stdin.write(f"{line}\n".encode())
        except BrokenPipeError:
            self.say("the watchdog is gone: if this process is killed now, its processes stay")

    def _print(self, label: str, colour: int, text: str) -> None:
        if self._output.isatty() and "NO_COLOR" not in os.environ:
            label = f"\x1b[{colour}m{label}\x1b[0m"
        # A closed terminal must not keep us from stopping what we started.
        with self._printing, contextlib.suppress(OSError):
            print(f"{label} | {text.rstrip()}", file=self._output, flush=True)


@dataclass
class _Child:
    spec: ProcessSpec
    label: str
    colour: int
    process: subprocess.Popen[bytes] | None = None
    unfinished: bytes = b""
    started_at: float = 0.0
    restarts: int = 0
    restart_at: float | None = None

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


def _signal_group(child: _Child, number: signal.Signals) -> None:
    if child.process is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.process.pid, number)


def _describe(code: int) -> str:
    if code >= 0:
        return f"ended by itself with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"

"""Runs the processes of the product as one: one output, one way to stop, no silent death."""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from tarsy.processes import watchdog
from tarsy.processes.child import Child, ProcessSpec

# Ctrl-C has to be done within 5 seconds, and the embedded servers stop after the processes
# (`tarsy.embedded.keeper`). What is killed meanwhile goes on at the next start.
TERM_GRACE = 2.5
RESTARTS = 3
FIRST_BACKOFF = 1.0
# A process that ran this long had recovered: its restarts are counted from none again.
SETTLED_AFTER = 60.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OWN_NAME = "tarsy"
"""Before the lines of the supervisor itself."""
TERMINAL = 80
"""Columns."""
COLOURS = (36, 33, 32, 35, 34, 31)


class Supervisor:
    """Runs processes until a stop signal, or until one of them keeps dying.

    Each has a process group of its own, so that what it started ends with it. `run` must be called
    in the main thread, which has the signals.
    """

    def __init__(self, specs: Sequence[ProcessSpec], *, output: TextIO | None = None) -> None:
        self._output = output or sys.stdout
        width = max(len(name) for name in (OWN_NAME, *(spec.name for spec in specs)))
        self._children = [
            Child(
                spec, partial(self._print, spec.name.ljust(width), COLOURS[number % len(COLOURS)])
            )
            for number, spec in enumerate(specs)
        ]
        self._label = OWN_NAME.ljust(width)
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
        """Print a line of the supervisor's own among those of the processes, in several where a
        terminal of 80 columns has no room for it. No address is broken."""
        for line in wrap_line(text, TERMINAL - len(self._label) - len(" | ")):
            self._print(self._label, 1, line)

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

    def _look_after(self, child: Child) -> bool:
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

    def _start(self, child: Child) -> None:
        process, output = child.start()
        self._tell_watchdog(f"+{process.pid}")
        self._selector.register(output, selectors.EVENT_READ, child)

    def _collect(self, child: Child) -> None:
        """Read the last words of a dead child and end what is left of its group."""
        process = child.process
        if process is None or process.stdout is None:
            return
        child.finish()
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
            child: Child = key.data
            if not child.read():
                self._selector.unregister(key.fileobj)

    def _stop_all(self) -> None:
        self.say("Stopping")
        deadline = time.monotonic() + TERM_GRACE
        alive = [child for child in self._children if child.process is not None]
        for child in alive:
            child.signal_group(signal.SIGTERM)
        while any(child.is_alive() for child in alive) and time.monotonic() < deadline:
            self._pass_lines_on(timeout=0.05)
        for child in alive:
            if child.is_alive():
                self.say(f"{child.spec.name} does not stop, killing it")
                child.signal_group(signal.SIGKILL)
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


def wrap_line(text: str, columns: int) -> list[str]:
    """A line in pieces, each indented as the first. What has no blank in it is left whole."""
    inside = " " * (len(text) - len(text.lstrip()))
    wrapped = textwrap.wrap(
        text, columns, subsequent_indent=inside, break_long_words=False, break_on_hyphens=False
    )
    return wrapped or [""]


def _describe(code: int) -> str:
    if code >= 0:
        return f"ended by itself with exit code {code}"
    return f"was ended by {signal.Signals(-code).name}"

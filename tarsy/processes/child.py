"""One process of several: its group, and its output as lines."""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import IO

LONGEST_LINE = 64 * 1024
_PART = 64 * 1024


@dataclass(frozen=True)
class ProcessSpec:
    """One process: its name before every line, its command, and its environment."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


@dataclass
class Child:
    """A process that may be started again and again; `print_line` gets what it says."""

    spec: ProcessSpec
    print_line: Callable[[str], None]
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    restarts: int = 0
    restart_at: float | None = None
    _unfinished: bytes = b""

    def start(self) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        """Start it in a group of its own. Returns it and its output, which `read` reads."""
        self.restart_at = None
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            self.spec.argv,
            env={**self.spec.env, "PYTHONUNBUFFERED": "1"},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        os.set_blocking(self.process.stdout.fileno(), False)
        return self.process, self.process.stdout

    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal_group(self, number: signal.Signals) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)

    def read(self) -> bool:
        """Print the whole lines that are there; False at the end of the output."""
        if self.process is None or self.process.stdout is None:
            return True
        while True:
            try:
                part = os.read(self.process.stdout.fileno(), _PART)
            except BlockingIOError:
                return True
            if not part:
                return False
            *lines, self._unfinished = (self._unfinished + part).split(b"\n")
            if len(self._unfinished) > LONGEST_LINE:
                lines.append(self._unfinished)
                self._unfinished = b""
            for line in lines:
                self.print_line(line.decode(errors="replace"))
            if len(part) < _PART:
                return True  # the others' turn

    def finish(self) -> None:
        """End what is left of the group of a dead process, and print its last words."""
        self.signal_group(signal.SIGKILL)
        self.read()
        if self._unfinished:
            self.print_line(self._unfinished.decode(errors="replace"))
        self._unfinished = b""

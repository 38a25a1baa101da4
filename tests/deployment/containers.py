"""One service as a process: its own command, environment, address, folder and log."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.deployment.compose_file import HealthCheck
from tests.processes import ROOT, wait_for


class Unhealthy(AssertionError):
    """What compose would say, with the last words of the process."""


@dataclass
class Container:
    """Nothing of this test's own environment reaches it but where its programs are."""

    name: str
    argv: Sequence[str]
    environment: Mapping[str, str]
    log: Path
    health: HealthCheck | None = None
    stops_within: float = 10.0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> None:
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                self.argv,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    @property
    def words(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")[-4000:]

    def wait_until_healthy(self) -> None:
        if self.health is None:
            return
        # The file's own patience, and as much again: this machine may be busier than a server.
        until = time.monotonic() + 2 * self.health.patience
        while not self.check_health():
            if not self.is_running:
                raise Unhealthy(f"{self.name} ended:\n{self.words}")
            if time.monotonic() > until:
                raise Unhealthy(f"{self.name} does not get healthy:\n{self.words}")
            time.sleep(0.3)

    def check_health(self) -> bool:
        assert self.health is not None
        with suppress(subprocess.TimeoutExpired):
            done = subprocess.run(
                self.health.argv,
                cwd=ROOT,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=4 * self.health.timeout,
                check=False,
            )
            return done.returncode == 0
        return False

    def wait_until_done(self, within: float = 120) -> None:
        assert self.process is not None
        code = self.process.wait(within)
        if code:
            raise Unhealthy(f"{self.name} ended with {code}:\n{self.words}")

    def send(self, number: signal.Signals) -> None:
        assert self.process is not None
        self.process.send_signal(number)

    def stop(self) -> None:
        """As compose: SIGTERM, and SIGKILL for what is still there after the grace period."""
        if self.process is None:
            return
        if self.is_running:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(self.stops_within)
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)


def wait_for_port(address: str, port: int) -> None:
    def is_open() -> bool:
        with suppress(OSError), socket.create_connection((address, port), timeout=1):
            return True
        return False

    wait_for(is_open, what=f"a listener at {address}:{port}")

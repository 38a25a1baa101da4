"""`make demo` as a real process on a bare machine, followed over its API."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import httpx

from tests.processes import ROOT, find_free_port, wait_for

T = TypeVar("T")
LONGEST = 300.0
"""Seconds to wait for anything: others may use the machine meanwhile, and nothing is measured."""
_UNSET = ("DATABASE_URL", "REDIS_URL", "CONFIG_DIR", "TARSY_REHEARSAL_URL", "TARSY_AUTH")


class Demo:
    """`manage.py quickstart` in a directory of its own. `wrap` stands before what is run."""

    def __init__(self, var_dir: Path, *, fault: str = "pool") -> None:
        self.var_dir = var_dir
        self.port = find_free_port()
        self.log = var_dir.with_name(f"{var_dir.name}.log")
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in _UNSET},
            "TARSY_VAR_DIR": str(var_dir),
            "PORT": str(self.port),
            "FAULT": fault,
            "DEMO_WAIT": "0",
            "TARSY_REHEARSAL_PACE": "0",
        }
        self.child: subprocess.Popen[bytes] | None = None

    @property
    def output(self) -> str:
        return self.log.read_text(encoding="utf-8", errors="replace")

    def start(self, *arguments: str, wrap: Sequence[str] = (), until: str = "Ctrl-C") -> None:
        argv = [*wrap, sys.executable, "manage.py", "quickstart", *arguments]
        with self.log.open("wb") as output:
            self.child = subprocess.Popen(
                argv, cwd=ROOT, env=self._environment, stdin=subprocess.DEVNULL,
                stdout=output, stderr=output, start_new_session=True,
            )  # fmt: skip

        def is_ready() -> bool:
            assert self.child is not None
            assert self.child.poll() is None, self.output[-4000:]
            return until in self.output

        self._wait_for(is_ready, f"{until!r} in the output of the demo")

    def stop(self) -> int:
        if self.child is None:
            return 0
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        return self.child.wait(15)

    def kill(self) -> None:
        assert self.child is not None
        self.child.kill()
        self.child.wait(10)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=10)

    def wait_for_session(self, *states: str) -> dict[str, Any]:
        """The newest session, in one of these states."""

        def newest() -> dict[str, Any]:
            found = self.get("/api/v1/sessions").json()["sessions"]
            if not found or found[0]["status"] not in states:
                return {}
            session: dict[str, Any] = self.get(f"/api/v1/sessions/{found[0]['id']}").json()
            return session

        return self._wait_for(newest, f"a session that is {' or '.join(states)}")

    def wait_for_request(self) -> dict[str, Any]:
        """The one approval that waits for a person."""

        def pending() -> dict[str, Any]:
            found = self.get("/api/v1/approvals?status=pending").json()["approvals"]
            return found[0] if found else {}

        return self._wait_for(pending, "a repair that waits for a person")

    def approve(self, request: dict[str, Any]) -> None:
        made = subprocess.run(
            [sys.executable, "manage.py", "create_token", "test", "--owner", "admin",
             "--scope", "approve"],
            cwd=ROOT, env=self._environment, capture_output=True, text=True, check=True,
        )  # fmt: skip
        answer = httpx.post(
            f"http://127.0.0.1:{self.port}/api/v1/approvals/{request['id']}/approve",
            headers={"Authorization": f"Bearer {made.stdout.strip()}"},
            timeout=10,
        )
        assert answer.status_code == httpx.codes.OK, answer.text

    def check_log(self) -> str:
        """What the check from outside has seen."""
        return (self.var_dir / "shop" / "logs" / "shop-check.log").read_text(encoding="utf-8")

    def wait_until_all_is_well(self) -> None:
        def is_well() -> bool:
            lines = self.check_log().splitlines()
            told = [n for n, line in enumerate(lines) if "INFO resolved" in line]
            return bool(told) and "INFO the intake answered 202" in "\n".join(lines[told[-1] :])

        self._wait_for(is_well, "a check that is well and has said so")

    def wait_for_recovery(self) -> dict[str, Any]:
        """The one incident of the demo, once it is closed."""

        def recovered() -> dict[str, Any]:
            (incident,) = self.get("/api/v1/incidents").json()["incidents"]
            return incident if incident["state"] == "recovered" else {}

        return self._wait_for(recovered, "an incident that has recovered")

    def find_processes(self) -> list[str]:
        """Command lines of everything that runs for this directory."""
        found = []
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = path.read_bytes().decode("utf-8", "replace").replace("\0", " ")
            except OSError:
                continue
            if str(self.var_dir) in words:
                found.append(words)
        return found

    def wait_until_gone(self) -> None:
        wait_for(lambda: not self.find_processes(), within=20, what="the end of every process")

    def _wait_for(self, condition: Callable[[], T], what: str) -> T:
        """Wait as `wait_for` does; where it is in vain, say what the demo said."""
        try:
            return wait_for(condition, within=LONGEST, what=what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.output[-4000:]}") from None

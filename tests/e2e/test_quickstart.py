"""`manage.py quickstart` as a real process: one command starts everything and ends everything."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.processes import ROOT, Process, child_environment, find_free_port, wait_for

pytestmark = pytest.mark.worker


@pytest.fixture
def demo(tmp_path: Path) -> Iterator["Demo"]:
    demo = Demo(tmp_path / "var")
    yield demo
    demo.stop()


class Demo:
    """`manage.py quickstart` with servers of its own, as on a bare machine."""

    def __init__(self, var_dir: Path) -> None:
        self.port = find_free_port()
        unset = ("DATABASE_URL", "REDIS_URL", "CONFIG_DIR", "TARSY_REHEARSAL_URL", "TARSY_AUTH")
        self._environment = {
            **{name: value for name, value in os.environ.items() if name not in unset},
            "TARSY_VAR_DIR": str(var_dir),
            "PORT": str(self.port),
            "TARSY_REHEARSAL_PACE": "0",
        }
        self._process: Process | None = None

    def start(self) -> Process:
        self._process = Process(
            "manage.py", "quickstart", environment=self._environment, ready="Ctrl-C stops"
        )
        self._process.wait_until_ready(within=90)
        return self._process

    def stop(self) -> None:
        if self._process is not None and self._process.child.poll() is None:
            self._process.child.send_signal(signal.SIGINT)
            self._process.child.wait(10)

    def get(self, path: str) -> httpx.Response:
        return httpx.get(f"http://127.0.0.1:{self.port}{path}", timeout=10)

    def wait_until_completed(self) -> dict[str, object]:
        def newest() -> dict[str, object]:
            found = self.get("/api/v1/sessions").json()["sessions"][0]
            return found if found["status"] not in ("pending", "in_progress") else {}

        return wait_for(newest, within=60, what="the sample investigation")


def test_one_command_investigates_this_machine_and_keeps_its_data(demo: Demo):
    first = demo.start()
    session = demo.wait_until_completed()

    assert session["status"] == "completed", first.output[-3000:]
    assert isinstance(session["mcp_interaction_count"], int)
    assert session["mcp_interaction_count"] >= 3
    assert "REHEARSAL" in first.output
    [password] = re.findall(r"password: (\S+)", first.output)
    [link] = re.findall(r"http://localhost:\d+(/login/link/\S+)", first.output)
    answer = demo.get(link)
    assert (answer.status_code, "sessionid" in answer.cookies) == (302, True)
    page = demo.get(f"/sessions/{session['id']}/").text
    assert "rehearsal" in page.lower()

    demo.stop()
    assert first.child.returncode == 0, first.output[-3000:]

    second = demo.start()
    ids = [each["id"] for each in demo.get("/api/v1/sessions").json()["sessions"]]
    assert session["id"] in ids
    assert password not in second.output


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "daphne", "-p", "0", "tarsy.asgi:application"),
        ("-m", "celery", "-A", "tarsy.worker", "worker", "-P", "threads", "-c", "1"),
        ("manage.py", "quickstart"),
    ],
    ids=["web", "worker", "quickstart"],
)
def test_a_wrong_configuration_stops_the_start_with_every_mistake(
    live_db: None, tmp_path: Path, arguments: tuple[str, ...]
):
    (tmp_path / "tarsy.yaml").write_text(
        "agents:\n  A: {mcp_servers: [nowhere]}\nqueue: {worker_count: many}\n", encoding="utf-8"
    )
    (tmp_path / "llm-providers.yaml").write_text("llm_providers: {}\n", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=ROOT,
        env=child_environment(CONFIG_DIR=str(tmp_path), PORT=str(find_free_port())),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    said = done.stdout + done.stderr
    assert done.returncode != 0
    assert "tarsy.yaml:2" in said
    assert "tarsy.yaml:3" in said
    assert "Traceback" not in said

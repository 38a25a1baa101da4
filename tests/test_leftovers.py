"""A test run that is killed leaves nothing running and nothing lying about."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.processes import ROOT, wait_for

pytestmark = pytest.mark.slow

ENDLESS = """
import signal
from pathlib import Path

from playwright.sync_api import sync_playwright

from tests.processes import Process, child_environment, find_free_port, start_web

ELSEWHERE = str(Path(__file__).parent / "var")


def test_everything_that_tests_start(chromium):
    sleep = ("-c", "import time; time.sleep(600)")
    Process(*sleep, environment=child_environment(TARSY_VAR_DIR=ELSEWHERE), ready="")
    web = start_web(find_free_port(), TARSY_AUTH="none")
    web.wait_until_ready()
    with sync_playwright() as playwright:
        playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        (Path(__file__).parent / "runs").touch()
        signal.pause()
"""


@pytest.fixture
def directory() -> Iterator[Path]:
    """Short, as sockets lie in it, and open to the user whose servers they are."""
    with tempfile.TemporaryDirectory(prefix="tarsy-kill-", ignore_cleanup_errors=True) as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.fixture
def run(directory: Path, chromium: str) -> Iterator[subprocess.Popen[bytes]]:
    """The tests run by one of two processes, with servers, a web server and a browser."""
    (directory / "test_endless.py").write_text(ENDLESS, encoding="utf-8")
    given = {
        name: value
        for name, value in os.environ.items()
        if name not in ("DATABASE_URL", "REDIS_URL") and not name.startswith("PYTEST_")
    }
    with (directory / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "pytest", "-c", str(ROOT / "pyproject.toml"), "-n", "1"),
                *("-p", "tests.conftest", str(directory / "test_endless.py")),
            ],
            cwd=ROOT,
            env={**given, "TMPDIR": str(directory)},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    yield process
    for each in processes_of(directory):
        with suppress(psutil.NoSuchProcess):
            each.kill()
    process.wait()


def processes_of(directory: Path) -> list[psutil.Process]:
    """Whatever has the directory in its command, its environment or under its feet."""
    return [each for each in psutil.process_iter() if _is_of(each, str(directory))]


def _is_of(process: psutil.Process, directory: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        words = (*process.cmdline(), *process.environ().values(), process.cwd())
    except psutil.Error:
        return False
    return any(word.startswith(directory) for word in words)


def test_a_killed_run_leaves_no_process_and_no_directory(
    run: subprocess.Popen[bytes], directory: Path
):
    def runs() -> bool:
        assert run.poll() is None, (directory / "log").read_text()
        return (directory / "runs").exists()

    wait_for(runs, within=100, what="a run with everything")
    names = " ".join(each.name() for each in processes_of(directory))
    assert all(name in names for name in ("python", "postgres", "valkey", "node", "chrom")), names

    run.send_signal(signal.SIGKILL)
    run.wait()

    wait_for(lambda: not processes_of(directory), within=20, what="the end of all processes")
    wait_for(lambda: not list(directory.glob("tarsy-test-*")), what="empty directories")

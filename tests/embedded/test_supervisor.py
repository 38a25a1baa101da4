import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tarsy.embedded.files import REPOSITORY
from tests.embedded.conftest import is_gone, wait_until

pytestmark = pytest.mark.slow

# Each argument is NAME=PYTHON CODE of one process.
SUPERVISE = """
import sys
from tarsy.processes import ProcessSpec, Supervisor, supervisor
supervisor.FIRST_BACKOFF = 0.05
specs = [
    ProcessSpec(name, [sys.executable, "-c", code])
    for name, code in (argument.split("=", 1) for argument in sys.argv[1:])
]
sys.exit(Supervisor(specs).run())
"""
# What is called once all are started waits for the line `ready`, or fails at `wrong`.
GREET = """
import sys, time
from pathlib import Path
from tarsy.processes import ProcessSpec, Supervisor
log = Path(sys.argv[1])
running = Supervisor([ProcessSpec("web", [sys.executable, "-c", sys.argv[2]])])
def greet():
    while "web   | ready" not in log.read_text():
        if "web   | wrong" in log.read_text():
            raise RuntimeError("no greeting")
        time.sleep(0.01)
    running.say("greeted")
sys.exit(running.run(greet))
"""
SHOW_PID = "import os, time; print('pid', os.getpid()); time.sleep(600)"
WITH_CHILD = (
    "import os, subprocess, sys; child = subprocess.Popen(['sleep', '600']); "
    "print('pid', child.pid); child.wait()"
)
DEAF = (
    "import os, signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); "
    "print('pid', os.getpid()); time.sleep(600)"
)


class Supervised:
    """A supervisor in a process of its own, and what it has printed so far."""

    def __init__(self, log: Path, program: str, *arguments: str) -> None:
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-c", program, *arguments],
                env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
                stdout=output,
                stderr=output,
            )

    def output(self) -> str:
        return self._log.read_text()

    def wait_for_pids(self, count: int) -> list[int]:
        wait_until(lambda: len(self._pids()) == count)
        return self._pids()

    def wait_for_exit(self) -> int:
        return self.process.wait(timeout=20)

    def _pids(self) -> list[int]:
        return [int(pid) for pid in re.findall(r"pid (\d+)\n", self.output())]


@pytest.fixture
def start(tmp_path):
    started = []

    def start(program: str, *arguments: str) -> Supervised:
        started.append(Supervised(tmp_path / "output", program, *arguments))
        return started[-1]

    yield start
    for supervised in started:
        supervised.process.kill()
        supervised.process.wait()


@pytest.fixture
def supervise(start):
    return lambda **codes: start(SUPERVISE, *(f"{name}={code}" for name, code in codes.items()))


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_stop_signal_ends_every_process_and_what_it_started(supervise, stop):
    supervised = supervise(web=SHOW_PID, worker=WITH_CHILD)
    pids = supervised.wait_for_pids(2)

    supervised.process.send_signal(stop)

    assert supervised.wait_for_exit() == 0
    wait_until(lambda: all(map(is_gone, pids)))


def test_processes_that_ignore_the_request_are_killed(supervise):
    supervised = supervise(deaf=DEAF, deafer=DEAF)
    pids = supervised.wait_for_pids(2)

    supervised.process.send_signal(signal.SIGINT)

    assert supervised.wait_for_exit() == 0
    assert all(map(is_gone, pids))
    assert "deaf does not stop, killing it" in supervised.output()
    assert "deafer does not stop, killing it" in supervised.output()


def test_killing_the_supervisor_ends_every_process_and_what_it_started(supervise):
    supervised = supervise(web=SHOW_PID, worker=WITH_CHILD)
    pids = supervised.wait_for_pids(2)

    supervised.process.kill()

    wait_until(lambda: all(map(is_gone, pids)))


def test_lines_carry_the_name_of_their_process(supervise):
    supervised = supervise(
        web="print('one'); print('two', end=''); import time, sys; sys.stdout.flush(); sys.exit(3)",
        scheduler=SHOW_PID,
    )

    assert supervised.wait_for_exit() == 1
    lines = supervised.output().splitlines()
    assert "web       | one" in lines
    assert "web       | two" in lines
    assert any(line.startswith("scheduler | pid ") for line in lines)


def test_process_that_keeps_dying_is_restarted_three_times_and_then_all_stops(supervise):
    supervised = supervise(crash="print('tried'); raise SystemExit(7)", other=SHOW_PID)

    assert supervised.wait_for_exit() == 1
    output = supervised.output()
    assert output.count("crash | tried") == 4
    assert "crash ended by itself with exit code 7; restart 1 of 3" in output
    assert "after 3 restarts; stopping all" in output
    wait_until(lambda: all(map(is_gone, supervised.wait_for_pids(1))))


def test_process_killed_by_a_signal_is_named_and_comes_back(supervise):
    supervised = supervise(worker=SHOW_PID)
    (first,) = supervised.wait_for_pids(1)

    os.kill(first, signal.SIGKILL)

    first_again, second = supervised.wait_for_pids(2)
    assert (first_again, is_gone(first), is_gone(second)) == (first, True, False)
    assert "worker was ended by SIGKILL; restart 1 of 3" in supervised.output()


def test_lines_show_while_what_follows_the_start_still_waits_for_them(start, tmp_path):
    waiting = "import time; print('ready'); time.sleep(600)"
    supervised = start(GREET, str(tmp_path / "output"), waiting)

    wait_until(lambda: "tarsy | greeted" in supervised.output())

    supervised.process.send_signal(signal.SIGINT)
    assert supervised.wait_for_exit() == 0


def test_stop_does_not_wait_for_what_follows_the_start(start, tmp_path):
    supervised = start(GREET, str(tmp_path / "output"), SHOW_PID)
    pids = supervised.wait_for_pids(1)

    supervised.process.send_signal(signal.SIGTERM)

    assert supervised.wait_for_exit() == 0
    assert all(map(is_gone, pids))


def test_failure_of_what_follows_the_start_stops_everything_and_shows(start, tmp_path):
    # Whoever says it is ended at once, and has to have told its number by then.
    wrong = "import os, time; print('pid', os.getpid()); print('wrong'); time.sleep(600)"
    supervised = start(GREET, str(tmp_path / "output"), wrong)

    assert supervised.wait_for_exit() == 1
    assert "RuntimeError: no greeting" in supervised.output()
    assert all(map(is_gone, supervised.wait_for_pids(1)))

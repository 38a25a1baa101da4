"""The service that the demo starts: there as long as the demo, and in no other demo's way."""

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from ops.process_identity import ProcessIdentity, hold
from ops.services.declaration import FILE_NAME, read_declared_services
from ops.services.running import read_state
from tarsy.demo import NAME, find_demo_service, is_demo_running

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """
import sys
from pathlib import Path
from tarsy.demo import demo_service
with demo_service(Path(sys.argv[1]), lambda text: print(text, flush=True)):
    sys.stdin.read()
"""
Demo = subprocess.Popen[str]


@pytest.fixture
def begin() -> Iterator[Callable[[Path], Demo]]:
    """A demo of a directory that ends with the test."""
    with ExitStack() as demos:

        def start(directory: Path) -> Demo:
            demo = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(directory)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
            )  # fmt: skip
            demos.callback(end, demo)
            assert demo.stdout is not None
            assert f"{NAME}, runs as process" in demo.stdout.readline()
            return demo

        yield start


def end(demo: Demo) -> None:
    demo.communicate(timeout=20)


def process_of(directory: Path) -> ProcessIdentity:
    process = read_state(find_demo_service(directory)).process
    assert process is not None
    return process


def has_ended(process: ProcessIdentity) -> bool:
    with hold(process) as held:
        return held is None or held.has_ended_within(10)


def test_it_is_declared_to_the_ops_server_of_its_directory(begin, tmp_path):
    begin(tmp_path)

    [service] = read_declared_services(tmp_path)

    assert service.name == NAME
    assert read_state(service).status == "running"
    assert is_demo_running(tmp_path)
    assert "started as process" in service.log_file.read_text()


def test_it_ends_with_the_demo_and_is_started_again_at_the_next(begin, tmp_path):
    demo = begin(tmp_path)
    first = process_of(tmp_path)

    end(demo)
    assert has_ended(first)
    assert not is_demo_running(tmp_path)
    begin(tmp_path)

    assert process_of(tmp_path) != first


def test_it_ends_when_the_demo_is_killed_outright(begin, tmp_path):
    demo = begin(tmp_path)
    process = process_of(tmp_path)

    demo.send_signal(signal.SIGKILL)
    demo.wait()

    assert has_ended(process)
    begin(tmp_path)
    assert process_of(tmp_path) != process


def test_demos_of_two_directories_run_side_by_side(begin, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    begin(here)
    other = begin(there)

    end(other)

    assert read_state(find_demo_service(here)).status == "running"
    assert read_state(find_demo_service(there)).status == "stopped"


def test_a_file_that_is_the_operators_stays_as_it_is(tmp_path):
    own = "services: {shop: {argv: [/bin/true], pid_file: /p, log_file: /l}}\n"
    (tmp_path / FILE_NAME).write_text(own)
    (tmp_path / FILE_NAME).chmod(0o600)

    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT,
    ) as demo:  # fmt: skip
        said, _ = demo.communicate(timeout=20)

    assert "could not be started, all else works" in said
    assert (tmp_path / FILE_NAME).read_text() == own


def test_people_stop_it_and_start_it_by_a_command(begin, tmp_path, settings, capsys):
    settings.VAR_DIR = tmp_path
    begin(tmp_path)

    call_command("demo_service", "stop")
    stopped = capsys.readouterr().out
    call_command("demo_service", "start")
    started = capsys.readouterr().out

    assert f"{NAME} is stopped" in stopped
    assert f"{NAME} is running, process {process_of(tmp_path).pid}" in started


def test_without_a_demo_it_is_not_started(tmp_path, settings):
    settings.VAR_DIR = tmp_path

    with pytest.raises(CommandError, match="does not run here"):
        call_command("demo_service", "start")
    with pytest.raises(CommandError, match="declares no demo-service"):
        call_command("demo_service", "status")

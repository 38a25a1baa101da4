"""Some processes of a run wait while others compute, and every test runs once."""

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.processes import ROOT
from tests.schedule import MixedScheduling

FILES = (
    "tests/e2e/test_a.py",
    "tests/e2e/test_b.py",
    "tests/pages/test_c_browser.py",
    "tests/test_d.py",
    "tests/test_e.py",
    "tests/test_f.py",
)
TESTS = [f"{file}::test_{number}" for file in FILES for number in range(4)]


class Node:
    """A process as the scheduler sees it; `files` are those it was told to run."""

    def __init__(self, number: int) -> None:
        self.gateway = SimpleNamespace(id=f"gw{number}")
        self.shutting_down = False
        self.given: list[int] = []

    @property
    def files(self) -> list[str]:
        return list(dict.fromkeys(TESTS[index].partition("::")[0] for index in self.given))

    def send_runtest_some(self, indices: list[int]) -> None:
        self.given += indices

    def shutdown(self) -> None:
        self.shutting_down = True


def start(pytestconfig: pytest.Config, count: int) -> tuple[Any, list[Node]]:
    options = SimpleNamespace(loadscopereorder=False, tx=[f"{count}*popen"])
    config = SimpleNamespace(option=options, getvalue=lambda name: getattr(options, name),
                             hook=pytestconfig.hook, rootpath=pytestconfig.rootpath)  # fmt: skip
    scheduling: Any = MixedScheduling(config)  # type: ignore[arg-type]
    nodes = [Node(number) for number in range(count)]
    for node in nodes:
        scheduling.add_node(node)
    for node in nodes:
        scheduling.add_node_collection(node, TESTS)
    scheduling.schedule()
    return scheduling, nodes


def run_all(scheduling: Any, node: Node) -> None:
    """The tests it was given, and those it is given for it."""
    done = 0
    while done < len(node.given):
        scheduling.mark_test_complete(node, node.given[done])
        done += 1


def test_the_third_process_begins_with_what_does_not_wait(pytestconfig: pytest.Config):
    _, nodes = start(pytestconfig, 3)

    assert [node.files[0] for node in nodes] == [FILES[0], FILES[1], FILES[3]]


def test_it_takes_the_waiting_files_when_nothing_else_is_left(pytestconfig: pytest.Config):
    scheduling, nodes = start(pytestconfig, 3)

    run_all(scheduling, nodes[2])

    assert nodes[2].files == [*FILES[3:], FILES[2]]


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_every_test_runs_once_however_many_processes_there_are(
    pytestconfig: pytest.Config, count: int
):
    scheduling, nodes = start(pytestconfig, count)

    for node in nodes:
        run_all(scheduling, node)

    assert sorted(index for node in nodes for index in node.given) == list(range(len(TESTS)))
    assert scheduling.tests_finished


def test_a_file_that_cannot_be_imported_ends_the_run_before_its_first_test(tmp_path: Path):
    (tmp_path / "test_well.py").write_text("def test_it(): pass", encoding="utf-8")
    (tmp_path / "test_wrong.py").write_text("from sys import no_such_name", encoding="utf-8")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "tests.schedule", "-n", "2",
         "--dist", "loadfile", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip

    assert done.returncode != 0
    assert "test_wrong.py cannot be collected" in done.stdout
    assert "passed" not in done.stdout

"""How gunicorn's processes share the connections that are opened at the same moment."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from tests.processes import Process, find_free_port

PROCESSES, THREADS = 2, 3


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    found = find_free_port()
    process = Process(
        *("-m", "gunicorn", "tests.tarsy.meeting_app:application"),
        *("--worker-class", "tarsy.web_worker.EvenWorker", "--bind", f"127.0.0.1:{found}"),
        *("--workers", str(PROCESSES), "--threads", str(THREADS)),
        environment={**os.environ, "MEETING_PLACE": str(tmp_path)},
        ready="Booting worker",
    )
    process.wait_until_ready()
    yield found
    process.stop()


def test_as_many_requests_as_there_are_threads_are_in_hand_at_once(port):
    """One process with more of them than threads would keep some until others are answered."""
    with _open_all(port) as connections:
        pids = _ask_all(connections, awaited=6)
        again = _ask_all(connections, awaited=12)

    assert sorted(Counter(pids).values()) == [THREADS] * PROCESSES
    assert again == pids, "the connections were kept"


def test_processes_whose_threads_were_all_busy_accept_again(port):
    with _open_all(port) as first:
        _ask_all(first, awaited=6)
    with _open_all(port) as second:
        pids = _ask_all(second, awaited=12)

    assert sorted(Counter(pids).values()) == [THREADS] * PROCESSES


@contextmanager
def _open_all(port: int) -> Iterator[list[HTTPConnection]]:
    connections = [
        HTTPConnection("127.0.0.1", port, timeout=60) for _ in range(PROCESSES * THREADS)
    ]
    yield connections
    for each in connections:
        each.close()


def _ask_all(connections: Sequence[HTTPConnection], *, awaited: int) -> list[str]:
    """All at once; which process answered each."""

    def ask(connection: HTTPConnection) -> str:
        connection.request("GET", f"/?{awaited}")
        return connection.getresponse().read().decode()

    with ThreadPoolExecutor(len(connections)) as pool:
        return list(pool.map(ask, connections))

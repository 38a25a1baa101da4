"""How long the list of incidents takes over HTTP: what somebody waits for who opens the page."""

import http.client
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from urllib.parse import urlsplit, urlunsplit

from benchmarks.figures import Report, cpu_seconds, percentile, to_ms
from benchmarks.lab import Lab
from benchmarks.pages import GOAL_MS

INCIDENTS, QUICK = 100_000, 2_000
WARM_UP = 2


def measure(lab: Lab) -> Report:
    sessions = lab.sessions or lab.choose(INCIDENTS, QUICK)
    requests = lab.choose(100, 20)
    name = f"history_{sessions}"
    with lab.database(name, partial(_write, sessions)):
        cases = _cases(sessions)
        incidents = _count_incidents()
        with _use_database(name), lab.gunicorn() as (server, port):
            took = [_time(server.child.pid, port, case, path, requests) for case, path in cases]
    return _report(took, incidents, requests)


@dataclass(frozen=True)
class Took:
    """What the requests of one case took, and the processor of the web process among it."""

    name: str
    seconds: Sequence[float]
    cpu: float


def _write(sessions: int) -> None:
    from benchmarks.history import write_history

    write_history(sessions)


def _cases(sessions: int) -> Sequence[tuple[str, str]]:
    from benchmarks.page_cases import list_of_incidents

    return [(case.name, case.paths[0]) for case in list_of_incidents(sessions)]


def _count_incidents() -> int:
    from investigations.models import Incident

    return Incident.objects.count()


@contextmanager
def _use_database(name: str) -> Iterator[None]:
    """The processes that are started within use this database of our server."""
    usual = os.environ["DATABASE_URL"]
    os.environ["DATABASE_URL"] = urlunsplit(urlsplit(usual)._replace(path=f"/{name}"))
    try:
        yield
    finally:
        os.environ["DATABASE_URL"] = usual


def _time(pid: int, port: int, name: str, path: str, requests: int) -> Took:
    """One after the other on one connection, after a warm-up."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    seconds: list[float] = []
    cpu = 0.0
    for number in range(requests + WARM_UP):
        if number == WARM_UP:
            cpu = cpu_seconds(pid)
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise AssertionError(f"{path} was answered {answer.status}")
        if number >= WARM_UP:
            seconds.append(time.perf_counter() - began)
    connection.close()
    return Took(name, seconds, (cpu_seconds(pid) - cpu) / requests)


def _report(took: Sequence[Took], incidents: int, requests: int) -> Report:
    rows, figures = [], dict[str, float | int | None](incidents=incidents, goal_ms=GOAL_MS)
    for each in took:
        p50, p95 = (to_ms(percentile(each.seconds, share)) for share in (0.5, 0.95))
        most, mark = to_ms(max(each.seconds)), "" if p95 < GOAL_MS else "over"
        rows.append([each.name, p50, p95, most, to_ms(each.cpu), mark])
        figures[f"{each.name.replace(' ', '_')}_p95_ms"] = p95
    figures["worst_p95_ms"] = to_ms(max(percentile(each.seconds, 0.95) for each in took))
    notes = (
        f"{incidents:,} incidents; {requests} requests each, one at a time over one kept-alive "
        "connection, gunicorn 1x4, the whole page with its filters.",
        f"The goal is a p95 below {GOAL_MS} ms.",
    )
    return Report(
        ("list", "p50 ms", "p95 ms", "max ms", "web CPU ms", "goal"), rows, figures, notes
    )

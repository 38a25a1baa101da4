"""How long the list of incidents takes over HTTP: what somebody waits for who opens the page."""

import http.client
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from urllib.parse import urlsplit, urlunsplit

from benchmarks.figures import Report, percentile, to_ms
from benchmarks.lab import Lab
from benchmarks.pages import GOAL_MS

INCIDENTS, QUICK = 100_000, 2_000


def measure(lab: Lab) -> Report:
    sessions = lab.sessions or lab.choose(INCIDENTS, QUICK)
    requests = lab.choose(100, 20)
    name = f"history_{sessions}"
    with lab.database(name, partial(_write, sessions)):
        cases = _cases(sessions)
        incidents = _count_incidents()
        with _use_database(name), lab.gunicorn() as (_server, port):
            took = {case: _time(port, path, requests) for case, path in cases}
    return _report(took, incidents, requests)


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


def _time(port: int, path: str, requests: int) -> list[float]:
    """One after the other on one connection, after a warm-up."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    seconds = []
    for number in range(requests + 2):
        began = time.perf_counter()
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        if answer.status != 200:
            raise AssertionError(f"{path} was answered {answer.status}")
        if number >= 2:
            seconds.append(time.perf_counter() - began)
    connection.close()
    return seconds


def _report(took: dict[str, list[float]], incidents: int, requests: int) -> Report:
    rows, figures = [], dict[str, float | int | None](incidents=incidents, goal_ms=GOAL_MS)
    for name, seconds in took.items():
        p50, p95 = to_ms(percentile(seconds, 0.5)), to_ms(percentile(seconds, 0.95))
        rows.append([name, p50, p95, to_ms(max(seconds)), "" if p95 < GOAL_MS else "over"])
        figures[f"{name.replace(' ', '_')}_p95_ms"] = p95
    worst = max(percentile(seconds, 0.95) for seconds in took.values())
    figures["worst_p95_ms"] = to_ms(worst)
    notes = (
        f"{incidents:,} incidents; {requests} requests each, one at a time over one kept-alive "
        "connection, gunicorn 1x4, the whole page with its filters.",
        f"The goal is a p95 below {GOAL_MS} ms.",
    )
    return Report(("list", "p50 ms", "p95 ms", "max ms", "goal"), rows, figures, notes)

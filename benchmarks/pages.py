"""How long the server takes for each page over two years of history, whichever page of a list.

Asked one after the other in this process: the whole stack with its middleware, as a person who is
logged in, on a database of its own.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks.figures import Report, percentile, to_ms
from benchmarks.lab import Lab

if TYPE_CHECKING:
    from django.test import Client

    from benchmarks.page_cases import Case

GOAL_MS = 150
"""The 95th percentile of every page."""
PATIENCE = 20
"""Seconds for one case: of a page that takes many seconds, the first few are enough."""
TELL_EVERY = 60
"""Seconds."""
FULL, SHORT, QUICK = 1_000_000, 50_000, 5_000
"""Sessions when asked for by name, among all benchmarks, and with --quick."""


@dataclass
class Timing:
    """What the requests of one case took, and how much of that was the database's."""

    seconds: list[float] = field(default_factory=list)
    queries: int = 0
    in_queries: float = 0.0

    def note_query(self, execute: Any, *arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return execute(*arguments)
        finally:
            self.in_queries += time.perf_counter() - began
            self.queries += 1


def measure(lab: Lab) -> Report:
    sessions = lab.sessions or lab.choose(SHORT, QUICK)
    requests = lab.choose(40, 30)
    began = time.monotonic()
    with lab.database(f"history_{sessions}", partial(_write, sessions)), _logged_in() as client:
        wrote = time.monotonic() - began
        events = _count_events()
        timings = time_pages(client, sessions, requests, only=lab.only)
    return _report(timings, sessions, events, requests, wrote)


def _write(sessions: int) -> None:
    from benchmarks.history import write_history

    write_history(sessions)


def _count_events() -> int:
    from investigations.models import TimelineEvent

    return TimelineEvent.objects.count()


@contextmanager
def _logged_in() -> Iterator["Client"]:
    """A browser of an administrator, where a login is needed."""
    from django.contrib.auth.models import User
    from django.test import Client, override_settings

    from tarsy.startup import keep_what_is_loaded

    with override_settings(TARSY_AUTH="login", ALLOWED_HOSTS=["localhost"]):
        user, _ = User.objects.get_or_create(username="bench", is_staff=True, is_superuser=True)
        client = Client(SERVER_NAME="localhost")
        client.force_login(user)
        keep_what_is_loaded()  # as a web process does
        yield client


def time_pages(
    client: "Client", sessions: int, requests: int, *, only: str = ""
) -> dict[str, Timing]:
    """By page. Says from time to time how far it is: there are hundreds of pages."""
    from benchmarks.page_cases import list_cases

    cases = [case for case in list_cases(sessions) if case.paths and only in case.name]
    if not cases:
        raise RuntimeError(f"no page has {only!r} in its name")
    timings: dict[str, Timing] = {}
    told = time.monotonic()
    for case in cases:
        timings[case.name] = _time(client, case, requests)
        if time.monotonic() - told > TELL_EVERY:
            told = time.monotonic()
            print(f"   {len(timings)} of {len(cases)} pages measured", flush=True)
    return timings


def _time(client: "Client", case: "Case", requests: int) -> Timing:
    from django.db import connection

    began = time.monotonic()
    for path in case.paths:
        if time.monotonic() - began < PATIENCE:
            _ask(client, path)  # warm up
    timing = Timing()
    with connection.execute_wrapper(timing.note_query):
        for number in range(requests):
            path = case.paths[number % len(case.paths)]
            began = time.perf_counter()
            _ask(client, path)
            timing.seconds.append(time.perf_counter() - began)
            if sum(timing.seconds) > PATIENCE:
                break
    return timing


def _ask(client: "Client", path: str) -> None:
    answer = client.get(path)
    if answer.status_code != 200:
        raise AssertionError(f"{path} was answered {answer.status_code}")


def _report(
    timings: dict[str, Timing], sessions: int, events: int, requests: int, wrote: float
) -> Report:
    rows = []
    figures: dict[str, float | int | None] = {"sessions": sessions, "timeline_events": events}
    for name, timing in timings.items():
        p50, p95 = to_ms(percentile(timing.seconds, 0.5)), to_ms(percentile(timing.seconds, 0.95))
        asked = len(timing.seconds)
        in_queries = to_ms(timing.in_queries / asked)
        queries = round(timing.queries / asked)
        mark = "" if p95 < GOAL_MS else "over"
        rows.append([name, p50, p95, to_ms(max(timing.seconds)), queries, in_queries, mark])
        figures[f"{name.replace(' ', '_')}_p95_ms"] = p95
    worst, name = max((percentile(each.seconds, 0.95), name) for name, each in timings.items())
    over = sum(row[-1] == "over" for row in rows)
    figures |= {"worst_p95_ms": to_ms(worst), "goal_ms": GOAL_MS, "cases_over_goal": over}
    held = "held" if not over else f"missed by {over} of {len(rows)} pages"
    notes = (
        f"{sessions:,} sessions, {events:,} timeline events, ready after {wrote:.0f} s; {requests} "
        "requests each after a warm-up, one at a time, in this process behind all middleware.",
        f"The goal, p95 below {GOAL_MS} ms on every page, was {held}; the worst: {name}, "
        f"{to_ms(worst)} ms.",
    )
    columns = ("page", "p50 ms", "p95 ms", "max ms", "queries", "ms in them", "goal")
    return Report(columns, rows, figures, notes)

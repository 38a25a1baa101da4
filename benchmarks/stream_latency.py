"""From an event's commit to a browser's socket, beside a bare Redis subscription."""

import json
import os
import time
from functools import partial
from typing import Any

from benchmarks.figures import Report, percentile, to_ms
from benchmarks.lab import Lab
from benchmarks.watchers import READY


def measure(lab: Lab) -> Report:
    events = lab.choose(300, 60)
    lab.clear()
    rows: list[list[str | int | float]] = []
    figures: dict[str, float | int | None] = {}
    redis_url = os.environ["REDIS_URL"]
    with lab.daphne() as (_, port):
        socket_url = f"ws://127.0.0.1:{port}/api/v1/ws"
        _measure(lab, socket_url, watchers=1, events=20, per_second=50)  # warm up
        cases = (
            ("redis.asyncio", "floor", redis_url, 1, events, 100),
            ("WebSocket", "socket_1", socket_url, 1, events, 100),
            ("WebSocket", "socket_50", socket_url, 50, events // 2, 30),
            ("redis.asyncio again", "floor_again", redis_url, 1, events, 100),
        )
        floor = 0.0
        for name, key, url, watchers, count, per_second in cases:
            took = _measure(lab, url, watchers=watchers, events=count, per_second=per_second)
            p50, p99 = percentile(took, 0.5), percentile(took, 0.99)
            floor = floor or p50
            rows.append([name, watchers, per_second, to_ms(p50), to_ms(p99), p50 / floor])
            figures[f"{key}_p50_ms"], figures[f"{key}_p99_ms"] = to_ms(p50), to_ms(p99)
            figures[f"{key}_of_floor"] = round(p50 / floor, 2)
    lab.clear()
    columns = ("received by", "watchers", "events/s", "p50 ms", "p99 ms", "of floor")
    notes = ("From the commit that stored the event; both go through the product's publisher.",)
    return Report(columns, rows, figures, notes)


def _measure(lab: Lab, url: str, *, watchers: int, events: int, per_second: int) -> list[float]:
    """Seconds from commit to arrival, for each event and watcher."""
    session = lab.submit("direct")
    into = lab.directory / "arrivals.json"
    process = lab.start_apart(
        "benchmarks.watchers",
        *("--channel", f"session:{session.pk}", "--url", url, "--watchers", watchers),
        *("--first", 2, "--events", events, "--into", into),
        ready=READY,
    )
    try:
        committed = _publish(session, events, per_second)
        process.child.wait(30)
    finally:
        process.stop()
    if process.child.returncode:
        raise RuntimeError(f"the watchers failed:\n{process.output[-3000:]}")
    arrivals = json.loads(into.read_text(encoding="utf-8"))
    for watched in arrivals:
        if [seq for seq, _ in watched] != list(range(2, events + 2)):
            raise AssertionError("a watcher did not get each event once and in order")
    return [at - committed[seq] for watched in arrivals for seq, at in watched]


def _publish(session: Any, events: int, per_second: int) -> dict[int, float]:
    """Store and publish events at a steady rate; returns when each was committed."""
    from django.db import transaction

    from investigations.services.ledger import session_write

    committed: dict[int, float] = {}
    due = time.monotonic()
    for seq in range(2, events + 2):
        due += 1 / per_second
        time.sleep(max(0.0, due - time.monotonic()))
        with session_write(session.pk) as write:
            write.tell({"type": "benchmark.event", "content": "x" * 200})
            # Registered before the ledger's own, so it runs between commit and publish.
            transaction.on_commit(partial(_note_time, committed, seq))
    return committed


def _note_time(times: dict[int, float], seq: int) -> None:
    times[seq] = time.time()

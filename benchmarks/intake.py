"""Intake: alerts per second and their latency, beside a view that does nothing."""

import json
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.figures import Report, cpu_seconds, percentile, to_ms
from benchmarks.lab import Lab
from tests.processes import Process

ALERT_PATH, NULL_PATH = "/api/v1/alerts", "/benchmark/null"
BODY_BYTES = 2048

Figures = dict[str, float | int | None]


def measure(lab: Lab) -> Report:
    body = lab.directory / "alert.json"
    body.write_bytes(_make_body())
    rows: list[list[str | float]] = []
    figures: Figures = {}
    servers = (("gunicorn 1x4", lab.gunicorn), ("daphne", lab.daphne))
    for name, start in servers:
        lab.clear()
        rows += _measure_server(lab, name, start(), body, figures)
    lab.clear()
    columns = ("server, view", "c", "req/s", "p50 ms", "p99 ms", "server CPU ms", "of null")
    notes = (
        f"{BODY_BYTES} byte alerts, kept-alive loopback connections; the null view is in the same "
        "process, behind the same middleware.",
    )
    return Report(columns, rows, figures, notes)


def _make_body() -> bytes:
    line = "2026-01-05T10:14:{:02d}Z db-1 kernel: ext4 /dev/sda1 free blocks low, {} of 524288 left"
    lines: list[str] = []
    data: dict[str, object] = {"title": "Disk almost full", "host": "db-1", "lines": lines}
    body = {"alert_type": "direct", "data": data}
    number = 0
    while len(json.dumps(body)) < BODY_BYTES - 100:
        lines.append(line.format(number, 4000 - number))
        number += 1
    data["padding"] = "x" * (BODY_BYTES - len(json.dumps(body)) - len(', "padding": ""'))
    return json.dumps(body).encode()


def _measure_server(
    lab: Lab,
    name: str,
    starting: AbstractContextManager[tuple[Process, int]],
    body: Path,
    figures: Figures,
) -> list[list[str | float]]:
    rows: list[list[str | float]] = []
    with starting as (server, port):
        for path in (NULL_PATH, ALERT_PATH):
            _send(lab, port, path, body, connections=16, requests=100)  # warm up
        for connections, usual in ((1, 300), (16, 1500)):
            requests = lab.choose(usual, usual // 5)
            null_rate = 0.0
            for view, path in (("null", NULL_PATH), ("alert", ALERT_PATH)):
                before = cpu_seconds(server.child.pid)
                took, wall = _send(
                    lab, port, path, body, connections=connections, requests=requests
                )
                cpu = (cpu_seconds(server.child.pid) - before) / requests
                rate = requests / wall
                null_rate = null_rate or rate
                p50, p99 = to_ms(percentile(took, 0.5)), to_ms(percentile(took, 0.99))
                share = rate / null_rate
                rows.append([f"{name}, {view}", connections, rate, p50, p99, cpu * 1000, share])
                key = f"{name.split()[0]}_{view}_c{connections}"
                figures[f"{key}_per_s"] = round(rate, 1)
                figures[f"{key}_p50_ms"], figures[f"{key}_p99_ms"] = p50, p99
                figures[f"{key}_cpu_ms"] = round(cpu * 1000, 3)
    return rows


def _send(
    lab: Lab, port: int, path: str, body: Path, *, connections: int, requests: int
) -> tuple[list[float], float]:
    answer = lab.measure_apart(
        "benchmarks.load",
        *("--port", port, "--path", path, "--body", body),
        *("--connections", connections, "--requests", requests),
    )
    return answer["seconds"], answer["wall"]

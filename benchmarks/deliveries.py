"""Posts of Alertmanager: how many a second are kept and decided about, and what a storm leaves."""

import json
from pathlib import Path

from django.db import connection

from benchmarks.figures import Report, cpu_seconds, percentile, to_ms
from benchmarks.lab import Lab
from benchmarks.load import NUMBER
from tests.processes import Process

NULL_PATH, WEBHOOK_PATH = "/benchmark/null", "/api/v1/webhooks/alertmanager"
CONNECTIONS = 16
WORKERS, THREADS = 2, 8
"""As docker-compose.yml runs it."""
STORM = 10_000

Figures = dict[str, float | int | None]


def measure(lab: Lab) -> Report:
    rows: list[list[str | float]] = []
    figures: Figures = {}
    number = NUMBER.decode()
    kinds = {
        "told again": _make_body("same", "group", number),
        "new members": _make_body(number, "group", number),
        "storm": _make_body(number, number, number),
    }
    lab.clear()
    with lab.gunicorn(workers=WORKERS, threads=THREADS) as (server, port):
        # A process loads and compiles a good deal when it is first asked.
        _measure(lab, server, port, "new members", kinds["new members"], [], {}, 0.0)
        null_rate = _measure(lab, server, port, "null", kinds["told again"], rows, figures, 0.0)
        for name, body in kinds.items():
            lab.clear()
            _measure(lab, server, port, name, body, rows, figures, null_rate)
            figures |= _count(name)
    lab.clear()
    columns = (
        "posts", "number", "req/s", "p50 ms", "p99 ms", "web CPU ms", "stores CPU ms",
        "client CPU ms", "of null",
    )  # fmt: skip
    notes = (
        f"One alert in each post, {CONNECTIONS} kept-alive loopback connections, gunicorn "
        f"{WORKERS}x{THREADS}. A storm is of posts that are each of a group of their own. CPU is "
        "of one post; the stores are PostgreSQL and Redis.",
    )
    return Report(columns, rows, figures, notes)


def _make_body(key: str, group: str, unique: str) -> bytes:
    alert = {
        "status": "firing",
        "labels": {"alertname": "DiskFull", "severity": "warning", "instance": f"db-{key}"},
        "annotations": {"summary": "/var is 97 % full", "post": unique},
        "startsAt": "2026-11-21T07:00:00Z",
        "endsAt": "0001-01-01T00:00:00Z",
        "generatorURL": "http://prometheus.example.net/graph",
        "fingerprint": f"7a1c0de9-{key}",
    }
    post = {
        "version": "4", "groupKey": f"{{}}:{{group=\"{group}\"}}", "truncatedAlerts": 0,
        "status": "firing", "receiver": "tarsy", "groupLabels": {}, "commonLabels": {},
        "commonAnnotations": {}, "externalURL": "http://alertmanager.example.net",
        "alerts": [alert],
    }  # fmt: skip
    return json.dumps(post).encode()


def _measure(
    lab: Lab,
    server: Process,
    port: int,
    name: str,
    body: bytes,
    rows: list[list[str | float]],
    figures: Figures,
    null_rate: float,
) -> float:
    usual = STORM if name == "storm" else 1_500
    requests = lab.choose(usual, usual // 10)
    file: Path = lab.directory / "post.json"
    file.write_bytes(body)
    before = _cpu_of(server, lab)
    answer = lab.measure_apart(
        "benchmarks.load",
        *("--port", port, "--path", NULL_PATH if name == "null" else WEBHOOK_PATH),
        *("--body", file, "--connections", CONNECTIONS, "--requests", requests),
    )
    spent = [now - then for now, then in zip(_cpu_of(server, lab), before, strict=True)]
    web, stores, client = (each * 1000 / requests for each in (*spent, answer["cpu"]))
    rate = requests / answer["wall"]
    p50, p99 = (to_ms(percentile(answer["seconds"], share)) for share in (0.5, 0.99))
    share = rate / (null_rate or rate)
    rows.append([name, requests, rate, p50, p99, web, stores, client, share])
    key = name.replace(" ", "_")
    figures |= {f"{key}_per_s": round(rate, 1), f"{key}_p99_ms": p99, f"{key}_of_null": share}
    figures |= {f"{key}_web_cpu_ms": round(web, 2), f"{key}_stores_cpu_ms": round(stores, 2)}
    return rate


def _cpu_of(server: Process, lab: Lab) -> tuple[float, float]:
    """Of the web processes, and of the stores."""
    web, keeper = server.child.pid, lab.server_pids[0]
    return cpu_seconds(web, with_ended=True), cpu_seconds(keeper, with_ended=True)


def _count(name: str) -> Figures:
    """What is left of the posts."""
    key = name.replace(" ", "_")
    counts = {
        "deliveries": "SELECT count(*) FROM investigations_delivery",
        "alerts": "SELECT count(*) FROM investigations_alertepisode",
        "incidents": "SELECT count(*) FROM investigations_incident WHERE absorbed_by_id IS NULL",
        "waiting": "SELECT count(*) FROM investigations_alertsession WHERE status = 'pending'",
    }
    figures: Figures = {}
    with connection.cursor() as cursor:
        for what, query in counts.items():
            cursor.execute(query)
            figures[f"{key}_left_{what}"] = cursor.fetchone()[0]
    return figures

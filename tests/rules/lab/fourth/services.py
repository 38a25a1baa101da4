# ruff: noqa: E501  # a scene is told in one line
"""Endpoints over HTTP, and certificates."""

import os
import signal
import time
from datetime import timedelta
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import ask, start_nginx, start_page
from tests.rules.lab.shop import declare, redis, release, web, write_certificate
from tests.rules.lab.third.services import A, D, trust


def tomorrow(machine: Machine) -> None:
    write_certificate(timedelta(hours=9), 90 * D)
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443)})


def fails_since_release(machine: Machine) -> None:
    release(machine, "2026.11.02", "2026.11.30")
    declare(machine, {"shop-web": web("KeyError: 'currency'"), "cache": redis()})
    ask(machine, "http://127.0.0.1:8080/healthz", times=6)


def hangs(machine: Machine) -> None:
    declare(machine, {"shop-web": web("slow"), "cache": redis()})
    machine.wait_for_port(8080)


def frozen(machine: Machine) -> None:
    declare(machine, {"shop-web": web(), "cache": redis()})
    os.kill(int(Path("/run/shop-web.pid").read_text().split()[0]), signal.SIGSTOP)
    time.sleep(0.3)


def nginx_certificate(machine: Machine) -> None:
    write_certificate(-365 * D, timedelta(days=-1), ("pay.acme.test",), "/etc/shop")
    start_page(machine, 8080)
    start_nginx(
        machine,
        "server { listen 443 ssl; server_name pay.acme.test; ssl_certificate /etc/shop/cert.pem; ssl_certificate_key /etc/shop/key.pem; location / { proxy_pass http://127.0.0.1:8080; } }",
    )
    for _ in range(4):
        machine.run(
            "curl",
            "-s",
            "-o",
            "/dev/null",
            "--resolve",
            "pay.acme.test:443:127.0.0.1",
            "https://pay.acme.test/",
            may_fail=True,
        )


def soon(machine: Machine) -> None:
    write_certificate(-60 * D, 41 * D)
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443)})


def old_errors(machine: Machine) -> None:
    machine.write(
        "/var/log/shop/shop-web.log",
        "2026-11-27T02:00:00Z ERROR upstream timed out\n2026-11-27T02:00:01Z Traceback (most recent call last)\nConnectionRefusedError: [Errno 111] Connection refused\n"
        * 4
        + "2026-11-30T10:00:00Z INFO recovered\n",
    )
    declare(
        machine,
        {
            "shop-web": web(),
            "cache": redis("--maxmemory", "5mb", "--maxmemory-policy", "allkeys-lru"),
        },
    )


SCENES = (
    Scene(
        "the certificate begins tomorrow",
        {"alertname": "ProbeFailed", **A},
        tomorrow,
        ("certificate", "not (yet )?valid|yet|begins|clock"),
        machine="web-3",
    ),
    Scene(
        "errors since a release",
        {"alertname": "HighErrorRate", **A},
        fails_since_release,
        ("shop-web", "500|currency|error|release"),
        machine="web-4",
    ),
    Scene(
        "it takes calls and never answers",
        {"alertname": "ProbeFailed", **A},
        hangs,
        ("shop-web", "answer|hang|time|slow"),
        machine="web-4",
    ),
    Scene(
        "the process is stopped by a signal",
        {"alertname": "ProbeFailed", **A},
        frozen,
        ("shop-web", "stopped|frozen|suspend|SIGSTOP|state T|SIGCONT"),
        machine="web-4",
    ),
    Scene(
        "nginx shows a certificate of last year",
        {"alertname": "BlackboxProbeFailed", "target": "https://pay.acme.test/", "job": "nginx"},
        nginx_certificate,
        ("certificate", "expired|ran out|ended|out of date"),
        machine="web-5",
    ),
    Scene(
        "a certificate of six more weeks",
        {"alertname": "HighLatency", **A},
        soon,
        (),
        machine="web-3",
    ),
    Scene(
        "errors of three days ago in the log",
        {"alertname": "HighLatency", **A},
        old_errors,
        (),
        machine="web-3",
    ),
)

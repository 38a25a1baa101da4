"""Endpoints over HTTP, and certificates."""

import os
import signal
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from ops.envelope import ToolFailure
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import start_page
from tests.rules.lab.shop import declare, redis, release, web, write_certificate

D = timedelta(days=1)


def trust(machine: Machine) -> None:
    """Everybody on the machine trusts who signed the certificate, which is itself."""
    name = machine.run("openssl", "x509", "-noout", "-hash", "-in", "/etc/shop/cert.pem").strip()
    machine.write(f"/etc/ssl/certs/{name}.0", Path("/etc/shop/cert.pem").read_text())


def ran_out(machine: Machine) -> None:
    write_certificate(-90 * D, timedelta(hours=-3))
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443), "cache": redis()})


def other_name(machine: Machine) -> None:
    write_certificate(-9 * D, 80 * D, ("staging.acme.test",))
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443)})


def other_port(machine: Machine) -> None:
    told = web("well", 8081)
    told["endpoint"] = "http://127.0.0.1:8080/healthz"
    declare(machine, {"shop-web": told, "cache": redis()})


def gone(machine: Machine) -> None:
    declare(machine, {"shop-web": web(), "cache": redis()})
    os.kill(int(Path("/run/shop-web.pid").read_text().split()[0]), signal.SIGKILL)
    time.sleep(0.5)


def cannot_start(machine: Machine) -> None:
    start_page(machine, 8080, name="squatter")
    with suppress(ToolFailure):
        declare(machine, {"shop-web": web("slow")})


def all_well(machine: Machine) -> None:
    write_certificate(-9 * D, 80 * D)
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443), "cache": redis()})


def fresh_release(machine: Machine) -> None:
    release(machine, "2026.11.20", "2026.11.30", hours=0.3)
    declare(machine, {"shop-web": web(), "cache": redis()})


A = {"service": "shop-web", "severity": "critical"}


SCENES = (
    Scene(
        "the certificate ran out this morning",
        {"alertname": "ProbeFailed", **A},
        ran_out,
        ("certificate", "expired|ran out|ended|out of date"),
        machine="web-3",
    ),
    Scene(
        "the certificate of the rehearsal site",
        {"alertname": "ProbeFailed", **A},
        other_name,
        ("certificate", "name|staging|match"),
        machine="web-3",
    ),
    Scene(
        "it listens elsewhere",
        {"alertname": "ProbeFailed", **A},
        other_port,
        ("shop-web|8080", "8080|8081|listen|port"),
        machine="web-4",
    ),
    Scene(
        "the process was killed",
        {"alertname": "ServiceDown", **A},
        gone,
        ("shop-web", "not run|stopped|gone|down|no process|ended|died|not running"),
        machine="web-4",
    ),
    Scene(
        "another program has the port",
        {"alertname": "ServiceDown", **A},
        cannot_start,
        ("shop-web|8080", "port|in use|taken|8080"),
        machine="web-4",
    ),
    Scene("everything answers", {"alertname": "HighLatency", **A}, all_well, (), machine="web-3"),
    Scene(
        "a release that works",
        {"alertname": "HighLatency", **A},
        fresh_release,
        (),
        machine="web-3",
    ),
)

"""Endpoints over HTTP, and certificates."""

from contextlib import suppress
from datetime import timedelta

from ops.envelope import ToolFailure
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.shop import declare, redis, web, write_certificate
from tests.rules.lab.third.services import A, D, trust


def lacks_module(machine: Machine) -> None:
    told = web()
    machine.write("/opt/shop/start.py", "import flask_babelx\nimport web\n")
    told["argv"] = ["/usr/bin/python3", "/opt/shop/start.py", "8080", "away"]
    with suppress(ToolFailure):
        declare(machine, {"cache": redis(), "shop-web": told})


def nobody_trusts(machine: Machine) -> None:
    write_certificate(timedelta(days=-1), 364 * D)
    declare(machine, {"shop-web": web("tls", 8443), "cache": redis()})


def eighty_days(machine: Machine) -> None:
    write_certificate(-10 * D, 80 * D)
    trust(machine)
    declare(machine, {"shop-web": web("tls", 8443), "cache": redis()})


SCENES = (
    Scene(
        "a module is missing",
        {"alertname": "ProbeFailed", **A},
        lacks_module,
        ("shop-web", "module|flask_babelx"),
        machine="web-2",
    ),
    Scene(
        "nobody trusts who signed",
        {"alertname": "ProbeFailed", **A},
        nobody_trusts,
        ("certificate", "self.?signed|issuer|trust|authority|signed|unknown"),
        machine="web-3",
    ),
    Scene(
        "a certificate of eighty days",
        {"alertname": "TlsCertificateExpiring", **A},
        eighty_days,
        (),
        machine="web-3",
    ),
)

# ruff: noqa: E501  # a scene is told in one line
"""Endpoints over HTTP."""

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import PAGE, ask
from tests.rules.lab.shop import declare, redis, web
from tests.rules.lab.third.services import A


def hangs_up(machine: Machine) -> None:
    machine.write("/opt/shop/page.py", PAGE)
    told = web()
    told["argv"] = ["/usr/bin/python3", "/opt/shop/page.py", "8080", "cut", "x"]
    declare(machine, {"shop-web": told, "cache": redis()})
    machine.wait_for_port(8080)


def without_cache(machine: Machine) -> None:
    mode = "redis.exceptions.ConnectionError: Error 111 connecting to 127.0.0.1:6379. Connection refused."
    declare(machine, {"shop-web": web(mode), "cache": redis()}, leave=("cache",))
    machine.wait_for_port(8080)
    ask(machine, "http://127.0.0.1:8080/healthz", times=5)


def scanned(machine: Machine) -> None:
    lines = "".join(
        f'2026-11-30T{hour:02}:10:00Z WARN 203.0.113.{hour} "GET {path}" 404\n'
        for hour in range(8)
        for path in ("/wp-admin/setup.php", "/.git/config", "/vendor/phpunit/eval-stdin.php")
    )
    machine.write("/var/log/shop/shop-web.log", lines)
    declare(machine, {"shop-web": web(), "cache": redis()})


SCENES = (
    Scene(
        "it hangs up without a word",
        {"alertname": "ProbeFailed", **A},
        hangs_up,
        ("shop-web", "reset|clos|empty|cut|disconnect|hang|without (an answer|a response|answer)"),
        machine="web-4",
    ),
    Scene(
        "it fails since its cache does not run",
        {"alertname": "HighErrorRate", **A},
        without_cache,
        ("cache", "not run|down|stop|ended"),
        machine="web-4",
    ),
    Scene(
        "strangers ask for what is not there",
        {"alertname": "HighErrorRate", **A},
        scanned,
        (),
        machine="web-2",
    ),
)

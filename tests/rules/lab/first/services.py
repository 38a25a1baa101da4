# ruff: noqa: E501  # a scene is told in one line
"""Declared services: pages, certificates, stores, directories."""

import time
from datetime import timedelta
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import redis_client
from tests.rules.lab.shop import declare, redis, release, web, write_certificate


def a_release_breaks_the_page(machine: Machine) -> None:
    release(machine, "1.4.2", "1.5.0", hours=0.2)
    declare(
        machine,
        {"shop-web": web("KeyError: 'discount' in pricing.py line 41", releases="/srv/releases")},
    )
    for _ in range(4):
        machine.run("curl", "-s", "http://127.0.0.1:8080/healthz", may_fail=True)


def the_certificate_has_ended(machine: Machine) -> None:
    write_certificate(timedelta(days=-91), timedelta(days=-1))
    declare(
        machine,
        {
            "shop-web": web(
                "tls", 8443, authority_file="/etc/shop/cert.pem", files=["/etc/shop/cert.pem"]
            )
        },
    )


def the_cache_is_stopped(machine: Machine) -> None:
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    declare(machine, {"shop-cache": redis(), "shop-web": web("redis.exceptions.ConnectionError: Error 111 connecting to 127.0.0.1:6379. Connection refused.", depends_on=["shop-cache"])},
            leave=("shop-cache",))  # fmt: skip
    for _ in range(4):
        machine.run("curl", "-s", "http://127.0.0.1:8080/healthz", may_fail=True)


def the_directory_is_full(machine: Machine) -> None:
    machine.write("/var/log/shop/spool/trace.log", "x" * 990_000)
    declare(
        machine,
        {
            "shop-web": web(
                "OSError: [Errno 28] No space left on device: '/var/log/shop/spool/trace.log'",
                space={"directory": "/var/log/shop/spool", "limit_bytes": 1_000_000},
            )
        },
    )
    machine.run("curl", "-s", "http://127.0.0.1:8080/healthz", may_fail=True)


def the_page_never_answers(machine: Machine) -> None:
    declare(machine, {"shop-web": web("slow")})
    machine.wait_for_port(8080)


def all_is_well(machine: Machine) -> None:
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    declare(machine, {"shop-cache": redis(), "shop-web": web(depends_on=["shop-cache"])})


def a_certificate_that_nobody_shows(machine: Machine) -> None:
    write_certificate(
        timedelta(days=-400), timedelta(days=-35), ("old.shop.example",), "/etc/shop/old"
    )
    write_certificate(timedelta(days=-10), timedelta(days=80))
    declare(
        machine,
        {
            "shop-web": web(
                "tls",
                8443,
                authority_file="/etc/shop/cert.pem",
                files=["/etc/shop/cert.pem", "/etc/shop/old/cert.pem"],
            )
        },
    )


def a_release_that_works(machine: Machine) -> None:
    release(machine, "1.4.2", "1.5.0", hours=0.3)
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    declare(machine, {"shop-cache": redis(), "shop-web": web(releases="/srv/releases")})
    machine.wait_until(redis_client().ping, "Redis")
    time.sleep(0.2)
    assert Path("/srv/releases/current").exists()


_LABELS = {"service": "shop-web", "severity": "critical"}
SCENES = (
    Scene("a release breaks the page", {"alertname": "ShopCheckFails", **_LABELS}, a_release_breaks_the_page,
          ("shop-web", "release|1\\.5\\.0|500|KeyError")),
    Scene("the certificate of the page has ended", {"alertname": "ShopCheckFails", **_LABELS}, the_certificate_has_ended,
          ("certificate", "expired|ended|ran out|end")),
    Scene("the cache is stopped", {"alertname": "ShopCheckFails", **_LABELS}, the_cache_is_stopped, ("shop-cache|6379",)),
    Scene("its directory is full", {"alertname": "ShopCheckFails", **_LABELS}, the_directory_is_full,
          ("full|space|holds|limit", "spool|trace.log|shop-web")),
    Scene("the page never answers", {"alertname": "ShopCheckFails", **_LABELS}, the_page_never_answers,
          ("answer|time|slow|hang", "shop-web|8080")),
    Scene("well: a shop", {"alertname": "ShopSlow", **_LABELS}, all_is_well),
    Scene("well: a certificate that nobody shows has ended", {"alertname": "ShopSlow", **_LABELS}, a_certificate_that_nobody_shows),
    Scene("well: a release that works", {"alertname": "ShopSlow", **_LABELS}, a_release_that_works),
)  # fmt: skip

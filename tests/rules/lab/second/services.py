# ruff: noqa: E501  # a scene is told in one line
"""Declared services, other faults."""

import time
from datetime import timedelta

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import redis_client
from tests.rules.lab.shop import declare, redis, release, web, write_certificate


def nobody_vouches_for_the_certificate(machine: Machine) -> None:
    write_certificate(timedelta(days=-3), timedelta(days=60))
    declare(machine, {"shop-web": web("tls", 8443, files=["/etc/shop/cert.pem"])})


def the_certificate_is_for_another_name(machine: Machine) -> None:
    write_certificate(timedelta(days=-3), timedelta(days=60), ("shop.example", "www.shop.example"))
    declare(machine, {"shop-web": web("tls", 8443, authority_file="/etc/shop/cert.pem")})


def the_name_of_the_page_is_unknown(machine: Machine) -> None:
    declare(machine, {"shop-web": web() | {"endpoint": "http://web.shop.internal:8080/healthz"}})


def it_listens_at_another_port(machine: Machine) -> None:
    declare(machine, {"shop-web": web(port=8090) | {"endpoint": "http://127.0.0.1:8080/healthz"}})


def the_queue_grows(machine: Machine) -> None:
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    queue = {"store": "shop-cache", "waiting": "mails", "working": "mails:working", "limit": 100}
    declare(machine, {"shop-cache": redis(), "shop-mailer": {"argv": ["/usr/bin/sleep", "9999"], "queue": queue, "depends_on": ["shop-cache"], "description": "Sends mails"},
                      "shop-web": web(depends_on=["shop-cache"])}, leave=("shop-mailer",))  # fmt: skip
    machine.wait_until(redis_client().ping, "Redis")
    redis_client().rpush("mails", *(f'{{"order": {n}}}' for n in range(1900)))


def the_cache_takes_no_more(machine: Machine) -> None:
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    declare(machine, {"shop-cache": redis("--maxmemory", "8mb", "--maxmemory-policy", "noeviction"),
                      "shop-web": web("redis.exceptions.OutOfMemoryError: OOM command not allowed when used memory > 'maxmemory'.", depends_on=["shop-cache"])})  # fmt: skip
    client = redis_client()
    machine.wait_until(client.ping, "Redis")
    for number in range(9000):
        try:
            client.set(f"cart:{number}", "x" * 1000)
        except Exception:
            break
    for _ in range(3):
        machine.run("curl", "-s", "http://127.0.0.1:8080/healthz", may_fail=True)


def the_page_has_crashed(machine: Machine) -> None:
    machine.write(
        "/opt/shop/crash.py",
        "import time\ntime.sleep(1.5)\nraise MemoryError('catalogue of 81 MB')\n",
    )
    declare(
        machine,
        {"shop-web": web() | {"argv": ["/usr/bin/python3", "/opt/shop/crash.py", "8080", "none"]}},
    )
    time.sleep(2.5)


def all_is_well(machine: Machine) -> None:
    write_certificate(timedelta(days=-30), timedelta(days=59))
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    declare(
        machine,
        {
            "shop-cache": redis(),
            "shop-web": web(
                "tls", 8443, authority_file="/etc/shop/cert.pem", depends_on=["shop-cache"]
            ),
        },
    )
    machine.wait_until(redis_client().ping, "Redis")


def a_few_messages_wait(machine: Machine) -> None:
    machine.write("/etc/shop/redis.url", "redis://127.0.0.1:6379/0")
    queue = {"store": "shop-cache", "waiting": "mails", "limit": 100}
    declare(
        machine,
        {
            "shop-cache": redis(),
            "shop-mailer": {"argv": ["/usr/bin/sleep", "9999"], "queue": queue},
            "shop-web": web(),
        },
    )
    machine.wait_until(redis_client().ping, "Redis")
    redis_client().rpush("mails", *range(12))


def a_directory_with_room(machine: Machine) -> None:
    machine.write("/var/log/shop/spool/trace.log", "ERROR ERROR disk full\n" * 9_000)
    release(machine, "1.4.1", "1.4.2", hours=300)
    declare(
        machine,
        {
            "shop-web": web(
                space={"directory": "/var/log/shop/spool", "limit_bytes": 1_000_000},
                releases="/srv/releases",
            )
        },
    )


def a_service_that_is_not_needed(machine: Machine) -> None:
    declare(
        machine,
        {
            "shop-web": web(),
            "shop-report": {
                "argv": ["/usr/bin/sleep", "9999"],
                "description": "Runs by hand, at the end of a month",
            },
        },
        leave=("shop-report",),
    )


_LABELS = {"service": "shop-web", "severity": "critical"}
SCENES = (
    Scene("nobody vouches for the certificate", {"alertname": "ShopCheckFails", **_LABELS}, nobody_vouches_for_the_certificate,
          ("certificate|tls", "self.signed|vouch|trust|verif|unknown|authority|signed")),
    Scene("the certificate is for another name", {"alertname": "ShopCheckFails", **_LABELS}, the_certificate_is_for_another_name,
          ("certificate|tls", "name|host|127|address|shop\\.example")),
    Scene("the name of the page is unknown", {"alertname": "ShopCheckFails", **_LABELS}, the_name_of_the_page_is_unknown,
          ("name|resol|unknown|dns", "web\\.shop\\.internal|shop-web")),
    Scene("it listens at another port", {"alertname": "ShopCheckFails", **_LABELS}, it_listens_at_another_port,
          ("8080|8090", "port|listen")),
    Scene("the queue grows since who reads it is stopped", {"alertname": "MailsAreLate", "service": "shop-mailer", "severity": "critical"}, the_queue_grows,
          ("shop-mailer", "stopped|not run|wait|does not|mails")),
    Scene("the cache takes no more", {"alertname": "ShopCheckFails", **_LABELS}, the_cache_takes_no_more,
          ("shop-cache|cache", "memory|bytes")),
    Scene("the page has crashed", {"alertname": "ShopCheckFails", **_LABELS}, the_page_has_crashed,
          ("shop-web", "not run|stopped|ended|crash|MemoryError")),
    Scene("well: a shop with a certificate", {"alertname": "ShopSlow", **_LABELS}, all_is_well),
    Scene("well: a few messages wait", {"alertname": "ShopSlow", **_LABELS}, a_few_messages_wait),
    Scene("well: a directory with room and bad words in it", {"alertname": "ShopSlow", **_LABELS}, a_directory_with_room),
    Scene("well: a service that runs by hand", {"alertname": "ShopSlow", **_LABELS}, a_service_that_is_not_needed),
)  # fmt: skip

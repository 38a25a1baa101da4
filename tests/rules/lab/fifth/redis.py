"""Redis."""

import contextlib
import time

import redis

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import REDIS_HOST, in_background, redis_client, start_redis
from tests.rules.lab.third.redis import A


def script_without_end(machine: Machine) -> None:
    client = start_redis(machine, busy_reply_threshold="300")
    client.set("cart:1", "a")
    in_background(lambda: redis_client(client_name="pricing").eval("while true do end", 0))
    time.sleep(1.5)
    for _ in range(5):
        with contextlib.suppress(redis.RedisError):
            redis_client().get("cart:1")


def appends_fail(machine: Machine) -> None:
    machine.mount("/srv/aof", "600k")
    machine.give_to("redis", "/srv/aof")
    client = start_redis(
        machine, dir="/srv/aof", appendonly="yes", appendfsync="everysec", save='""'
    )
    for n in range(900):
        try:
            client.set(f"cart:{n}", "x" * 1500)
        except redis.RedisError:
            if n > 600:
                break
    time.sleep(1.5)
    for n in range(5):
        with contextlib.suppress(redis.RedisError):
            client.set(f"late:{n}", "x")


def workers_wait(machine: Machine) -> None:
    client = start_redis(machine)
    for number in range(9):
        one = redis_client(client_name=f"worker-{number}")
        in_background(lambda one=one: one.blpop("jobs", 0))
    machine.wait_until(lambda: client.info("clients")["blocked_clients"] == 9, "the workers")
    for number in range(200):
        client.setex(f"page:{number}", 600, "x" * 200)


SCENES = (
    Scene(
        "a script runs without end",
        {"alertname": "CartErrors", "service": "cart", **A},
        script_without_end,
        ("script|BUSY|EVAL",),
        REDIS_HOST,
    ),
    Scene(
        "nothing can be appended",
        {"alertname": "RedisWritesRefused", **A},
        appends_fail,
        ("AOF|append", "space|full|write|MISCONF"),
        REDIS_HOST,
    ),
    Scene(
        "workers wait for jobs",
        {"alertname": "RedisBlockedClients", "job": "redis"},
        workers_wait,
        (),
        REDIS_HOST,
    ),
)

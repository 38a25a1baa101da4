# ruff: noqa: E501  # a scene is told in one line
"""Redis."""

import contextlib
import time

import redis

from tests.rules.host_scenarios import FINE_UNITS, Host
from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import REDIS_HOST, start_redis
from tests.rules.lab.third.redis import A
from tests.rules.third_half import FAILED, unit_of

_WRONG = "12:52:10 redis-server[3301]: *** FATAL CONFIG FILE ERROR (Redis 7.0.15) ***\n12:52:10 redis-server[3301]: Reading the configuration file, at line 1131\n12:52:10 redis-server[3301]: >>> 'maxmemory-polcy allkeys-lru'\n12:52:10 redis-server[3301]: Bad directive or wrong number of arguments\n12:52:10 systemd[1]: redis-server.service: Main process exited, code=exited, status=1/FAILURE\n12:52:10 systemd[1]: redis-server.service: Failed with result 'exit-code'."
_DOWN = Host(
    commands=unit_of(
        "redis-server.service", "failed failed", "Advanced key-value store", _WRONG,
        FAILED.format("exit-code", 1, 5), FINE_UNITS,
    )
)  # fmt: skip


def not_up(_: Machine) -> None:
    """The host tells of it."""


def too_few_replicas(machine: Machine) -> None:
    client = start_redis(machine, min_replicas_to_write="1", min_replicas_max_lag="10")
    for _ in range(12):
        with contextlib.suppress(redis.RedisError):
            client.set("cart:1", "a")
    time.sleep(0.3)


def in_pieces(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="64mb", maxmemory_policy="allkeys-lru")
    for number in range(3000):
        client.setex(f"page:{number}", 900, "x" * 900)
    for number in range(0, 3000, 2):
        client.delete(f"page:{number}")
    for number in range(4000):
        client.get(f"page:{number}")


SCENES = (
    Scene(
        "a slip in its settings",
        {"alertname": "RedisDown", **A},
        not_up,
        ("redis", "directive|config|maxmemory-polcy|settings"),
        _DOWN,
        "cache-2",
    ),
    Scene(
        "too few replicas to write",
        {"alertname": "CartErrors", "service": "cart", **A},
        too_few_replicas,
        ("replica",),
        REDIS_HOST,
    ),
    Scene(
        "a small set in pieces",
        {"alertname": "RedisFragmentationHigh", "job": "redis"},
        in_pieces,
        (),
        REDIS_HOST,
    ),
)

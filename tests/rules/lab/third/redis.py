# ruff: noqa: E501  # a scene is told in one line
"""Redis."""

import time

import redis

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    REDIS_HOST,
    hold,
    in_background,
    redis_client,
    start_redis,
    with_units,
)


def nothing_expires(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="8mb", maxmemory_policy="volatile-lru", save='""')
    for n in range(9000):
        try:
            client.set(f"session:{n}", "x" * 1000)
        except redis.ResponseError:
            if n > 8500:
                break


def too_many(machine: Machine) -> None:
    start_redis(machine, maxclients="40")
    machine.turn_clock_back("6m")
    for n in range(46):
        try:
            one = hold(redis_client(client_name="recommender" if n > 8 else "cart"))
            one.ping()
        except redis.ConnectionError:
            continue
    machine.turn_clock_back("0")


def busy_script(machine: Machine) -> None:
    client = start_redis(machine, busy_reply_threshold="100")
    machine.turn_clock_back("2m")
    other = hold(redis_client(client_name="pricing"))
    in_background(lambda: other.eval("while true do redis.call('get','x') end", 0))
    time.sleep(0.6)
    machine.turn_clock_back("0")
    try:
        client.ping()
    except redis.ResponseError:
        return


def broken_file(machine: Machine) -> None:
    machine.give_to("redis", "/var/lib/redis", "/var/lib/redis/appendonlydir")
    base = machine.write(
        "/var/lib/redis/appendonlydir/appendonly.aof.1.incr.aof",
        "*3\r\n$3\r\nset\r\n$1\r\na\r\n$1\r\nb\r\n*3\r\n$3\r\nxxt garbage\r\n\r\n*3\r\n$3\r\nset\r\n",
    )
    machine.write(
        "/var/lib/redis/appendonlydir/appendonly.aof.manifest",
        "file appendonly.aof.1.incr.aof seq 1 type i\n",
    )
    machine.run("chown", "-R", "redis:redis", base.parent)
    start_redis(machine, appendonly="yes", up="3m", waits=False)
    machine.wait_until(lambda: machine.ended("redis-6379"), "its end")
    machine.turn_clock_back("0")


def evicts(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="6mb", maxmemory_policy="allkeys-lru")
    for n in range(8000):
        client.set(f"page:{n}", "x" * 1000, ex=900)


def has_replica(machine: Machine) -> None:
    client = start_redis(machine)
    machine.turn_clock_back("4d")
    start_redis(
        machine,
        port=6380,
        replicaof="127.0.0.1 6379",
        logfile="/var/log/redis/redis-6380.log",
        up="4d",
    )
    machine.wait_until(
        lambda: redis_client(6380).info("replication")["master_link_status"] == "up", "the link"
    )
    for n in range(500):
        client.set(f"k{n}", n)


A = {"job": "redis", "severity": "critical"}


SCENES = (
    Scene(
        "memory is full and no key may expire",
        {"alertname": "CacheWriteErrors", "service": "sessions", **A},
        nothing_expires,
        ("memory|maxmemory|bytes",),
        REDIS_HOST,
        "cache-7",
    ),
    Scene(
        "one client keeps all connections",
        {"alertname": "CartErrors", "service": "cart"},
        too_many,
        ("client|connection", "maxclients|limit|40|most|maximum|full"),
        REDIS_HOST,
    ),
    Scene(
        "a script does not end",
        {"alertname": "RedisDown", **A},
        busy_script,
        ("script|busy|Lua",),
        REDIS_HOST,
    ),
    Scene(
        "its file cannot be read",
        {"alertname": "RedisDown", **A},
        broken_file,
        ("append|AOF|file", "bad|broken|corrupt|cannot|damag|format|not be read"),
        with_units("redis-server.service loaded failed failed Advanced key-value store"),
    ),
    Scene(
        "a cache that evicts as it shall",
        {"alertname": "RedisMemoryHigh", "job": "redis"},
        evicts,
        (),
        REDIS_HOST,
    ),
    Scene(
        "a replica that follows",
        {"alertname": "RedisHighTraffic", **A},
        has_replica,
        (),
        REDIS_HOST,
    ),
)

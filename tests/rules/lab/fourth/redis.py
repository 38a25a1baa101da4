"""Redis."""

import time
from pathlib import Path

import redis

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    REDIS_HOST,
    redis_client,
    start_redis,
)
from tests.rules.lab.third.redis import A


def cannot_save(machine: Machine) -> None:
    machine.mount("/srv/dump", "64k")
    client = start_redis(machine, dir="/srv/dump", save="3600 1", up="2d")
    import random

    for n in range(400):
        client.set(f"k{n}", random.randbytes(2000).hex())
    machine.turn_clock_back("3m")
    for _ in range(2):
        client.bgsave()
        machine.wait_until(
            lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err", "a failed save"
        )
        time.sleep(0.2)
    machine.turn_clock_back("0")


def wrong_master_password(machine: Machine) -> None:
    start_redis(
        machine,
        port=6380,
        requirepass="new-secret",
        logfile="/var/log/redis/redis-6380.log",
        waits=False,
    )
    machine.wait_for_port(6380)
    start_redis(machine, replicaof="127.0.0.1 6380", masterauth="old-secret")
    machine.wait_until(
        lambda: (
            "WRONGPASS" in Path("/var/log/redis/redis-server.log").read_text()
            or "Unable to AUTH" in Path("/var/log/redis/redis-server.log").read_text()
        ),
        "the refusal",
    )


def became_replica(machine: Machine) -> None:
    start_redis(machine, port=6380, logfile="/var/log/redis/redis-6380.log")
    client = start_redis(machine)
    machine.turn_clock_back("9m")
    client.replicaof("127.0.0.1", 6380)
    machine.turn_clock_back("0")
    machine.wait_until(lambda: client.info("replication")["master_link_status"] == "up", "the link")
    for _ in range(25):
        try:
            client.set("a", 1)
        except redis.ResponseError:
            continue


def renamed_password(machine: Machine) -> None:
    client = start_redis(machine, up="2d")
    client.acl_setuser(
        "cart", enabled=True, passwords=["+fresh"], keys=["cart:*"], commands=["+@all"]
    )
    for back in ("5m", "2m", "3"):
        machine.turn_clock_back(back)
        for _ in range(5):
            try:
                redis_client(username="cart", password="stale").ping()
            except redis.RedisError:
                continue
    machine.turn_clock_back("0")


def long_ago_refused(machine: Machine) -> None:
    client = start_redis(machine, maxclients="60", up="30d")
    machine.turn_clock_back("12d")
    ones = []
    for _ in range(70):
        try:
            one = redis_client()
            one.ping()
            ones.append(one)
        except redis.ConnectionError:
            continue
    for one in ones:
        one.close()
    machine.turn_clock_back("0")
    time.sleep(0.3)
    client.set("a", 1)


def slow_once(machine: Machine) -> None:
    client = start_redis(machine, slowlog_log_slower_than="1", up="8d")
    machine.turn_clock_back("3d")
    for n in range(20000):
        client.set(f"k{n}", n) if n < 300 else None
    client.keys("*")
    machine.turn_clock_back("0")
    client.config_set("slowlog-log-slower-than", 10000)
    client.get("k1")


SCENES = (
    Scene(
        "the volume for its dumps is full",
        {"alertname": "RedisWritesRefused", **A},
        cannot_save,
        ("save|RDB|dump|persist|space|MISCONF",),
        REDIS_HOST,
    ),
    Scene(
        "the replica has an old password",
        {"alertname": "RedisReplicationBroken", **A},
        wrong_master_password,
        ("replica|master|primary", "password|auth|WRONGPASS"),
        REDIS_HOST,
    ),
    Scene(
        "a primary became a replica",
        {"alertname": "CartErrors", "service": "cart", "instance": "redis-a"},
        became_replica,
        ("replica|read-only|READONLY",),
        REDIS_HOST,
        "redis-a",
    ),
    Scene(
        "a client has an old password",
        {"alertname": "CartErrors", "service": "cart"},
        renamed_password,
        ("password|auth|credential|WRONGPASS", "cart"),
        REDIS_HOST,
    ),
    Scene(
        "refusals of twelve days ago in a counter",
        {"alertname": "RedisLatencyHigh", "job": "redis"},
        long_ago_refused,
        (),
        REDIS_HOST,
    ),
    Scene(
        "slow commands of three days ago",
        {"alertname": "RedisLatencyHigh", "job": "redis"},
        slow_once,
        (),
        REDIS_HOST,
    ),
)

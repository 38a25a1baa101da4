# ruff: noqa: E501  # a scene is told in one line
"""Redis."""

import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import REDIS_HOST, hold, in_background, redis_client, start_redis


def fill(client, count: int, size: int = 1000, prefix: str = "cart:") -> None:
    pipe = client.pipeline(transaction=False)
    for number in range(count):
        pipe.set(f"{prefix}{number}", "x" * size)
    try:
        pipe.execute(raise_on_error=False)
    except Exception:
        return


def memory_is_full_and_nothing_goes(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="12mb", maxmemory_policy="noeviction", save='""')
    fill(client, 16000)


def snapshots_fail(machine: Machine) -> None:
    machine.mount("/var/lib/redis", "64k")
    client = start_redis(machine, save="60 1")
    fill(client, 3000)
    for _ in range(3):
        client.execute_command("BGSAVE")
        time.sleep(0.7)
    for number in range(20):
        in_background(lambda n=number: redis_client().set(f"order:{n}", "1"))
    time.sleep(0.3)


def clients_use_up_the_connections(machine: Machine) -> None:
    client = start_redis(machine, maxclients="40")
    client.close()
    for _ in range(60):
        other = hold(redis_client(client_name="checkout"))
        in_background(other.ping)
    time.sleep(1)


def the_master_is_away(machine: Machine) -> None:
    client = start_redis(machine, up="3h")
    fill(client, 200)
    client.execute_command("REPLICAOF", "127.0.0.1", "6390")
    time.sleep(3.5)


def a_script_does_not_end(machine: Machine) -> None:
    start_redis(machine, busy_reply_threshold="500")
    other = redis_client()
    in_background(lambda: other.eval("while true do end", 0))
    time.sleep(1.5)


def it_is_not_there(machine: Machine) -> None:
    start_redis(machine)
    machine.end("redis-6379")
    time.sleep(0.2)


def all_is_well(machine: Machine) -> None:
    fill(start_redis(machine), 500)


def a_cache_that_lets_go(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="12mb", maxmemory_policy="allkeys-lru", save='""')
    fill(client, 16000)
    pipe = client.pipeline(transaction=False)
    for _ in range(20):
        for number in range(15000, 16000):
            pipe.get(f"cart:{number}")
    pipe.execute()


def consumers_wait_for_work(machine: Machine) -> None:
    fill(start_redis(machine), 100)
    for _ in range(20):
        worker = hold(redis_client())
        in_background(lambda w=worker: w.blpop("jobs", 0))
    time.sleep(0.5)


def small_and_scattered(machine: Machine) -> None:
    client = start_redis(machine, save='""')
    fill(client, 3000, 500)
    for number in range(3000):
        if number % 50:
            client.delete(f"cart:{number}")
    assert Path("/run").exists()


_LABELS = {"job": "redis", "severity": "critical"}
SCENES = (
    Scene("memory is full and nothing may go", {"alertname": "RedisOutOfMemory", **_LABELS}, memory_is_full_and_nothing_goes,
          ("memory|bytes", "noeviction|evict|limit|maxmemory"), REDIS_HOST, "cache-1"),
    Scene("snapshots fail for want of space", {"alertname": "RedisWritesFail", **_LABELS}, snapshots_fail,
          ("bgsave|rdb|snapshot|persist|save|space",), REDIS_HOST, "cache-1"),
    Scene("clients use up the connections", {"alertname": "RedisRejectsConnections", **_LABELS}, clients_use_up_the_connections,
          ("client|connection", "40|max|limit|reject|refus"), REDIS_HOST, "cache-1"),
    Scene("the master of a replica is away", {"alertname": "RedisReplicationBroken", **_LABELS}, the_master_is_away,
          ("master|primary|replic", "down|away|6390|broken|lost|not connected|cannot"), REDIS_HOST, "cache-1"),
    Scene("a script does not end", {"alertname": "RedisDoesNotAnswer", **_LABELS}, a_script_does_not_end,
          ("script|busy",), REDIS_HOST, "cache-1"),
    Scene("it does not run", {"alertname": "RedisDown", **_LABELS}, it_is_not_there,
          ("not (run|answer|listen)|refus|down|nobody listens|stopped",), REDIS_HOST, "cache-1"),
    Scene("well: a quiet cache", {"alertname": "RedisSlow", **_LABELS}, all_is_well, (), REDIS_HOST, "cache-1"),
    Scene("well: a full cache that lets go of what is old", {"alertname": "RedisMemoryHigh", **_LABELS}, a_cache_that_lets_go, (), REDIS_HOST, "cache-1"),
    Scene("well: consumers wait for work", {"alertname": "RedisBlockedClients", **_LABELS}, consumers_wait_for_work, (), REDIS_HOST, "cache-1"),
    Scene("well: little memory and scattered", {"alertname": "RedisFragmentation", **_LABELS}, small_and_scattered, (), REDIS_HOST, "cache-1"),
)  # fmt: skip

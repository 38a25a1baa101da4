# ruff: noqa: E501  # a scene is told in one line
"""Redis, other faults."""

import time

from tests.rules.host_scenarios import GB
from tests.rules.lab.first.redis import fill
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


def nothing_has_a_time_to_live(machine: Machine) -> None:
    client = start_redis(machine, maxmemory="10mb", maxmemory_policy="volatile-lru", save='""')
    fill(client, 14000, prefix="session:")


def its_log_of_writes_cannot_be_written(machine: Machine) -> None:
    start_redis(
        machine, up="2h", appendonly="yes", appendfsync="always", save='""', waits=True
    ).close()
    machine.end("redis-6379")
    machine.mount("/var/lib/redis", "96k")
    client = start_redis(
        machine,
        up="2h",
        appendonly="yes",
        appendfsync="everysec",
        save='""',
        dir="/var/lib/redis",
        **{"aof-use-rdb-preamble": "no"},
    )
    for number in range(300):
        in_background(lambda n=number: redis_client(socket_timeout=2).set(f"order:{n}", "x" * 800))
    time.sleep(3)
    client.close()


def the_exporter_has_no_password(machine: Machine) -> None:
    start_redis(machine, requirepass="hidden", waits=False)
    machine.wait_until(lambda: redis_client(password="hidden").ping(), "Redis")
    machine.turn_clock_back("0")


def it_still_loads(machine: Machine) -> None:
    client = start_redis(machine, save='""')
    fill(client, 20000, 100)
    client.execute_command("SAVE")
    machine.end("redis-6379")
    start_redis(
        machine,
        up="3m",
        save='""',
        waits=False,
        key_load_delay="20000",
        loading_process_events_interval_bytes="1024",
    )
    time.sleep(2)
    machine.turn_clock_back("0")


def memory_is_scattered(machine: Machine) -> None:
    client = start_redis(machine, save='""', maxmemory="0")
    for size in (180, 260, 380, 520):
        fill(client, 160000, size, prefix=f"s{size}:")
    names = (
        f"s{size}:{number}"
        for size in (180, 260, 380, 520)
        for number in range(160000)
        if number % 12
    )
    pipe = client.pipeline(transaction=False)
    for number, name in enumerate(names):
        pipe.unlink(name)
        if number % 20000 == 0:
            pipe.execute()
    pipe.execute()
    time.sleep(1)


def too_few_replicas_for_writes(machine: Machine) -> None:
    client = start_redis(machine, min_replicas_to_write="1", min_replicas_max_lag="10")
    for number in range(40):
        try:
            client.set(f"order:{number}", "1")
        except Exception:
            continue


def a_slow_reader_lets_output_pile_up(machine: Machine) -> None:
    import socket

    client = start_redis(machine, save='""', client_output_buffer_limit="pubsub 8mb 2mb 5")
    for _ in range(3):
        reader = hold(socket.create_connection(("127.0.0.1", 6379)))
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.sendall(b"SUBSCRIBE prices\r\n")
    time.sleep(0.3)
    for _ in range(12000):
        client.publish("prices", "x" * 1000)
    time.sleep(1)


def writes_go_to_a_replica(machine: Machine) -> None:
    start_redis(machine, up="3d", port=6390, logfile="/var/log/redis/other.log", dir="/run/redis")
    client = start_redis(machine, up="3d", replicaof="127.0.0.1 6390")
    machine.wait_until(
        lambda: client.info("replication")["master_link_status"] == "up", "replication"
    )
    for number in range(30):
        try:
            client.set(f"order:{number}", "1")
        except Exception:
            continue


def a_replica_that_follows(machine: Machine) -> None:
    start_redis(machine, up="3d", port=6390, logfile="/var/log/redis/other.log", dir="/run/redis")
    client = start_redis(machine, up="3d", replicaof="127.0.0.1 6390")
    machine.wait_until(
        lambda: client.info("replication")["master_link_status"] == "up", "replication"
    )


def it_keeps_nothing_on_purpose(machine: Machine) -> None:
    client = start_redis(
        machine, up="30d", save='""', maxmemory="64mb", maxmemory_policy="allkeys-lfu"
    )
    fill(client, 4000)


def a_slow_command_days_ago(machine: Machine) -> None:
    client = start_redis(machine, up="9d", slowlog_log_slower_than="1000")
    fill(client, 60000, 50)
    machine.turn_clock_back("6d")
    client.keys("*")
    machine.turn_clock_back("0")


def it_came_back_hours_ago(machine: Machine) -> None:
    fill(start_redis(machine, up="7h"), 900)


_FULL = with_units(
    "redis-server.service loaded active running Advanced key-value store",
    disks=(("/", 41.0, 12.0), ("/var/lib/redis", 100.0, 3.0)),
    files=(("/var/lib/redis/appendonlydir/appendonly.aof.1.incr.aof", GB),),
)
_LABELS = {"job": "redis", "severity": "critical"}
SCENES = (
    Scene("memory is full and no key has a time to live", {"alertname": "RedisOutOfMemory", **_LABELS}, nothing_has_a_time_to_live,
          ("memory|bytes", "volatile-lru|evict|limit|maxmemory|expir|time to live|ttl"), REDIS_HOST, "cache-2"),
    Scene("its log of writes cannot be written", {"alertname": "RedisWritesFail", **_LABELS}, its_log_of_writes_cannot_be_written,
          ("aof|append|space|full|persist",), _FULL, "cache-2"),
    Scene("who watches it has no password", {"alertname": "RedisDown", **_LABELS}, the_exporter_has_no_password,
          ("password|auth",), REDIS_HOST, "cache-2"),
    Scene("it was started and still loads", {"alertname": "RedisDoesNotAnswer", **_LABELS}, it_still_loads,
          ("load|reading its data in",), REDIS_HOST, "cache-2"),
    Scene("memory is scattered", {"alertname": "RedisFragmentation", **_LABELS}, memory_is_scattered,
          ("fragment|scattered",), REDIS_HOST, "cache-2"),
    Scene("too few replicas for a write", {"alertname": "RedisWritesFail", **_LABELS}, too_few_replicas_for_writes,
          ("replica",), REDIS_HOST, "cache-2"),
    Scene("slow readers are cut off", {"alertname": "RedisClientsCutOff", **_LABELS}, a_slow_reader_lets_output_pile_up,
          ("output|buffer|pubsub|subscriber|slow",), REDIS_HOST, "cache-2"),
    Scene("writes go to a replica", {"alertname": "RedisWritesFail", **_LABELS}, writes_go_to_a_replica,
          ("read.?only|replica|slave",), REDIS_HOST, "cache-2"),
    Scene("well: a replica that follows", {"alertname": "RedisSlow", **_LABELS}, a_replica_that_follows, (), REDIS_HOST, "cache-2"),
    Scene("well: a cache that keeps nothing on purpose", {"alertname": "RedisNotSaved", **_LABELS}, it_keeps_nothing_on_purpose, (), REDIS_HOST, "cache-2"),
    Scene("well: a slow command six days ago", {"alertname": "RedisSlow", **_LABELS}, a_slow_command_days_ago, (), REDIS_HOST, "cache-2"),
    Scene("well: it came back hours ago", {"alertname": "RedisSlow", **_LABELS}, it_came_back_hours_ago, (), REDIS_HOST, "cache-2"),
)  # fmt: skip

"""A database or cache as its own figures tell, read with the URL that its service declares."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import psycopg
from psycopg import conninfo
from psycopg.rows import dict_row
from redis import Redis, RedisError

from ops.envelope import Json

MALFORMED = "its address is no URL that can be read; special characters are percent-encoded"
_SECONDS = 4
_MOST_LISTS = 50
_SCANNED_KEYS, _KEYS_OF_A_SCAN = 5_000, 500
_FULL_PERCENT = 95.0
_FEW_CONNECTIONS_LEFT_PERCENT = 95.0
_LONG_TRANSACTION_SECONDS = 300.0

_CONNECTIONS = """
SELECT application_name AS application, datname AS database, coalesce(state, 'unknown') AS state,
    count(*) AS connections,
    round(max(extract(epoch FROM now() - state_change)))::float AS longest_in_state_seconds,
    round(max(extract(epoch FROM now() - xact_start)))::float AS longest_transaction_seconds,
    min(backend_start)::text AS first_connected, left(max(query), 200) AS last_query
FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
GROUP BY 1, 2, 3 ORDER BY 4 DESC LIMIT 50
"""
_FIGURES = """
SELECT current_setting('max_connections')::int AS max_connections,
    (SELECT count(*) FROM pg_stat_activity
        WHERE backend_type = 'client backend')::int AS connections,
    (SELECT count(*) FROM pg_locks WHERE NOT granted)::int AS locks_waited_for,
    (SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%')::int
        AS idle_in_transaction,
    (SELECT round(max(extract(epoch FROM now() - xact_start)))::float FROM pg_stat_activity
        WHERE backend_type = 'client backend' AND pid <> pg_backend_pid())
        AS longest_transaction_seconds,
    pg_is_in_recovery() AS is_replica, current_setting('server_version') AS version
"""


@dataclass(frozen=True)
class StoreState:
    """What a store says of itself. `problems` are clauses for people."""

    kind: str
    problems: tuple[str, ...] = ()
    figures: Mapping[str, Json] = field(default_factory=dict)

    def to_json(self) -> dict[str, Json]:
        return {"kind": self.kind, "problems": self.problems, **self.figures}


def probe_store(store_file: Path) -> StoreState:
    """Ask the store whose URL stands in the file. The URL is never told."""
    try:
        url = _read_url(store_file)
    except OSError as error:
        return StoreState("unknown", (f"its address cannot be read: {error.strerror}",))
    if url.startswith(("redis:", "rediss:")):
        return _probe_redis(url)
    if url.startswith(("postgresql:", "postgres:")):
        return _probe_postgres(url)
    return StoreState("unknown", ("its URL is neither of PostgreSQL nor of Redis",))


def read_queue(store_file: Path, waiting: str, working: str) -> dict[str, Json]:
    """How many messages wait, and which one is in work. Raises `OSError` or `RedisError`, whose
    words hold nothing of the URL."""
    with _connect(_read_url(store_file)) as store:
        in_work = cast("list[bytes]", store.lrange(working, 0, 0)) if working else []
        return {
            "waiting": cast(int, store.llen(waiting)),
            "working": store.llen(working) if working else 0,
            "message_in_work": in_work[0][:500].decode("utf-8", "replace") if in_work else None,
        }


def _read_url(store_file: Path) -> str:
    return store_file.read_text(encoding="utf-8", errors="replace").strip()


def _connect(url: str) -> Redis:
    try:
        return Redis.from_url(url, socket_timeout=_SECONDS, socket_connect_timeout=_SECONDS)
    except ValueError:
        # Whoever reads a URL repeats what it cannot read, and that may be the password.
        raise RedisError(MALFORMED) from None


def _probe_redis(url: str) -> StoreState:
    try:
        with _connect(url) as store:
            info = cast("dict[str, Json]", store.info("all"))
            lists = _find_lists(store)
    except RedisError as error:
        return StoreState("redis", (f"it does not answer: {error}",))
    used, limit = _number(info.get("used_memory")), _number(info.get("maxmemory"))
    percent = round(100 * used / limit, 1) if limit else None
    refused = _number(_member(info.get("errorstat_OOM"), "count"))
    figures: dict[str, Json] = {
        "version": info.get("valkey_version") or info.get("redis_version"),
        "used_memory_bytes": used,
        "maxmemory_bytes": limit,
        "used_percent": percent,
        "maxmemory_policy": info.get("maxmemory_policy"),
        "writes_refused_for_memory": refused,
        "evicted_keys": info.get("evicted_keys"),
        "connected_clients": info.get("connected_clients"),
        "maxclients": info.get("maxclients"),
        "rejected_connections": info.get("rejected_connections"),
        "role": info.get("role"),
        "databases": {name: each for name, each in info.items() if name.startswith("db")},
        "lists": lists,
        "uptime_seconds": info.get("uptime_in_seconds"),
    }
    problems = []
    if (
        percent is not None
        and percent >= _FULL_PERCENT
        and info.get("maxmemory_policy") == "noeviction"
    ):
        problems.append(
            f"its memory is {percent} % of the limit of {limit:.0f} bytes, and noeviction lets go "
            "of nothing"
        )
    return StoreState("redis", tuple(problems), figures)


def _find_lists(store: Redis) -> list[Json]:
    """The lists among the first keys: queues are kept in them."""
    found: list[Json] = []
    cursor = 0
    for _ in range(_SCANNED_KEYS // _KEYS_OF_A_SCAN):
        # What is no list is looked at as well, so the steps are counted and not what they bring.
        cursor, keys = cast(
            "tuple[int, list[bytes]]", store.scan(cursor, count=_KEYS_OF_A_SCAN, _type="list")
        )
        for key in keys[: _MOST_LISTS - len(found)]:
            length = store.llen(key)
            found.append({"key": key.decode("utf-8", "replace")[:200], "length": length})
        if cursor == 0 or len(found) >= _MOST_LISTS:
            break
    return found


def _probe_postgres(url: str) -> StoreState:
    started = time.monotonic()
    try:
        conninfo.conninfo_to_dict(url)
    except psycopg.Error:
        return StoreState("postgresql", (MALFORMED,))
    # A database whose connections are all taken lets nobody look: any other one tells the same.
    reasons = []
    for database in ("postgres", ""):
        try:
            with psycopg.connect(
                conninfo.make_conninfo(url, **({"dbname": database} if database else {})),
                connect_timeout=_SECONDS,
                application_name="tarsy probe",
                options=f"-c statement_timeout={_SECONDS * 1000}",
                autocommit=True,
                row_factory=dict_row,
            ) as connection:
                figures = connection.execute(_FIGURES).fetchone() or {}
                clients = connection.execute(_CONNECTIONS).fetchall()
            break
        except psycopg.Error as error:
            reasons.append(str(error).strip())
    else:
        return StoreState("postgresql", (f"it does not answer: {reasons[-1]}",))
    return _read_postgres(figures, clients, started)


def _read_postgres(
    figures: Mapping[str, Json], clients: Sequence[Mapping[str, Json]], started: float
) -> StoreState:
    taken, limit = _number(figures["connections"]), _number(figures["max_connections"])
    percent = round(100 * taken / limit, 1)
    problems = []
    if percent >= _FEW_CONNECTIONS_LEFT_PERCENT:
        problems.append(f"{taken:.0f} of {limit:.0f} connections are taken")
    longest = _number(figures["longest_transaction_seconds"])
    if longest >= _LONG_TRANSACTION_SECONDS:
        problems.append(f"a transaction has been open for {longest:.0f} s")
    return StoreState(
        "postgresql",
        tuple(problems),
        {
            **figures,
            "connections_used_percent": percent,
            "clients": cast("list[Json]", clients),
            "milliseconds": round((time.monotonic() - started) * 1000),
        },
    )


def _member(value: Json, name: str) -> Json:
    return value.get(name) if isinstance(value, Mapping) else None


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else 0

# ruff: noqa: E501  # a scene is told in one line
"""PostgreSQL."""

import contextlib
import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    PG_DATA,
    POSTGRES_HOST,
    connect,
    hold,
    in_background,
    start_postgres,
    wait_for_activity,
    with_units,
)
from tests.rules.lab.third.postgres import A


def behind_an_alter(machine: Machine) -> None:
    start_postgres(machine, log_lock_waits="on", deadlock_timeout="200ms")
    machine.turn_clock_back("25m")
    forgotten = hold(connect("shop", "shop", "psql", begins=True))
    forgotten.execute("SELECT * FROM orders LIMIT 1")
    machine.turn_clock_back("9m")
    altering = hold(connect("shop", "shop", "flyway"))
    in_background(lambda: altering.execute("ALTER TABLE orders ADD COLUMN vat numeric"))
    wait_for_activity(machine, "wait_event_type='Lock'")
    machine.turn_clock_back("5m")
    for _ in range(7):
        one = hold(connect("shop", "shop", "checkout"))
        in_background(lambda one=one: one.execute("SELECT count(*) FROM orders"))
    wait_for_activity(machine, "wait_event_type='Lock'", 8)
    machine.turn_clock_back("0")
    time.sleep(0.6)


def archive(machine: Machine) -> None:
    start_postgres(
        machine,
        archive_mode="on",
        archive_command="test ! -f /srv/wal/%f && cp %p /srv/wal/%f",
        archive_timeout="1",
        up="3h",
    )
    with connect("shop", "postgres") as admin:
        for _ in range(12):
            admin.execute("CREATE TABLE IF NOT EXISTS x(a int)")
            admin.execute("INSERT INTO x SELECT generate_series(1, 300)")
            admin.execute("SELECT pg_switch_wal()")
        machine.wait_until(
            lambda: admin.execute("SELECT failed_count > 2 FROM pg_stat_archiver").fetchone()[0],
            "failed archiving",
        )


def rotated(machine: Machine) -> None:
    start_postgres(machine)
    with connect("postgres", "postgres") as admin:
        admin.execute("ALTER ROLE shop PASSWORD 'other'")
    hba = Path(PG_DATA, "pg_hba.conf")
    hba.write_text(
        "local all all trust\nhost all postgres 127.0.0.1/32 trust\nhost all root 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    with connect("postgres", "postgres") as admin:
        admin.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    import psycopg

    for back in ("7m", "4m", "1m", "30", "3"):
        machine.turn_clock_back(back)
        for _ in range(3):
            try:
                psycopg.connect(host="127.0.0.1", dbname="shop", user="shop", password="a")
            except Exception:
                continue
    machine.turn_clock_back("0")


def numbers_end(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "shop") as shop:
        shop.execute("CREATE TABLE clicks (id serial primary key, at timestamptz default now())")
        shop.execute("SELECT setval('clicks_id_seq', 2147483646)")
        shop.execute("INSERT INTO clicks DEFAULT VALUES")
        for back in ("6m", "3m", "20", "9"):
            machine.turn_clock_back(back)
            for _ in range(4):
                try:
                    shop.execute("INSERT INTO clicks DEFAULT VALUES")
                except Exception:
                    continue
    machine.turn_clock_back("0")


def many_at_rest(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("40m")
    for _ in range(45):
        hold(connect("shop", "shop", "checkout")).execute("SELECT 1")
    machine.turn_clock_back("0")


def old_grief(machine: Machine) -> None:
    start_postgres(machine, up="6d")
    machine.turn_clock_back("5d")
    for _ in range(12):
        try:
            connect("shop", "nobody")
        except Exception:
            continue
    with contextlib.suppress(Exception):
        connect("shop", "shop").execute("SELECT 1/0")
    machine.turn_clock_back("0")


def failed_statements(machine: Machine) -> None:
    start_postgres(machine, log_min_duration_statement="50ms")
    with connect("shop", "shop", "checkout") as shop:
        for statement in (
            "SELECT pg_sleep(0.1)",
            "INSERT INTO stock VALUES (1, 1)",
            "SELECT * FROM orders WHERE total = 'x'",
            "SELECT 1",
        ):
            try:
                shop.execute(statement)
            except Exception:
                continue


SCENES = (
    Scene(
        "a forgotten transaction, a migration and a queue behind both",
        {"alertname": "CheckoutLatencyHigh", "service": "checkout", "job": "checkout"},
        behind_an_alter,
        ("idle in (a )?transaction|open transaction|forgot|holds|block", "psql|orders"),
        POSTGRES_HOST,
    ),
    Scene(
        "the archive takes nothing",
        {"alertname": "PostgresArchiveFailing", **A},
        archive,
        ("archiv",),
        with_units("postgresql@15-main.service loaded active running PostgreSQL Cluster 15-main"),
        "db-2",
    ),
    Scene(
        "the password was changed on one side",
        {"alertname": "CheckoutErrors", "service": "checkout"},
        rotated,
        ("password|authenti", "shop"),
        POSTGRES_HOST,
    ),
    Scene(
        "a column runs out of numbers",
        {"alertname": "ClicksErrors", "service": "clicks"},
        numbers_end,
        ("sequence|clicks_id_seq|numbers|maximum",),
        POSTGRES_HOST,
    ),
    Scene(
        "many connections at rest, as every day",
        {"alertname": "PostgresConnectionsHigh", "job": "postgres"},
        many_at_rest,
        (),
        POSTGRES_HOST,
    ),
    Scene(
        "refusals of five days ago",
        {"alertname": "PostgresErrors", "job": "postgres"},
        old_grief,
        (),
        POSTGRES_HOST,
    ),
    Scene(
        "statements that users got wrong",
        {"alertname": "PostgresLatencyHigh", "job": "postgres"},
        failed_statements,
        (),
        POSTGRES_HOST,
    ),
)

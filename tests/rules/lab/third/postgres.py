# a scene is told in one line
"""PostgreSQL."""

import contextlib
import time
from pathlib import Path

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    PG_DATA,
    PG_LOG,
    POSTGRES_HOST,
    connect,
    hold,
    in_background,
    run_postgres,
    start_postgres,
    wait_for_activity,
    with_units,
)


def leaked(machine: Machine) -> None:
    start_postgres(machine, max_connections="24", superuser_reserved_connections="3")
    machine.turn_clock_back("2h")
    for _ in range(3):
        hold(connect("shop", "shop", "checkout"))
    for _ in range(17):
        hold(connect("shop", "report", "metabase 0.50")).execute("SELECT 1")
    machine.turn_clock_back("0")

    def knock() -> None:
        for _ in range(6):
            try:
                hold(connect("shop", "shop", "checkout"))
            except Exception:
                continue

    knock()


def prepared(machine: Machine) -> None:
    start_postgres(machine, max_prepared_transactions="5")
    machine.turn_clock_back("5h")
    one = connect("shop", "shop", "bus", begins=True)
    one.execute("UPDATE stock SET amount = amount - 1 WHERE id = 7")
    one.execute("PREPARE TRANSACTION 'xa_88121'")
    one.close()
    machine.turn_clock_back("11m")
    for _ in range(4):
        two = hold(connect("shop", "shop", "checkout"))
        in_background(lambda two=two: two.execute("UPDATE stock SET amount = 0 WHERE id = 7"))
    wait_for_activity(machine, "wait_event_type='Lock'", 4)
    machine.turn_clock_back("0")


def slot(machine: Machine) -> None:
    start_postgres(machine, wal_level="logical", up="20d", max_wal_size="64MB")
    machine.turn_clock_back("6d")
    with connect("shop", "postgres") as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('standby_old', true)")
        machine.turn_clock_back("10m")
        for _ in range(22):
            admin.execute("SELECT pg_switch_wal()")
            admin.execute("INSERT INTO orders (customer, total, state) VALUES (1, 2, 'new')")
        admin.execute("CHECKPOINT")
    machine.turn_clock_back("0")


def typo(machine: Machine) -> None:
    start_postgres(machine)
    machine.run("pkill", "-INT", "-f", "bin/postgres -D")
    machine.wait_until(lambda: not Path(PG_DATA, "postmaster.pid").exists(), "the stop")
    with Path(PG_DATA, "postgresql.conf").open("a") as file:
        file.write("shared_bufers = '256MB'\nwork_mem = 64 MB\n")
    machine.turn_clock_back("4m")
    run_postgres(machine, waits=False)
    machine.wait_until(lambda: "contains errors" in Path(PG_LOG).read_text(), "the refusal")
    machine.turn_clock_back("0")


def read_only(machine: Machine) -> None:
    start_postgres(machine)
    with connect("postgres", "postgres") as admin:
        machine.turn_clock_back("9m")
        admin.execute("ALTER SYSTEM SET default_transaction_read_only = on")
        admin.execute("SELECT pg_reload_conf()")
    time.sleep(0.4)
    for back in ("8m", "5m", "1m", "2"):
        machine.turn_clock_back(back)
        for _ in range(3):
            try:
                connect("shop", "shop", "checkout").execute(
                    "INSERT INTO orders (customer) VALUES (1)"
                )
            except Exception:
                continue
    machine.turn_clock_back("0")


def backup(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("35m")
    one = hold(connect("shop", "postgres", "pg_dump", begins=True))
    one.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    in_background(lambda: one.execute("COPY (SELECT pg_sleep(4000), id FROM orders) TO STDOUT"))
    wait_for_activity(machine, "application_name='pg_dump'")
    machine.turn_clock_back("0")


def archive_well(machine: Machine) -> None:
    start_postgres(
        machine, archive_mode="on", archive_command="test -d /srv/wal && cp %p /srv/wal/%f", up="3d"
    )
    with connect("shop", "postgres") as admin:
        machine.turn_clock_back("2d")
        admin.execute("INSERT INTO orders (customer) VALUES (1)")
        admin.execute("SELECT pg_switch_wal()")
        machine.wait_until(
            lambda: admin.execute("SELECT failed_count > 0 FROM pg_stat_archiver").fetchone()[0],
            "a failure",
        )
        machine.turn_clock_back("20m")
        machine.give_to("postgres", "/srv/wal")
        admin.execute("INSERT INTO orders (customer) VALUES (1)")
        admin.execute("SELECT pg_switch_wal()")
        machine.wait_until(
            lambda: admin.execute("SELECT archived_count > 1 FROM pg_stat_archiver").fetchone()[0],
            "an archived segment",
        )
    machine.turn_clock_back("0")


def deadlocks(machine: Machine) -> None:
    start_postgres(
        machine,
        deadlock_timeout="100ms",
        log_line_prefix="%t:%r:%u@%d:[%p]: ",
        log_timezone="Asia/Tokyo",
    )
    for back in ("6m", "3m", "1m", "9"):
        machine.turn_clock_back(back)
        one, two = (
            hold(connect("shop", "shop", name, begins=True)) for name in ("basket", "refill")
        )
        one.execute("UPDATE stock SET amount = 1 WHERE id = 1")
        two.execute("UPDATE stock SET amount = 2 WHERE id = 2")
        in_background(
            lambda one=one: (
                one.execute("UPDATE stock SET amount = 1 WHERE id = 2"),
                one.rollback(),
            )
        )
        with contextlib.suppress(Exception):
            two.execute("UPDATE stock SET amount = 2 WHERE id = 1")
        two.rollback()
        time.sleep(0.4)
        one.rollback()
    machine.turn_clock_back("0")


A = {"job": "postgres", "severity": "critical"}


SCENES = (
    Scene(
        "a report tool keeps every connection",
        {"alertname": "PostgresTooManyConnections", **A},
        leaked,
        ("connection|slot|client", "metabase|report|idle"),
        POSTGRES_HOST,
        "db-eu-3",
    ),
    Scene(
        "a prepared transaction that nobody ends",
        {"alertname": "PostgresLockWaits", **A},
        prepared,
        ("prepared|two-phase|xa_88121",),
        POSTGRES_HOST,
    ),
    Scene(
        "a slot of a standby that is long gone",
        {"alertname": "PostgresWalGrowing", **A},
        slot,
        ("standby_old|slot",),
        POSTGRES_HOST,
    ),
    Scene(
        "two slips in the configuration",
        {"alertname": "PostgresDown", **A},
        typo,
        ("shared_bufers|work_mem|configur|postgresql.conf",),
        with_units("postgresql@15-main.service loaded failed failed PostgreSQL Cluster 15-main"),
    ),
    Scene(
        "everything became read-only",
        {"alertname": "CheckoutErrors", "service": "checkout"},
        read_only,
        ("read-only|read only",),
        POSTGRES_HOST,
    ),
    Scene(
        "the backup runs",
        {"alertname": "PostgresLongTransaction", "job": "postgres", "severity": "info"},
        backup,
        (),
        POSTGRES_HOST,
    ),
    Scene(
        "the archive failed two days ago and works",
        {"alertname": "PostgresLatencyHigh", "job": "postgres"},
        archive_well,
        (),
        POSTGRES_HOST,
    ),
    Scene(
        "two programs lock each other out again and again",
        {"alertname": "PostgresDeadlocks", **A},
        deadlocks,
        ("deadlock",),
        POSTGRES_HOST,
        "db-tokyo-1",
    ),
)

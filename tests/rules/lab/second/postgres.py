# ruff: noqa: E501  # a scene is told in one line
"""PostgreSQL, other faults."""

import time
from pathlib import Path

from tests.rules.host_scenarios import GB
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


def a_prepared_transaction_is_forgotten(machine: Machine) -> None:
    start_postgres(machine, max_prepared_transactions="10")
    machine.turn_clock_back("7h")
    session = connect("shop", "shop", "billing", begins=True)
    session.execute("UPDATE stock SET amount = amount - 1 WHERE id < 20")
    session.execute("PREPARE TRANSACTION 'billing-4711'")
    session.commit()
    session.close()
    machine.turn_clock_back("5m")
    for number in range(5):
        other = hold(connect("shop", "shop", "checkout"))
        in_background(
            lambda o=other, n=number: o.execute(f"UPDATE stock SET amount = 0 WHERE id = {n + 1}")
        )
    wait_for_activity(machine, "wait_event_type = 'Lock'", 5)
    machine.turn_clock_back("0")


def a_pool_leaks_transactions(machine: Machine) -> None:
    start_postgres(machine, max_connections="40")
    machine.turn_clock_back("50m")
    for _ in range(37):
        session = hold(connect("shop", "shop", "basket-service", begins=True))
        session.execute("SELECT count(*) FROM orders")
    machine.turn_clock_back("0")
    for _ in range(4):
        in_background(lambda: connect("shop", "shop", "checkout"))
    time.sleep(0.5)


def numbers_of_transactions_run_out(machine: Machine) -> None:
    start_postgres(machine, autovacuum="off", autovacuum_freeze_max_age="2000000000")
    machine.run(
        "/usr/lib/postgresql/15/bin/pg_ctl", "-D", PG_DATA, "stop", "-m", "fast", user="postgres"
    )
    machine.run(
        "/usr/lib/postgresql/15/bin/pg_resetwal", "-x", "1900000000", PG_DATA, user="postgres"
    )
    segment = Path(PG_DATA, "pg_xact", f"{1900000000 // (8192 * 4 * 32):04X}")
    segment.write_bytes(b"\0" * 262144)
    machine.run("chown", "postgres:postgres", segment)
    machine.turn_clock_back("2h")
    run_postgres(machine)
    machine.turn_clock_back("0")
    with connect("shop", "postgres") as admin:
        for _ in range(3):
            admin.execute("UPDATE stock SET amount = amount + 1 WHERE id = 1")


def changes_cannot_be_archived(machine: Machine) -> None:
    start_postgres(machine, archive_mode="on", archive_command="cp %p /srv/backup/wal/%f")
    with connect("shop", "postgres") as admin:
        for _ in range(6):
            admin.execute("UPDATE stock SET amount = amount + 1 WHERE id = 1")
            admin.execute("SELECT pg_switch_wal()")
    machine.wait_until(lambda: "archive command failed" in Path(PG_LOG).read_text(), "archiver")
    time.sleep(4)


def transactions_lock_one_another(machine: Machine) -> None:
    start_postgres(machine, deadlock_timeout="100ms")
    for number in range(14):
        one, two = (
            connect("shop", "shop", name, begins=True) for name in ("checkout", "stock-sync")
        )
        one.execute("UPDATE stock SET amount = 1 WHERE id = 1")
        two.execute("UPDATE stock SET amount = 1 WHERE id = 2")
        in_background(lambda o=one: o.execute("UPDATE stock SET amount = 2 WHERE id = 2"))
        in_background(lambda t=two: t.execute("UPDATE stock SET amount = 2 WHERE id = 1"))
        machine.wait_until(
            lambda n=number: Path(PG_LOG).read_text().count("deadlock detected") > n, "deadlock"
        )
        time.sleep(0.3)
        one.close()
        two.close()


def nobody_is_let_in_any_more(machine: Machine) -> None:
    start_postgres(machine, max_connections="20", superuser_reserved_connections="3")
    for _ in range(17):
        hold(connect("shop", "shop", "checkout")).execute("SELECT 1")
    for _ in range(3):
        hold(connect("shop", "postgres", "admin-console")).execute("SELECT 1")
    for _ in range(5):
        in_background(lambda: connect("shop", "shop", "checkout"))
    time.sleep(0.5)


def its_volume_is_full(machine: Machine) -> None:
    machine.mount("/var/lib/postgresql", "84m")
    start_postgres(machine, min_wal_size="32MB", max_wal_size="64MB")
    with connect("shop", "shop") as shop:
        for _ in range(9):
            try:
                shop.execute(
                    "INSERT INTO orders (customer, total, state) SELECT n, n, repeat('x', 900) FROM generate_series(1, 12000) n"
                )
            except Exception:
                break
    time.sleep(0.5)


def a_table_is_locked_by_an_alter(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("55m")
    reader = hold(connect("shop", "report", "bi-export", begins=True))
    with connect("shop", "postgres") as admin:
        admin.execute("GRANT SELECT ON orders TO report")
    reader.execute("SELECT count(*) FROM orders")
    machine.turn_clock_back("9m")
    altering = hold(connect("shop", "shop", "migration"))
    in_background(lambda: altering.execute("ALTER TABLE orders ADD COLUMN note text"))
    wait_for_activity(machine, "wait_event_type = 'Lock'", 1)
    machine.turn_clock_back("4m")
    for _ in range(7):
        session = hold(connect("shop", "shop", "checkout"))
        in_background(lambda s=session: s.execute("SELECT count(*) FROM orders"))
    wait_for_activity(machine, "wait_event_type = 'Lock'", 8)
    machine.turn_clock_back("0")


def all_is_well(machine: Machine) -> None:
    start_postgres(machine, up="40d")
    for _ in range(3):
        hold(connect("shop", "shop", "checkout")).execute("SELECT 1")


def a_password_was_mistyped(machine: Machine) -> None:
    start_postgres(machine)
    Path(PG_DATA, "pg_hba.conf").write_text(
        "local all all trust\nhost all postgres,root 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    with connect("postgres", "postgres") as admin:
        admin.execute("SELECT pg_reload_conf()")
    machine.turn_clock_back("11h")
    time.sleep(0.3)
    machine.run("psql", "postgresql://report:oh@127.0.0.1/shop", "-c", "SELECT 1", may_fail=True)
    machine.turn_clock_back("0")


def a_slot_that_is_read(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "postgres") as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('nightly_backup', true)")
        admin.execute("UPDATE stock SET amount = amount + 1 WHERE id = 1")


def a_small_table_without_vacuum(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "postgres") as admin:
        admin.execute("ALTER TABLE stock SET (autovacuum_enabled = false)")
        for _ in range(4):
            admin.execute("UPDATE stock SET amount = amount + 1")
    time.sleep(1.2)


_FULL = with_units(
    "postgresql@15-main.service loaded active running PostgreSQL Cluster 15-main",
    disks=(("/", 41.0, 12.0), ("/var/lib/postgresql", 100.0, 3.0)),
    files=(("/var/lib/postgresql/15/main/base/16389/16391", GB),),
)
_DB = {"job": "postgres", "severity": "critical"}
SCENES = (
    Scene("a prepared transaction is forgotten", {"alertname": "PostgresqlLockWaits", **_DB}, a_prepared_transaction_is_forgotten,
          ("prepared|billing-4711",), POSTGRES_HOST, "db-2"),
    Scene("a pool leaks transactions until no connection is left", {"alertname": "PostgresqlTooManyConnections", **_DB}, a_pool_leaks_transactions,
          ("connections?", "basket-service|37|3[6-9]|40|idle"), POSTGRES_HOST, "db-2"),
    Scene("numbers of transactions run out", {"alertname": "PostgresqlXidWraparound", **_DB}, numbers_of_transactions_run_out,
          ("wraparound|transaction (id|number)|xid|frozen|freez|transactions old",), POSTGRES_HOST, "db-2"),
    Scene("its log of changes cannot be archived", {"alertname": "PostgresqlArchiveFails", **_DB}, changes_cannot_be_archived,
          ("archiv",), POSTGRES_HOST, "db-2"),
    Scene("transactions lock one another again and again", {"alertname": "PostgresqlDeadlocks", **_DB}, transactions_lock_one_another,
          ("deadlock",), POSTGRES_HOST, "db-2"),
    Scene("nobody is let in any more, not even an administrator", {"alertname": "PostgresqlDown", **_DB}, nobody_is_let_in_any_more,
          ("connection|clients", "too many|all|use|limit|full|left|taken"), POSTGRES_HOST, "db-2"),
    Scene("its volume is full", {"alertname": "PostgresqlWritesFail", **_DB}, its_volume_is_full,
          ("full|space",), _FULL, "db-2"),
    Scene("a change of a table waits for a reader and all wait for it", {"alertname": "PostgresqlLockWaits", **_DB}, a_table_is_locked_by_an_alter,
          ("bi-export|idle in transaction|migration|alter", "wait|block|lock|holds"), POSTGRES_HOST, "db-2"),
    Scene("well: a database that has run for long", {"alertname": "PostgresqlSlow", **_DB}, all_is_well, (), POSTGRES_HOST, "db-2"),
    Scene("well: a password was mistyped once last night", {"alertname": "PostgresqlSlow", **_DB}, a_password_was_mistyped, (), POSTGRES_HOST, "db-2"),
    Scene("well: a slot that holds nothing back", {"alertname": "PostgresqlReplicationSlots", **_DB}, a_slot_that_is_read, (), POSTGRES_HOST, "db-2"),
    Scene("well: a small table is left out of the vacuum", {"alertname": "PostgresqlTableBloat", **_DB}, a_small_table_without_vacuum, (), POSTGRES_HOST, "db-2"),
)  # fmt: skip

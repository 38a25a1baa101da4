# ruff: noqa: E501  # a scene is told in one line
"""PostgreSQL."""

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
    start_postgres,
    wait_for_activity,
)


def one_holds_what_others_wait_for(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("25m")
    first = hold(connect("shop", "shop", "nightly-import", begins=True))
    first.execute("UPDATE stock SET amount = amount - 1 WHERE id < 50")
    machine.turn_clock_back("6m")
    for number in range(6):
        other = hold(connect("shop", "shop", "checkout"))
        in_background(
            lambda o=other, n=number: o.execute(f"UPDATE stock SET amount = 0 WHERE id = {n + 1}")
        )
    wait_for_activity(machine, "wait_event_type = 'Lock'", 6)
    machine.turn_clock_back("0")


def idle_ones_use_up_the_connections(machine: Machine) -> None:
    start_postgres(machine, max_connections="30")
    machine.turn_clock_back("3h")
    for _ in range(27):
        hold(connect("shop", "shop", "checkout")).execute("SELECT 1")
    machine.turn_clock_back("0")
    for _ in range(4):
        in_background(lambda: connect("shop", "shop", "checkout"))
    time.sleep(0.5)


def a_slot_keeps_wal(machine: Machine) -> None:
    machine.mount("/var/lib/postgresql", "4g")
    start_postgres(machine, wal_recycle="off")
    with connect("shop", "postgres") as admin:
        admin.execute("SELECT pg_create_physical_replication_slot('standby_2', true)")
        for _ in range(160):
            admin.execute("SELECT pg_switch_wal()")
            admin.execute("UPDATE stock SET amount = amount + 1 WHERE id = 1")


def the_password_is_wrong(machine: Machine) -> None:
    start_postgres(machine)
    Path(PG_DATA, "pg_hba.conf").write_text(
        "local all all trust\nhost all postgres,root 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
    )
    with connect("postgres", "postgres") as admin:
        admin.execute("SELECT pg_reload_conf()")
    time.sleep(0.3)
    for _ in range(12):
        machine.run(
            "psql", "postgresql://shop:old-one@127.0.0.1/shop", "-c", "SELECT 1", may_fail=True
        )


def a_query_runs_for_long(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("95m")
    long = hold(connect("shop", "report", "monthly-report"))
    in_background(
        lambda: long.execute(
            "SELECT count(*) FROM generate_series(1, 100000000) a, generate_series(1, 100000) b"
        )
    )
    wait_for_activity(machine, "application_name = 'monthly-report' AND state = 'active'")
    machine.turn_clock_back("0")


def dead_rows_are_not_removed(machine: Machine) -> None:
    start_postgres(machine, autovacuum="off")
    with connect("shop", "shop") as shop:
        for _ in range(60):
            shop.execute("UPDATE orders SET total = total + 1")
    time.sleep(1.2)


def a_checkpoint_is_lost(machine: Machine) -> None:
    start_postgres(machine)
    machine.end("postgres-5432")
    time.sleep(0.3)
    Path(PG_DATA, "postmaster.pid").unlink(missing_ok=True)
    for part in Path(PG_DATA, "pg_wal").glob("0*"):
        part.write_bytes(b"\0" * part.stat().st_size)
    from tests.rules.lab.servers import run_postgres

    run_postgres(machine, waits=False)
    machine.wait_until(lambda: machine.ended("postgres-5432"), "the end")


def no_rule_lets_it_in(machine: Machine) -> None:
    start_postgres(machine)
    Path(PG_DATA, "pg_hba.conf").write_text(
        "local all all trust\nhost all postgres,root 127.0.0.1/32 trust\nhost shop report 127.0.0.1/32 trust\n"
    )
    with connect("postgres", "postgres") as admin:
        admin.execute("SELECT pg_reload_conf()")
    time.sleep(0.3)
    for _ in range(9):
        machine.run(
            "psql", "-h", "127.0.0.1", "-U", "shop", "shop", "-c", "SELECT 1", may_fail=True
        )


def all_is_well(machine: Machine) -> None:
    start_postgres(machine)
    hold(connect("shop", "shop", "checkout")).execute("SELECT 1")


def many_are_at_work(machine: Machine) -> None:
    start_postgres(machine)
    for _ in range(30):
        session = hold(connect("shop", "shop", "checkout"))
        session.execute("SELECT count(*) FROM orders")
    for number in range(8):
        session = hold(connect("shop", "shop", "checkout"))
        in_background(
            lambda s=session, n=number: [
                s.execute(f"UPDATE stock SET amount = amount - 1 WHERE id = {n * 9 + 1}")
                for _ in range(20000)
            ]
        )


def a_transaction_has_just_begun(machine: Machine) -> None:
    start_postgres(machine)
    session = hold(connect("shop", "shop", "checkout", begins=True))
    session.execute("UPDATE stock SET amount = amount - 1 WHERE id = 7")


def a_deadlock_days_ago(machine: Machine) -> None:
    start_postgres(machine, up="12d", deadlock_timeout="200ms")
    machine.turn_clock_back("9d")
    one, two = (connect("shop", "shop", name, begins=True) for name in ("checkout", "stock-sync"))
    one.execute("UPDATE stock SET amount = 1 WHERE id = 1")
    two.execute("UPDATE stock SET amount = 1 WHERE id = 2")
    in_background(lambda: one.execute("UPDATE stock SET amount = 2 WHERE id = 2"))
    in_background(lambda: two.execute("UPDATE stock SET amount = 2 WHERE id = 1"))
    machine.wait_until(lambda: "deadlock detected" in Path(PG_LOG).read_text(), "deadlock")
    time.sleep(0.3)
    one.close()
    two.close()
    machine.turn_clock_back("0")


SCENES = (
    Scene("one transaction holds what others wait for", {"alertname": "PostgresqlLockWaits", "severity": "critical"},
          one_holds_what_others_wait_for, ("nightly-import|idle in transaction|holds", "wait|block|lock"), POSTGRES_HOST, "db-1"),
    Scene("idle sessions use up the connections", {"alertname": "PostgresqlTooManyConnections", "severity": "critical"},
          idle_ones_use_up_the_connections, ("connections?", "27|2[6-9]|30|all"), POSTGRES_HOST, "db-1"),
    Scene("a slot that nobody reads keeps the log of changes", {"alertname": "PostgresqlWalGrows", "severity": "warning"},
          a_slot_keeps_wal, ("slot", "standby_2"), POSTGRES_HOST, "db-1"),
    Scene("the password of the shop is wrong", {"alertname": "PostgresqlLoginsFail", "severity": "critical"},
          the_password_is_wrong, ("password|login|authenticat", "shop"), POSTGRES_HOST, "db-1"),
    Scene("a report has run for an hour and a half", {"alertname": "PostgresqlLongQuery", "severity": "warning"},
          a_query_runs_for_long, ("quer|statement", "monthly-report|report|generate_series|minutes|hour|seconds| s\\b"), POSTGRES_HOST, "db-1"),
    Scene("dead rows are not removed", {"alertname": "PostgresqlTableBloat", "severity": "warning"},
          dead_rows_are_not_removed, ("dead|vacuum|bloat", "orders"), POSTGRES_HOST, "db-1"),
    Scene("the checkpoint is lost and it does not start", {"alertname": "PostgresqlDown", "severity": "critical"},
          a_checkpoint_is_lost, ("checkpoint|not (run|answer|accept|start|listen)|refus|down|nobody listens",), POSTGRES_HOST, "db-1"),
    Scene("no rule lets the shop in", {"alertname": "PostgresqlLoginsFail", "severity": "critical"},
          no_rule_lets_it_in, ("pg_hba|refus|reject|not let in|access", "shop"), POSTGRES_HOST, "db-1"),
    Scene("well: a quiet database", {"alertname": "PostgresqlSlow"}, all_is_well, (), POSTGRES_HOST, "db-1"),
    Scene("well: many sessions at work", {"alertname": "PostgresqlManySessions"}, many_are_at_work, (), POSTGRES_HOST, "db-1"),
    Scene("well: a transaction has just begun", {"alertname": "PostgresqlSlow"}, a_transaction_has_just_begun, (), POSTGRES_HOST, "db-1"),
    Scene("well: a deadlock nine days ago", {"alertname": "PostgresqlSlow"}, a_deadlock_days_ago, (), POSTGRES_HOST, "db-1"),
)  # fmt: skip

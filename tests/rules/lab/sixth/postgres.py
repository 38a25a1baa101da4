"""PostgreSQL."""

import time

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import (
    POSTGRES_HOST,
    connect,
    hold,
    in_background,
    start_postgres,
    wait_for_activity,
)
from tests.rules.lab.third.postgres import A


def slot_of_nobody(machine: Machine) -> None:
    start_postgres(machine, max_wal_size="64MB", min_wal_size="32MB", checkpoint_timeout="30s")
    with connect("shop", "postgres") as admin:
        machine.turn_clock_back("2d")
        admin.execute("SELECT pg_create_physical_replication_slot('standby_2', true)")
        machine.turn_clock_back("20m")
        for _ in range(24):
            admin.execute("CREATE TABLE IF NOT EXISTS x(a int)")
            admin.execute("INSERT INTO x SELECT generate_series(1, 300)")
            admin.execute("SELECT pg_switch_wal()")
        admin.execute("CHECKPOINT")
    machine.turn_clock_back("0")


def prepared_and_forgotten(machine: Machine) -> None:
    start_postgres(
        machine, max_prepared_transactions="10", log_lock_waits="on", deadlock_timeout="200ms"
    )
    machine.turn_clock_back("3h")
    with connect("shop", "shop", "warehouse") as shop:
        shop.execute("BEGIN")
        shop.execute("UPDATE stock SET amount = amount - 1")
        shop.execute("PREPARE TRANSACTION 'xa-4711'")
    machine.turn_clock_back("6m")
    for _ in range(4):
        one = hold(connect("shop", "shop", "checkout"))
        in_background(lambda one=one: one.execute("UPDATE stock SET amount = 9 WHERE id = 3"))
    wait_for_activity(machine, "wait_event_type='Lock'", 4)
    machine.turn_clock_back("0")
    time.sleep(0.5)


def for_seconds(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "shop", "checkout") as shop:
        for _ in range(50):
            shop.execute("SELECT count(*) FROM orders WHERE customer = 3")
    one = hold(connect("shop", "shop", "checkout", begins=True))
    one.execute("SELECT * FROM orders LIMIT 1")


SCENES = (
    Scene(
        "a slot that nobody reads keeps what was written",
        {"alertname": "PostgresWalGrows", **A},
        slot_of_nobody,
        ("slot",),
        POSTGRES_HOST,
    ),
    Scene(
        "a transaction was prepared and forgotten",
        {"alertname": "CheckoutSlow", "service": "checkout", **A},
        prepared_and_forgotten,
        ("prepared|xa-4711",),
        POSTGRES_HOST,
    ),
    Scene(
        "a transaction rests for some seconds",
        {"alertname": "PostgresIdleInTransaction", "job": "postgres"},
        for_seconds,
        (),
        POSTGRES_HOST,
    ),
)

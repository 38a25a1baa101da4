"""PostgreSQL."""

import contextlib
import time
from pathlib import Path

import psycopg

from tests.rules.lab.machine import Machine
from tests.rules.lab.scenes import Scene
from tests.rules.lab.servers import PG_DATA, POSTGRES_HOST, connect, hold, start_postgres
from tests.rules.lab.third.postgres import A


def too_impatient(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "postgres") as admin:
        machine.turn_clock_back("40m")
        admin.execute("ALTER ROLE shop SET statement_timeout = '200ms'")
    for back in ("20m", "6m", "2m", "0"):
        machine.turn_clock_back(back)
        with connect("shop", "shop", "checkout") as shop:
            for _ in range(4):
                with contextlib.suppress(psycopg.errors.QueryCanceled):
                    shop.execute("SELECT count(*), pg_sleep(1) FROM orders")


def no_entry(machine: Machine) -> None:
    start_postgres(machine)
    rules = (
        "local all all trust\nhost shop shop 10.9.0.0/16 trust\n"
        "host all postgres,root 127.0.0.1/32 trust\n"
    )
    Path(PG_DATA, "pg_hba.conf").write_text(rules)
    with connect("postgres", "postgres") as admin:
        admin.execute("SELECT pg_reload_conf()")
    time.sleep(0.5)
    for back in ("7m", "3m", "1m", "0"):
        machine.turn_clock_back(back)
        for _ in range(3):
            with contextlib.suppress(psycopg.OperationalError):
                connect("shop", "shop", "checkout").close()


def few_for_a_role(machine: Machine) -> None:
    start_postgres(machine)
    with connect("shop", "postgres") as admin:
        admin.execute("ALTER ROLE report CONNECTION LIMIT 3")
    machine.turn_clock_back("30m")
    for _ in range(3):
        hold(connect("shop", "report", "metabase")).execute("SELECT 1")
    for back in ("7m", "4m", "1m", "0"):
        machine.turn_clock_back(back)
        for _ in range(4):
            with contextlib.suppress(psycopg.OperationalError):
                connect("shop", "report", "metabase").close()


def mistakes(machine: Machine) -> None:
    start_postgres(machine)
    machine.turn_clock_back("9m")
    wrong = (
        "SELECT coun(*) FROM orders",
        "SELECT * FROM order",
        "INSERT INTO stock VALUES (3, 1)",
        "SELECT 1/0",
        "SELECT 'a'::int",
    )
    with connect("shop", "shop", "DBeaver 24.2.1 - SQLEditor <Script-3.sql>") as shop:
        for each in wrong:
            with contextlib.suppress(psycopg.Error):
                shop.execute(each)
    machine.turn_clock_back("0")


SCENES = (
    Scene(
        "every statement over a fifth of a second is cancelled",
        {"alertname": "CheckoutErrors", "service": "checkout", **A},
        too_impatient,
        ("statement.?timeout|cancel",),
        POSTGRES_HOST,
    ),
    Scene(
        "nobody lets the shop in from here",
        {"alertname": "CheckoutErrors", "service": "checkout", **A},
        no_entry,
        ("pg_hba",),
        POSTGRES_HOST,
    ),
    Scene(
        "a role has all the connections it may have",
        {"alertname": "DashboardsEmpty", "service": "metabase"},
        few_for_a_role,
        ("report", "connection"),
        POSTGRES_HOST,
    ),
    Scene(
        "somebody learns SQL",
        {"alertname": "PostgresErrorsInLog", "job": "postgres"},
        mistakes,
        (),
        POSTGRES_HOST,
    ),
)

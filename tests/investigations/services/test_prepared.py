"""Statements are planned once for each connection, and get their values as they are."""

import threading
import uuid
from datetime import UTC, datetime

import pytest
from django.db import DatabaseError, DataError, OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext
from psycopg.types.json import Jsonb

from investigations.services.prepared import (
    StatementsLost,
    execute,
    write_executions,
    write_executions_of,
)

pytestmark = pytest.mark.django_db

ODD = "100 % 'quoted' \\ back\\slash {\"a\", NULL} \n \u2028 %s %(x)s $1 \U0001f600"


def _read(text, *values):
    with connection.cursor() as cursor:
        execute(cursor, write_executions([(text, values)]))
        return cursor.fetchone()


def test_values_arrive_as_they_are():
    moment, number = datetime(2026, 2, 3, 4, 5, 6, 789, tzinfo=UTC), uuid.uuid4()
    values = (ODD, [ODD, "", "NULL", None], [], moment, [moment, None], number, [number], True,
              [False], -3, [4, -5], None, 1.5, Jsonb({"a": ODD}))  # fmt: skip
    types = ("text", "text[]", "text[]", "timestamptz", "timestamptz[]", "uuid", "uuid[]", "bool",
             "bool[]", "bigint", "int[]", "text", "float8", "jsonb")  # fmt: skip
    text = f"SELECT {', '.join(f'%s::{each}' for each in types)}"

    read = _read(text, *values)

    assert read == (*values[:-1], f'{{"a": {_as_json(ODD)}}}')


def _as_json(text):
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_json(%s::text)::text", [text])
        return cursor.fetchone()[0]


def test_a_name_means_the_same_value_at_each_of_its_places():
    texts = ("SELECT %(a)s::text, %(b)s::int, %(a)s::text", "SELECT %(b)s::int")

    with connection.cursor() as cursor:
        cursor.execute(write_executions_of(texts, {"a": ODD, "b": 7, "unused": 1}))
        first = cursor.fetchone()
        cursor.nextset()
        second = cursor.fetchone()

    assert (first, second) == ((ODD, 7, ODD), (7,))


def test_a_text_with_a_nul_is_refused_and_not_cut():
    with pytest.raises(DataError):
        write_executions([("SELECT %s::text", ["before\x00behind"])])


def test_values_that_do_not_fit_the_places_are_refused():
    with pytest.raises(ValueError, match="2 values are wanted, not 1"):
        write_executions([("SELECT %s::int, %s::int", [1])])


def test_a_statement_is_prepared_once_also_when_its_transaction_is_taken_back():
    text = f"SELECT %s::int + {uuid.uuid4().int % 10**6}"

    with CaptureQueriesContext(connection) as queries:
        with transaction.atomic():
            _read(text, 1)
            transaction.set_rollback(True)
        _read(text, 2)

    assert ["PREPARE tarsy_" in each["sql"] for each in queries if "tarsy_" in each["sql"]] == [
        True, False, False,
    ]  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_another_connection_prepares_anew():
    text = "SELECT %s::int + 1"
    before = _read(text, 1)

    connection.close()

    assert _read(text, 1) == before == (2,)


def test_what_could_not_be_prepared_leaves_the_others_usable():
    good = f"SELECT %s::int + {uuid.uuid4().int % 10**6}"
    bad = "SELECT nothing FROM nowhere_at_all"

    with pytest.raises(DatabaseError, match="nowhere_at_all"), transaction.atomic():
        write_executions([(good, [1]), (bad, [])])
    with pytest.raises(DatabaseError, match="nowhere_at_all"), transaction.atomic():
        write_executions([(good, [1]), (bad, [])])

    assert _read(good, 1) == _read(good, 1)


def test_a_statement_whose_table_has_changed_is_prepared_anew_at_the_next_attempt():
    with connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE changing (number int) ON COMMIT DROP")
        cursor.execute("INSERT INTO changing VALUES (7)")
    text = "SELECT number FROM changing WHERE number = %s::int"
    assert _read(text, 7) == (7,)
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE changing ALTER number TYPE text")
        cursor.execute("ALTER TABLE changing ALTER number TYPE bigint USING number::bigint")

    with pytest.raises(StatementsLost), transaction.atomic():
        _read(text, 7)

    assert _read(text, 7) == (7,)


def test_statements_that_somebody_has_taken_away_are_prepared_anew_at_the_next_attempt():
    text = "SELECT %s::int + 2"
    assert _read(text, 1) == (3,)
    with connection.cursor() as cursor:
        cursor.execute("DEALLOCATE ALL")

    with pytest.raises(StatementsLost), transaction.atomic():
        _read(text, 1)

    assert _read(text, 1) == (3,)


@pytest.mark.parametrize("patience", ["0", "1234ms"])
def test_preparing_leaves_the_patience_with_locks_as_it_was(patience):
    with connection.cursor() as cursor:
        cursor.execute("SELECT set_config('lock_timeout', %s, true)", [patience])

    _read(f"SELECT %s::int + {uuid.uuid4().int % 10**6}", 1)

    with connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == (patience,)


@pytest.mark.django_db(transaction=True)
def test_preparing_waits_for_a_lock_no_longer_than_was_said():
    ready, done = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("LOCK TABLE investigations_delivery IN ACCESS EXCLUSIVE MODE")
            ready.set()
            done.wait(30)
        connection.close()

    holder = threading.Thread(target=hold)
    holder.start()
    try:
        assert ready.wait(30)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '50ms'")
            with pytest.raises(OperationalError, match="lock timeout"), transaction.atomic():
                _read("SELECT count(*) FROM investigations_delivery WHERE alert_count = %s::int", 1)
    finally:
        done.set()
        holder.join(30)

"""Rows written without building a query for each: many statements, one round trip.

The hot writes of a running agent, where the ORM's query building costs more than the database.
Columns, conversions and defaults are those of the model's fields, so the rows are the ones that
`save` would have written. `insert_all` hands values over as JSON, for fields of which PostgreSQL
reads each value from it as it is.
"""

import json
import uuid
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model
from django.db.models.expressions import DatabaseDefault

from investigations.services.prepared import execute, write_executions


class Statements:
    """Statements that are collected, and executed in order by `run`.

    Errors are those of the database and come from `run`. A value is taken when it is named.
    """

    def __init__(self) -> None:
        self._statements: list[tuple[str, Sequence[Any]]] = []

    def add(self, text: str, values: Sequence[object]) -> None:
        self._statements.append((text, values))

    def insert(self, row: Model) -> None:
        model = type(row)
        values: list[object] = []
        database = _database()
        places = [_place(row, field, values, database) for field in _columns(model)]
        self.add(f"{_insert_head(model)} ({', '.join(places)})", values)
        _mark_as_stored(row)

    def insert_all(self, rows: Sequence[Model]) -> None:
        """Rows of one model in one statement, each with the same columns: PostgreSQL takes them
        apart, which costs a fraction of writing and reading each value as SQL."""
        if not rows:
            return
        model, told = type(rows[0]), [_read_row(row) for row in rows]
        columns = tuple(told[0])
        if any(tuple(each) != columns for each in told):
            raise ValueError(f"rows of {model.__name__} have different columns")
        text = json.dumps(told, ensure_ascii=False, separators=(",", ":"), default=_as_text)
        self.add(_insert_all_text(model, columns), [text])
        for row in rows:
            _mark_as_stored(row)

    def update(self, row: Model, names: Sequence[str]) -> None:
        """The named fields of a row, found by its primary key."""
        model = type(row)
        key = model._meta.pk
        database = _database()
        values = [_to_database(row, model._meta.get_field(name), database) for name in names]
        self.add(_update_text(model, tuple(names)), [*values, _to_database(row, key, database)])

    def run_at_last(self) -> None:
        """The same as the last thing of a transaction, which ends in the same round trip: whoever
        waits for its locks gets them sooner. What is within another transaction ends with that."""
        is_ours = len(connection.atomic_blocks) == 1 and not connection.needs_rollback
        self._run(";\nCOMMIT" if is_ours else "")

    def run(self) -> None:
        self._run("")

    def _run(self, end: str) -> None:
        if not self._statements:
            return
        text = write_executions(self._statements)
        with connection.cursor() as cursor:
            execute(cursor, text + end)
        self._statements.clear()


def _mark_as_stored(row: Model) -> None:
    """It is as good as stored: what fails, fails with the whole transaction."""
    row._state.adding = False
    row._state.db = DEFAULT_DB_ALIAS


def _read_row(row: Model) -> dict[str, object]:
    """Its values by column, without those that the database chooses."""
    values = ((field, field.pre_save(row, add=True)) for field in _columns(type(row)))
    return {
        field.column: value
        for field, value in values
        if not (isinstance(value, DatabaseDefault) or (value is None and field.primary_key))
    }


def _as_text(value: object) -> str:
    """Of what JSON knows no form for, the one that PostgreSQL reads."""
    if isinstance(value, uuid.UUID | datetime):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no form in JSON")


def _database() -> BaseDatabaseWrapper:
    """That of this thread itself. `connection` looks it up anew each time anything of it is asked,
    which every conversion of a value does."""
    return connections[DEFAULT_DB_ALIAS]


def _place(
    row: Model, field: "Field[Any, Any]", values: list[object], database: BaseDatabaseWrapper
) -> str:
    value = field.pre_save(row, add=True)
    if isinstance(value, DatabaseDefault) or (value is None and field.primary_key):
        return "DEFAULT"
    values.append(field.get_db_prep_save(value, database))
    return "%s"


def _to_database(row: Model, field: Any, database: BaseDatabaseWrapper) -> object:
    return field.get_db_prep_save(field.pre_save(row, add=False), database)


@cache
def _columns(model: type[Model]) -> tuple["Field[Any, Any]", ...]:
    return tuple(model._meta.local_concrete_fields)


@cache
def _insert_head(model: type[Model]) -> str:
    names = ", ".join(_quote(field.column) for field in _columns(model))
    return f"INSERT INTO {_quote(model._meta.db_table)} ({names}) VALUES"


@cache
def _insert_all_text(model: type[Model], columns: tuple[str, ...]) -> str:
    table, names = _quote(model._meta.db_table), ", ".join(map(_quote, columns))
    return (
        f"INSERT INTO {table} ({names}) SELECT {names}"
        f" FROM json_populate_recordset(NULL::{table}, %s)"
    )


@cache
def _update_text(model: type[Model], names: tuple[str, ...]) -> str:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    places = ", ".join(f"{_quote(field.column)} = %s" for field in fields)
    key = _quote(model._meta.pk.column)
    return f"UPDATE {_quote(model._meta.db_table)} SET {places} WHERE {key} = %s"


def _quote(name: str) -> str:
    return connection.ops.quote_name(name)

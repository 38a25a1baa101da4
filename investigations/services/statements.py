"""Rows written without building a query for each: many statements, one round trip.

The hot writes of a running agent, where the ORM's query building costs more than the database.
Columns, conversions and defaults are those of the model's fields, so the rows are the ones that
`save` would have written.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import Field, Model
from django.db.models.expressions import DatabaseDefault


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
        # It is as good as stored: what fails, fails with the whole transaction.
        row._state.adding = False
        row._state.db = database.alias

    def update(self, row: Model, names: Sequence[str]) -> None:
        """The named fields of a row, found by its primary key."""
        model = type(row)
        key = model._meta.pk
        database = _database()
        values = [_to_database(row, model._meta.get_field(name), database) for name in names]
        self.add(_update_text(model, tuple(names)), [*values, _to_database(row, key, database)])

    def run(self) -> None:
        if not self._statements:
            return
        with connection.cursor() as cursor:
            # One by one: psycopg remembers how a short text is to be cut, and no long one.
            texts = [cursor.mogrify(text, values) for text, values in self._statements]
            cursor.execute(";\n".join(texts))
        self._statements.clear()


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
def _update_text(model: type[Model], names: tuple[str, ...]) -> str:
    fields: list[Any] = [model._meta.get_field(name) for name in names]
    places = ", ".join(f"{_quote(field.column)} = %s" for field in fields)
    key = _quote(model._meta.pk.column)
    return f"UPDATE {_quote(model._meta.db_table)} SET {places} WHERE {key} = %s"


def _quote(name: str) -> str:
    return connection.ops.quote_name(name)

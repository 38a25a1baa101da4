"""Statements that PostgreSQL reads and plans once for each connection, and many of which are one
text: so they are one round trip, each with a snapshot of its own.

Planning a statement that reads some rows by an index costs several times what executing it does.
"""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from hashlib import blake2b
from types import NoneType
from typing import Any
from weakref import WeakKeyDictionary

from django.db import (
    DEFAULT_DB_ALIAS,
    DatabaseError,
    DataError,
    OperationalError,
    connection,
    connections,
)
from django.db.backends.utils import CursorWrapper
from psycopg import Connection
from psycopg.pq import Escaping
from psycopg.sql import Literal

_PLACE = re.compile(r"%(?:\((\w+)\))?s")
_PLAIN = (str, int, uuid.UUID, datetime, NoneType)
"""What is written as it is; psycopg is asked how to write anything else."""

_Escape = Callable[[bytes], bytes]

LOST = ("0A000", "26000")
"""What PostgreSQL says of a statement that would give other columns than when it was prepared, and
of one that is not there."""
_PATIENCE = "10s"
"""For a lock that is in the way of preparing, where nobody has said how long to wait for locks."""
_WAIT = f"""
SELECT set_config('tarsy.lock_timeout', current_setting('lock_timeout'), true),
       set_config('lock_timeout', CASE current_setting('lock_timeout')
                                  WHEN '0' THEN '{_PATIENCE}'
                                  ELSE current_setting('lock_timeout') END, true)
"""
_WAIT_AS_BEFORE = "SELECT set_config('lock_timeout', current_setting('tarsy.lock_timeout'), true)"


@dataclass
class _Memory:
    """What a connection has prepared. It stays so when a transaction is taken back."""

    names: set[str] = field(default_factory=set)
    is_sure: bool = True
    """Not when preparing has failed midway, or what was prepared has turned out to be lost."""


_memories: "WeakKeyDictionary[Connection[Any], _Memory]" = WeakKeyDictionary()


class StatementsLost(OperationalError):
    """The tables have changed since statements were prepared: whoever begins the transaction again
    finds them prepared anew."""


def write_executions(statements: Iterable[tuple[str, Sequence[object]]]) -> str:
    """The text that executes statements in order, on the connection of this thread; the values of
    each stand at the places `%s` of its text.

    Each has the same text whatever its values are. What the connection has not met yet is prepared
    here, in a round trip for all of them.
    """
    wanted = [(_prepared(text), values) for text, values in statements]
    escape = _prepare(each for each, _ in wanted)
    return ";\n".join(
        _execution(each, [_literal(value, escape) for value in values]) for each, values in wanted
    )


def write_executions_of(texts: Iterable[str], values: Mapping[str, object]) -> str:
    """The same, of statements that share their values, each at the places `%(name)s`."""
    wanted = [_prepared(text) for text in texts]
    escape = _prepare(wanted)
    literals = {name: _literal(value, escape) for name, value in values.items()}
    return ";\n".join(_execution(each, [literals[name] for name in each.places]) for each in wanted)


def execute(cursor: CursorWrapper, text: str) -> None:
    """Execute what was written here. Raises StatementsLost, and the errors of the database."""
    try:
        cursor.execute(text)
    except DatabaseError as error:
        if getattr(error.__cause__, "sqlstate", None) not in LOST:
            raise
        _memory_of(connections[DEFAULT_DB_ALIAS].connection).is_sure = False
        raise StatementsLost(str(error)) from error


def _memory_of(raw: "Connection[Any]") -> _Memory:
    return _memories.setdefault(raw, _Memory())


@dataclass(frozen=True)
class _Prepared:
    name: str
    definition: str
    places: tuple[str, ...]
    """The names of its values in order; empty ones where they are told by their place."""


@cache
def _prepared(text: str) -> _Prepared:
    places: list[str] = []

    def number(match: re.Match[str]) -> str:
        name = match[1] or ""
        if not name or name not in places:
            places.append(name)
        return f"${places.index(name) + 1 if name else len(places)}"

    numbered = _PLACE.sub(number, text)
    name = f"tarsy_{blake2b(text.encode(), digest_size=12).hexdigest()}"
    return _Prepared(name, f"PREPARE {name} AS {numbered}", tuple(places))


def _prepare(wanted: Iterable[_Prepared]) -> _Escape:
    """Returns what quotes texts as the connection reads them."""
    database = connections[DEFAULT_DB_ALIAS]
    database.ensure_connection()
    memory = _memory_of(database.connection)
    texts: list[str] = []
    if not memory.is_sure:
        memory.names.clear()
        texts.append("DEALLOCATE ALL")
    new = {each.name: each.definition for each in wanted if each.name not in memory.names}
    if new:
        memory.is_sure = False
        with database.cursor() as cursor:
            cursor.execute(";\n".join((*texts, _WAIT, *new.values(), _WAIT_AS_BEFORE)))
        memory.names.update(new)
        memory.is_sure = True
    return Escaping(database.connection.pgconn).escape_literal


def _execution(prepared: _Prepared, literals: Sequence[str]) -> str:
    if len(literals) != len(prepared.places):
        raise ValueError(f"{len(prepared.places)} values are wanted, not {len(literals)}")
    told = f" ({', '.join(literals)})" if literals else ""
    return f"EXECUTE {prepared.name}{told}"


def _literal(value: object, escape: _Escape) -> str:
    """As PostgreSQL reads it for whatever type it is wanted in."""
    if value is None:
        return "NULL"
    if isinstance(value, list) and all(isinstance(each, _PLAIN) for each in value):
        text = f"{{{','.join(map(_member, value))}}}"
    elif isinstance(value, _PLAIN):
        text = str(value)
    else:
        return Literal(value).as_string(connection.connection)
    if "\x00" in text:
        raise DataError("PostgreSQL text fields cannot contain NUL (0x00) bytes")
    return str(escape(text.encode()), "utf-8")


def _member(value: object) -> str:
    """Of an array, in quotes whatever it holds."""
    if value is None:
        return "NULL"
    text = str(value).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text}"'

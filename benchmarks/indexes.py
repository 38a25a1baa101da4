"""Tables without their indexes and keys, for as long as millions of rows are written into them."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from django.db import connection
from django.db.models import Model


@contextmanager
def without_indexes(models: Sequence[type[Model]]) -> Iterator[None]:
    """Take indexes and keys away for a while: building them at the end is many times faster."""
    with connection.cursor() as cursor:
        cursor.execute(_CONSTRAINTS, [[model._meta.db_table for model in models]])
        constraints = cursor.fetchall()
        cursor.execute(_INDEXES)
        indexes = cursor.fetchall()
        for table, name, _ in constraints:
            cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for name, _ in indexes:
            cursor.execute(f"DROP INDEX {name}")
        yield
        cursor.execute("SET maintenance_work_mem = '1GB'")
        for _, definition in indexes:
            cursor.execute(definition)
        for table, name, definition in reversed(constraints):
            cursor.execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {definition}")


# Foreign keys first, as they rest on the primary ones.
_CONSTRAINTS = """
    SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid)
      FROM pg_constraint WHERE conrelid::regclass::text ~ '^investigations_'
       AND (contype = 'f' OR contype IN ('p', 'u') AND conrelid::regclass::text = ANY(%s))
     ORDER BY contype = 'f' DESC, conname
"""
_INDEXES = """
    SELECT indexrelid::regclass::text, pg_get_indexdef(indexrelid)
      FROM pg_index WHERE indrelid::regclass::text ~ '^investigations_'
       AND NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid)
"""

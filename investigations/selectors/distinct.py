"""The different values of indexed columns, however many rows have each."""

from collections.abc import Sequence

from django.db import connection

_OF_COLUMN = """
{name}(value) AS (
    (SELECT {column} FROM {table} WHERE {only} AND {column} <> '' ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT {column} FROM {table}
             WHERE {only} AND {column} <> '' AND {column} > {name}.value ORDER BY {column} LIMIT 1)
      FROM {name} WHERE {name}.value IS NOT NULL
)"""
_READ = "(SELECT {number}, value FROM {name} WHERE value IS NOT NULL LIMIT %s)"


def values_by_column(
    table: str, columns: Sequence[str], *, only: str = "TRUE", most: int | None = None
) -> list[list[str]]:
    """For each of the columns those that are not empty, in order, `most` of them at most.

    One look into the index of the column for each value, and one round trip for all. `table`,
    `columns` and the condition `only` are SQL, and never a caller's text.
    """
    found = [
        _OF_COLUMN.format(name=f"of_{number}", column=column, table=table, only=only)
        for number, column in enumerate(columns)
    ]
    read = [_READ.format(number=number, name=f"of_{number}") for number in range(len(columns))]
    with connection.cursor() as cursor:
        sql = f"WITH RECURSIVE {','.join(found)} {' UNION ALL '.join(read)}"
        cursor.execute(sql, [most] * len(columns))
        rows = cursor.fetchall()
    return [_of(rows, number) for number in range(len(columns))]


def _of(rows: Sequence[tuple[int, str]], number: int) -> list[str]:
    """Those of one column, in the order in which the database has them."""
    return [value for which, value in rows if which == number]


def distinct_values(
    table: str, column: str, *, only: str = "TRUE", most: int | None = None
) -> list[str]:
    """The same of one column."""
    return values_by_column(table, [column], only=only, most=most)[0]

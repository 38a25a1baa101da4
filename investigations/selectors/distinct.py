"""The different values of an indexed column, however many rows have each."""

from django.db import connection

_DISTINCT = """
WITH RECURSIVE found(value) AS (
    (SELECT {column} FROM {table} WHERE {only} ORDER BY {column} LIMIT 1)
    UNION ALL
    SELECT (SELECT {column} FROM {table}
             WHERE {only} AND {column} > found.value ORDER BY {column} LIMIT 1)
      FROM found WHERE found.value IS NOT NULL
)
SELECT value FROM found WHERE value <> '' LIMIT %s
"""


def distinct_values(
    table: str, column: str, *, only: str = "TRUE", most: int | None = None
) -> list[str]:
    """Those that are not empty, in order: one look into the index of the column for each.

    `table`, `column` and the condition `only` are SQL, and never a caller's text.
    """
    with connection.cursor() as cursor:
        cursor.execute(_DISTINCT.format(table=table, column=column, only=only), [most])
        return [value for (value,) in cursor.fetchall()]

"""A limit on how long the database works for somebody who may ask for anything."""

from collections.abc import Callable
from typing import TypeVar

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from tarsy.errors import TookTooLong

T = TypeVar("T")


def call_within(seconds: float, select: Callable[[], T]) -> T:
    """What a selector answers. Raises TookTooLong where one statement takes longer than this."""
    try:
        # Within another transaction the limit would last to the end of that one.
        with transaction.atomic(durable=True):
            with connection.cursor() as cursor:
                # Ends with the transaction: the connection is shared with services that may wait.
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true)", [f"{seconds * 1000:.0f}"]
                )
            return select()
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong(seconds) from error
        raise

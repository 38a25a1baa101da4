"""A limit on how long the database works for somebody who may ask for anything."""

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from django.db import OperationalError, connection, transaction
from psycopg.errors import QueryCanceled

from tarsy.errors import TookTooLong

P = ParamSpec("P")
T = TypeVar("T")


def call_within(seconds: float, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a selector answers. Raises TookTooLong where one statement takes longer than this."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                # Ends with the transaction: the connection is shared with services that may wait.
                cursor.execute(
                    "SELECT set_config('statement_timeout', %s, true)", [f"{seconds * 1000:.0f}"]
                )
            return function(*args, **kwargs)
    except OperationalError as error:
        if isinstance(error.__cause__, QueryCanceled):
            raise TookTooLong(seconds) from error
        raise

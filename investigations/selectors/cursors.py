"""Places in a list that is ordered by a moment and an id, newest first."""

import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar

from django.db.models import Model, Q, QuerySet
from django.utils.dateparse import parse_datetime

from tarsy.errors import InvalidInput

Row = TypeVar("Row", bound=Model)


def read_page(
    rows: QuerySet[Row], moment_field: str, cursor: str, size: int
) -> tuple[list[Row], str]:
    """The rows behind a cursor, newest first, and where the page after them begins, if any does.

    Raises InvalidInput for a cursor that is none.
    """
    behind = _after(rows, moment_field, cursor).order_by(f"-{moment_field}", "-pk")
    found = list(behind[: size + 1])
    shown = found[:size]
    if len(found) <= size:
        return shown, ""
    return shown, write_cursor(getattr(shown[-1], moment_field), shown[-1].pk)


def rows_behind(key: Sequence[str], last: Sequence[Any] | None, *, newest_first: bool) -> Q:
    """What comes after the row whose key has these values; every row where there is none."""
    if last is None:
        return Q()
    than = "lt" if newest_first else "gt"
    wanted = Q((f"{key[-1]}__{than}", last[-1]))
    for name, value in zip(key[:-1], last[:-1], strict=True):
        # The first bound is for the index; the rest is what it means.
        wanted = Q((f"{name}__{than}e", value)) & (Q((f"{name}__{than}", value)) | wanted)
    return wanted


def write_cursor(moment: datetime, row_id: uuid.UUID) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%dT%H:%M:%S.%fZ}_{row_id}"


def _after(rows: QuerySet[Row], moment_field: str, cursor: str) -> QuerySet[Row]:
    """The rows behind a cursor, all where it is empty. Raises InvalidInput for what is none."""
    if not cursor:
        return rows
    moment, row_id = _read_cursor(cursor)
    return rows.filter(**{f"{moment_field}__lte": moment}).exclude(
        **{moment_field: moment, "pk__gte": row_id}
    )


def _read_cursor(cursor: str) -> tuple[datetime, uuid.UUID]:
    when, _, identity = cursor.partition("_")
    try:
        moment, row_id = parse_datetime(when), uuid.UUID(identity)
        if moment is not None and moment.tzinfo is not None:
            # A moment near the end of all calendars may have none in UTC.
            return moment.astimezone(UTC), row_id
    except (ValueError, OverflowError):
        pass
    raise InvalidInput("before", "is not a place in this list; take the address of a page link")

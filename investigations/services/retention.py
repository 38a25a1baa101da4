"""Removing what is old, in bounded steps."""

from django.db import connection

from config import get_config

BATCH = 500
"""Sessions removed by one statement; everything below them goes by the database's cascade."""


def remove_old_sessions() -> int:
    """Delete sessions that ended longer ago than `system.retention` keeps them; returns how many.

    Each batch is a statement and a transaction of its own, so that nothing waits long for it.
    """
    keep_days = get_config().system.retention.session_retention_days
    removed = 0
    while batch := _remove_batch(keep_days):
        removed += batch
    return removed


def _remove_batch(keep_days: int) -> int:
    with connection.cursor() as cursor:
        cursor.execute(
            """
            DELETE FROM investigations_alertsession WHERE id IN (
                SELECT id FROM investigations_alertsession
                 WHERE completed_at < now() - make_interval(days => %s)
                 ORDER BY completed_at LIMIT %s
                   FOR UPDATE SKIP LOCKED
            )
            """,
            [keep_days, BATCH],
        )
        return int(cursor.rowcount)

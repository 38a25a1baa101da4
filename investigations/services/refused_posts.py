"""Counting the posts of alert sources that were refused."""

from django.db import connection

from masking.visible_text import clean_line

_COUNT = """
    INSERT INTO investigations_refusedposts
           (source, code, hour, count, last_at, last_address, last_reason)
    VALUES (%s, %s, date_trunc('hour', now(), 'UTC'), 1, now(), %s, %s)
    ON CONFLICT (hour, source, code) DO UPDATE
       SET count = investigations_refusedposts.count + 1, last_at = excluded.last_at,
           last_address = excluded.last_address, last_reason = excluded.last_reason
"""
_LONGEST_REASON = 300
_LONGEST_ADDRESS = 100


def count_refused_post(*, source: str, code: str, address: str, reason: str) -> None:
    """Count one more. `source` is that of a known source, or `RefusedPosts.UNKNOWN`."""
    with connection.cursor() as cursor:
        cursor.execute(
            _COUNT,
            [
                source[:100],
                code,
                clean_line(address, _LONGEST_ADDRESS),
                clean_line(reason, _LONGEST_REASON),
            ],
        )

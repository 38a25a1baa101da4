"""Earlier sessions about the same thing, with what was found then."""

import uuid
from collections.abc import Sequence

from investigations.models import AlertSession
from investigations.selectors.likeness import gist_of
from investigations.selectors.session_list.rows import OutcomeRow, light, rows_of
from investigations.selectors.sessions import visible_sessions

SHOWN = 3
MOST_LOOKED_AT = 500
"""Earlier sessions of the same alert type that are compared, the newest."""


def find_similar(session: AlertSession) -> list[OutcomeRow]:
    """The newest that ended before this one came, and had the same title but for its figures."""
    wanted = gist_of(session.title)
    if not wanted:
        return []
    earlier = (
        visible_sessions()
        .filter(
            created_at__lt=session.created_at,
            alert_type=session.alert_type,
            status__in=AlertSession.TERMINAL,
        )
        .order_by("-created_at", "-id")
        .values_list("pk", "title", "service")[:MOST_LOOKED_AT]
    )
    alike = [
        pk
        for pk, title, service in earlier
        if gist_of(title) == wanted and service in ("", session.service)
    ]
    return _read(alike[:SHOWN])


def _read(ids: Sequence[uuid.UUID]) -> list[OutcomeRow]:
    found = light(AlertSession.objects.filter(pk__in=ids)).in_bulk()
    return rows_of([found[pk] for pk in ids if pk in found])

"""Earlier sessions about the same thing, with what was found then."""

import re
import uuid
from collections.abc import Sequence

from django.db.models import Q

from investigations.models import AlertSession
from investigations.selectors.session_list.rows import OutcomeRow, light, outcome_line
from investigations.selectors.sessions import visible_sessions

SHOWN = 3
MOST_LOOKED_AT = 500
"""Earlier sessions of the same alert type that are compared, the newest."""
# Two titles tell the same where they differ in figures and ids alone.
_VARIABLE = re.compile(r"\b(?=[a-f-]*\d)[0-9a-f-]{8,}\b|\d+(?:[.,:]\d+)*")


def find_similar(session: AlertSession) -> list[OutcomeRow]:
    """The newest that ended before this one came, and had the same title but for its figures."""
    wanted = _gist(session.title)
    if not wanted:
        return []
    before = Q(created_at__lt=session.created_at)
    earlier = (
        visible_sessions()
        .filter(before, alert_type=session.alert_type, status__in=AlertSession.TERMINAL)
        .order_by("-created_at", "-id")
        .values_list("pk", "title", "service")[:MOST_LOOKED_AT]
    )
    alike = [
        pk
        for pk, title, service in earlier
        if _gist(title) == wanted and service in ("", session.service)
    ]
    return _read(alike[:SHOWN])


def _gist(title: str) -> str:
    return _VARIABLE.sub("#", title.lower())


def _read(ids: Sequence[uuid.UUID]) -> list[OutcomeRow]:
    found = light(AlertSession.objects.filter(pk__in=ids)).in_bulk()
    return [OutcomeRow(found[pk], outcome_line(found[pk])) for pk in ids if pk in found]

"""What a list draws as the status of sessions that have ended."""

import uuid
from collections.abc import Mapping, Sequence

from agents.our_lines import find_our_lines
from agents.types import CHANGED, NOT_CARRIED_OUT, UNVERIFIED
from investigations.models import AlertSession
from investigations.selectors.changes import NOTHING
from investigations.selectors.outcomes import name_outcome, read_undone_asks

_NOTHING = NOTHING.removeprefix(CHANGED).strip()


def read_states(sessions: Sequence[AlertSession]) -> Mapping[uuid.UUID, str]:
    """By session that `rows.light` has read."""
    ended = [each.pk for each in sessions if each.is_terminal]
    undone = read_undone_asks(ended) if ended else {}
    return {each.pk: _name(each, has_undone_ask=bool(undone.get(each.pk))) for each in sessions}


def _name(session: AlertSession, *, has_undone_ask: bool) -> str:
    start: str = session.analysis_start or ""  # type: ignore[attr-defined]
    changes = find_our_lines(start, CHANGED)
    return name_outcome(
        session,
        has_open_write=bool(find_our_lines(start, UNVERIFIED)),
        has_undone_write=has_undone_ask or bool(find_our_lines(start, NOT_CARRIED_OUT)),
        has_change=any(line != _NOTHING for line in changes),
    )

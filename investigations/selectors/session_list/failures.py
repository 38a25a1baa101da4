"""Investigations that came to nothing, those of one cause together."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import QuerySet
from django.utils import timezone

from investigations.models import AlertSession
from investigations.selectors.likeness import gist_of
from investigations.selectors.session_list.rows import OutcomeRow, light, outcome_line
from investigations.selectors.sessions import visible_sessions

FAILED_WITHIN = timedelta(hours=24)
FAILED = (AlertSession.Status.FAILED, AlertSession.Status.TIMED_OUT)
MOST_LOOKED_AT = 500
"""The newest failures that are sorted by cause."""
_CAUSE_CHARACTERS = 300
# Two failures have one cause where they differ in names, ids and figures alone.
_NAME = re.compile(r'"[^"]{0,200}"')
_OF_STAGE = re.compile(r'^stage "[^"]{0,200}" [a-z ]{1,20}: ', re.IGNORECASE)


@dataclass(frozen=True)
class FailureGroup:
    """Sessions that failed of one cause, the newest first."""

    rows: Sequence[OutcomeRow]

    @property
    def newest(self) -> OutcomeRow:
        return self.rows[0]

    @property
    def others(self) -> Sequence[OutcomeRow]:
        return self.rows[1:]

    @property
    def cause(self) -> str:
        """In the words of the newest, without the stage that it struck."""
        return _OF_STAGE.sub("", self.newest.line)


def failures_of_last_day() -> QuerySet[AlertSession]:
    """Those that nobody has acknowledged, and whose incident was not looked into again."""
    return visible_sessions().filter(
        is_listed=True,
        status__in=FAILED,
        completed_at__gte=timezone.now() - FAILED_WITHIN,
        acknowledged_at=None,
    )


def read_failure_groups() -> list[FailureGroup]:
    """The cause that struck last first."""
    failed = light(failures_of_last_day()).order_by("-completed_at", "-id")
    return group_by_cause(failed[:MOST_LOOKED_AT])


def group_by_cause(failed: Iterable[AlertSession]) -> list[FailureGroup]:
    """Sessions that `rows.light` has read and that failed, the newest first."""
    groups: dict[str, list[OutcomeRow]] = {}
    for session in failed:
        row = OutcomeRow(session, outcome_line(session), session.status)
        groups.setdefault(_cause_key(row), []).append(row)
    return [FailureGroup(rows) for rows in groups.values()]


def _cause_key(row: OutcomeRow) -> str:
    said = _OF_STAGE.sub("", row.line)[:_CAUSE_CHARACTERS]
    return f"{row.session.status} {gist_of(_NAME.sub('#', said))}"

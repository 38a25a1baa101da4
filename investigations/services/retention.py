"""Letting go of what is old, in bounded steps: hidden first, deleted later."""

import logging
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from typing_extensions import override

from config import get_config
from investigations.services.incidents.listing import list_again

logger = logging.getLogger(__name__)

BATCH = 500
"""Sessions hidden or deleted by one statement; what belongs to them goes by the database's cascade.
"""

EVENT_BATCH = 5000
"""Stream messages deleted by one statement; nothing hangs on them."""

GRACE = timedelta(days=30)
"""How long a hidden session can still be brought back, in the administration."""

_NOBODY_ASKS = """
    NOT EXISTS (SELECT FROM investigations_stage stage
                 WHERE stage.session_id = session.id AND stage.completed_at IS NULL)
"""

_ENDED_LONG_AGO = f"""
    SELECT session.id FROM investigations_alertsession session
     WHERE session.completed_at < now() - make_interval(secs => %(age)s)
       AND session.deleted_at IS NULL AND {_NOBODY_ASKS}
     ORDER BY session.completed_at
"""
_WAITED_TOO_LONG = """
    SELECT session.id FROM investigations_alertsession session
     WHERE session.created_at < now() - make_interval(secs => %(age)s)
       AND session.status = 'pending' AND session.deleted_at IS NULL
     ORDER BY session.created_at
"""
_HIDDEN_LONG_AGO = """
    SELECT session.id FROM investigations_alertsession session
     WHERE session.deleted_at < now() - make_interval(secs => %(age)s)
     ORDER BY session.deleted_at
"""
_OLD_EVENTS = f"""
    SELECT event.id FROM investigations_event event
      JOIN investigations_alertsession session ON session.id = event.session_id
     WHERE event.created_at < now() - make_interval(secs => %(age)s)
       AND session.completed_at IS NOT NULL AND {_NOBODY_ASKS}
     ORDER BY event.created_at
"""
# Deliveries are many and tell of one moment; incidents are kept as long as their sessions.
_OLD_INCIDENTS = """
    SELECT incident.id FROM investigations_incident incident
     WHERE incident.opened_at < now() - make_interval(secs => %(age)s)
       AND incident.last_seen_at < now() - make_interval(secs => %(age)s)
       AND NOT EXISTS (SELECT FROM investigations_alertsession session
                        WHERE session.incident_id = incident.id)
     ORDER BY incident.opened_at
"""
_OLD_ALERTS = """
    SELECT episode.id FROM investigations_alertepisode episode
     WHERE episode.last_seen_at < now() - make_interval(secs => %(age)s)
       AND episode.incident_id IS NULL
     ORDER BY episode.last_seen_at
"""


@dataclass(frozen=True)
class _Step:
    """One kind of row to let go of: the statement, which rows, and how many at once."""

    change: str
    found: str
    table: str
    batch: int

    def apply(self, age: timedelta) -> int:
        """Change every row that is found, in batches; returns how many."""
        rows = f"{self.found} LIMIT %(batch)s FOR UPDATE OF {self.table} SKIP LOCKED"
        # Materialized: a plan may run a plain subquery once per row, past the limit.
        found = f"WITH found AS MATERIALIZED ({rows})"
        total = 0
        while changed := self._execute(
            f"{found} {self.change} WHERE id IN (SELECT id FROM found)", age
        ):
            total += changed
        return total

    def _execute(self, statement: str, age: timedelta) -> int:
        with connection.cursor() as cursor:
            cursor.execute(statement, {"age": age.total_seconds(), "batch": self.batch})
            return int(cursor.rowcount)

    def count(self, age: timedelta) -> int:
        """How many rows `apply` would change."""
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT count(*) FROM ({self.found}) AS found", {"age": age.total_seconds()}
            )
            return int(cursor.fetchone()[0])


def _delete_old(table: str, moment: str, batch: int) -> _Step:
    """Rows on which nothing else depends, by the column that says when they were."""
    name = f"investigations_{table}"
    found = f"""
        SELECT old.id FROM {name} old
         WHERE old.{moment} < now() - make_interval(secs => %(age)s)
         ORDER BY old.{moment}
    """
    return _Step(f"DELETE FROM {name}", found, "old", batch)


_HIDE = "UPDATE investigations_alertsession SET deleted_at = now()"


def _steps() -> dict[str, list[tuple[_Step, timedelta]]]:
    """What is done, in order, with the age from which on it is."""
    retention = get_config().system.retention
    keep = timedelta(days=retention.session_retention_days)
    keep_posts = timedelta(days=retention.delivery_retention_days)
    delete = _Step("DELETE FROM investigations_alertsession", _HIDDEN_LONG_AGO, "session", BATCH)
    forget = _Step("DELETE FROM investigations_event", _OLD_EVENTS, "event", EVENT_BATCH)
    unlearn = _delete_old("resourcenote", "told_at", BATCH)
    pardon = _delete_old("refusedposts", "hour", BATCH)
    alerts = _Step("DELETE FROM investigations_alertepisode", _OLD_ALERTS, "episode", BATCH)
    incidents = _Step("DELETE FROM investigations_incident", _OLD_INCIDENTS, "incident", BATCH)
    posts = _delete_old("delivery", "received_at", EVENT_BATCH)
    windows = _delete_old("maintenancewindow", "ends_at", BATCH)
    return {
        "hidden": [
            (_Step(_HIDE, _ENDED_LONG_AGO, "session", BATCH), keep),
            (_Step(_HIDE, _WAITED_TOO_LONG, "session", BATCH), keep),
        ],
        "deleted": [(delete, GRACE)],
        "events": [(forget, retention.event_ttl)],
        "notes": [(unlearn, keep)],
        "deliveries": [(posts, keep_posts), (pardon, keep_posts)],
        "incidents": [(incidents, keep), (alerts, keep), (windows, keep)],
    }


@dataclass(frozen=True)
class Cleanup:
    """How much was let go of, or would be."""

    hidden: int
    """Sessions that vanish from every list and page."""
    deleted: int
    """Sessions that were hidden `GRACE` ago and now leave the database."""
    events: int
    """Stream messages of sessions that have ended. A page that missed them loads anew."""
    notes: int = 0
    """Notes about resources that nobody has told for as long as sessions are shown."""
    deliveries: int = 0
    """Posts of alert sources, and the counts of those that were refused."""
    incidents: int = 0
    """Incidents without a session, with their alerts; alerts without an incident, old windows."""

    @override
    def __str__(self) -> str:
        return (
            f"{self.hidden} sessions hidden, {self.deleted} sessions deleted, "
            f"{self.events} stream messages deleted, {self.notes} notes deleted, "
            f"{self.deliveries} deliveries deleted, {self.incidents} incidents deleted"
        )


def apply_retention() -> Cleanup:
    """Hide, and later delete, what is older than `system.retention` keeps it.

    Each batch is a statement and a transaction of its own, so that nothing waits long for it, and
    rows that somebody writes at this moment are left for the next time.
    """
    done = Cleanup(
        **{kind: sum(step.apply(age) for step, age in steps) for kind, steps in _steps().items()}
    )
    # One session of an incident may go before another one, whose chat still answers or which ran
    # longer. The list is of incidents, and shows one by the newest session that is there.
    while list_again(BATCH) == BATCH:
        pass
    logger.info("Retention: %s", done)
    return done


def count_old() -> Cleanup:
    """What `apply_retention` would do now."""
    return Cleanup(
        **{kind: sum(step.count(age) for step, age in steps) for kind, steps in _steps().items()}
    )

"""One short transaction over one session, with its events.

Every write about a session goes through `session_write`, which locks the session's row first.
That gives three things: `seq` and tool numbers are gapless and in commit order, two writers of one
session can never deadlock, and the status read at the start still holds at the end. What a worker
writes while it runs an execution goes through `lease_write`: the same in four round trips.
"""

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from typing import cast

from django.db import connection, transaction
from django.utils import timezone

from investigations.doorbell import publish
from investigations.models import AgentExecution, AlertSession, AuditEvent, TimelineEvent
from investigations.services.statements import Statements
from investigations.stream_messages import (
    SESSIONS_CHANNEL,
    Payload,
    session_channel,
    timeline_event_created,
    with_event_id,
)
from tarsy.errors import LeaseLost, NotFound
from tarsy.uptime import uptime

_INSERT_EVENT = """
INSERT INTO investigations_event (session_id, seq, channel, payload) VALUES (%s, %s, %s, %s::jsonb)
"""
_SAVE_COUNTERS = """
UPDATE investigations_alertsession SET last_seq = %s, last_tool_number = %s,
       last_interaction_at = COALESCE(%s, last_interaction_at)
 WHERE id = %s
"""
# Two statements, because each has a snapshot of its own: the second one sees what was committed
# while the first one waited for the lock.
_LOCK_UNDER_LEASE = """
SELECT last_seq, last_tool_number FROM investigations_alertsession WHERE id = %s FOR UPDATE;
SELECT (SELECT COALESCE(MAX(sequence_number), 0)
          FROM investigations_message WHERE execution_id = execution.id),
       EXTRACT(EPOCH FROM clock_timestamp() - heartbeat_at)::float8
  FROM investigations_agentexecution AS execution
 WHERE id = %s AND lease_token = %s AND status = 'active'
"""


class SessionWrite:
    """What is being written about one session; made by `session_write`."""

    def __init__(self, session: AlertSession) -> None:
        self.session = session
        self.rows = Statements()
        """Rows that are written at the end, with the events, in one round trip."""
        self.audit: list[AuditEvent] = []
        """What goes into the audit trail, as the very last: from there on others wait for us."""
        self._stored: list[Payload] = []
        self._global: list[Payload] = []
        self._is_touched = False

    def tell(self, payload: Payload) -> int:
        """Store a message of the session's stream; it is sent after commit. Returns its `seq`."""
        self.session.last_seq += 1
        self._stored.append(with_event_id(payload, self.session.last_seq))
        return self.session.last_seq

    def tell_lists(self, payload: Payload) -> None:
        """Send a message to list pages after commit without storing it."""
        self._global.append(payload)

    def announce(self, event: TimelineEvent) -> TimelineEvent:
        """Number a new timeline event and tell it; the caller saves the row."""
        event.sequence_number = self.session.last_seq + 1
        self.tell(timeline_event_created(event))
        return event

    def next_tool_number(self) -> int:
        self.session.last_tool_number += 1
        return self.session.last_tool_number

    def touch(self) -> None:
        """Note that the session has just got on."""
        self._is_touched = True

    def save(self) -> None:
        """Write the rows, the events and the counters; `session_write` calls it last."""
        session = self.session
        channel = session_channel(session.pk)
        texts = [json.dumps(payload) for payload in self._stored]
        for payload, text in zip(self._stored, texts, strict=True):
            self.rows.add(_INSERT_EVENT, [session.pk, payload["db_event_id"], channel, text])
        touched_at = timezone.now() if self._is_touched else None
        counters = [session.last_seq, session.last_tool_number]
        self.rows.add(_SAVE_COUNTERS, [*counters, touched_at, session.pk])
        for row in self.audit:
            self.rows.insert(row)
        self.rows.run()
        messages = [(channel, text) for text in texts]
        messages += [(SESSIONS_CHANNEL, json.dumps(payload)) for payload in self._global]
        if messages:
            transaction.on_commit(partial(publish, messages), robust=True)


class LeaseWrite(SessionWrite):
    """What the worker that runs an execution writes about it; made by `lease_write`."""

    def __init__(self, session: AlertSession, last_message: int) -> None:
        super().__init__(session)
        self._last_message = last_message

    def next_message_number(self) -> int:
        self._last_message += 1
        return self._last_message


def _locked_session(session_id: uuid.UUID) -> AlertSession | None:
    # The alert may have a megabyte and is never what a write is about.
    sessions = AlertSession.objects.defer("alert_data").select_for_update(of=("self",))
    return sessions.filter(pk=session_id).first()


@contextmanager
def session_write(session_id: uuid.UUID) -> Iterator[SessionWrite]:
    """Lock the session, write about it, and number and publish what was told.

    The yielded `session` is fresh; change it by conditional updates, not by `save()`.
    Raises NotFound when there is no such session.
    """
    with transaction.atomic():
        session = _locked_session(session_id)
        if session is None:
            raise NotFound(f"there is no session {session_id}")
        write = SessionWrite(session)
        yield write
        write.save()


@contextmanager
def lease_write(execution: AgentExecution) -> Iterator[LeaseWrite]:
    """The same for the worker that runs an execution, under the lease it claimed it with.

    Of the session only the counters are loaded. Raises LeaseLost when the lease is no longer ours.
    """
    with transaction.atomic():
        write = _lock_under_lease(execution)
        yield write
        write.save()


def _lock_under_lease(execution: AgentExecution) -> LeaseWrite:
    session_id = execution.session_id
    with connection.cursor() as cursor:
        asked_at = uptime()
        cursor.execute(_LOCK_UNDER_LEASE, [session_id, execution.pk, execution.lease_token])
        counters = cursor.fetchone()
        cursor.nextset()
        held = cursor.fetchone()
    if counters is None or held is None:
        raise LeaseLost(f"execution {execution.pk} is no longer ours")
    last_message, seconds_since_renewal = held
    # Asked before it was answered, so this is never later than the truth; nor is it where the
    # database's clock was set back.
    execution.lease_renewed_at = asked_at - max(0.0, seconds_since_renewal)
    names = ["id", "last_seq", "last_tool_number"]
    session = AlertSession.from_db(connection.alias, names, [session_id, *counters])
    return LeaseWrite(session, last_message)


def database_now() -> datetime:
    """The moment by the one clock that every process shares: deadlines are told by no other."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        [now] = cursor.fetchone()
    return cast(datetime, now)


def refuse_deleted(session: AlertSession) -> None:
    """Raise NotFound for a session that retention has hidden: nobody may act on it any more."""
    if session.deleted_at is not None:
        raise NotFound(f"there is no session {session.pk}")

"""One short transaction over one session, with its events.

Every write about a session goes through `session_write`, which locks the session's row first.
That gives three things: `seq` and tool numbers are gapless and in commit order, two writers of one
session can never deadlock, and the status read at the start still holds at the end.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from django.db import transaction
from django.utils import timezone

from investigations.models import AlertSession, Event, TimelineEvent
from investigations.publish import publish
from investigations.timeline import (
    SESSIONS_CHANNEL,
    Payload,
    session_channel,
    timeline_event_created,
    with_event_id,
)
from tarsy.errors import NotFound


class SessionWrite:
    """What is being written about one session; made by `session_write`."""

    def __init__(self, session: AlertSession) -> None:
        self.session = session
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
        """Write the events and the counters; `session_write` calls it last."""
        channel = session_channel(self.session.pk)
        Event.objects.bulk_create(
            Event(
                session_id=self.session.pk,
                seq=payload["db_event_id"],
                channel=channel,
                payload=payload,
            )
            for payload in self._stored
        )
        touched = {"last_interaction_at": timezone.now()} if self._is_touched else {}
        AlertSession.objects.filter(pk=self.session.pk).update(
            last_seq=self.session.last_seq,
            last_tool_number=self.session.last_tool_number,
            **touched,
        )
        transaction.on_commit(partial(publish, channel, self._stored), robust=True)
        transaction.on_commit(partial(publish, SESSIONS_CHANNEL, self._global), robust=True)


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

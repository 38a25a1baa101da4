"""One session, many writers: the numbers stay gapless and in commit order."""

import json
import uuid

import pytest
import redis
from django.db import DatabaseError, connection

from investigations.doorbell import stream_channel
from investigations.models import AlertSession, Event, TimelineEvent
from investigations.services.ledger import session_write
from investigations.stream_messages import session_channel
from tarsy.errors import NotFound
from tests.factories import SessionFactory
from tests.investigations.engine import committed, run_at_once, seqs

pytestmark = committed

WRITERS = 8
WRITES = 10


def tell(write, text="told") -> int:
    return write.tell({"type": "test", "text": text})


def test_many_writers_of_one_session_leave_no_gap_and_number_in_commit_order():
    session = SessionFactory()

    def write_often():
        for _ in range(WRITES):
            with session_write(session.pk) as write:
                tell(write)
                write.next_tool_number()
                tell(write)

    assert run_at_once(*[write_often] * WRITERS) == [None] * WRITERS

    session.refresh_from_db()
    total = WRITERS * WRITES
    # `id` comes from a sequence drawn under the session's lock, so it grows with commits.
    assert seqs(session.pk) == list(range(1, 2 * total + 1))
    assert (session.last_seq, session.last_tool_number) == (2 * total, total)


def test_a_reader_never_sees_a_later_number_before_an_earlier_one():
    session = SessionFactory()

    def write_often():
        for _ in range(WRITES * 2):
            with session_write(session.pk) as write:
                tell(write)

    def read_until_done():
        seen: list[int] = []
        while len(seen) < 3 * WRITES * 2:
            newest = seen[-1] if seen else 0
            found = Event.objects.filter(session_id=session.pk, seq__gt=newest)
            seen += list(found.order_by("seq").values_list("seq", flat=True))
        return seen

    *written, seen = run_at_once(*[write_often] * 3, read_until_done)

    assert written == [None] * 3
    assert seen == list(range(1, len(seen) + 1))


def test_what_is_rolled_back_leaves_no_gap_and_tells_nobody(clean_redis: redis.Redis):
    session = SessionFactory()
    listener = clean_redis.pubsub(ignore_subscribe_messages=True)
    listener.subscribe(stream_channel(session_channel(session.pk)))
    listener.get_message(timeout=5)

    def write_and_fail():
        with session_write(session.pk) as write:
            tell(write, "lost")
            write.next_tool_number()
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        write_and_fail()
    with session_write(session.pk) as write:
        assert tell(write, "kept") == 1

    assert seqs(session.pk) == [1]
    message = None
    while message is None:
        message = listener.get_message(timeout=5)
    assert json.loads(message["data"])["text"] == "kept"
    assert json.loads(message["data"])["db_event_id"] == 1
    assert listener.get_message(timeout=0) is None
    listener.close()


def test_a_statement_that_fails_at_commit_leaves_no_gap():
    session = SessionFactory()

    def write_about_an_unknown_execution():
        with session_write(session.pk) as write:
            event = TimelineEvent(
                session_id=session.pk, execution_id=uuid.uuid4(), event_type="error"
            )
            write.announce(event)
            event.save(force_insert=True)

    with pytest.raises(DatabaseError):
        write_about_an_unknown_execution()

    session.refresh_from_db()
    assert (seqs(session.pk), session.last_seq) == ([], 0)


def test_sessions_do_not_wait_for_each_other():
    first, second = SessionFactory(), SessionFactory()

    with session_write(first.pk) as write:
        tell(write)

        def write_second():
            with connection.cursor() as cursor:
                cursor.execute("SET lock_timeout = '5s'")
            with session_write(second.pk) as other:
                return tell(other)

        assert run_at_once(write_second) == [1]


def test_a_timeline_event_carries_the_number_it_was_announced_with():
    session = SessionFactory()
    with session_write(session.pk) as write:
        tell(write)
        event = write.announce(TimelineEvent(session_id=session.pk, event_type="error"))
        event.save(force_insert=True)

    stored = Event.objects.get(session_id=session.pk, seq=event.sequence_number)
    assert stored.payload["event_id"] == str(event.pk)
    assert stored.payload["db_event_id"] == event.sequence_number == 2


def test_there_is_nothing_to_write_about_an_unknown_session():
    with pytest.raises(NotFound), session_write(uuid.uuid4()):
        raise AssertionError("the block must not run")
    assert not AlertSession.objects.exists()

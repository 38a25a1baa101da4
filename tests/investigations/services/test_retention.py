"""What is old goes, in bounded steps, and nothing else."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.utils import timezone

from investigations.models import (
    AlertEpisode,
    AlertSession,
    Delivery,
    Event,
    Incident,
    ResourceNote,
)
from investigations.selectors.session_list.rows import read_recent
from investigations.selectors.sessions import SessionFilter
from investigations.selectors.timeline import is_visible, list_stream
from investigations.services import retention
from investigations.services.chat import ask_question
from investigations.services.intake import read_alert, submit_alert
from investigations.services.retention import Cleanup, apply_retention, count_old
from investigations.services.sessions import cancel_session, claim_next_session
from tarsy.errors import NotFound, QueueFull
from tests.factories import (
    DeliveryFactory,
    EpisodeFactory,
    EventFactory,
    ExecutionFactory,
    IncidentFactory,
    ResourceNoteFactory,
    SessionFactory,
    StageFactory,
)

pytestmark = pytest.mark.django_db


def ended(*, days_ago: float, **fields: object) -> AlertSession:
    moment = timezone.now() - timedelta(days=days_ago)
    return SessionFactory(completed=True, started_at=moment, completed_at=moment, **fields)


def hidden(*, days_ago: float) -> AlertSession:
    return ended(days_ago=400, deleted_at=timezone.now() - timedelta(days=days_ago))


def told(session: AlertSession, *, hours_ago: float) -> Event:
    return EventFactory(session=session, created_at=timezone.now() - timedelta(hours=hours_ago))


def visible() -> set[AlertSession]:
    return set(AlertSession.objects.filter(deleted_at=None))


def test_sessions_are_shown_as_long_as_the_configuration_says_and_no_longer():
    old, young = ended(days_ago=365.1), ended(days_ago=364.9)
    waiting_for_ever = SessionFactory(created_at=timezone.now() - timedelta(days=366))
    others = [
        SessionFactory(),
        SessionFactory(running=True, created_at=timezone.now() - timedelta(days=900)),
        SessionFactory(cancelling=True, created_at=timezone.now() - timedelta(days=900)),
    ]

    assert apply_retention() == Cleanup(hidden=2, deleted=0, events=0)

    assert visible() == {young, *others}
    assert set(AlertSession.objects.all()) == {old, waiting_for_ever, young, *others}
    assert apply_retention() == Cleanup(0, 0, 0)


def test_a_hidden_session_leaves_the_database_thirty_days_later_with_all_that_is_its():
    old, young = hidden(days_ago=30.1), hidden(days_ago=29.9)
    for session in (old, young):
        StageFactory(session=session, completed=True)
        told(session, hours_ago=0)

    assert apply_retention() == Cleanup(hidden=0, deleted=1, events=0)

    assert set(AlertSession.objects.all()) == {young}
    assert set(Event.objects.values_list("session_id", flat=True)) == {young.pk}


def test_a_session_whose_chat_is_answering_is_left_alone():
    session = ended(days_ago=400)
    StageFactory(session=session, stage_type="chat", active=True)
    told(session, hours_ago=400 * 24)

    assert apply_retention() == Cleanup(0, 0, 0)


def test_stream_messages_of_ended_sessions_go_after_their_time_and_others_stay():
    done, running = ended(days_ago=1), SessionFactory(running=True)
    told(done, hours_ago=1.1)
    kept = [told(done, hours_ago=0.9), told(running, hours_ago=48)]

    assert apply_retention() == Cleanup(hidden=0, deleted=0, events=1)

    assert set(Event.objects.all()) == set(kept)


def test_an_incident_whose_newest_session_is_hidden_is_shown_by_the_one_that_stays():
    incident = IncidentFactory()
    first = ended(days_ago=400, incident=incident, is_listed=False)
    StageFactory(session=first, stage_type="chat", active=True)
    ended(days_ago=390, incident=incident)

    assert apply_retention().hidden == 1

    shown = read_recent(SessionFilter(by_incident=True)).rows
    assert [each.session.pk for each in shown] == [first.pk]


def test_what_a_storm_has_taken_over_stays_out_of_the_list_after_retention():
    storm = IncidentFactory(kind="storm")
    ended(days_ago=10, incident=IncidentFactory(absorbed_by=storm), is_listed=False)

    apply_retention()

    assert read_recent(SessionFilter(by_incident=True)).rows == []


@pytest.mark.parametrize("act", [cancel_session, lambda pk, who: ask_question(pk, "?", author=who)])
def test_a_hidden_session_can_neither_be_stopped_nor_asked(act):
    for session in (hidden(days_ago=1), SessionFactory(deleted_at=timezone.now())):
        with pytest.raises(NotFound):
            act(session.pk, "engineer")


def test_a_hidden_session_is_in_no_list_and_on_no_stream():
    session = hidden(days_ago=1)
    told(session, hours_ago=0)

    assert read_recent(SessionFilter()).rows == []
    assert not is_visible(session.pk)
    assert list_stream(session.pk, after=0, limit=10) == []


def test_a_hidden_session_is_never_begun_and_takes_no_place_in_the_queue(reconfigure):
    SessionFactory(deleted_at=timezone.now())
    reconfigure("queue: {max_queue_size: 1}\n")

    assert claim_next_session() is None
    submit_alert(read_alert({"data": "disk full"}), author="test")
    with pytest.raises(QueueFull):
        submit_alert(read_alert({"data": "disk full"}), author="test")


def test_notes_go_once_nobody_has_told_them_for_as_long_as_sessions_are_shown():
    execution = ExecutionFactory()
    old, told_again = (
        ResourceNoteFactory(
            execution=execution,
            created_at=timezone.now() - timedelta(days=400),
            told_at=timezone.now() - timedelta(days=days),
        )
        for days in (365.1, 364.9)
    )

    assert apply_retention() == Cleanup(hidden=0, deleted=0, events=0, notes=1)

    assert list(ResourceNote.objects.all()) == [told_again]
    assert not ResourceNote.objects.filter(pk=old.pk).exists()


def test_notes_of_a_session_leave_the_database_with_it():
    ResourceNoteFactory(execution__stage__session=hidden(days_ago=31))

    assert apply_retention() == Cleanup(hidden=0, deleted=1, events=0)

    assert not ResourceNote.objects.exists()


def test_many_go_in_several_bounded_batches(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(retention, "BATCH", 2)
    monkeypatch.setattr(retention, "EVENT_BATCH", 2)
    for _ in range(5):
        told(ended(days_ago=400), hours_ago=2)

    # Ended ones 2 + 2 + 1 + 0, waiting ones 0, hidden ones 0, messages 2 + 2 + 1 + 0, notes 0,
    # deliveries 0, refusals 0, incidents 0, alerts 0, windows 0; those to be listed again, with the
    # two ends of their transaction.
    with django_assert_num_queries(19):
        assert apply_retention() == Cleanup(hidden=5, deleted=0, events=5)


def test_a_rehearsal_counts_the_same_and_changes_nothing():
    told(ended(days_ago=400), hours_ago=2)
    hidden(days_ago=31)
    before = set(AlertSession.objects.values_list("pk", "deleted_at"))

    out = StringIO()
    call_command("cleanup_retention", "--dry-run", stdout=out)

    expected = "1 sessions hidden, 1 sessions deleted, 1 stream messages deleted, "
    expected += "0 notes deleted, 0 deliveries deleted, 0 incidents deleted\n"
    assert out.getvalue() == f"would do: {expected}"
    assert set(AlertSession.objects.values_list("pk", "deleted_at")) == before
    assert Event.objects.count() == 1
    assert count_old() == Cleanup(1, 1, 1)

    out = StringIO()
    call_command("cleanup_retention", stdout=out)

    assert out.getvalue() == expected


@pytest.mark.parametrize(
    ("index", "found"),
    [
        ("session_ended", retention._ENDED_LONG_AGO),
        ("session_queue", retention._WAITED_TOO_LONG),
        ("session_deleted_id", retention._HIDDEN_LONG_AGO),
        ("event_created", retention._OLD_EVENTS),
    ],
)
def test_what_is_old_is_found_by_an_index(index, found):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        cursor.execute(f"EXPLAIN {found} LIMIT 500", {"age": 86_400})
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert index in plan


def test_posts_go_before_their_incidents_and_those_stay_as_long_as_their_sessions():
    long_ago = timezone.now() - timedelta(days=400)
    of_a_session = IncidentFactory(opened_at=long_ago, last_seen_at=long_ago)
    SessionFactory(incident=of_a_session)
    alone = EpisodeFactory(incident__opened_at=long_ago, incident__last_seen_at=long_ago)
    still_told_of = IncidentFactory(opened_at=long_ago)
    DeliveryFactory(received_at=timezone.now() - timedelta(days=31))
    young = DeliveryFactory(received_at=timezone.now() - timedelta(days=29))

    assert apply_retention() == Cleanup(0, 0, 0, deliveries=1, incidents=1)

    assert set(Incident.objects.all()) == {of_a_session, still_told_of}
    assert not AlertEpisode.objects.filter(pk=alone.pk).exists()
    assert list(Delivery.objects.all()) == [young]

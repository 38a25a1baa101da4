"""What is old goes, in bounded steps, and nothing else."""

from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from investigations.models import AlertSession, Event
from investigations.services import retention
from tests.factories import EventFactory, SessionFactory

pytestmark = pytest.mark.django_db


def ended(*, days_ago: float) -> AlertSession:
    moment = timezone.now() - timedelta(days=days_ago)
    return SessionFactory(completed=True, started_at=moment, completed_at=moment)


def test_sessions_are_kept_as_long_as_the_configuration_says_and_no_longer():
    old, young = ended(days_ago=365.1), ended(days_ago=364.9)
    for session in (old, young):
        EventFactory(session=session)
    still_open = [
        SessionFactory(created_at=timezone.now() - timedelta(days=900)),
        SessionFactory(running=True, started_at=timezone.now() - timedelta(days=900)),
        SessionFactory(cancelling=True),
    ]

    assert retention.remove_old_sessions() == 1

    assert set(AlertSession.objects.all()) == {young, *still_open}
    assert set(Event.objects.values_list("session_id", flat=True)) == {young.pk}


def test_many_go_in_several_bounded_batches(monkeypatch, django_assert_num_queries):
    monkeypatch.setattr(retention, "BATCH", 2)
    for _ in range(5):
        ended(days_ago=400)

    with django_assert_num_queries(4):
        assert retention.remove_old_sessions() == 5

    assert not AlertSession.objects.exists()


def test_nothing_is_old():
    ended(days_ago=1)

    assert retention.remove_old_sessions() == 0


def test_old_sessions_are_found_by_an_index():
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute(
            "EXPLAIN SELECT id FROM investigations_alertsession"
            " WHERE completed_at < now() ORDER BY completed_at LIMIT 500"
        )
        plan = "\n".join(line for (line,) in cursor.fetchall())
    assert "session_ended" in plan

"""What was found before of the same alert, and who else looks."""

from datetime import timedelta

import pytest
from django.utils import timezone

from investigations.selectors.similar_sessions import find_similar
from investigations.services import lookers
from tests.factories import SessionFactory, UserFactory

pytestmark = pytest.mark.django_db


def ago(days: int, title: str, **fields):
    at = timezone.now() - timedelta(days=days)
    return SessionFactory(completed=True, title=title, created_at=at, completed_at=at, **fields)


def test_a_session_names_the_newest_about_the_same_and_what_was_found(viewer):
    for days in (2, 3, 4, 5):
        ago(days, f"payments-api: 5xx rate {days}.1 %", final_analysis=f"The cache leaked, {days}.")
    ago(1, "payments-web: 5xx rate 4.1 %")
    ago(1, "payments-api: 5xx rate 7 %", alert_type="other")
    ago(1, "payments-api: 5xx rate 7 %", service="other")
    now = SessionFactory(title="payments-api: 5xx rate 11.8 %", service="payments")

    found = find_similar(now)
    page = viewer.get(f"/sessions/{now.pk}/").content.decode()

    assert [row.line for row in found] == [f"The cache leaked, {days}." for days in (2, 3, 4)]
    assert "Seen before" in page
    assert "The cache leaked, 2." in page


def test_what_came_later_or_has_no_title_is_nothing_like_it():
    first = ago(3, "disk full")
    ago(2, "disk full")

    assert find_similar(first) == []
    assert find_similar(ago(1, "")) == []


def test_people_on_a_page_see_each_other_and_not_themselves(client, clean_redis):
    session = SessionFactory()
    address = f"/sessions/{session.pk}/lookers/"
    told = []
    for name in ("ana", "ben", "ana"):
        client.force_login(UserFactory(username=f"{name}-{len(told)}" if told else name))
        told.append(client.get(address).content.decode())

    assert told == ["", "Also here: ana", "Also here: ana, ben-1"]


def test_who_has_closed_the_page_is_forgotten(clean_redis, monkeypatch):
    session = SessionFactory()
    lookers.look_at(session.pk, "ana")
    later = lookers.time.time() + lookers.SEEN_SECONDS + 1
    monkeypatch.setattr(lookers.time, "time", lambda: later)

    assert lookers.look_at(session.pk, "ben") == []

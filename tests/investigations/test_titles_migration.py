"""Sessions of before are found by their titles as well, once the database is brought up to date."""

from importlib import import_module

import pytest
from django.db import connection

from investigations.models import AlertSession, SessionText
from investigations.selectors.session_list.search import search_sessions
from tests.factories import SessionFactory

pytestmark = pytest.mark.django_db


def test_titles_of_earlier_sessions_are_searched_and_the_other_rows_left_alone():
    wanted = SessionFactory(title="DiskFull on shop-db-1", alert_data="x")
    same = SessionFactory(title="latency", alert_data="latency of checkout")
    SessionText.objects.filter(session=wanted).update(text="X\n")
    SessionText.objects.filter(session=same).update(text="LATENCY OF CHECKOUT\n")
    migration = import_module("investigations.migrations.0018_admin_lists")

    with connection.schema_editor() as editor:
        migration._add_titles(None, editor)

    found = search_sessions(AlertSession.objects.all(), "shop-db-1").sessions
    assert [each.pk for each in found] == [wanted.pk]
    assert SessionText.objects.get(session=same).text == "LATENCY OF CHECKOUT\n"

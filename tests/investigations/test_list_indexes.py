"""No list of sessions sorts a whole history, and monitoring reads none: both have their indexes."""

import pytest
from django.db import connection
from django.db.models import QuerySet

from investigations.models import AgentExecution, AlertSession
from investigations.selectors.sessions import SORTS, visible_sessions
from investigations.selectors.sessions import _sort as sort

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def as_with_many_rows():
    """A table with a million rows is not read as a whole, and not sorted."""
    with connection.cursor() as cursor:
        for way in ("seqscan", "sort", "incremental_sort", "bitmapscan"):
            cursor.execute(f"SET LOCAL enable_{way} = off")


def plan(rows: QuerySet) -> str:
    return rows.explain()


@pytest.mark.parametrize("is_descending", [True, False])
@pytest.mark.parametrize("key", SORTS)
def test_every_order_of_the_list_is_read_from_an_index(key, is_descending):
    assert "Sort" not in plan(sort(visible_sessions(), key, is_descending)[:25])


def test_monitoring_finds_what_happened_lately_in_indexes():
    recent = {"completed_at__gt": "2026-01-01T00:00:00Z"}
    rows = [
        AlertSession.objects.order_by().filter(started_at__gt="2026-01-01T00:00:00Z"),
        AgentExecution.objects.order_by().filter(**recent, attempt__gt=1),
        AgentExecution.objects.order_by().filter(**recent).exclude(original_llm_provider=""),
    ]

    assert all("Index Cond" in plan(each) for each in rows)

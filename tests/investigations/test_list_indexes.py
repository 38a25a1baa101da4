"""No list of sessions sorts or counts a whole history: what it asks for stands in an index."""

import pytest
from django.db import connection
from django.db.models import QuerySet

from investigations.models import AgentExecution, AlertSession
from investigations.selectors.sessions import SORTS, SessionFilter, narrow, visible_sessions
from investigations.selectors.sessions import _sort as sort

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def as_with_many_rows():
    """A table with a million rows is not read as a whole, and not sorted."""
    forbid("seqscan", "sort", "bitmapscan")


def forbid(*ways: str) -> None:
    with connection.cursor() as cursor:
        for way in ways:
            cursor.execute(f"SET LOCAL enable_{way} = off")


def plan(rows: QuerySet) -> str:
    return rows.explain()


@pytest.mark.parametrize("is_descending", [True, False])
@pytest.mark.parametrize("key", SORTS)
def test_every_order_of_the_list_is_read_from_an_index(key, is_descending):
    assert "Sort" not in plan(sort(visible_sessions(), key, is_descending)[:25])


@pytest.mark.parametrize(
    "wanted",
    [
        SessionFilter(),
        SessionFilter(statuses=["failed"]),
        SessionFilter(statuses=AlertSession.TERMINAL),
        SessionFilter(statuses=AlertSession.TERMINAL, alert_type="disk"),
        SessionFilter(statuses=AlertSession.TERMINAL, chain_id="direct"),
        SessionFilter(statuses=AlertSession.TERMINAL, author="ana"),
        SessionFilter(statuses=["failed"], author="ana", alert_type="disk", chain_id="direct"),
    ],
)
def test_whatever_a_list_filters_by_it_is_counted_without_reading_rows(wanted):
    forbid("indexscan")

    counted = narrow(visible_sessions(), wanted).sessions.order_by()[:100].values("pk")

    assert "Index Only Scan" in plan(counted)


def test_monitoring_finds_what_happened_lately_in_indexes():
    recent = {"completed_at__gt": "2026-01-01T00:00:00Z"}
    rows = [
        AlertSession.objects.order_by().filter(started_at__gt="2026-01-01T00:00:00Z"),
        AgentExecution.objects.order_by().filter(**recent, attempt__gt=1),
        AgentExecution.objects.order_by().filter(**recent).exclude(original_llm_provider=""),
    ]

    assert all("Index Cond" in plan(each) for each in rows)

"""Rows written without the ORM are the rows the ORM would have written."""

import uuid
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext
from psycopg.pq import TransactionStatus

from investigations.models import (
    AlertEpisode,
    Delivery,
    Incident,
    LLMInteraction,
    MCPInteraction,
    MemberChange,
    Message,
    TimelineEvent,
)
from investigations.services.statements import Statements
from tests.factories import EpisodeFactory, ExecutionFactory, IncidentFactory

pytestmark = pytest.mark.django_db

ODD = "100 % 'quoted' \\ back\\slash \n \u2028 %s %(x)s \U0001f600"


def ids(execution):
    return {
        "session_id": execution.session_id,
        "stage_id": execution.stage_id,
        "execution_id": execution.pk,
    }


ROWS = {
    "message": lambda e: Message(
        **ids(e),
        sequence_number=1,
        role="assistant",
        content=ODD,
        tool_calls=[{"id": ODD, "name": "ops__read", "arguments": "{}"}],
        provider_fields={"signature": [1, None, {"deep": ODD}]},
    ),
    "model call": lambda e: LLMInteraction(
        **ids(e),
        interaction_type="iteration",
        model_name="m",
        llm_request={"n": 1.5},
        input_tokens=7,
        estimated_cost_usd=0.25,
        last_message_id=uuid.uuid4(),
    ),
    "tool call": lambda e: MCPInteraction(
        **ids(e),
        interaction_type="tool_call",
        server_name="ops",
        tool_arguments={"path": ODD},
        tool_result=None,
    ),
    "event": lambda e: TimelineEvent(
        **ids(e),
        sequence_number=3,
        event_type="llm_response",
        metadata={"text": ODD, "none": None, "yes": True},
        created_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
    ),
}


def columns(row: models.Model) -> dict[str, object]:
    """As they stand in the database."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {row._meta.db_table} WHERE id = %s", [row.pk])
        names = [column.name for column in cursor.description]
        return dict(zip(names, cursor.fetchone(), strict=True))


@pytest.mark.parametrize("make", ROWS.values(), ids=ROWS.keys())
def test_an_inserted_row_is_the_one_that_save_would_have_made(make):
    row = make(ExecutionFactory(active=True))
    with transaction.atomic():
        row.save(force_insert=True)
        saved = columns(row)
        transaction.set_rollback(True)

    with transaction.atomic():
        statements = Statements()
        statements.insert(row)
        statements.run()

        assert columns(row) == saved
        transaction.set_rollback(True)


NOW = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
TAKEN = {
    "incident": lambda i, _e: Incident(
        id=uuid.uuid4(), source="plant", group_key=ODD, title=ODD, previous=i, opened_at=NOW,
        last_joined_at=NOW, last_seen_at=NOW,
    ),
    "alert": lambda i, _e: AlertEpisode(
        incident=i, source="plant", key=ODD, title=ODD, labels={ODD: ODD, "none": None, "n": 1.5},
        link=ODD, body=ODD, starts_at=NOW, first_seen_at=NOW, last_seen_at=NOW, count=7,
    ),
    "change": lambda i, e: MemberChange(incident=i, episode=e, kind="joined", at=NOW),
    "delivery": lambda i, _e: Delivery(
        source="plant", received_at=NOW, sha256="0" * 64, size=3, body=ODD, outcome="joined",
        why=ODD, alerts=[{"key": ODD, "title": "", "outcome": "x"}], incident_id=i.pk,
    ),
}  # fmt: skip


@pytest.mark.parametrize("make", TAKEN.values(), ids=TAKEN.keys())
def test_rows_inserted_together_are_those_that_save_would_have_made(make):
    episode = EpisodeFactory()
    rows = [make(episode.incident, episode) for _ in range(2)]
    for number, row in enumerate(rows):
        if hasattr(row, "source"):
            row.source = f"plant-{number}"
    with transaction.atomic():
        for row in rows:
            row.save(force_insert=True)
        saved = [columns(row) for row in rows]
        transaction.set_rollback(True)

    with transaction.atomic():
        statements = Statements()
        statements.insert_all(rows)
        statements.run()

        assert [columns(row) for row in rows] == saved
        transaction.set_rollback(True)


def test_a_row_without_a_number_gets_one_of_the_database():
    episode = EpisodeFactory()
    statements = Statements()
    statements.insert_all(
        [MemberChange(incident=episode.incident, episode=episode, kind="joined") for _ in range(2)]
    )
    statements.run()

    first, second = MemberChange.objects.order_by("id")
    assert first.pk < second.pk
    assert first.at is not None


def test_rows_of_other_columns_do_not_go_together():
    episode = EpisodeFactory()
    rows = [MemberChange(incident=episode.incident, episode=episode, kind="joined", id=n)
            for n in (None, 7)]  # fmt: skip

    with pytest.raises(ValueError, match="different columns"):
        Statements().insert_all(rows)


@pytest.mark.django_db(transaction=True)
def test_the_last_round_trip_ends_a_transaction_and_what_follows_it_is_done():
    followed: list[str] = []
    statements = Statements()
    with transaction.atomic():
        transaction.on_commit(lambda: followed.append("done"))
        statements.insert_all([IncidentFactory.build(id=uuid.uuid4())])
        statements.run_at_last()

        assert connection.connection.info.transaction_status == TransactionStatus.IDLE
        assert followed == []

    assert followed == ["done"]
    assert Incident.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_last_round_trip_that_fails_leaves_nothing():
    statements, row = Statements(), IncidentFactory.build(id=uuid.uuid4())
    statements.insert_all([row, row])

    with pytest.raises(IntegrityError), transaction.atomic():
        statements.run_at_last()

    assert not Incident.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_transaction_within_another_one_ends_with_that():
    statements = Statements()
    with transaction.atomic():
        with transaction.atomic():
            statements.insert_all([IncidentFactory.build(id=uuid.uuid4())])
            statements.run_at_last()
        transaction.set_rollback(True)

    assert not Incident.objects.exists()


def test_an_update_changes_the_named_columns_and_no_others():
    event = ROWS["event"](ExecutionFactory(active=True))
    event.save(force_insert=True)
    event.content, event.metadata, event.status = ODD, {"new": ODD}, "completed"
    event.event_type = "error"

    statements = Statements()
    statements.update(event, ["content", "metadata", "status"])
    statements.run()

    stored = TimelineEvent.objects.get(pk=event.pk)
    assert (stored.content, stored.metadata, stored.status) == (ODD, {"new": ODD}, "completed")
    assert stored.event_type == "llm_response"


def test_all_statements_take_one_round_trip_and_are_executed_once():
    before, execution = (ExecutionFactory(active=True) for _ in range(2))
    prepare, statements = Statements(), Statements()
    for make in ROWS.values():
        prepare.insert(make(before))
        statements.insert(make(execution))
    prepare.run()

    with CaptureQueriesContext(connection) as queries:
        statements.run()
        statements.run()

    assert len(queries) == 1
    assert Message.objects.count() == TimelineEvent.objects.count() == 2


def test_a_row_that_may_not_be_there_raises():
    execution = ExecutionFactory(active=True)
    statements = Statements()
    for _ in range(2):
        statements.insert(ROWS["message"](execution))

    with pytest.raises(IntegrityError), transaction.atomic():
        statements.run()
    assert not Message.objects.exists()

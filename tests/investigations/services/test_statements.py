"""Rows written without the ORM are the rows the ORM would have written."""

import uuid
from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, connection, models, transaction
from django.test.utils import CaptureQueriesContext

from investigations.models import LLMInteraction, MCPInteraction, Message, TimelineEvent
from investigations.services.statements import Statements
from tests.factories import ExecutionFactory

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
    execution = ExecutionFactory(active=True)
    statements = Statements()
    for make in ROWS.values():
        statements.insert(make(execution))

    with CaptureQueriesContext(connection) as queries:
        statements.run()
        statements.run()

    assert len(queries) == 1
    assert Message.objects.count() == TimelineEvent.objects.count() == 1


def test_a_row_that_may_not_be_there_raises():
    execution = ExecutionFactory(active=True)
    statements = Statements()
    for _ in range(2):
        statements.insert(ROWS["message"](execution))

    with pytest.raises(IntegrityError), transaction.atomic():
        statements.run()
    assert not Message.objects.exists()

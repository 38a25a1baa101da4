"""What the database itself refuses, and what it removes on its own."""

import uuid

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction
from django.utils import timezone

from investigations import models
from investigations.models import AgentExecution, AlertSession, AuditEvent, Stage
from tests import factories
from tests.factories import (
    ApprovalRequestFactory,
    AuditEventFactory,
    ChatFactory,
    ChatUserMessageFactory,
    EventFactory,
    ExecutionFactory,
    LLMInteractionFactory,
    MCPInteractionFactory,
    MessageFactory,
    SessionFactory,
    StageFactory,
    TimelineEventFactory,
)

pytestmark = pytest.mark.django_db


def refused(make):
    with pytest.raises(IntegrityError) as caught, transaction.atomic():
        make()
    return str(caught.value)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"status": "paused"}, "session_completed_at"),
        ({"status": "pending", "completed_at": timezone.now()}, "session_completed_at"),
        ({"status": "completed", "started_at": timezone.now()}, "session_completed_at"),
        ({"status": "cancelled"}, "session_completed_at"),
        ({"status": "in_progress"}, "session_started_when_running"),
    ],
)
def test_a_session_cannot_contradict_itself(fields, constraint):
    assert constraint in refused(lambda: SessionFactory(**fields))


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"status": "active", "lease_token": None}, "execution_lease_matches_status"),
        ({"status": "pending", "lease_token": uuid.uuid4()}, "execution_lease_matches_status"),
        (
            {"status": "failed", "completed_at": timezone.now(), "lease_token": uuid.uuid4()},
            "execution_lease_matches_status",
        ),
        ({"status": "completed"}, "execution_completed_at_matches_status"),
        ({"status": "resting"}, "execution_completed_at_matches_status"),
    ],
)
def test_an_execution_holds_a_lease_exactly_while_it_runs(fields, constraint):
    stage = StageFactory(active=True)
    assert constraint in refused(lambda: ExecutionFactory(stage=stage, **fields))


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"status": "completed"}, "stage_completed_at_matches_status"),
        ({"status": "resting"}, "stage_completed_at_matches_status"),
        ({"stage_type": "guess"}, "stage_type_known"),
    ],
)
def test_a_stage_cannot_contradict_itself(fields, constraint):
    assert constraint in refused(lambda: StageFactory(**fields))


@pytest.mark.parametrize(
    ("make", "constraint"),
    [
        (lambda: _twice(StageFactory, "session", stage_index=1), "stage_index_unique"),
        (lambda: _twice(ExecutionFactory, "stage", agent_index=1), "execution_index_unique"),
        (lambda: _twice(MessageFactory, "execution", sequence_number=1), "message_sequence_unique"),
        (lambda: _twice(EventFactory, "session", seq=1), "event_seq_unique"),
        (
            lambda: _twice(ApprovalRequestFactory, "execution", argument_hash="0" * 64),
            "approval_pending_unique",
        ),
    ],
)
def test_there_is_one_of_each(make, constraint):
    assert constraint in refused(make)


def _twice(make, parent, **fields):
    first = make(**fields)
    make(**{parent: getattr(first, parent)}, **fields)


@pytest.mark.parametrize(
    ("fields", "constraint"),
    [
        ({"status": "approved"}, "approval_decided_at_matches_status"),
        ({"decided_at": timezone.now()}, "approval_decided_at_matches_status"),
        ({"used_at": timezone.now()}, "approval_used_only_when_approved"),
        ({"denied": True, "used_at": timezone.now()}, "approval_used_only_when_approved"),
    ],
)
def test_only_an_approved_write_can_be_used(fields, constraint):
    execution = ExecutionFactory(active=True)
    assert constraint in refused(lambda: ApprovalRequestFactory(execution=execution, **fields))


def test_no_row_of_an_unknown_session_can_be_kept():
    stage = StageFactory.build(session=None, session_id=uuid.uuid4(), stage_index=1)

    def save_and_check():
        stage.save(force_insert=True)
        connection.check_constraints()

    assert "stage_session_id_fk" in refused(save_and_check)


EVERYTHING_OF_A_SESSION = (
    "Stage",
    "AgentExecution",
    "TimelineEvent",
    "Message",
    "LLMInteraction",
    "MCPInteraction",
    "ApprovalRequest",
    "Event",
    "Chat",
    "ChatUserMessage",
)


def _fill(session: AlertSession) -> None:
    stage = StageFactory(session=session, active=True)
    StageFactory(session=session, stage_type="synthesis", referenced_stage=stage)
    execution = ExecutionFactory(stage=stage, active=True)
    child = ExecutionFactory(stage=stage, active=True, parent_execution=execution)
    for make in (TimelineEventFactory, MessageFactory, LLMInteractionFactory):
        make(execution=execution)
    TimelineEventFactory(execution=child, parent_execution=execution)
    MCPInteractionFactory(execution=child)
    ApprovalRequestFactory(execution=execution)
    EventFactory(session=session)
    message = ChatUserMessageFactory(chat=ChatFactory(session=session))
    StageFactory(session=session, stage_type="chat", chat=message.chat, chat_user_message=message)


def test_deleting_a_session_removes_everything_below_it_and_nothing_else():
    doomed, kept = SessionFactory(running=True), SessionFactory(running=True)
    _fill(doomed)
    _fill(kept)
    audit = AuditEventFactory(target_id=str(doomed.pk))
    before = {name: getattr(models, name).objects.count() for name in EVERYTHING_OF_A_SESSION}

    AlertSession.objects.filter(pk=doomed.pk).delete()
    connection.check_constraints()

    after = {name: getattr(models, name).objects.count() for name in EVERYTHING_OF_A_SESSION}
    assert after == {name: count // 2 for name, count in before.items()}
    assert all(after.values())
    assert list(AlertSession.objects.all()) == [kept]
    assert AuditEvent.objects.filter(pk=audit.pk).exists()


def test_a_synthesis_outlives_the_stage_it_speaks_of():
    stage = StageFactory(completed=True)
    synthesis = StageFactory(session=stage.session, referenced_stage=stage)

    Stage.objects.filter(pk=stage.pk).delete()

    synthesis.refresh_from_db()
    assert synthesis.referenced_stage_id is None


def test_an_agent_takes_its_sub_agents_with_it():
    parent = ExecutionFactory(active=True)
    ExecutionFactory(stage=parent.stage, active=True, parent_execution=parent)

    AgentExecution.objects.filter(pk=parent.pk).delete()

    assert not AgentExecution.objects.exists()


@pytest.mark.parametrize(
    "change",
    [
        lambda event: AuditEvent.objects.filter(pk=event.pk).update(actor="somebody else"),
        lambda event: AuditEvent.objects.filter(pk=event.pk).delete(),
        lambda event: event.delete(),
        lambda event: event.save(),
    ],
)
def test_the_audit_trail_only_grows(change):
    event = AuditEventFactory()

    with pytest.raises(DatabaseError, match="append-only"), transaction.atomic():
        change(event)

    assert AuditEvent.objects.get(pk=event.pk).actor == event.actor


def test_every_key_below_a_session_can_be_followed_down_by_an_index():
    """A cascade without an index reads the whole table for each row that goes."""
    with connection.cursor() as cursor:
        cursor.execute(
            """
            SELECT key.conrelid::regclass::text, attribute.attname
              FROM pg_constraint AS key
              JOIN pg_attribute AS attribute
                ON attribute.attrelid = key.conrelid AND attribute.attnum = key.conkey[1]
             WHERE key.contype = 'f' AND key.conrelid::regclass::text LIKE 'investigations_%'
               AND NOT EXISTS (
                   SELECT FROM pg_index
                    WHERE indrelid = key.conrelid AND indkey[0] = key.conkey[1]
                      AND indpred IS NULL)
            """
        )
        assert cursor.fetchall() == []


def test_there_is_a_factory_for_every_model():
    made = {
        each._meta.model
        for each in vars(factories).values()
        if isinstance(each, type) and hasattr(each, "_meta") and each._meta.model is not None
    }
    assert {getattr(models, name) for name in EVERYTHING_OF_A_SESSION} <= made

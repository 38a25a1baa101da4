"""Follow-up questions: one chat for each session, one question at a time."""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Max
from django.utils import timezone

from agents.types import JSON
from config import get_config
from config.schema.chains import ChainConfig
from investigations.chain_plan import plan_answer
from investigations.maskers import product_masker
from investigations.models import AlertSession, Chat, ChatUserMessage, Stage, TimelineEvent
from investigations.selectors.session_page.question_field import explain_no_chat
from investigations.services.ledger import SessionWrite, refuse_deleted, session_write
from investigations.services.stages import create_stage
from investigations.services.texts import refuse_unstorable
from investigations.stream_messages import chat_created
from masking import WITHHELD
from tarsy.errors import Conflict, InvalidInput

QUESTION_LIMIT = 100_000
"""Characters."""


@dataclass(frozen=True)
class Question:
    """A question that was taken: its rows."""

    chat_id: uuid.UUID
    message_id: uuid.UUID
    stage_id: uuid.UUID


def read_question(body: Mapping[str, JSON]) -> str:
    """The question in a request; other fields are ignored. Raises InvalidInput."""
    content = body.get("content")
    if not isinstance(content, str):
        raise InvalidInput("content", "must be a text")
    return content


def ask_question(
    session_id: uuid.UUID, content: str, *, author: str, may_decide: bool = False
) -> Question:
    """Take a question about a session that has ended; a stage of its own answers it.

    `may_decide`: whoever asks is known, and may decide about writes.

    Raises InvalidInput, NotFound, or Conflict while another question is being answered.
    """
    text = _check_content(content)
    with session_write(session_id) as write:
        refuse_deleted(write.session)
        chain = _check_session(write.session)
        chat = _find_or_make_chat(write, author)
        if chat.stages.exclude(status__in=Stage.TERMINAL).exists():
            raise Conflict("another question is being answered; wait for its answer or cancel it")
        message = ChatUserMessage.objects.create(
            chat=chat, content=text, author=author, may_decide=may_decide
        )
        newest = write.session.stages.aggregate(newest=Max("stage_index"))["newest"] or 0
        stage = create_stage(write, plan_answer(chain), index=newest + 1, question=message)
        _show_question(write, stage, message)
        return Question(chat.pk, message.pk, stage.pk)


def _check_content(content: str) -> str:
    if not content.strip():
        raise InvalidInput("content", "must not be empty")
    if len(content) > QUESTION_LIMIT:
        raise InvalidInput("content", f"must not have more than {QUESTION_LIMIT:,} characters")
    refuse_unstorable("content", content)
    masked = product_masker()(content)
    if masked == WITHHELD:
        raise InvalidInput("content", "holds more that looks like secrets than can be masked")
    return masked


def _check_session(session: AlertSession) -> ChainConfig:
    if reason := explain_no_chat(session):
        raise InvalidInput("session", reason)
    return get_config().chains[session.chain_id]


def _find_or_make_chat(write: SessionWrite, author: str) -> Chat:
    chat, is_new = Chat.objects.get_or_create(
        session_id=write.session.pk,
        defaults={"chain_id": write.session.chain_id, "created_by": author},
    )
    if is_new:
        write.tell(chat_created(write.session.pk, chat.pk, author))
    Chat.objects.filter(pk=chat.pk).update(last_interaction_at=timezone.now())
    return chat


def _show_question(write: SessionWrite, stage: Stage, message: ChatUserMessage) -> None:
    event = TimelineEvent(
        session_id=write.session.pk,
        stage_id=stage.pk,
        execution_id=stage.executions.values_list("pk", flat=True).get(),
        event_type=TimelineEvent.Type.USER_QUESTION,
        status=TimelineEvent.Status.COMPLETED,
        content=message.content,
        metadata={"author": message.author},
        created_at=timezone.now(),
        updated_at=timezone.now(),
    )
    write.announce(event)
    event.save(force_insert=True)

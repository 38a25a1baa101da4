"""A session's moments, moved to when its story says.

Services write the moment at which they run, some of them the database's own. So a step runs now,
and what it wrote is moved afterwards.
"""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, F, Model, Q

from investigations.models import (
    AgentExecution,
    AlertSession,
    ApprovalRequest,
    Chat,
    ChatUserMessage,
    Event,
    LLMInteraction,
    MCPInteraction,
    Message,
    Stage,
    TimelineEvent,
)

_OWNERS: dict[type[Model], str] = {
    AlertSession: "id",
    Stage: "session_id",
    AgentExecution: "session_id",
    TimelineEvent: "session_id",
    Message: "session_id",
    LLMInteraction: "session_id",
    MCPInteraction: "session_id",
    ApprovalRequest: "session_id",
    Event: "session_id",
    Chat: "session_id",
    ChatUserMessage: "chat__session_id",
}
"""What belongs to a session, and by which field."""


@contextmanager
def happening_at(session_id: uuid.UUID, moment: datetime) -> Iterator[None]:
    """Whatever is written about the session within the block happens at that moment.

    Times that lie ahead, such as when a request expires, keep their distance.
    """
    began = datetime.now(UTC)
    yield
    _move(session_id, moment - began, since=began)


def shift(session_id: uuid.UUID, by: timedelta) -> None:
    """Move everything about a session."""
    _move(session_id, by, since=None)


def measure(session_id: uuid.UUID) -> None:
    """Say of stages and agents how long they took by the moments they have now."""
    for model in (Stage, AgentExecution):
        rows: Any = model._default_manager.filter(session_id=session_id, completed_at__isnull=False)
        for row in rows:
            row.duration_ms = int((row.completed_at - row.started_at).total_seconds() * 1000)
            row.save(update_fields=["duration_ms"])


def _move(session_id: uuid.UUID, by: timedelta, since: datetime | None) -> None:
    for model, owner in _OWNERS.items():
        rows = model._default_manager.filter(**{owner: session_id})
        for name in _moments(model):
            moved = Q(**{f"{name}__isnull": False}) if since is None else Q(**{f"{name}__gte": since})
            rows.filter(moved).update(**{name: F(name) + by})


def _moments(model: type[Model]) -> list[str]:
    return [each.name for each in model._meta.concrete_fields if isinstance(each, DateTimeField)]

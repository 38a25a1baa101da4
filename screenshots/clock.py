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

    Times that lie ahead in what it made, such as when a request expires, keep their distance.
    """
    began = datetime.now(UTC)
    yield
    ended = datetime.now(UTC)
    for model, owner in _OWNERS.items():
        rows = model._default_manager.filter(**{owner: session_id})
        for name in _moments(model):
            is_new = Q(**{f"{name}__gt": ended}, created_at__gte=began)
            written = Q(**{f"{name}__range": (began, ended)}) | is_new
            rows.filter(written).update(**{name: F(name) + (moment - began)})


def shift(session_id: uuid.UUID, by: timedelta) -> None:
    """Move everything about a session."""
    for model, owner in _OWNERS.items():
        moved: dict[str, Any] = {name: F(name) + by for name in _moments(model)}
        model._default_manager.filter(**{owner: session_id}).update(**moved)


def measure(session_id: uuid.UUID) -> None:
    """Say of stages and agents how long they took by the moments they have now."""
    for model in (Stage, AgentExecution):
        rows: Any = model._default_manager.filter(session_id=session_id, completed_at__isnull=False)
        for row in rows:
            row.duration_ms = int((row.completed_at - row.started_at).total_seconds() * 1000)
            row.save(update_fields=["duration_ms"])


def _moments(model: type[Model]) -> list[str]:
    """The fields that hold one. `created_at` comes last: by it the new rows are known."""
    fields = [each.name for each in model._meta.concrete_fields if isinstance(each, DateTimeField)]
    return sorted(fields, key=lambda name: name == "created_at")

"""A session's moments, moved to when its story says.

Services write the moment at which they run, some of them the database's own. So every step runs
now, and what a session got by it is moved in the end.
"""

import uuid
from bisect import bisect_right
from datetime import UTC, datetime, timedelta
from typing import Any

from django.db.models import DateTimeField, F, Model

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


class Clock:
    """Knows which moment of a story each moment since its telling began stands for."""

    def __init__(self, now: datetime) -> None:
        self._real: list[datetime] = []
        self._told: list[datetime] = []
        self.set(now)

    @property
    def now(self) -> datetime:
        return self._told[-1]

    def set(self, moment: datetime) -> None:
        """What is written from here on happens at this moment."""
        self._real.append(datetime.now(UTC))
        self._told.append(moment)

    def wait(self, seconds: float) -> None:
        self.set(self.now + timedelta(seconds=seconds))

    def put_right(self, session_id: uuid.UUID) -> None:
        """Move everything about the session, and say anew how long stages and agents took.

        What lies ahead, such as when a request expires, keeps its distance from when it was made.
        """
        ended = datetime.now(UTC)
        for model, owner in _OWNERS.items():
            names = _moments(model)
            rows: list[Any] = list(model._default_manager.filter(**{owner: session_id}))
            for row in rows:
                made = row.created_at
                for name in names:
                    if (moment := getattr(row, name)) is not None:
                        by = self._distance(made if moment > ended else moment)
                        setattr(row, name, moment + by)
                if isinstance(row, Stage | AgentExecution):
                    row.duration_ms = _duration(row)
            model._default_manager.bulk_update(rows, _changed(model, names), batch_size=200)

    def _distance(self, real: datetime) -> timedelta:
        step = max(0, bisect_right(self._real, real) - 1)
        return self._told[step] - self._real[step]


def shift(session_id: uuid.UUID, by: timedelta) -> None:
    """Move everything about a session by as much."""
    for model, owner in _OWNERS.items():
        moved: dict[str, Any] = {name: F(name) + by for name in _moments(model)}
        model._default_manager.filter(**{owner: session_id}).update(**moved)


def _moments(model: type[Model]) -> list[str]:
    return [each.name for each in model._meta.concrete_fields if isinstance(each, DateTimeField)]


def _changed(model: type[Model], names: list[str]) -> list[str]:
    return [*names, "duration_ms"] if model in (Stage, AgentExecution) else names


def _duration(row: Stage | AgentExecution) -> int | None:
    if row.started_at is None or row.completed_at is None:
        return None
    return int((row.completed_at - row.started_at).total_seconds() * 1000)

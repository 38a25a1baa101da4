"""What the product itself keeps, as the ops server asks for it: sessions, warnings, notes.

A port: whoever runs the server in process implements it. Where nobody does, as over stdio, the
tools that need it are not offered.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

SessionState = Literal["any", "active", "queued", "ended", "failed", "completed", "cancelled"]
"""A status, or several at once: active is running or being cancelled, failed timed out as well."""

LONGEST_NOTE = 1000
"""Characters of one note."""
MOST_NOTES = 20
"""Of one resource; a new one takes the place of the oldest."""


@dataclass(frozen=True)
class Place:
    """Which part of a list is wanted; `cursor` is one that the page before gave."""

    limit: int
    cursor: str = ""


@dataclass(frozen=True)
class SessionQuery:
    """What a list of sessions is narrowed to; empty means all."""

    state: SessionState = "any"
    alert_type: str = ""
    text: str = ""
    since: datetime | None = None


@dataclass(frozen=True)
class SessionRow:
    """A session in short. `conclusion` is one sentence, `error` why it did not end well."""

    session_id: str
    alert_type: str
    title: str
    status: str
    created_at: datetime
    completed_at: datetime | None
    conclusion: str
    error: str
    is_this_one: bool


@dataclass(frozen=True)
class SessionPage:
    """`next_cursor` is empty on the last page. `searched` says how far a search looked."""

    sessions: Sequence[SessionRow]
    next_cursor: str = ""
    searched: str = ""


@dataclass(frozen=True)
class StageRow:
    """A stage of a session, with the agents of it that failed and why."""

    name: str
    kind: str
    status: str
    error: str
    failures: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class SessionDetail:
    """A session with its stages. Texts are cut to what a model can use."""

    session: SessionRow
    chain: str
    started_at: datetime | None
    alert: str
    report: str
    stages: Sequence[StageRow]


@dataclass(frozen=True)
class SystemWarning:
    category: str
    message: str
    details: str
    since: datetime


@dataclass(frozen=True)
class NewNote:
    resource_id: str
    text: str
    category: str = ""


@dataclass(frozen=True)
class Note:
    """A note as it is kept: what an agent once wrote, masked, with who, where and when."""

    note_id: str
    resource_id: str
    category: str
    text: str
    agent: str
    session_id: str
    told_at: datetime
    is_of_this_session: bool


@dataclass(frozen=True)
class KeptNote:
    """`was_known`: the same was told before. `dropped`: older ones that made room for it."""

    note: Note
    was_known: bool
    dropped: int


@dataclass(frozen=True)
class NotePage:
    notes: Sequence[Note]
    next_cursor: str = ""


class Records(Protocol):
    """The product's records, as one execution may see and add to them.

    Methods raise `ToolFailure` for what the caller got wrong.
    """

    async def list_sessions(self, wanted: SessionQuery, place: Place) -> SessionPage: ...

    async def get_session(self, session_id: str) -> SessionDetail | None: ...

    async def list_warnings(self) -> Sequence[SystemWarning]: ...

    async def remember(self, note: NewNote) -> KeptNote: ...

    async def is_kept(self, note: NewNote) -> bool:
        """Whether just this is kept of that resource."""
        ...

    async def recall(self, resource_id: str, words: str, place: Place) -> NotePage:
        """Notes, newest first; of every resource where none is named."""
        ...

    async def list_incidents(self, names: Sequence[str], place: Place) -> SessionPage:
        """Ended sessions whose alert or report speaks of one of these names, newest first."""
        ...

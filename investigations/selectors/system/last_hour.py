"""What failed within the last hour: sessions, model calls and tool calls, by cause."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Literal

from django.db.models import QuerySet
from django.db.models.functions import Left
from django.utils import timezone

from investigations.models import AlertSession, LLMInteraction, MCPInteraction
from investigations.selectors.session_list.failures import FAILED, FailureGroup, group_by_cause
from investigations.selectors.session_list.rows import light
from investigations.selectors.sessions import visible_sessions
from investigations.selectors.trace.not_run import say_error, was_held

LOOKED_BACK = timedelta(hours=1)
MOST_CALLS = 2_000
"""Of each kind, the newest."""
MOST_SESSIONS = 500
MOST_CAUSES = 5
_LONGEST_ERROR = 300
_LONGEST_STORED = 2_000

Kind = Literal["sessions", "model calls", "tool calls"]


@dataclass
class Tally:
    """How many of a kind there were, and the newest failure of them."""

    kind: Kind
    name: str
    """The model provider or the tool server; empty for sessions."""
    count: int = 0
    failed: int = 0
    held: int = 0
    """Of tool calls: those that we or a person did not let run. They tell nothing of the server."""
    failed_at: datetime | None = None
    succeeded_at: datetime | None = None
    error: str = ""

    @property
    def is_failing_now(self) -> bool:
        """Nothing succeeded since the newest failure."""
        if self.failed_at is None:
            return False
        return self.succeeded_at is None or self.succeeded_at < self.failed_at

    def add(self, at: datetime, error: str) -> None:
        """The newest come first."""
        self.count += 1
        if not error:
            self.succeeded_at = self.succeeded_at or at
            return
        self.failed += 1
        if self.failed_at is None:
            self.failed_at, self.error = at, error

    def hold(self) -> None:
        self.count += 1
        self.held += 1


@dataclass(frozen=True)
class LastHour:
    """`causes` are of sessions that failed and that nobody has acknowledged."""

    tallies: Sequence[Tally] = ()
    causes: Sequence[FailureGroup] = field(default_factory=tuple)

    @property
    def failures(self) -> list[Tally]:
        return [tally for tally in self.tallies if tally.failed]


def read_last_hour() -> LastHour:
    """Three looks at the newest rows; a cause is told in the words of its newest failure."""
    since = timezone.now() - LOOKED_BACK
    ended = visible_sessions().filter(completed_at__gte=since)
    failed = light(ended.filter(status__in=FAILED, acknowledged_at=None))
    causes = group_by_cause(failed.order_by("-completed_at", "-id")[:MOST_SESSIONS])
    calls = [*_tally_models(since), *_tally_tools(since)]
    return LastHour([_tally_sessions(ended), *calls], causes)


def failing_providers() -> list[str]:
    """Model providers of which no call of the last hour has succeeded since the last failure."""
    tallies = _tally_models(timezone.now() - LOOKED_BACK)
    return [tally.name for tally in tallies if tally.is_failing_now]


def _tally_sessions(ended: QuerySet[AlertSession]) -> Tally:
    tally = Tally("sessions", "")
    rows = ended.order_by("-completed_at").annotate(said=Left("error_message", _LONGEST_ERROR))
    for status, at, said in rows.values_list("status", "completed_at", "said")[:MOST_SESSIONS]:
        if at is not None:
            tally.add(at, (said or status) if status in FAILED else "")
    return tally


def _tally_models(since: datetime) -> list[Tally]:
    calls = LLMInteraction.objects.filter(created_at__gte=since).order_by("-created_at")
    rows = calls.values_list("provider_name", "created_at", Left("error_message", _LONGEST_ERROR))
    return _tally("model calls", rows[:MOST_CALLS].iterator())


def _tally_tools(since: datetime) -> list[Tally]:
    calls = MCPInteraction.objects.filter(
        interaction_type=MCPInteraction.Type.TOOL_CALL, created_at__gte=since
    ).order_by("-created_at")
    # What the server said stands behind what it was asked.
    rows = calls.values_list("server_name", "created_at", Left("error_message", _LONGEST_STORED))
    return _tally("tool calls", rows[:MOST_CALLS].iterator())


def _tally(kind: Kind, rows: Iterator[tuple[str, datetime, str]]) -> list[Tally]:
    found: dict[str, Tally] = {}
    for name, at, error in rows:
        tally = found.setdefault(name, Tally(kind, name))
        if was_held(error):
            tally.hold()
        else:
            tally.add(at, say_error(error)[:_LONGEST_ERROR])
    return [found[name] for name in sorted(found)]

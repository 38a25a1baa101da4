"""The records behind the ops server of one execution, kept in the database."""

import asyncio
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from django.db import connection
from typing_extensions import override

from investigations.models import AgentExecution, AlertSession, ResourceNote
from investigations.selectors.notes import has_note, list_notes
from investigations.selectors.past_sessions import (
    SEARCHED_SESSIONS,
    PastDetail,
    PastFilter,
    PastPage,
    PastSession,
    PastStage,
    list_past,
    read_past,
)
from investigations.selectors.system.warnings import list_warnings
from investigations.selectors.time_limit import call_within
from investigations.services import notes
from masking.visible_text import clean_text
from ops.envelope import ToolFailure
from ops.records import (
    MOST_NOTES,
    KeptNote,
    NewNote,
    Note,
    NotePage,
    Place,
    Records,
    SessionDetail,
    SessionPage,
    SessionQuery,
    SessionRow,
    StageRow,
    SystemWarning,
)
from tarsy.errors import InvalidInput, TookTooLong

P = ParamSpec("P")
T = TypeVar("T")

_Status = AlertSession.Status
_STATES: Mapping[str, Sequence[str]] = {
    "any": (),
    "active": AlertSession.ACTIVE,
    "queued": (_Status.PENDING,),
    "ended": AlertSession.TERMINAL,
    "failed": (_Status.FAILED, _Status.TIMED_OUT),
}
_SHOWN_ERROR = 1_000
LONGEST_SECONDS = 5.0
"""Of one statement that reads the records; the newest sessions may hold long alerts."""


class RunInDatabase(Protocol):
    """Calls a service or a selector where the database may be waited for."""

    def __call__(
        self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs
    ) -> Awaitable[T]: ...


class DatabaseRecords(Records):
    """Reads for anybody; `execution` is who remembers, and without one nobody does."""

    def __init__(self, db: RunInDatabase, execution: AgentExecution | None = None) -> None:
        self._db = db
        self._execution = execution

    @property
    def _session_id(self) -> uuid.UUID | None:
        return self._execution.session_id if self._execution is not None else None

    @override
    async def list_sessions(self, wanted: SessionQuery, place: Place) -> SessionPage:
        found = PastFilter(
            statuses=_STATES.get(wanted.state, (wanted.state,)),
            alert_type=wanted.alert_type,
            text=_storable(wanted.text),
            since=wanted.since,
        )
        return await self._list(found, place)

    @override
    async def get_session(self, session_id: str) -> SessionDetail | None:
        try:
            key = uuid.UUID(session_id)
        except ValueError as error:
            raise ToolFailure(
                "INVALID_INPUT", "'session_id' must be an id as action 'list' gives it."
            ) from error
        detail = await self._read(read_past, key)
        return self._detail(detail) if detail is not None else None

    @override
    async def list_warnings(self) -> Sequence[SystemWarning]:
        return [
            SystemWarning(each.category, each.message, each.details, each.created_at)
            for each in await self._read(list_warnings)
        ]

    @override
    async def remember(self, note: NewNote) -> KeptNote:
        if self._execution is None:
            raise ToolFailure("POLICY_BLOCKED", "Only the agent of an investigation remembers.")
        try:
            kept = await self._db(
                notes.remember,
                self._execution,
                resource_id=note.resource_id,
                text=clean_text(note.text),
                category=note.category,
                most=MOST_NOTES,
            )
        except InvalidInput as error:
            raise _refuse(error) from error
        return KeptNote(self._note(kept.note), kept.was_known, kept.dropped)

    @override
    async def is_kept(self, note: NewNote) -> bool:
        try:
            digest = notes.digest_of(notes.mask_note(clean_text(note.text)))
        except InvalidInput:
            return False
        return await self._read(has_note, note.resource_id, digest)

    @override
    async def recall(self, resource_id: str, words: str, place: Place) -> NotePage:
        try:
            found = await self._read(
                list_notes,
                resource_id=_storable(resource_id),
                words=_storable(words),
                limit=place.limit,
                cursor=place.cursor,
            )
        except InvalidInput as error:
            raise _refuse(error) from error
        return NotePage([self._note(each) for each in found.notes], found.next_cursor)

    @override
    async def list_incidents(self, names: Sequence[str], place: Place) -> SessionPage:
        wanted = tuple(map(_storable, names))
        return await self._list(PastFilter(AlertSession.TERMINAL, names=wanted), place)

    async def _list(self, wanted: PastFilter, place: Place) -> SessionPage:
        try:
            page: PastPage = await self._read(
                list_past, wanted, limit=place.limit, cursor=place.cursor
            )
        except InvalidInput as error:
            raise _refuse(error) from error
        searched = f"the newest {SEARCHED_SESSIONS} sessions" if wanted.searches else ""
        return SessionPage([self._row(each) for each in page.sessions], page.next_cursor, searched)

    async def _read(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """What a selector answers, within a limit: a model may ask for anything, and often."""
        try:
            return await self._db(call_within, LONGEST_SECONDS, partial(function, *args, **kwargs))
        except TookTooLong as error:
            raise ToolFailure(
                "EXECUTION_FAILED",
                f"Looking through the records took longer than {error.seconds:g} s and was "
                "stopped. Narrow it, as by alert_type, since, status, resource_id or a lower "
                "limit, or go on without.",
                details={"seconds": error.seconds},
            ) from error

    def _row(self, found: PastSession) -> SessionRow:
        session = found.session
        return SessionRow(
            session_id=str(session.pk),
            alert_type=session.alert_type,
            title=session.title,
            status=session.status,
            created_at=session.created_at,
            completed_at=session.completed_at,
            conclusion=found.line if session.status == _Status.COMPLETED else "",
            error=session.error_message[:_SHOWN_ERROR],
            is_this_one=session.pk == self._session_id,
        )

    def _detail(self, detail: PastDetail) -> SessionDetail:
        session = detail.found.session
        return SessionDetail(
            session=self._row(detail.found),
            chain=session.chain_id,
            started_at=session.started_at,
            alert=detail.alert,
            report=detail.report,
            stages=[_stage(each) for each in detail.stages],
        )

    def _note(self, note: ResourceNote) -> Note:
        return Note(
            note_id=str(note.pk),
            resource_id=note.resource_id,
            category=note.category,
            text=note.text,
            agent=note.agent_name,
            session_id=str(note.session_id),
            told_at=note.told_at,
            is_of_this_session=note.session_id == self._session_id,
        )


def people_records() -> DatabaseRecords:
    """For a command or a watch that belongs to no execution, and to no worker's loop."""
    return DatabaseRecords(_in_a_thread)


async def _in_a_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    def call() -> T:
        try:
            return function(*args, **kwargs)
        finally:
            connection.close()

    return await asyncio.to_thread(call)


def _stage(found: PastStage) -> StageRow:
    stage = found.stage
    return StageRow(
        name=stage.stage_name,
        kind=stage.stage_type,
        status=stage.status,
        error=stage.error_message[:_SHOWN_ERROR],
        failures=[
            (execution.agent_name, execution.error_message[:_SHOWN_ERROR])
            for execution in found.failures
        ],
    )


def _storable(text: str) -> str:
    """What the database can be asked for."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _refuse(error: InvalidInput) -> ToolFailure:
    field = {"before": "cursor"}.get(error.field, error.field)
    reason = "is none that this list gave" if field == "cursor" else error.message
    return ToolFailure("INVALID_INPUT", f"'{field}' {reason}.")

"""The product's sessions and warnings as answers."""

from datetime import UTC, datetime
from typing import Any, TypeAlias

from mcp.server.mcpserver.context import Context

from ops.envelope import Answer, Json, ToolFailure
from ops.records import (
    Place,
    Records,
    SessionDetail,
    SessionPage,
    SessionQuery,
    SessionRow,
    StageRow,
)

OfExecution: TypeAlias = Context[Any, Any]
"""The call's own context, which knows the server it came to."""


def records_of(context: OfExecution) -> Records:
    """The records behind the server that was called."""
    records: Records | None = getattr(context.mcp_server, "records", None)
    if records is None:
        raise ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE", "This server was given no records of the product."
        )
    return records


class SessionReader:
    """Answers from the records."""

    def __init__(self, records: Records) -> None:
        self._records = records

    async def list_sessions(self, wanted: SessionQuery, limit: int, cursor: str) -> Answer:
        page = await self._records.list_sessions(wanted, Place(limit, cursor))
        return page_answer(page)

    async def get_session(self, session_id: str) -> Answer:
        if not session_id:
            raise ToolFailure(
                "INVALID_INPUT", "'session_id' is missing: an id as action 'list' gives it."
            )
        detail = await self._records.get_session(session_id)
        if detail is None:
            raise ToolFailure(
                "NOT_FOUND",
                f"There is no session '{session_id[:64]}'. Action 'list' shows which there are.",
                details={"session_id": session_id[:64]},
            )
        return Answer(_show_detail(detail))

    async def list_warnings(self) -> Answer:
        found = await self._records.list_warnings()
        rows: list[Json] = [
            {
                "category": each.category,
                "message": each.message,
                "details": each.details,
                "since": moment(each.since),
            }
            for each in found
        ]
        return Answer({"warnings": rows, "total": len(rows)})


def page_answer(page: SessionPage) -> Answer:
    rows: list[Json] = [show_session(row) for row in page.sessions]
    data: dict[str, Json] = {"sessions": rows, "next_cursor": page.next_cursor or None}
    cuts = ("sessions: more follow; go on with cursor=next_cursor",) if page.next_cursor else ()
    notes = (f"searched {page.searched}",) if page.searched else ()
    return Answer(data, cuts, notes)


def show_session(row: SessionRow) -> dict[str, Json]:
    shown: dict[str, Json] = {
        "session_id": row.session_id,
        "alert_type": row.alert_type,
        "title": row.title,
        "status": row.status,
        "created_at": moment(row.created_at),
        "completed_at": moment(row.completed_at),
        "conclusion": row.conclusion,
        "error": row.error,
    }
    # What this very execution is part of is no news about the past.
    return shown | ({"is_this_investigation": True} if row.is_this_one else {})


def moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat(timespec="seconds") if at is not None else None


def _show_detail(detail: SessionDetail) -> dict[str, Json]:
    return {
        **show_session(detail.session),
        "chain": detail.chain,
        "started_at": moment(detail.started_at),
        "stages": [_show_stage(stage) for stage in detail.stages],
        "report": detail.report,
        "alert": detail.alert,
    }


def _show_stage(stage: StageRow) -> Json:
    failures: list[Json] = [{"agent": agent, "error": error} for agent, error in stage.failures]
    return {
        "name": stage.name,
        "kind": stage.kind,
        "status": stage.status,
        "error": stage.error,
        "failures": failures,
    }

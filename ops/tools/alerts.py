"""The `alerts` tool: the product's own sessions and warnings."""

from typing import Annotated, Literal

from pydantic import Field

from ops.envelope_server import EnvelopeServer
from ops.records import SessionQuery, SessionState
from ops.session_answers import OfExecution, SessionReader, records_of
from ops.since import parse_since
from ops.tools.fields import Cursor, PageSize, Reply, describe_reader

Action = Annotated[
    Literal["list", "get", "warnings"],
    Field(
        description="list: sessions, newest first. get: one, with conclusion, stages and "
        "failures. warnings: what is wrong with this product now."
    ),
]
SessionId = Annotated[str, Field(max_length=64, description="For get.")]
Type = Annotated[str, Field(max_length=200, description="Alert type, for list.")]
Status = Annotated[SessionState, Field(description="For list; failed includes timed_out.")]
Words = Annotated[
    str, Field(max_length=200, description="Words in title, alert or report, for list.")
]
Since = Annotated[
    str, Field(max_length=64, description="For list: 30m, 2h, 1d or an ISO 8601 time.")
]


def add_alerts(server: EnvelopeServer) -> None:
    @server.tool(
        title="Alerts",
        annotations=describe_reader("Alerts"),
        description="Alerts this product took in, what came of them, and its own warnings.",
    )
    async def alerts(
        action: Action,
        context: OfExecution,
        session_id: SessionId = "",
        type: Type = "",
        status: Status = "any",
        text: Words = "",
        since: Since = "",
        limit: PageSize = 20,
        cursor: Cursor = "",
    ) -> Reply:
        reader = SessionReader(records_of(context))
        match action:
            case "list":
                wanted = SessionQuery(status, type, text.strip(), parse_since(since))
                work = reader.list_sessions(wanted, limit, cursor)
            case "get":
                work = reader.get_session(session_id)
            case "warnings":
                work = reader.list_warnings()
        return await server.deliver(work)

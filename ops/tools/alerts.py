"""The `alerts` tool: the product's own sessions and warnings."""

from typing import Annotated, Literal

from pydantic import Field

from ops.envelope import Answer
from ops.envelope_server import EnvelopeServer
from ops.past import OfExecution, PastReader, records_of
from ops.records import SessionQuery, SessionState
from ops.since import parse_since
from ops.tools.fields import Cursor, PageSize, Reply, describe_reader


def add_alerts(server: EnvelopeServer) -> None:
    @server.tool(
        title="Alerts",
        annotations=describe_reader("Alerts"),
        description="Alerts this product took in, what came of them, and its own warnings.",
    )
    async def alerts(
        action: Annotated[
            Literal["list", "get", "warnings"],
            Field(
                description="list: sessions, newest first. get: one, with conclusion, stages and "
                "failures. warnings: what is wrong with this product now."
            ),
        ],
        context: OfExecution,
        session_id: Annotated[str, Field(max_length=64, description="For get.")] = "",
        type: Annotated[str, Field(max_length=200, description="Alert type, for list.")] = "",
        status: Annotated[
            SessionState, Field(description="For list; failed includes timed_out.")
        ] = "any",
        text: Annotated[
            str, Field(max_length=200, description="Words in title, alert or report, for list.")
        ] = "",
        since: Annotated[
            str, Field(max_length=64, description="For list: 30m, 2h, 1d or an ISO 8601 time.")
        ] = "",
        limit: PageSize = 20,
        cursor: Cursor = "",
    ) -> Reply:
        reader = PastReader(records_of(context))

        async def answer() -> Answer:
            match action:
                case "list":
                    wanted = SessionQuery(status, type, text.strip(), parse_since(since))
                    return await reader.list_sessions(wanted, limit, cursor)
                case "get":
                    return await reader.get_session(session_id)
                case "warnings":
                    return await reader.list_warnings()

        return await server.deliver(answer())

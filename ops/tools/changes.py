"""The `changes` tool: what was changed on this machine, in one timeline."""

from typing import Annotated, Literal

from pydantic import Field

from ops.changes.timeline import Changes
from ops.envelope import ToolFailure
from ops.envelope_server import EnvelopeServer
from ops.since import parse_since
from ops.tools.fields import Limit, Reply, Since, describe_reader

Action = Annotated[
    Literal["timeline", "service"],
    Field(
        description="timeline: all changes that are known, newest first. service: only those of "
        "the declared service that is named."
    ),
]
Around = Annotated[
    str,
    Field(
        max_length=64,
        description="When the trouble began, as an ISO 8601 time: changes of the day before it, "
        "each with seconds_before.",
    ),
]
ServiceName = Annotated[
    str, Field(max_length=64, description="The declared service, for action=service.")
]


def add_changes(server: EnvelopeServer, changes: Changes) -> None:
    @server.tool(
        name="changes",
        title="Find changes",
        annotations=describe_reader("Find changes"),
        description=(
            "What was changed on this machine lately: releases, settings and certificates by file "
            "time, packages, services started, containers made, boots. Candidates to look at; none "
            "is a cause by its time alone."
        ),
    )
    async def find_changes(
        action: Action,
        since: Since = "",
        around: Around = "",
        service: ServiceName = "",
        limit: Limit = 50,
    ) -> Reply:
        if (action == "service") != bool(service):
            raise ToolFailure(
                "INVALID_INPUT", "'service' goes with action=service, and only with it."
            )
        return await server.deliver(
            changes.find(parse_since(since), parse_since(around), service, limit)
        )

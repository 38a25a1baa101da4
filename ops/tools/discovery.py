"""The `discovery` tool: what runs on a resource, and where its files are."""

from typing import Annotated, Literal

from pydantic import Field

from ops.discovery.discovery import Discovery
from ops.envelope_server import EnvelopeServer
from ops.query import KindFilter
from ops.tools.fields import Limit, Offset, Reply, describe_reader


def add_discovery(server: EnvelopeServer, found: Discovery) -> None:
    @server.tool(
        title="Discover services",
        annotations=describe_reader("Discover services"),
        description=(
            "What runs on a resource: services with versions, listening ports, and where their "
            "config, log and data files are."
        ),
    )
    async def discovery(
        action: Annotated[
            Literal["get", "list"],
            Field(description="get: look at one resource. list: services known without a look."),
        ],
        resource_id: Annotated[str, Field(max_length=512, description="Id or name, for get.")] = "",
        kind: Annotated[KindFilter, Field(description="Kind, for list.")] = "any",
        service: Annotated[
            str, Field(max_length=80, description="For list: postgresql, nginx ...")
        ] = "",
        refresh: Annotated[bool, Field(description="Look again, for get.")] = False,
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Reply:
        match action:
            case "get":
                return await server.deliver(found.get(resource_id, refresh=refresh))
            case "list":
                return await server.deliver(found.list(kind, service, limit, offset))

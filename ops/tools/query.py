"""The `query` tool: which resources there are, and how they stand."""

from typing import Annotated, Literal

from pydantic import Field

from ops.envelope_server import EnvelopeServer
from ops.query import KindFilter, ResourceQuery
from ops.tools.fields import Limit, Offset, Reply, ResourceId, describe_reader

Action = Annotated[
    Literal["search", "get", "config", "topology", "list", "health"],
    Field(
        description="health: figures and problems of this machine. list: resources by "
        "kind and status. search: resources by words. get: one resource with its "
        "executors. config: how one resource is set up. topology: what belongs to what."
    ),
]
Words = Annotated[str, Field(max_length=200, description="Words to search for.")]
IdOrName = Annotated[ResourceId, Field(description="Id or name, for get and config.")]
Kind = Annotated[KindFilter, Field(description="Kind, for list and search.")]
Status = Annotated[
    str, Field(max_length=40, description="Status, for list and search: running, failed ...")
]


def add_query(server: EnvelopeServer, resources: ResourceQuery) -> None:
    @server.tool(
        title="Query resources",
        annotations=describe_reader("Query resources"),
        description=(
            "Which resources there are (hosts, services or processes, file systems, containers, "
            "guests, pods, deployments), how they are and how they are set up. Start here with "
            "action=health."
        ),
    )
    async def query(
        action: Action,
        query: Words = "",
        resource_id: IdOrName = "",
        kind: Kind = "any",
        status: Status = "",
        limit: Limit = 50,
        offset: Offset = 0,
    ) -> Reply:
        match action:
            case "search":
                work = resources.search(query, kind, status, limit, offset)
            case "list":
                work = resources.list(kind, status, limit, offset)
            case "get":
                work = resources.get(resource_id)
            case "config":
                work = resources.config(resource_id)
            case "topology":
                work = resources.topology(limit)
            case "health":
                work = resources.health()
        return await server.deliver(work)

"""The `probe` tool: how declared services are, seen from outside."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field

from ops.bounded import Deadline, run_in_thread
from ops.envelope import Answer, Json, ToolFailure
from ops.envelope_server import EnvelopeServer
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.settings import OpsSettings
from ops.tools.fields import Reply, ResourceId, describe_reader

_SECONDS = 25.0

Action = Annotated[
    Literal["service", "services"],
    Field(description="service: the one of resource_id. services: all that are declared."),
]
Service = Annotated[
    ResourceId, Field(description="Id or name of a declared service, for action=service.")
]


def add_probe(server: EnvelopeServer, settings: OpsSettings, resources: ResourceQuery) -> None:
    @server.tool(
        title="Probe a service",
        annotations=describe_reader("Probe a service"),
        description=(
            "Declared services seen from outside: whether the page of one answers and with which "
            "certificate, on which ports its processes listen, what its database or cache says of "
            "connections, memory and lists, how many messages wait for it, how full its directory "
            "is. is_well says whether nothing is wrong, problems what is."
        ),
    )
    async def probe(action: Action, resource_id: Service = "") -> Reply:
        if action == "service":
            return await server.deliver(_probe_one(settings, resources, resource_id))
        return await server.deliver(_probe_all(settings, resources))


async def _probe_one(settings: OpsSettings, resources: ResourceQuery, name: str) -> Answer:
    resource = await resources.resolve(name)
    if resource.declared is None:
        raise ToolFailure(
            "INVALID_INPUT",
            f"{resource.resource_id} is not declared; probe looks at the services of the file of "
            "TARSY_OPS_SERVICES only.",
        )
    rows = await _look(settings, [resource])
    return Answer(rows[0], tuple(_list_cuts(rows)))


async def _probe_all(settings: OpsSettings, resources: ResourceQuery) -> Answer:
    found = (await resources.take_inventory("service")).resources
    declared = [each for each in found if each.declared is not None]
    rows = await _look(settings, declared)
    return Answer({"services": rows, "total": len(rows)}, tuple(_list_cuts(rows)))


def _list_cuts(rows: Iterable[Mapping[str, Json]]) -> Iterator[str]:
    for row in rows:
        space = row.get("space")
        if isinstance(space, Mapping) and space["left_out"]:
            yield f"{row['service']}: of {space['directory']} {space['left_out']}"


async def _look(settings: OpsSettings, asked: list[Resource]) -> list[dict[str, Json]]:
    def take(_: Deadline) -> list[dict[str, Json]]:
        # With the clients of stores, which most executions never need.
        from ops.probes.probing import probe_services

        return probe_services(asked, {each.name: each for each in settings.services})

    return await run_in_thread(take, _SECONDS)

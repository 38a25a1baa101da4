"""The `docker` tool: containers."""

from typing import Annotated, Literal

from pydantic import Field

from ops.docker import DockerReader
from ops.docker_control import DockerControl, Operation
from ops.docker_images import check_updates
from ops.docker_swarm import SwarmReader
from ops.envelope_server import EnvelopeServer
from ops.executors.base import Executor
from ops.line_filter import build_line_filter
from ops.since import parse_since
from ops.tools.fields import Grep, Lines, Reply, Since, describe_writer


def add_docker(server: EnvelopeServer, reader: DockerReader, local: Executor) -> None:
    swarm, changer = SwarmReader(reader.api), DockerControl(reader.api, local)

    @server.tool(
        title="Containers",
        annotations=describe_writer("Containers"),
        description=(
            "Containers and swarm services of the local Docker or Podman, where one answers. "
            "control and update are writes; everything else only reads."
        ),
    )
    async def docker(
        action: Annotated[
            Literal[
                "list",
                "inspect",
                "logs",
                "services",
                "tasks",
                "swarm",
                "updates",
                "check_updates",
                "control",
                "update",
            ],
            Field(
                description="list: every container. inspect: state, limits, mounts and networks "
                "of one. logs: the last lines of its output. services, tasks, swarm: of a swarm. "
                "updates: containers whose image was replaced here. check_updates: ask the "
                "registry for a newer image of one. control: start, stop or restart one. update: "
                "make the compose service of one anew from the newer image."
            ),
        ],
        container: Annotated[
            str,
            Field(
                max_length=128,
                description="Name or id, for inspect, logs, control, check_updates; "
                "for update the name.",
            ),
        ] = "",
        operation: Annotated[Operation, Field(description="What to do, for control.")] = "none",
        current_digest: Annotated[
            str, Field(max_length=80, description="For update: of local_digests of check_updates.")
        ] = "",
        digest: Annotated[
            str, Field(max_length=80, description="For update: registry_digest of check_updates.")
        ] = "",
        service: Annotated[
            str, Field(max_length=128, description="Service whose tasks are wanted.")
        ] = "",
        stack: Annotated[
            str, Field(max_length=128, description="Only services of this stack.")
        ] = "",
        lines: Lines = 100,
        grep: Grep = "",
        since: Since = "",
    ) -> Reply:
        match action:
            case "list":
                return await server.deliver(reader.list(limit=lines))
            case "inspect":
                return await server.deliver(reader.inspect(container))
            case "logs":
                accepts, since_time = build_line_filter(grep), parse_since(since)
                return await server.deliver(
                    reader.logs(container, lines=lines, since=since_time, accepts=accepts)
                )
            case "services":
                return await server.deliver(swarm.services(stack, lines))
            case "tasks":
                return await server.deliver(swarm.tasks(service, lines))
            case "swarm":
                return await server.deliver(swarm.swarm())
            case "updates":
                return await server.deliver(swarm.updates(lines))
            case "control":
                return await server.deliver(changer.control(container, operation))
            case "check_updates":
                return await server.deliver(check_updates(reader.api, container))
            case "update":
                return await server.deliver(changer.update(container, current_digest, digest))

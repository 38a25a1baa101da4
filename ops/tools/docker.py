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

Action = Annotated[
    Literal[
        "list", "inspect", "logs", "services", "tasks", "swarm", "updates", "check_updates",
        "control", "update",
    ],
    Field(
        description="list: every container. inspect: state, limits, mounts and networks "
        "of one. logs: the last lines of its output. services, tasks, swarm: of a swarm. "
        "updates: containers whose image was replaced here. check_updates: ask the "
        "registry for a newer image of one. control: start, stop or restart one. update: "
        "make the compose service of one anew from the newer image."
    ),
]  # fmt: skip
ContainerName = Annotated[
    str,
    Field(
        max_length=128,
        description="Name or id, for inspect, logs, control, check_updates; for update the name.",
    ),
]
OperationName = Annotated[Operation, Field(description="What to do, for control.")]
CurrentDigest = Annotated[
    str, Field(max_length=80, description="For update: of local_digests of check_updates.")
]
NewDigest = Annotated[
    str, Field(max_length=80, description="For update: registry_digest of check_updates.")
]
Service = Annotated[str, Field(max_length=128, description="Service whose tasks are wanted.")]
Stack = Annotated[str, Field(max_length=128, description="Only services of this stack.")]


def add_docker(server: EnvelopeServer, reader: DockerReader, local: Executor) -> None:
    server.add_tool(
        DockerTool(server, reader, local).docker,
        title="Containers",
        annotations=describe_writer("Containers"),
        description=(
            "Containers and swarm services of the local Docker or Podman, where one answers. "
            "control and update are writes; everything else only reads."
        ),
    )


class DockerTool:
    """The function that is offered, with what it asks."""

    def __init__(self, server: EnvelopeServer, reader: DockerReader, local: Executor) -> None:
        self._server = server
        self._reader = reader
        self._swarm = SwarmReader(reader.api)
        self._changer = DockerControl(reader.api, local)

    async def docker(
        self,
        action: Action,
        container: ContainerName = "",
        operation: OperationName = "none",
        current_digest: CurrentDigest = "",
        digest: NewDigest = "",
        service: Service = "",
        stack: Stack = "",
        lines: Lines = 100,
        grep: Grep = "",
        since: Since = "",
    ) -> Reply:
        match action:
            case "list":
                work = self._reader.list(limit=lines)
            case "inspect":
                work = self._reader.inspect(container)
            case "logs":
                accepts, newer = build_line_filter(grep), parse_since(since)
                work = self._reader.logs(container, lines=lines, since=newer, accepts=accepts)
            case "services":
                work = self._swarm.services(stack, lines)
            case "tasks":
                work = self._swarm.tasks(service, lines)
            case "swarm":
                work = self._swarm.swarm()
            case "updates":
                work = self._swarm.updates(lines)
            case "control":
                work = self._changer.control(container, operation)
            case "check_updates":
                work = check_updates(self._reader.api, container)
            case "update":
                work = self._changer.update(container, current_digest, digest)
        return await self._server.deliver(work)

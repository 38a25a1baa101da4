"""The `docker` tool: containers."""

from typing import Annotated, Literal

from pydantic import Field

from mcp_bridge.ops.docker import DockerReader
from mcp_bridge.ops.envelope_server import EnvelopeServer
from mcp_bridge.ops.line_filter import build_line_filter
from mcp_bridge.ops.since import parse_since
from mcp_bridge.ops.tools.fields import Grep, Lines, Reply, Since, describe_reader


def add_docker(server: EnvelopeServer, reader: DockerReader) -> None:
    @server.tool(
        title="Look at containers",
        annotations=describe_reader("Look at containers"),
        description=("Containers of the local Docker or Podman, where one answers."),
    )
    async def docker(
        action: Annotated[
            Literal["list", "inspect", "logs"],
            Field(
                description="list: every container. inspect: state, limits, mounts and networks "
                "of one. logs: the last lines of its output."
            ),
        ],
        container: Annotated[
            str, Field(max_length=128, description="Name or id, for inspect and logs.")
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

"""The `storage` tool: disk space, and what fills it."""

from typing import Annotated, Literal

from pydantic import Field

from mcp_bridge.ops import storage
from mcp_bridge.ops.bounded import run_in_thread
from mcp_bridge.ops.envelope_server import EnvelopeServer
from mcp_bridge.ops.tools.fields import READ_SECONDS, Reply, SampleSeconds, describe_reader

_LARGEST_SECONDS = 15.0


def add_storage(server: EnvelopeServer) -> None:
    @server.tool(
        name="storage",
        title="Look at storage",
        annotations=describe_reader("Look at storage"),
        description=("Disk space, what fills a file system, disk traffic, mounts."),
    )
    async def look_at_storage(
        action: Annotated[
            Literal["usage", "largest", "io", "mounts"],
            Field(
                description="usage: space and inodes by file system. largest: directories and "
                "files that hold most space below path. io: disk traffic. mounts: all mounts."
            ),
        ],
        path: Annotated[
            str, Field(max_length=4096, description="Absolute directory, for largest.")
        ] = "/",
        limit: Annotated[int, Field(ge=1, le=200, description="Most entries, for largest.")] = 20,
        sample_seconds: SampleSeconds = 0.5,
    ) -> Reply:
        match action:
            case "usage":
                work = run_in_thread(lambda _: storage.take_usage(), READ_SECONDS)
            case "largest":
                work = run_in_thread(
                    lambda deadline: storage.take_largest(path, limit, deadline), _LARGEST_SECONDS
                )
            case "io":
                work = run_in_thread(
                    lambda deadline: storage.take_io(sample_seconds, deadline), READ_SECONDS
                )
            case "mounts":
                work = run_in_thread(lambda _: storage.take_mounts(), READ_SECONDS)
        return await server.deliver(work)

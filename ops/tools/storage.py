"""The `storage` tool: disk space and what fills it, and the systems that hold it."""

from typing import Annotated, Literal

from pydantic import Field

from ops import storage
from ops.bounded import run_in_thread
from ops.envelope_server import EnvelopeServer
from ops.settings import OpsSettings
from ops.storage_systems import StorageSystems
from ops.tools.fields import (
    READ_SECONDS,
    AbsolutePath,
    Reply,
    ResourceId,
    SampleSeconds,
    describe_reader,
)

_LARGEST_SECONDS = 15.0


Action = Annotated[
    Literal[
        "usage", "largest", "io", "mounts", "pools", "raid", "disk_health", "snapshots", "backups",
        "replication", "ceph",
    ],
    Field(
        description="usage: space and inodes by file system. largest: directories and "
        "files that hold most space below path. io: disk traffic. pools: ZFS, LVM, "
        "Proxmox. backups, replication: of Proxmox. io, largest and mounts are of this "
        "machine."
    ),
]  # fmt: skip
Place = Annotated[
    ResourceId,
    Field(description="Host or guest, for usage also container or pod. Empty: this machine."),
]
Directory = Annotated[AbsolutePath, Field(description="Absolute directory, for largest.")]
Most = Annotated[int, Field(ge=1, le=200, description="Most entries.")]


def add_storage(server: EnvelopeServer, settings: OpsSettings, systems: StorageSystems) -> None:
    server.add_tool(
        StorageTool(server, settings, systems).look_at_storage,
        name="storage",
        title="Look at storage",
        annotations=describe_reader("Look at storage"),
        description=(
            "Disk space, what fills a file system, disk traffic, mounts; pools, arrays, health of "
            "disks, snapshots and backups."
        ),
    )


class StorageTool:
    """The function that is offered, with what it asks."""

    def __init__(
        self, server: EnvelopeServer, settings: OpsSettings, systems: StorageSystems
    ) -> None:
        self._server = server
        self._here = settings.names_of_here
        self._systems = systems

    async def look_at_storage(
        self,
        action: Action,
        resource_id: Place = "",
        path: Directory = "/",
        limit: Most = 20,
        sample_seconds: SampleSeconds = 0.5,
    ) -> Reply:
        is_here = resource_id in self._here
        match action:
            case "usage" if is_here:
                work = run_in_thread(lambda _: storage.take_usage(), READ_SECONDS)
            case "usage":
                work = self._systems.usage(resource_id)
            case "largest" | "io" | "mounts" if not is_here:
                raise self._systems.only_here(action, resource_id)
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
            case _:
                work = self._systems.tell(action, resource_id, limit)
        return await self._server.deliver(work)

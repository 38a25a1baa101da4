"""The `storage` tool: disk space and what fills it, and the systems that hold it."""

from typing import Annotated, Literal

from pydantic import Field

from ops import storage
from ops.bounded import run_in_thread
from ops.envelope import Answer
from ops.envelope_server import EnvelopeServer
from ops.settings import OpsSettings
from ops.storage_systems import StorageSystems
from ops.tools.fields import READ_SECONDS, Reply, SampleSeconds, describe_reader

_LARGEST_SECONDS = 15.0


def add_storage(server: EnvelopeServer, settings: OpsSettings, systems: StorageSystems) -> None:
    @server.tool(
        name="storage",
        title="Look at storage",
        annotations=describe_reader("Look at storage"),
        description=(
            "Disk space, what fills a file system, disk traffic, mounts; pools, arrays, health of "
            "disks, snapshots and backups."
        ),
    )
    async def look_at_storage(
        action: Annotated[
            Literal[
                "usage",
                "largest",
                "io",
                "mounts",
                "pools",
                "raid",
                "disk_health",
                "snapshots",
                "backups",
                "replication",
                "ceph",
            ],
            Field(
                description="usage: space and inodes by file system. largest: directories and "
                "files that hold most space below path. io: disk traffic. pools: ZFS, LVM, "
                "Proxmox. backups, replication: of Proxmox. io, largest and mounts are of this "
                "machine."
            ),
        ],
        resource_id: Annotated[
            str,
            Field(
                max_length=512,
                description="Host or guest, for usage also container or pod. Empty: this machine.",
            ),
        ] = "",
        path: Annotated[
            str, Field(max_length=4096, description="Absolute directory, for largest.")
        ] = "/",
        limit: Annotated[int, Field(ge=1, le=200, description="Most entries.")] = 20,
        sample_seconds: SampleSeconds = 0.5,
    ) -> Reply:
        is_here = resource_id in ("", settings.host, f"host:{settings.host}")

        async def answer() -> Answer:
            match action:
                case "usage" if is_here:
                    return await run_in_thread(lambda _: storage.take_usage(), READ_SECONDS)
                case "usage":
                    return await systems.usage(resource_id)
                case "largest" | "io" | "mounts" if not is_here:
                    raise systems.only_here(action, resource_id)
                case "largest":
                    return await run_in_thread(
                        lambda deadline: storage.take_largest(path, limit, deadline),
                        _LARGEST_SECONDS,
                    )
                case "io":
                    return await run_in_thread(
                        lambda deadline: storage.take_io(sample_seconds, deadline), READ_SECONDS
                    )
                case "mounts":
                    return await run_in_thread(lambda _: storage.take_mounts(), READ_SECONDS)
                case _:
                    return await systems.tell(action, resource_id, limit)

        return await server.deliver(answer())

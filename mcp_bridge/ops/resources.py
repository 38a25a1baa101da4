"""What there is on this machine, each thing under one canonical id."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import psutil

from mcp_bridge.ops import systemd
from mcp_bridge.ops.bounded import Deadline, run_in_thread
from mcp_bridge.ops.docker import DockerReader
from mcp_bridge.ops.envelope import Json, JsonObject, ToolFailure
from mcp_bridge.ops.settings import OpsSettings
from mcp_bridge.ops.storage import Usage, list_mounts, read_usage

Kind = Literal["host", "service", "process", "filesystem", "container"]

_SECONDS = 12.0


@dataclass(frozen=True)
class Executor:
    """A way to reach a resource, and what can be done on that way."""

    executor_id: str
    adapter: Literal["direct", "docker"]
    actions: tuple[str, ...]
    priority: int

    def to_json(self) -> JsonObject:
        return {
            "executor_id": self.executor_id,
            "adapter": self.adapter,
            "actions": self.actions,
            "priority": self.priority,
        }


@dataclass(frozen=True)
class Resource:
    """One thing that can be asked about. `uid` names it on its host; a host has none above it."""

    kind: Kind
    name: str
    status: str
    host: str
    uid: str
    executors: tuple[Executor, ...]
    aliases: tuple[str, ...] = ()
    attributes: JsonObject = field(default_factory=dict)

    @property
    def resource_id(self) -> str:
        """`kind:host:uid`, or `kind:uid` for what stands on its own."""
        return f"host:{self.uid}" if self.kind == "host" else f"{self.kind}:{self.host}:{self.uid}"

    @property
    def allowed_actions(self) -> list[str]:
        return sorted({action for executor in self.executors for action in executor.actions})

    def answers_to(self, name: str) -> bool:
        names = (self.resource_id, self.name, self.uid, *self.aliases)
        return name.casefold() in {known.casefold() for known in names}

    def to_row(self) -> dict[str, Json]:
        """The short form, for lists."""
        return {
            "id": self.resource_id,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "host": self.host,
        }

    def to_json(self) -> dict[str, Json]:
        """The whole resource."""
        return {
            **self.to_row(),
            "aliases": self.aliases,
            "executors": [executor.to_json() for executor in self.executors],
            "allowed_actions": self.allowed_actions,
            "attributes": self.attributes,
        }


@dataclass(frozen=True)
class Inventory:
    """Everything found at one moment. `sources` says which parts of the machine answered."""

    resources: Sequence[Resource]
    sources: dict[str, bool]

    def of_kind(self, kind: Kind) -> list[Resource]:
        return [resource for resource in self.resources if resource.kind == kind]


async def take_inventory(settings: OpsSettings, docker: DockerReader) -> Inventory:
    """Looks at the host, its services (or processes), file systems and containers."""
    local = await run_in_thread(lambda deadline: _local_resources(settings, deadline), _SECONDS)
    containers = await _containers(settings, docker)
    return Inventory(
        [*local, *(containers or [])],
        {"systemd": systemd.answers(settings), "docker": containers is not None},
    )


def direct(settings: OpsSettings, *actions: str) -> Executor:
    return Executor(settings.host, "direct", actions, 10)


def _local_resources(settings: OpsSettings, deadline: Deadline) -> list[Resource]:
    units = systemd.list_services(settings, deadline) if systemd.answers(settings) else []
    programs = [_service(settings, unit) for unit in units] or _processes(settings)
    return [_host(settings), *programs, *_filesystems(settings)]


def _host(settings: OpsSettings) -> Resource:
    return Resource(
        kind="host",
        name=settings.host,
        status="running",
        host=settings.host,
        uid=settings.host,
        aliases=("localhost", "this host", settings.host.partition(".")[0]),
        executors=(direct(settings, "query", "read", "metrics", "storage", "docker"),),
        attributes={
            "cores": psutil.cpu_count(),
            "memory_bytes": psutil.virtual_memory().total,
        },
    )


def _service(settings: OpsSettings, unit: systemd.Unit) -> Resource:
    return Resource(
        kind="service",
        name=unit.name.removesuffix(".service"),
        status=unit.active,
        host=settings.host,
        uid=unit.name,
        executors=(direct(settings, "query", "read.logs"),),
        attributes={"load": unit.load, "sub_state": unit.sub, "description": unit.description},
    )


def _processes(settings: OpsSettings) -> list[Resource]:
    """One resource for each program name: without systemd, that is what a service is."""
    pids: dict[str, list[int]] = {}
    states: dict[str, set[str]] = {}
    for process in psutil.process_iter():
        try:
            with process.oneshot():
                name, state, kernel = process.name(), process.status(), _is_kernel(process)
        except (psutil.Error, OSError):
            continue
        if name and not kernel:
            pids.setdefault(name, []).append(process.pid)
            states.setdefault(name, set()).add(state)
    return [
        Resource(
            kind="process",
            name=name,
            status="running" if states[name] - {"zombie", "dead"} else "zombie",
            host=settings.host,
            uid=name,
            executors=(direct(settings, "query", "read.logs", "metrics.processes"),),
            attributes={"pids": numbers[:50], "count": len(numbers)},
        )
        for name, numbers in sorted(pids.items())
    ]


def _is_kernel(process: psutil.Process) -> bool:
    return process.pid == 2 or process.ppid() == 2


def _filesystems(settings: OpsSettings) -> list[Resource]:
    found = []
    for mount in list_mounts(include_virtual=False):
        usage = read_usage(mount)
        if usage is None or usage.total:
            found.append(_filesystem(settings, mount.path, mount.device, mount.kind, usage))
    return found


def _filesystem(
    settings: OpsSettings, path: str, device: str, kind: str, usage: Usage | None
) -> Resource:
    attributes: dict[str, Json] = {"device": device, "type": kind}
    if usage is not None:
        attributes |= {
            "size_bytes": usage.total,
            "free_bytes": usage.free,
            "used_percent": usage.percent,
            "inodes_used_percent": usage.inodes_percent,
        }
    return Resource(
        kind="filesystem",
        name=path,
        status="mounted" if usage else "not answering",
        host=settings.host,
        uid=path,
        aliases=(device,),
        executors=(direct(settings, "query", "storage.usage", "storage.largest", "read.find"),),
        attributes=attributes,
    )


async def _containers(settings: OpsSettings, docker: DockerReader) -> list[Resource] | None:
    if docker.socket() is None:
        return None
    try:
        rows = await docker.containers()
    except ToolFailure:
        return None  # `sources` says that Docker gave no answer; the rest is worth having.
    return [_container(settings, row) for row in rows]


def _container(settings: OpsSettings, row: dict[str, Json]) -> Resource:
    return Resource(
        kind="container",
        name=str(row["name"]),
        status=str(row["state"]),
        host=settings.host,
        uid=str(row["id"]),
        executors=(
            Executor(settings.host, "docker", ("query", "docker.inspect", "docker.logs"), 10),
        ),
        attributes={key: row[key] for key in ("image", "status", "created", "ports")},
    )

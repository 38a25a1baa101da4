"""What there is on this machine and beyond it, each thing under one canonical id."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import psutil

from ops import systemd
from ops.bounded import Deadline, run_in_thread
from ops.cgroups import cpu_limit_cores, memory_limits
from ops.control.actions import (
    COMMAND,
    DECLARED_ACTIONS,
    FILE_ACTIONS,
    PROCESS_ACTIONS,
    REPAIR,
    SERVICE_ACTIONS,
)
from ops.envelope import Json, JsonObject
from ops.services.declaration import DeclaredService
from ops.services.running import read_state
from ops.settings import OpsSettings
from ops.storage import Usage, list_mounts, read_usage

Kind = Literal[
    "host", "service", "process", "filesystem", "container", "lxc", "vm", "pod", "deployment"
]
LOCAL_KINDS: frozenset[Kind] = frozenset({"host", "service", "process", "filesystem"})
_OWN_CONTEXT: frozenset[Kind] = frozenset({"container", "lxc", "vm", "pod"})

_SECONDS = 12.0


@dataclass(frozen=True)
class Executor:
    """A way to reach a resource, and what can be done on that way."""

    executor_id: str
    adapter: Literal["direct", "ssh", "docker", "pct", "qm", "kubectl"]
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
    declared: DeclaredService | None = None
    """Of a service that the operator declares, how it is started and known."""

    @property
    def resource_id(self) -> str:
        """`kind:host:uid`, or `kind:uid` for what stands on its own."""
        return f"host:{self.uid}" if self.kind == "host" else f"{self.kind}:{self.host}:{self.uid}"

    @property
    def has_own_context(self) -> bool:
        """Whether its files and processes are not those of the host it runs on."""
        return self.kind in _OWN_CONTEXT

    @property
    def allowed_actions(self) -> list[str]:
        return sorted({action for executor in self.executors for action in executor.actions})

    def answers_to(self, name: str) -> bool:
        names = (self.resource_id, self.name, self.uid, *self.aliases)
        return name.casefold() in {known.casefold() for known in names}

    def to_row(self) -> dict[str, Json]:
        """The short form, for lists. Where a way of its own is needed, it is part of it."""
        row: dict[str, Json] = {
            "id": self.resource_id,
            "kind": self.kind,
            "name": self.name,
            "status": self.status,
            "host": self.host,
        }
        if self.declared is not None:
            return row | self._ways()
        if self.has_own_context or self.kind == "deployment":
            row["executors"] = [executor.to_json() for executor in self.executors]
        return row

    def to_json(self) -> dict[str, Json]:
        """The whole resource."""
        return {
            **self.to_row(),
            "aliases": self.aliases,
            **self._ways(),
            "attributes": self.attributes,
        }

    def _ways(self) -> dict[str, Json]:
        return {
            "executors": [executor.to_json() for executor in self.executors],
            "allowed_actions": self.allowed_actions,
        }


@dataclass(frozen=True)
class Inventory:
    """Everything found at one moment. `sources` says which parts of the machine answered."""

    resources: Sequence[Resource]
    sources: dict[str, bool]

    def of_kind(self, kind: Kind) -> list[Resource]:
        return [resource for resource in self.resources if resource.kind == kind]


@dataclass(frozen=True)
class Source:
    """A part of what there is: `find` gives None where it does not answer."""

    name: str
    kinds: frozenset[Kind]
    find: Callable[[], Awaitable[Sequence[Resource] | None]]


async def take_inventory(
    settings: OpsSettings, sources: Sequence[Source], kinds: frozenset[Kind]
) -> Inventory:
    """Looks at the parts that can hold something of these kinds."""
    resources: list[Resource] = []
    answered: dict[str, bool] = {}
    if kinds & LOCAL_KINDS:
        resources += await run_in_thread(lambda left: _local_resources(settings, left), _SECONDS)
        answered["systemd"] = systemd.answers(settings)
    asked = [source for source in sources if kinds & source.kinds]
    # Side by side: each may be silent up to a deadline of its own.
    for source, found in zip(
        asked, await asyncio.gather(*(source.find() for source in asked)), strict=True
    ):
        resources += found or ()
        answered[source.name] = found is not None
    return Inventory(resources, answered)


def direct(settings: OpsSettings, *actions: str) -> Executor:
    return Executor(settings.host, "direct", actions, 10)


def _local_resources(settings: OpsSettings, deadline: Deadline) -> list[Resource]:
    units = systemd.list_services(settings, deadline) if systemd.answers(settings) else []
    programs = [_service(settings, unit) for unit in units] or _processes(settings)
    declared = [_declared_service(settings, service) for service in settings.services]
    return [_host(settings), *declared, *programs, *_filesystems(settings)]


def _host(settings: OpsSettings) -> Resource:
    return Resource(
        kind="host",
        name=settings.host,
        status="running",
        host=settings.host,
        uid=settings.host,
        aliases=("localhost", "this host", settings.host.partition(".")[0]),
        executors=(
            direct(
                settings,
                "query",
                "read",
                "read.exec",
                "metrics",
                "storage",
                "docker",
                COMMAND,
                *FILE_ACTIONS,
            ),
        ),
        attributes={
            "cores": psutil.cpu_count(),
            "memory_bytes": psutil.virtual_memory().total,
            **_describe_container(settings),
        },
    )


def _describe_container(settings: OpsSettings) -> dict[str, Json]:
    """What a container may use of the machine around it, and what it cannot see."""
    if settings.container is None:
        return {}
    return {
        "container": settings.container.runtime,
        "limit_cores": cpu_limit_cores(),
        "limit_memory": memory_limits(),
        "note": settings.container.explanation,
    }


def _service(settings: OpsSettings, unit: systemd.Unit) -> Resource:
    return Resource(
        kind="service",
        name=unit.name.removesuffix(".service"),
        status=unit.active,
        host=settings.host,
        uid=unit.name,
        executors=(direct(settings, "query", "read.logs", *SERVICE_ACTIONS),),
        attributes={"load": unit.load, "sub_state": unit.sub, "description": unit.description},
    )


def _declared_service(settings: OpsSettings, service: DeclaredService) -> Resource:
    state = read_state(service)
    actions = (*DECLARED_ACTIONS, *([REPAIR] if service.repairs else []))
    return Resource(
        kind="service",
        name=service.name,
        status=state.status,
        host=settings.host,
        uid=service.name,
        executors=(direct(settings, "query", "read.logs", "probe", *actions),),
        attributes={
            **state.to_json(),
            "description": service.description,
            "log_file": str(service.log_file),
            "declared": True,
            "depends_on": service.depends_on,
            "repairs": [each.to_json() for each in service.repairs],
        },
        declared=service,
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
            executors=(
                direct(settings, "query", "read.logs", "metrics.processes", *PROCESS_ACTIONS),
            ),
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

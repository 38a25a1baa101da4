"""The `query` tool: which resources there are, and how they are."""

import difflib
import platform
from typing import Literal, cast, get_args

import psutil

from mcp_bridge.ops import systemd
from mcp_bridge.ops.bounded import Deadline, run_in_thread
from mcp_bridge.ops.docker import DockerReader
from mcp_bridge.ops.envelope import Answer, Json, JsonObject, ToolFailure
from mcp_bridge.ops.far_resources import FarResources
from mcp_bridge.ops.files import timestamp
from mcp_bridge.ops.guests import read_guest_config
from mcp_bridge.ops.health import take_health
from mcp_bridge.ops.process_identity import identify
from mcp_bridge.ops.redaction import show_command
from mcp_bridge.ops.resources import LOCAL_KINDS, Inventory, Kind, Resource, take_inventory
from mcp_bridge.ops.services.declaration import DeclaredService
from mcp_bridge.ops.services.running import read_state
from mcp_bridge.ops.settings import OpsSettings
from mcp_bridge.ops.storage import list_mounts
from mcp_bridge.ops.ways import Ways

KindFilter = Literal["any", Kind]

_SECONDS = 10.0
_ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
_ON_THIS_MACHINE: frozenset[Kind] = LOCAL_KINDS | {"container"}


class ResourceQuery:
    """Answers about the resources of one machine and beyond; every answer is taken anew."""

    def __init__(self, settings: OpsSettings, docker: DockerReader, ways: Ways) -> None:
        self._settings = settings
        self._docker = docker
        self._ways = ways
        self._far = FarResources(settings, docker, ways)

    async def search(self, text: str, kind: KindFilter, limit: int) -> Answer:
        """Resources with every word of `text` in their id, name, alias, status or description."""
        if not text.strip():
            raise ToolFailure(
                "INVALID_INPUT", "'query' is missing: the words to search for, such as 'nginx'."
            )
        words = text.casefold().split()
        inventory = await self._inventory(_kinds_of(kind))
        found = [
            resource
            for resource in _filtered(inventory, kind, "")
            if all(word in _haystack(resource) for word in words)
        ]
        data: dict[str, Json] = {
            "query": text,
            "matches": [resource.to_row() for resource in found[:limit]],
            "total": len(found),
            "sources": inventory.sources,
        }
        if not found:
            data["note"] = "nothing matches; action 'list' shows what there is"
        return Answer(data, _first_of("matches", limit, len(found)))

    async def list(self, kind: KindFilter, status: str, limit: int, offset: int) -> Answer:
        """Resources of a kind and status, a page at a time."""
        inventory = await self._inventory(_kinds_of(kind))
        found = _filtered(inventory, kind, status)
        page = found[offset : offset + limit]
        left = len(found) - offset - len(page)
        cuts = (f"resources: {left} more; go on with offset={offset + limit}",) if left > 0 else ()
        data: dict[str, Json] = {
            "resources": [resource.to_row() for resource in page],
            "total": len(found),
            "offset": offset,
            "sources": inventory.sources,
        }
        return Answer(data, cuts)

    async def get(self, name: str) -> Answer:
        """One resource, with the ways to reach it and what is allowed on them."""
        return Answer((await self.resolve(name)).to_json())

    async def config(self, name: str) -> Answer:
        """How one resource is set up."""
        resource = await self.resolve(name or self._settings.host)
        return Answer({**resource.to_row(), "config": dict(await self._configuration(resource))})

    async def _configuration(self, resource: Resource) -> JsonObject:
        match resource.kind:
            case "container":
                return (await self._docker.inspect(resource.uid)).data
            case "lxc" | "vm":
                node = self._ways.to_host(resource.host)
                return await read_guest_config(node, resource.kind, resource.uid)
        if not self._ways.is_local(resource):
            return resource.attributes
        return await run_in_thread(
            lambda deadline: _read_config(resource, self._settings, deadline), _SECONDS
        )

    async def topology(self, limit: int) -> Answer:
        """What runs in what: the host, and below it everything else by kind."""
        inventory = await self._inventory(_ALL_KINDS - {"pod", "deployment"})
        host = inventory.of_kind("host")[0]
        below: dict[str, Json] = {}
        cuts: list[str] = []
        kinds: tuple[Kind, ...] = ("service", "process", "filesystem", "container", "lxc", "vm")
        for kind in kinds:
            members = [each for each in inventory.of_kind(kind) if each.host == host.name]
            if members:
                rows = [_node(member) for member in members[:limit]]
                below[kind] = {"total": len(members), "members": rows}
                cuts += _first_of(f"children.{kind}", limit, len(members))
        root: dict[str, Json] = {"id": host.resource_id, "name": host.name, "children": below}
        return Answer({"root": root, "sources": inventory.sources}, tuple(cuts))

    async def health(self) -> Answer:
        inventory = await self._inventory(_ON_THIS_MACHINE)
        return await run_in_thread(lambda _: take_health(inventory), _SECONDS)

    async def _inventory(self, kinds: frozenset[Kind]) -> Inventory:
        sources = self._far.sources(kinds, is_named=kinds != _ALL_KINDS)
        return await take_inventory(self._settings, list(sources), kinds)

    async def resolve(self, name: str) -> Resource:
        """The one resource of that id or name. Raises `ToolFailure` where there is no such one."""
        if not name:
            raise ToolFailure(
                "INVALID_INPUT",
                "'resource_id' is missing: an id as 'list' or 'search' gives it, such as "
                f"'host:{self._settings.host}', or a name.",
            )
        resources = (await self._inventory(_kinds_of(name.partition(":")[0]))).resources
        exact = [resource for resource in resources if resource.resource_id == name]
        found = exact or [resource for resource in resources if resource.answers_to(name)]
        if len(found) == 1:
            return found[0]
        if found:
            ids: list[Json] = [resource.resource_id for resource in found]
            raise ToolFailure(
                "INVALID_INPUT",
                f"'{name}' may be {', '.join(map(str, ids[:10]))}; give one of these ids.",
                details={"candidates": ids[:50]},
            )
        raise _not_found(name, [resource.resource_id for resource in resources])


def _kinds_of(text: str) -> frozenset[Kind]:
    """The kind that a text names, else all of them."""
    return frozenset(kind for kind in _ALL_KINDS if kind == text) or _ALL_KINDS


def _not_found(name: str, ids: list[str]) -> ToolFailure:
    near = [known for known in ids if name.casefold() in known.casefold()][:5]
    near = near or difflib.get_close_matches(name, ids, n=5, cutoff=0.4)
    hint = f"Did you mean {', '.join(near)}?" if near else "Action 'list' shows what there is."
    return ToolFailure(
        "NOT_FOUND",
        f"There is no resource '{name}' within reach. {hint}",
        details={"resource_id": name, "similar": cast(list[Json], near)},
    )


def _filtered(inventory: Inventory, kind: KindFilter, status: str) -> list[Resource]:
    return [
        resource
        for resource in inventory.resources
        if kind in ("any", resource.kind)
        and (not status or resource.status.casefold() == status.casefold())
    ]


def _haystack(resource: Resource) -> str:
    texts = [value for value in resource.attributes.values() if isinstance(value, str)]
    parts = (resource.resource_id, resource.name, resource.status, *resource.aliases, *texts)
    return " ".join(parts).casefold()


def _first_of(what: str, limit: int, total: int) -> tuple[str, ...]:
    return (f"{what}: the first {limit} of {total}; raise 'limit'",) if total > limit else ()


def _node(resource: Resource) -> Json:
    return {"id": resource.resource_id, "name": resource.name, "status": resource.status}


def _read_config(resource: Resource, settings: OpsSettings, deadline: Deadline) -> dict[str, Json]:
    if resource.declared is not None:
        return _declared_config(resource.declared)
    if resource.kind == "service":
        return systemd.show_service(settings, resource.uid, deadline)
    if resource.kind == "process":
        return _process_config(resource)
    if resource.kind == "filesystem":
        return _filesystem_config(resource)
    return _host_config()


def _declared_config(service: DeclaredService) -> dict[str, Json]:
    return {
        **read_state(service).to_json(),
        "description": service.description,
        "command": show_command(service.argv),
        "directory": str(service.directory),
        "environment_names": [name for name, _ in service.environment],
        "pid_file": str(service.pid_file),
        "log_file": str(service.log_file),
        "stop_seconds": service.stop_seconds,
    }


def _host_config() -> dict[str, Json]:
    release = _os_release()
    memory = psutil.virtual_memory()
    addresses: dict[str, Json] = {
        name: [item.address for item in items if item.family.name in ("AF_INET", "AF_INET6")]
        for name, items in psutil.net_if_addrs().items()
    }
    return {
        "operating_system": release.get("PRETTY_NAME", platform.system()),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "cores": psutil.cpu_count(),
        "memory_bytes": memory.total,
        "swap_bytes": psutil.swap_memory().total,
        "boot_time": timestamp(psutil.boot_time()),
        "addresses": addresses,
    }


def _os_release() -> dict[str, str]:
    try:
        return platform.freedesktop_os_release()
    except OSError:
        return {}


def _filesystem_config(resource: Resource) -> dict[str, Json]:
    mount = next((m for m in list_mounts(include_virtual=False) if m.path == resource.uid), None)
    if mount is None:
        raise ToolFailure("NOT_FOUND", f"{resource.uid} is no longer mounted.")
    return {
        "device": mount.device,
        "type": mount.kind,
        "options": mount.options,
        "read_only": mount.read_only,
    }


def _process_config(resource: Resource) -> dict[str, Json]:
    rows: list[Json] = []
    pids = resource.attributes["pids"]
    for pid in pids if isinstance(pids, list) else []:
        identity = identify(int(str(pid)))
        if identity is None:
            continue
        try:
            process = psutil.Process(identity.pid)
            with process.oneshot():
                rows.append(
                    {
                        "pid": process.pid,
                        "parent_pid": process.ppid(),
                        "user_id": process.uids().real,
                        "command": show_command(process.cmdline()),
                        "started": timestamp(process.create_time()),
                        "start_ticks": identity.start_ticks,
                        "threads": process.num_threads(),
                        "open_files_limit": _open_files_limit(process),
                    }
                )
        except (psutil.Error, OSError):
            continue
    return {"processes": rows}


def _open_files_limit(process: psutil.Process) -> int | None:
    try:
        return process.rlimit(psutil.RLIMIT_NOFILE)[0]
    except (psutil.Error, OSError):
        return None  # Only root may see the limits of another user's process.

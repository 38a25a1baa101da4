"""What is not of the machine itself: other hosts, containers, guests, workloads of clusters."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence

from masking.visible_text import clean_line
from ops import kubernetes_rows as rows
from ops.control import actions
from ops.docker import DockerReader
from ops.envelope import Json, JsonObject, ToolFailure
from ops.guests import Guest, list_guests, runs_guests
from ops.health import Connection
from ops.resources import Executor, Kind, Resource, Source
from ops.routes import Routes
from ops.settings import OpsSettings
from ops.targets import Cluster

_CONTAINER_ACTIONS = (
    "query", "docker.inspect", "docker.logs", "read.exec", "control", "check_updates", "update",
    *actions.CONTAINER_ACTIONS, actions.COMMAND, *actions.FILE_ACTIONS,
)  # fmt: skip
_GUEST_ACTIONS = (
    "query", "read.exec", *actions.GUEST_ACTIONS, actions.COMMAND, *actions.FILE_ACTIONS,
)  # fmt: skip
_POD_ACTIONS = (
    "query", "kubernetes.logs", "read.exec", "delete_pod", "exec", actions.COMMAND,
    *actions.FILE_ACTIONS,
)  # fmt: skip
_HOST_ACTIONS = ("query", "read.exec", actions.COMMAND, *actions.FILE_ACTIONS)
_DEPLOYMENT_ACTIONS = ("query", "scale", "restart")
_GREETING_SECONDS = 6.0
_ReadRow = Callable[[str, JsonObject], dict[str, Json]]
_WORKLOADS: dict[Kind, tuple[_ReadRow, tuple[str, ...], tuple[str, ...]]] = {
    "pod": (rows.pod_row, _POD_ACTIONS, ("namespace", "node", "owner", "containers")),
    "deployment": (
        rows.deployment_row, _DEPLOYMENT_ACTIONS,
        ("namespace", "replicas", "ready_replicas", "images"),
    ),
}  # fmt: skip
"""How a workload of each kind is read, what is allowed on it, and what is told of it."""
_GUESTS: frozenset[Kind] = frozenset({"lxc", "vm"})


class RemoteResources:
    """Finds them, a source at a time, so that one that is silent costs only itself."""

    def __init__(self, settings: OpsSettings, docker: DockerReader, routes: Routes) -> None:
        self._settings = settings
        self._docker = docker
        self._routes = routes

    def sources(self, kinds: frozenset[Kind], *, is_named: bool) -> Iterator[Source]:
        """Clusters that nobody configured are asked only if their kinds are (`is_named`)."""
        yield Source("docker", frozenset({"container"}), self._containers)
        if self._settings.targets.hosts:
            yield Source("ssh", frozenset({"host"}), self._hosts)
        if self._nodes():
            yield Source("proxmox", _GUESTS, self._guests)
        if self._routes.kubectl.is_configured or is_named:
            yield Source("kubernetes", frozenset(_WORKLOADS), lambda: self._workloads(kinds))

    async def connections(self) -> Sequence[Connection]:
        """Whether the hosts and clusters that an operator named answer, asked side by side."""
        hosts = [
            _try(f"host:{host.name}", "ssh", self._greet_host(host.name))
            for host in self._settings.targets.hosts
        ]
        clusters = [
            _try(f"cluster:{cluster.name}", "kubectl", self._greet_cluster(cluster))
            for cluster in self._settings.targets.clusters
        ]
        return await asyncio.gather(*hosts, *clusters)

    async def _greet_host(self, name: str) -> None:
        finished = await self._routes.to_host(name).run(
            ("true",), seconds=_GREETING_SECONDS, max_bytes=1000
        )
        if finished.timed_out:
            raise ToolFailure("EXECUTION_FAILED", f"no answer within {_GREETING_SECONDS:.0f} s")

    async def _greet_cluster(self, cluster: Cluster) -> None:
        await self._routes.kubectl.call(cluster, "get", "--raw=/version")

    async def _hosts(self) -> Sequence[Resource]:
        return [
            Resource(
                kind="host",
                name=host.name,
                status="configured",
                host=host.name,
                uid=host.name,
                executors=(Executor(host.name, "ssh", _HOST_ACTIONS, 10),),
                aliases=(host.access.address,),
            )
            for host in self._settings.targets.hosts
        ]

    async def _containers(self) -> Sequence[Resource] | None:
        if self._docker.api.socket() is None:
            return None
        try:
            found = await self._docker.containers()
        except ToolFailure:
            return None  # `sources` says that Docker gave no answer; the rest is worth having.
        return [_container(self._settings.host, row) for row in found]

    async def _guests(self) -> Sequence[Resource] | None:
        return _joined(await asyncio.gather(*map(self._guests_of, self._nodes())))

    async def _guests_of(self, node: str) -> Sequence[Resource] | None:
        try:
            return [_guest(each) for each in await list_guests(node, self._routes.to_host(node))]
        except ToolFailure:
            return None

    def _nodes(self) -> list[str]:
        here = [self._settings.host] if runs_guests(self._settings.path) else []
        return here + [host.name for host in self._settings.targets.hosts if host.is_proxmox]

    async def _workloads(self, kinds: frozenset[Kind]) -> Sequence[Resource] | None:
        try:
            clusters = await self._routes.kubectl.clusters()
        except ToolFailure:
            return None
        wanted = sorted(_WORKLOADS.keys() & kinds)
        asked = [(cluster, kind) for cluster in clusters for kind in wanted]
        return _joined(await asyncio.gather(*(self._workloads_of(*each) for each in asked)))

    async def _workloads_of(self, cluster: Cluster, kind: Kind) -> Sequence[Resource] | None:
        try:
            listed = await self._routes.kubectl.get_json(
                cluster, "get", f"{kind}s", "--all-namespaces"
            )
        except ToolFailure:
            return None
        return [_workload(kind, cluster.name, item) for item in rows.items_of(listed)]


async def _try(place: str, adapter: str, greeting: Awaitable[None]) -> Connection:
    try:
        async with asyncio.timeout(_GREETING_SECONDS):
            await greeting
    except ToolFailure as failure:
        return Connection(place, adapter, clean_line(failure.message, 300))
    except TimeoutError:
        return Connection(place, adapter, f"no answer within {_GREETING_SECONDS:.0f} s")
    return Connection(place, adapter)


def _joined(parts: Sequence[Sequence[Resource] | None]) -> Sequence[Resource] | None:
    """What those who answered know; None where nobody did."""
    answers = [part for part in parts if part is not None]
    return [resource for part in answers for resource in part] if answers else None


def _container(host: str, row: Mapping[str, Json]) -> Resource:
    return Resource(
        kind="container",
        name=str(row["name"]),
        status=str(row["state"]),
        host=host,
        uid=str(row["id"]),
        executors=(Executor(host, "docker", _CONTAINER_ACTIONS, 10),),
        attributes={key: row[key] for key in ("image", "status", "created", "ports")},
    )


def _guest(guest: Guest) -> Resource:
    return Resource(
        kind=guest.kind,
        name=guest.name,
        status=guest.status,
        host=guest.node,
        uid=guest.vmid,
        executors=(
            Executor(guest.node, "pct" if guest.kind == "lxc" else "qm", _GUEST_ACTIONS, 10),
        ),
        attributes={"vmid": guest.vmid, "node": guest.node},
    )


def _workload(kind: Kind, cluster: str, item: JsonObject) -> Resource:
    read_row, allowed, told = _WORKLOADS[kind]
    row = read_row(cluster, item)
    return Resource(
        kind=kind,
        name=str(row["name"]),
        status=str(row["status"]),
        host=cluster,
        uid=f"{row['namespace']}/{row['name']}",
        executors=(Executor(cluster, "kubectl", allowed, 10),),
        attributes={key: row[key] for key in told},
    )

"""The `query` tool: which resources there are, and how they are."""

import asyncio
import difflib
from collections import Counter
from typing import Literal, cast, get_args

from ops.bounded import run_in_thread
from ops.configuration import read_config, read_remote_host, workload_config
from ops.docker import DockerReader
from ops.envelope import Answer, Json, JsonObject, ToolFailure
from ops.executors.names import LABEL, SUBDOMAIN, check_name
from ops.guests import read_guest_config
from ops.health import take_health
from ops.place_programs import PlacePrograms
from ops.remote_resources import RemoteResources
from ops.resources import LOCAL_KINDS, Inventory, Kind, Resource, take_inventory
from ops.routes import Routes
from ops.settings import OpsSettings

KindFilter = Literal["any", Kind]

_SECONDS = 10.0
_ALL_KINDS: frozenset[Kind] = frozenset(get_args(Kind))
_WORKLOADS: frozenset[Kind] = frozenset({"pod", "deployment"})
_BELOW_A_HOST: tuple[Kind, ...] = ("service", "process", "filesystem", "container", "lxc", "vm")
_ON_THIS_MACHINE: frozenset[Kind] = LOCAL_KINDS | {"container"}


class ResourceQuery:
    """Answers about the resources of one machine and beyond; every answer is taken anew."""

    def __init__(self, settings: OpsSettings, docker: DockerReader, routes: Routes) -> None:
        self._settings = settings
        self._docker = docker
        self._routes = routes
        self._remote = RemoteResources(settings, docker, routes)

    async def search(
        self, text: str, kind: KindFilter, status: str, limit: int, offset: int
    ) -> Answer:
        """Resources with every word of `text` in their id, name, alias, status or description."""
        if not text.strip():
            raise ToolFailure(
                "INVALID_INPUT", "'query' is missing: the words to search for, such as 'nginx'."
            )
        words = text.casefold().split()
        inventory = await self._inventory(_kinds_of(kind))
        found = [
            resource
            for resource in _filtered(inventory, kind, status)
            if all(word in _haystack(resource) for word in words)
        ]
        data: dict[str, Json] = {
            "query": text,
            "matches": [resource.to_row() for resource in found[offset : offset + limit]],
            "total": len(found),
            "offset": offset,
            "sources": inventory.sources,
        }
        if not found:
            data["note"] = "nothing matches; action 'list' shows what there is"
        return Answer(data, _goes_on("matches", offset, limit, len(found)))

    async def list(self, kind: KindFilter, status: str, limit: int, offset: int) -> Answer:
        """Resources of a kind and status, a page at a time."""
        inventory = await self._inventory(_kinds_of(kind))
        found = _filtered(inventory, kind, status)
        data: dict[str, Json] = {
            "resources": [resource.to_row() for resource in found[offset : offset + limit]],
            "total": len(found),
            "offset": offset,
            "sources": inventory.sources,
        }
        return Answer(data, _goes_on("resources", offset, limit, len(found)))

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
                node = self._routes.to_host(resource.host)
                return await read_guest_config(node, resource.kind, resource.uid)
            case "pod" | "deployment":
                return workload_config(await self.read_workload(resource))
        if not self._routes.is_local(resource):
            executor = await self._routes.into(resource)
            return await read_remote_host(PlacePrograms(executor, resource.resource_id))
        return await run_in_thread(
            lambda deadline: read_config(resource, self._settings, deadline), _SECONDS
        )

    async def topology(self, limit: int) -> Answer:
        """What runs in what: this host and the others, and below each everything else by kind.

        Of clusters that are configured, how much runs on each.
        """
        asked = _ALL_KINDS if self._routes.kubectl.is_configured else _ALL_KINDS - _WORKLOADS
        inventory = await self._inventory(asked)
        cuts: list[str] = []
        here, *others = [_tree(host, inventory, limit, cuts) for host in inventory.of_kind("host")]
        clusters: dict[str, dict[str, int]] = {}
        for each in inventory.resources:
            if each.kind in _WORKLOADS:
                counts = clusters.setdefault(each.host, {})
                counts[each.kind] = counts.get(each.kind, 0) + 1
        data: dict[str, Json] = {
            "root": here,
            "hosts": others,
            "clusters": [{"name": name, **counts} for name, counts in clusters.items()],
            "summary": Counter(each.kind for each in inventory.resources),
            "sources": inventory.sources,
        }
        return Answer(data, tuple(cuts))

    async def health(self) -> Answer:
        """This machine's figures and problems, and whether what is reached from it answers."""
        inventory, connections = await asyncio.gather(
            self._inventory(_ON_THIS_MACHINE), self._remote.connections()
        )
        return await run_in_thread(lambda _: take_health(inventory, connections), _SECONDS)

    async def take_inventory(self, kind: KindFilter) -> Inventory:
        """Everything of a kind there is now."""
        return await self._inventory(_kinds_of(kind))

    async def read_workload(self, resource: Resource) -> JsonObject:
        """A pod or a deployment as its cluster describes it."""
        cluster = await self._routes.kubectl.find(resource.host)
        namespace, _, name = resource.uid.partition("/")
        return await self._routes.kubectl.get_json(
            cluster,
            "get",
            resource.kind,
            check_name(resource.kind, name, SUBDOMAIN),
            f"--namespace={check_name('namespace', namespace, LABEL)}",
        )

    async def _inventory(self, kinds: frozenset[Kind]) -> Inventory:
        sources = self._remote.sources(kinds, is_named=kinds != _ALL_KINDS)
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


def _goes_on(what: str, offset: int, limit: int, total: int) -> tuple[str, ...]:
    left = total - offset - limit
    return (f"{what}: {left} more; go on with offset={offset + limit}",) if left > 0 else ()


def _first_of(what: str, limit: int, total: int) -> tuple[str, ...]:
    return (f"{what}: the first {limit} of {total}; raise 'limit'",) if total > limit else ()


def _tree(host: Resource, inventory: Inventory, limit: int, cuts: list[str]) -> dict[str, Json]:
    below: dict[str, Json] = {}
    for kind in _BELOW_A_HOST:
        members = [each for each in inventory.of_kind(kind) if each.host == host.name]
        if members:
            rows = [_node(member) for member in members[:limit]]
            below[kind] = {"total": len(members), "members": rows}
            cuts += _first_of(f"{host.resource_id}.children.{kind}", limit, len(members))
    return {**_node(host), "children": below}


def _node(resource: Resource) -> dict[str, Json]:
    return {"id": resource.resource_id, "name": resource.name, "status": resource.status}

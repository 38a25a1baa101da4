"""The `discovery` tool: what runs on a resource."""

import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from ops import systemd
from ops.bounded import Deadline, run_in_thread
from ops.discovery import looks
from ops.discovery.findings import Findings
from ops.discovery.known_services import image_name, image_version, known_image, known_program
from ops.discovery.programs import with_children
from ops.discovery.sockets import local_listeners
from ops.discovery.workloads import findings_of_container, findings_of_workload
from ops.docker import DockerReader
from ops.envelope import Answer, Json, ToolFailure
from ops.query import KindFilter, ResourceQuery
from ops.resources import Resource
from ops.routes import Routes
from ops.services.running import read_state
from ops.settings import OpsSettings

KEPT_SECONDS = 300.0
"""How long a look is shown again, with its age, before the next one."""
BETWEEN_LOOKS = 15.0
"""A resource is not looked at more often, whoever asks."""
_MAX_KEPT = 100
_SECONDS = 10.0


@dataclass(frozen=True)
class _Look:
    findings: Findings
    at: float
    """Seconds of the monotonic clock."""
    status: str
    """Of the resource: another one means that what was found may have gone."""

    @property
    def age(self) -> float:
        return time.monotonic() - self.at


class Discovery:
    """Looks when it is asked, and remembers for a while what it saw. Never on disk."""

    def __init__(
        self, settings: OpsSettings, resources: ResourceQuery, docker: DockerReader, routes: Routes
    ) -> None:
        self._settings = settings
        self._resources = resources
        self._docker = docker
        self._routes = routes
        # Oldest first.
        self._kept: OrderedDict[str, _Look] = OrderedDict()

    async def get(self, name: str, *, refresh: bool) -> Answer:
        """What runs on one resource; the resource itself is resolved anew each time."""
        resource = await self._resources.resolve(name)
        look, notes = await self._look(resource, refresh=refresh)
        data: dict[str, Json] = {
            **resource.to_json(),
            **look.findings.to_json(),
            "age_seconds": round(look.age),
        }
        return Answer(data, look.findings.cuts, notes)

    async def list(self, kind: KindFilter, service: str, limit: int, offset: int) -> Answer:
        """Resources that listen or whose service is known by name or image, without a look."""
        inventory = await self._resources.take_inventory(kind)
        ports = await run_in_thread(lambda _: _ports_by_pid(), _SECONDS)
        found = [
            {**resource.to_row(), **seen}
            for resource in inventory.resources
            if kind in ("any", resource.kind)
            and (seen := _seen_of(resource, ports if self._routes.is_local(resource) else {}))
            and service.casefold() in str(seen["services"]).casefold()
        ]
        page = found[offset : offset + limit]
        left = len(found) - offset - len(page)
        cuts = (f"resources: {left} more; go on with offset={offset + limit}",) if left > 0 else ()
        data: dict[str, Json] = {
            "resources": page,
            "total": len(found),
            "offset": offset,
            "sources": inventory.sources,
        }
        return Answer(data, cuts)

    async def _look(self, resource: Resource, *, refresh: bool) -> tuple[_Look, tuple[str, ...]]:
        kept = self._kept.get(resource.resource_id)
        if kept is not None and kept.status == resource.status:
            if kept.age < BETWEEN_LOOKS:
                told = f"looked at {kept.age:.0f} s ago; not again within {BETWEEN_LOOKS:.0f} s"
                return kept, (told,) if refresh else ()
            if kept.age < KEPT_SECONDS and not refresh:
                return kept, (f"as of {kept.age:.0f} s ago; refresh=true looks again",)
        look = _Look(await self._find(resource), time.monotonic(), resource.status)
        self._kept[resource.resource_id] = look
        self._kept.move_to_end(resource.resource_id)
        while len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return look, ()

    async def _find(self, resource: Resource) -> Findings:
        match resource.kind:
            case "filesystem":
                raise ToolFailure(
                    "INVALID_INPUT",
                    "Nothing runs on a file system; give a host, a service, a container, a guest "
                    "or a workload.",
                    details={"resource_id": resource.resource_id},
                )
            case "container":
                return await self._find_in_container(resource)
            case "pod" | "deployment":
                return await self._find_in_workload(resource)
        if not self._routes.is_local(resource):
            return await looks.look_through(await self._routes.into(resource))
        pids = await run_in_thread(lambda left: self._pids_of(resource, left), _SECONDS)
        return await looks.look_here(self._routes.local, pids)

    async def _find_in_container(self, resource: Resource) -> Findings:
        """What its description says, and, where it runs, what the ways into it show."""
        inspection = (await self._docker.inspect(resource.uid)).data
        findings = findings_of_container(inspection, resource.attributes["ports"])
        try:
            executor = await self._routes.into(resource)
            listeners = await looks.listeners_within(executor)
            services = await looks.add_places(executor, findings.services)
        except ToolFailure as failure:
            return replace(findings, unknown=(f"within it: {failure.message}",))
        unknown = ("listening: it does not say",) if listeners is None else ()
        return replace(findings, services=services, listeners=listeners or (), unknown=unknown)

    async def _find_in_workload(self, resource: Resource) -> Findings:
        return findings_of_workload(await self._resources.read_workload(resource))

    def _pids_of(self, resource: Resource, deadline: Deadline) -> Sequence[int] | None:
        """The processes of a service; None for a host, which has all."""
        if resource.kind == "host":
            return None
        if resource.declared is not None:
            process = read_state(resource.declared).process
            return with_children([process.pid] if process else [])
        if resource.kind == "service":
            shown = systemd.show_service(self._settings, resource.uid, deadline)
            main = str(shown.get("main_pid") or "0")
            return with_children([int(main)] if main.isdecimal() and int(main) else [])
        pids = resource.attributes.get("pids")
        return [pid for pid in pids if isinstance(pid, int)] if isinstance(pids, list) else []


def _ports_by_pid() -> dict[int, set[int]]:
    ports: dict[int, set[int]] = {}
    for each in local_listeners() or ():
        if each.pid:
            ports.setdefault(each.pid, set()).add(each.port)
    return ports


def _seen_of(resource: Resource, ports: dict[int, set[int]]) -> dict[str, Json]:
    """What a row of the inventory shows already; empty where it shows nothing."""
    if images := _images_of(resource):
        services: list[Json] = []
        for image in images:
            known = known_image(image)
            named = known.name if known else image_name(image)
            services.append({"service": named, "version": image_version(image), "image": image})
        return {"services": services, "ports": resource.attributes.get("ports")}
    pids = resource.attributes.get("pids")
    own = [resource.attributes.get("pid"), *(pids if isinstance(pids, list) else [])]
    listening = {port for pid in own if isinstance(pid, int) for port in ports.get(pid, ())}
    known = known_program(resource.name)
    if resource.kind == "host" or (known is None and not listening):
        return {}
    seen: list[Json] = [{"service": known.name if known else resource.name}]
    return {"services": seen, "ports": sorted(listening)}


def _images_of(resource: Resource) -> list[str]:
    """The images of a container, a pod or a deployment."""
    about = resource.attributes
    containers = about.get("containers")
    if isinstance(containers, list):
        images = [each.get("image") for each in containers if isinstance(each, Mapping)]
    else:
        several = about.get("images")
        images = [about.get("image"), *(several if isinstance(several, list) else [])]
    return [image for image in images if isinstance(image, str) and image]

"""Which rules hold for the paths of a resource: whose machine it is, and what is mounted in it."""

import re
from collections.abc import Iterator
from pathlib import Path

from ops.control.containers import inspect_container, refuse_own_container
from ops.docker_api import DockerApi, as_list, as_object
from ops.envelope import JsonObject, ToolFailure
from ops.executors.base import Executor
from ops.executors.names import GUEST, check_name
from ops.file_edits.allowed_paths import EditablePaths, EnclosedPaths
from ops.resources import Resource
from ops.routes import Routes
from ops.settings import OpsSettings
from safety.paths.mounts import Mount
from safety.paths.sensitive_paths import SensitivePaths

_BOOT_ID = "/proc/sys/kernel/random/boot_id"
_SECONDS = 15.0
_MAX_BYTES = 1 << 20
_MOUNT_POINT = re.compile(
    r"^mp\d+:\s*(?:volume=)?(?P<source>/[^,]*),(?:.*,)?mp=(?P<point>/[^,]*)", re.MULTILINE
)
_RAW_MOUNT = re.compile(
    r"^lxc\.mount\.entry[:=]\s*(?P<source>/\S*)\s+(?P<point>\S+)\s", re.MULTILINE
)
_SECRET_VOLUMES = ("secret", "projected")


class PathRules:
    """Finds the rules. What cannot be asked about its mounts is neither read nor written."""

    def __init__(self, settings: OpsSettings, docker: DockerApi, routes: Routes) -> None:
        sensitive = SensitivePaths(settings.protected, settings.open_files)
        self.here = EditablePaths(sensitive, settings.own, is_here=True)
        # Where our own code lies here, somebody else's may lie in another place.
        self._elsewhere = EditablePaths(SensitivePaths(), settings.own, is_here=False)
        self._docker = docker
        self._routes = routes

    async def of(self, resource: Resource, *, container: str, writes: bool) -> EditablePaths:
        """Raises `ToolFailure` where the resource is TARSy's own, or its mounts are not known."""
        match resource.kind:
            case "container":
                return self._enclose(await self._container_mounts(resource.uid, writes=writes))
            case "pod":
                return self._enclose(await self._pod_mounts(resource, container))
            case "lxc":
                return self._enclose(await self._guest_mounts(resource))
            case "vm":
                return self._elsewhere
        executor = self._routes.to_host(resource.host)
        return self._elsewhere if await _is_another_machine(executor) else self.here

    def _enclose(self, mounts: list[Mount]) -> EditablePaths:
        # Whether the host is this machine is not asked: its paths are judged as if it were.
        return EnclosedPaths(self._elsewhere, self.here, mounts)

    async def _container_mounts(self, uid: str, *, writes: bool) -> list[Mount]:
        whole = await inspect_container(self._docker, uid)
        if writes:
            await refuse_own_container(self._docker, whole)
        mounts = [as_object(each) for each in as_list(whole.get("Mounts"))]
        return [
            Mount(_trim(str(each["Source"])), _trim(str(each["Destination"])))
            for each in mounts
            if each.get("Source") and each.get("Destination")
        ]

    async def _pod_mounts(self, resource: Resource, container: str) -> list[Mount]:
        cluster = await self._routes.kubectl.find(resource.host)
        namespace, _, pod = resource.uid.partition("/")
        item = await self._routes.kubectl.get_json(
            cluster, "get", f"pod/{pod}", f"--namespace={namespace}"
        )
        return list(_mounts_of_pod(as_object(item.get("spec")), container))

    async def _guest_mounts(self, resource: Resource) -> list[Mount]:
        node = self._routes.to_host(resource.host)
        guest = check_name("guest", resource.uid, GUEST)
        finished = await node.run(("pct", "config", guest), seconds=_SECONDS, max_bytes=_MAX_BYTES)
        if finished.exit_code != 0 or finished.cut:
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"'pct config {resource.uid}' failed on {resource.host}, so what of the host is "
                "mounted in it is not known, and no file in it is touched.",
                details={"resource_id": resource.resource_id},
            )
        text = finished.stdout.decode("utf-8", "replace")
        found = [*_MOUNT_POINT.finditer(text), *_RAW_MOUNT.finditer(text)]
        return [
            Mount(_trim(each["source"]), _trim(f"/{each['point'].lstrip('/')}")) for each in found
        ]


def _mounts_of_pod(spec: JsonObject, container: str) -> Iterator[Mount]:
    """What of its node a pod's container sees. A secret is named as if it lay where secrets lie."""
    volumes = {str(each.get("name")): each for each in map(as_object, as_list(spec.get("volumes")))}
    containers = [as_object(each) for each in as_list(spec.get("containers"))]
    meant = [each for each in containers if not container or each.get("name") == container]
    for each in meant:
        for mount in map(as_object, as_list(each.get("volumeMounts"))):
            volume = volumes.get(str(mount.get("name")), {})
            source = _source_of(volume)
            if source:
                inner = str(mount.get("subPath") or "").strip("/")
                yield Mount(_trim(f"{source}/{inner}"), _trim(str(mount.get("mountPath"))))


def _source_of(volume: JsonObject) -> str:
    if any(kind in volume for kind in _SECRET_VOLUMES):
        return f"/run/secrets/{volume.get('name')}"
    return str(as_object(volume.get("hostPath")).get("path") or "")


async def _is_another_machine(executor: Executor) -> bool:
    """Whether a host is surely not this machine under another name: it was booted another time."""
    finished = await executor.run(("cat", _BOOT_ID), seconds=_SECONDS, max_bytes=_MAX_BYTES)
    ours, theirs = _read_boot_id(), finished.stdout.strip()
    return finished.exit_code == 0 and len(theirs) == len(ours) > 0 and theirs != ours


def _read_boot_id() -> bytes:
    try:
        return Path(_BOOT_ID).read_bytes().strip()
    except OSError:
        return b""


def _trim(path: str) -> str:
    return path.rstrip("/")

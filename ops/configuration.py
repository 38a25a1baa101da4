"""How single resources are set up."""

import platform

import psutil

from ops import systemd
from ops.bounded import Deadline
from ops.envelope import Json, JsonObject, ToolFailure
from ops.files import timestamp
from ops.kubernetes_rows import list_of, part
from ops.place_programs import PlacePrograms, number_of
from ops.process_identity import identify
from ops.redaction import show_command
from ops.resources import Resource
from ops.services.declaration import DeclaredService
from ops.services.running import read_state
from ops.settings import OpsSettings
from ops.storage import list_mounts

_RELEASE = "/etc/os-release"
_MEMORY = "/proc/meminfo"
_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


async def read_remote_host(programs: PlacePrograms) -> JsonObject:
    """Another host, as its own files tell. Raises `ToolFailure` where the way is broken."""
    release = await programs.ask("cat", _RELEASE)
    system = await programs.ask("uname", "-srm")
    cores = await programs.ask("nproc")
    memory = await programs.ask("grep", "MemTotal", _MEMORY)
    kernel, _, architecture = (system or "").strip().rpartition(" ")
    names = dict(line.partition("=")[::2] for line in (release or "").splitlines())
    kib = [number_of(word) for word in (memory or "").split()[1:2]]
    return {
        "operating_system": names.get("PRETTY_NAME", "").strip('"') or None,
        "kernel": kernel or None,
        "architecture": architecture or None,
        "cores": number_of((cores or "").strip()),
        "memory_bytes": kib[0] * 1024 if kib and kib[0] is not None else None,
    }


def workload_config(item: JsonObject) -> JsonObject:
    """A pod or a deployment as its cluster describes it; of environments, names only."""
    spec, meta = part(item.get("spec")), part(item.get("metadata"))
    template = part(part(spec.get("template")).get("spec")) or spec
    return {
        "labels": meta.get("labels"),
        "created": meta.get("creationTimestamp"),
        "replicas": spec.get("replicas"),
        "strategy": part(spec.get("strategy")).get("type"),
        "selector": part(spec.get("selector")).get("matchLabels"),
        "node": template.get("nodeName"),
        "node_selector": template.get("nodeSelector"),
        "service_account": template.get("serviceAccountName"),
        "restart_policy": template.get("restartPolicy"),
        "containers": [_container(part(each)) for each in list_of(template.get("containers"))],
        "init_containers": [
            _container(part(each)) for each in list_of(template.get("initContainers"))
        ],
        "volumes": [part(each).get("name") for each in list_of(template.get("volumes"))],
    }


def _container(container: JsonObject) -> JsonObject:
    words = [*list_of(container.get("command")), *list_of(container.get("args"))]
    return {
        "name": container.get("name"),
        "image": container.get("image"),
        "command": show_command([str(word) for word in words]),
        "resources": container.get("resources"),
        "ports": [part(each).get("containerPort") for each in list_of(container.get("ports"))],
        "environment_names": [part(each).get("name") for each in list_of(container.get("env"))],
        "mounts": [
            {"path": part(each).get("mountPath"), "volume": part(each).get("name")}
            for each in list_of(container.get("volumeMounts"))
        ],
        "probes": [name for name in _PROBES if name in container],
    }


def read_config(resource: Resource, settings: OpsSettings, deadline: Deadline) -> dict[str, Json]:
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

"""The state of this machine in one look: figures, and what is wrong, worst first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import psutil

from ops.envelope import Answer, Json
from ops.host_figures import read_cpu, read_load, read_memory, read_pressure
from ops.resources import Inventory, Resource

Severity = Literal["critical", "warning"]

_SAMPLE_SECONDS = 0.3
_DISK_WARNING, _DISK_CRITICAL = 85.0, 95.0
_MEMORY_WARNING, _MEMORY_CRITICAL = 90.0, 97.0
_SWAP_WARNING = 50.0
_LOAD_PER_CORE_WARNING, _LOAD_PER_CORE_CRITICAL = 1.5, 4.0
_CPU_WARNING = 95.0
_PRESSURE_WARNING, _PRESSURE_CRITICAL = 20.0, 60.0
_CPU_PRESSURE_WARNING = 50.0


@dataclass(frozen=True)
class Problem:
    """One figure beyond its threshold, or one thing in a bad state."""

    severity: Severity
    resource_id: str
    message: str
    value: float | None = None
    threshold: float | None = None

    def to_json(self) -> dict[str, Json]:
        return {
            "severity": self.severity,
            "resource_id": self.resource_id,
            "message": self.message,
            "value": self.value,
            "threshold": self.threshold,
        }


@dataclass(frozen=True)
class Connection:
    """Whether a configured place answers."""

    place: str
    adapter: str
    error: str = ""

    def to_json(self) -> dict[str, Json]:
        return {
            "place": self.place,
            "adapter": self.adapter,
            "answers": not self.error,
            "error": self.error or None,
        }


def take_health(inventory: Inventory, connections: Sequence[Connection] = ()) -> Answer:
    """Load, processor, memory, swap, disks and uptime, with the top problems of the machine."""
    cpu, memory = read_cpu(_SAMPLE_SECONDS, per_core=False), read_memory()
    load, pressure = read_load(), read_pressure()
    host = inventory.of_kind("host")[0]
    problems = [
        *_load_problems(host.resource_id, cpu, load),
        *_memory_problems(host.resource_id, memory),
        *_pressure_problems(host.resource_id, pressure or {}),
        *_disk_problems(inventory.of_kind("filesystem")),
        *_program_problems(inventory),
        *_zombie_problems(host.resource_id),
        *(
            Problem("warning", each.place, f"{each.place} does not answer: {each.error}")
            for each in connections
            if each.error
        ),
    ]
    problems.sort(key=lambda problem: problem.severity != "critical")
    worst = problems[0].severity if problems else "healthy"
    return Answer(
        {
            "status": worst,
            "host": host.name,
            **_container_of(host),
            "problems": [problem.to_json() for problem in problems],
            "load": load,
            "cpu": cpu,
            "memory": memory,
            "pressure": pressure,
            "disks": [_disk_row(disk) for disk in inventory.of_kind("filesystem")],
            "counts": _counts(inventory),
            "sources": inventory.sources,
            "connections": [each.to_json() for each in connections],
        }
    )


def _container_of(host: Resource) -> dict[str, Json]:
    """What this machine is, where it is a container: before any figure of it."""
    return {key: host.attributes[key] for key in ("container", "note") if key in host.attributes}


def _load_problems(host: str, cpu: dict[str, Json], load: dict[str, Json]) -> Iterator[Problem]:
    per_core, used = _number(load["load_1m_per_core"]), _number(cpu["used_percent"])
    if per_core >= _LOAD_PER_CORE_WARNING:
        severity: Severity = "critical" if per_core >= _LOAD_PER_CORE_CRITICAL else "warning"
        message = f"load is {load['load_1m']} on {load['cores']} cores"
        yield Problem(severity, host, message, per_core, _LOAD_PER_CORE_WARNING)
    if used >= _CPU_WARNING:
        yield Problem("warning", host, f"processors are {used} % busy", used, _CPU_WARNING)


def _memory_problems(host: str, memory: dict[str, Json]) -> Iterator[Problem]:
    used, swap = _number(memory["used_percent"]), _number(memory["swap_used_percent"])
    if used >= _MEMORY_WARNING:
        severity: Severity = "critical" if used >= _MEMORY_CRITICAL else "warning"
        yield Problem(severity, host, f"memory is {used} % used", used, _MEMORY_WARNING)
    if swap >= _SWAP_WARNING:
        yield Problem("warning", host, f"swap is {swap} % used", swap, _SWAP_WARNING)
    kills = _number(memory["oom_kills_since_boot"])
    if kills:
        message = f"the kernel killed {kills:.0f} processes for want of memory since boot"
        yield Problem("warning", host, message, kills, 0)
    group = memory["cgroup"]
    percent = _number(group["used_percent_of_limit"]) if isinstance(group, dict) else 0.0
    if percent >= _MEMORY_WARNING:
        message = f"the control group uses {percent} % of its memory limit"
        yield Problem("warning", host, message, percent, _MEMORY_WARNING)


def _pressure_problems(host: str, pressure: dict[str, Json]) -> Iterator[Problem]:
    for resource, lines in pressure.items():
        some = lines.get("some") if isinstance(lines, dict) else None
        share = _number(some["avg10_percent"]) if isinstance(some, dict) else 0.0
        # Waiting for a processor is slow; waiting for memory or a disk may be standing still.
        threshold = _CPU_PRESSURE_WARNING if resource == "cpu" else _PRESSURE_WARNING
        if share >= threshold:
            is_critical = resource != "cpu" and share >= _PRESSURE_CRITICAL
            severity: Severity = "critical" if is_critical else "warning"
            message = f"work waited for {resource} in {share} % of the last 10 s"
            yield Problem(severity, host, message, share, threshold)


def _disk_problems(disks: list[Resource]) -> Iterator[Problem]:
    for disk in disks:
        if disk.status != "mounted":
            yield Problem("critical", disk.resource_id, f"{disk.name} does not answer")
        for key, what in (("used_percent", "space"), ("inodes_used_percent", "inodes")):
            used = _number(disk.attributes.get(key))
            if used >= _DISK_WARNING:
                severity: Severity = "critical" if used >= _DISK_CRITICAL else "warning"
                message = f"{disk.name}: {used} % of its {what} is used"
                yield Problem(severity, disk.resource_id, message, used, _DISK_WARNING)


def _program_problems(inventory: Inventory) -> Iterator[Problem]:
    for service in inventory.of_kind("service"):
        if service.status == "failed":
            yield Problem("critical", service.resource_id, f"service {service.name} has failed")
        if service.declared is not None and service.status == "stopped":
            yield Problem("warning", service.resource_id, f"service {service.name} is stopped")
    for container in inventory.of_kind("container"):
        status = str(container.attributes["status"])
        if container.status in ("restarting", "dead") or "unhealthy" in status:
            message = f"container {container.name} is {container.status} ({status})"
            yield Problem("critical", container.resource_id, message)


def _zombie_problems(host: str) -> Iterator[Problem]:
    states = [_state(process) for process in psutil.process_iter()]
    stuck, zombies = states.count("disk-sleep"), states.count("zombie")
    if stuck >= 3:
        message = f"{stuck} processes are in uninterruptible sleep, waiting for a device"
        yield Problem("warning", host, message, stuck, 3)
    if zombies >= 20:
        yield Problem("warning", host, f"{zombies} processes are zombies", zombies, 20)


def _state(process: psutil.Process) -> str:
    try:
        return process.status()
    except (psutil.Error, OSError):
        return ""


def _disk_row(disk: Resource) -> Json:
    return {"id": disk.resource_id, "path": disk.name, "status": disk.status, **disk.attributes}


def _counts(inventory: Inventory) -> dict[str, Json]:
    counts: dict[str, int] = {}
    for resource in inventory.resources:
        counts[resource.kind] = counts.get(resource.kind, 0) + 1
    return dict(counts)


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

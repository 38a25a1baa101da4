"""Pools, arrays, disks, snapshots and backups, as the programs of storage systems tell them."""

import json
import re
from collections.abc import Awaitable, Callable
from typing import Literal, cast

from ops.envelope import Answer, Json, JsonObject, ToolFailure
from ops.executors.names import GUEST, check_name
from ops.kubernetes_rows import list_of, part
from ops.place_programs import PlacePrograms, as_rows, number_of, read_table
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.routes import Routes

SystemAction = Literal[
    "pools", "raid", "disk_health", "snapshots", "backups", "replication", "ceph"
]  # fmt: skip

_MOST_DISKS = 16
_STORE = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,99}")
_DEVICE = re.compile(r"/dev/[A-Za-z0-9/_.-]{1,64}")
_ARRAY = re.compile(r"^(md\S*) : (\S+)(?: \(\S+\))? (?:(\S+) )?(.*)$")
_MEMBERS = re.compile(r"\[(\d+)/(\d+)\] \[([U_]+)\]")
_PROGRESS = re.compile(r"(resync|recovery|check|reshape)\s*=\s*([\d.]+)%")
_SNAPSHOT = re.compile(r"[`|\s]*->\s*(\S+)\s+(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)?\s*(.*)$")


class StorageSystems:
    """Asks the host that a resource is, or runs on."""

    def __init__(self, here: str, resources: ResourceQuery, routes: Routes) -> None:
        self._here = here
        self._resources = resources
        self._routes = routes

    async def usage(self, name: str) -> Answer:
        """Space and inodes by file system, as `df` of that place tells them."""
        resource = await self._resources.resolve(name)
        programs = PlacePrograms(await self._routes.into(resource), resource.resource_id)
        space = await programs.ask("df", "-P", "-k")
        if space is None:
            raise programs.no_answer("file systems")
        inodes = {
            row[5]: number_of(row[4]) for row in _df(await programs.ask("df", "-P", "-i") or "")
        }
        rows: list[Json] = [
            {
                "path": path,
                "device": device,
                "size_bytes": int(size) * 1024,
                "used_bytes": int(used) * 1024,
                "free_bytes": int(free) * 1024,
                "used_percent": number_of(percent),
                "inodes_used_percent": inodes.get(path),
            }
            for device, size, used, free, percent, path in _df(space)
        ]
        rows.sort(key=lambda row: float(str(part(row).get("used_percent") or 0)), reverse=True)
        return Answer(
            {"resource_id": resource.resource_id, "filesystems": rows}, notes=programs.notes
        )

    async def tell(self, action: SystemAction, name: str, limit: int) -> Answer:
        """What one of the storage systems says. Raises `ToolFailure` where none is there."""
        resource = await self._resources.resolve(name or f"host:{self._here}")
        if resource.kind not in ("host", "lxc", "vm"):
            raise ToolFailure(
                "INVALID_INPUT",
                f"Action '{action}' is about a host or a guest, not about a {resource.kind}.",
                details={"resource_id": resource.resource_id},
            )
        programs = PlacePrograms(self._routes.to_host(resource.host), f"host:{resource.host}")
        ask: dict[SystemAction, Callable[[PlacePrograms, Resource], Awaitable[JsonObject]]] = {
            "pools": _pools,
            "raid": _raid,
            "disk_health": _disk_health,
            "snapshots": _snapshots,
            "backups": _backups,
            "replication": _replication,
            "ceph": _ceph,
        }
        found = await ask[action](programs, resource)
        cuts = []
        shown: dict[str, Json] = {"resource_id": resource.resource_id}
        for key, value in found.items():
            if isinstance(value, list) and len(value) > limit:
                cuts.append(f"{key}: the first {limit} of {len(value)}; raise 'limit'")
                value = value[:limit]
            shown[key] = value
        return Answer(shown, tuple(cuts), programs.notes)

    def only_here(self, action: str, name: str) -> ToolFailure:
        """Why something of another place cannot be seen."""
        return ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"'{action}' is known of this machine only; elsewhere use action 'usage', or read "
            "action=exec.",
            details={"target_host": name, "action": action},
        )


async def _pools(programs: PlacePrograms, _: Resource) -> JsonObject:
    zfs = await programs.ask("zpool", "list", "-Hp", "-o", "name,size,alloc,free,cap,health")
    groups = await programs.ask(
        "vgs", "--noheadings", "--units", "b", "--nosuffix", "--separator", "|",
        "-o", "vg_name,vg_size,vg_free,pv_count,lv_count",
    )  # fmt: skip
    stores = await programs.ask("pvesm", "status")
    if zfs is None and groups is None and stores is None:
        raise programs.no_answer("pools")
    sizes = ("size_bytes", "used_bytes", "free_bytes", "used_percent")
    zfs_rows = read_table(zfs or "", "name", *sizes, "health", separator="\t")
    lvm = ("name", "size_bytes", "free_bytes", "volumes", "logical_volumes")
    return {
        "zfs": as_rows(zfs_rows, *sizes),
        "lvm": as_rows(read_table(groups or "", *lvm, separator="|"), *lvm[1:]),
        "proxmox": _stores(stores or ""),
    }


def _stores(text: str) -> list[Json]:
    sizes = ("total_kib", "used_kib", "free_kib", "used_percent")
    rows = read_table(text, "name", "type", "status", *sizes)
    return as_rows([row for row in rows if row["name"] != "Name"], *sizes)


async def _raid(programs: PlacePrograms, _: Resource) -> JsonObject:
    text = await programs.ask("cat", "/proc/mdstat")
    if text is None:
        raise ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"{programs.place} has no software RAID (/proc/mdstat is missing).",
            details={"target_host": programs.place},
        )
    arrays: list[Json] = []
    lines = text.splitlines()
    for at, line in enumerate(lines):
        head = _ARRAY.match(line)
        if head is None:
            continue
        below = " ".join(lines[at + 1 : at + 4]).partition(" md")[0]
        members, progress = _MEMBERS.search(below), _PROGRESS.search(below)
        arrays.append(
            {
                "name": head[1],
                "state": head[2],
                "level": head[3],
                "devices": head[4].split(),
                "wanted": int(members[1]) if members else None,
                "working": int(members[2]) if members else None,
                "is_degraded": "_" in members[3] if members else None,
                "running": f"{progress[1]} {progress[2]} %" if progress else None,
            }
        )
    return {"arrays": arrays}


async def _disk_health(programs: PlacePrograms, _: Resource) -> JsonObject:
    scanned = await programs.ask("smartctl", "--scan", "-j")
    if scanned is None:
        raise programs.no_answer("disks' health")
    names = [str(part(each).get("name")) for each in list_of(_object(scanned).get("devices"))]
    disks: list[Json] = []
    for name in [name for name in names if _DEVICE.fullmatch(name)][:_MOST_DISKS]:
        # Bits of its exit code say that a disk is unwell; what it prints counts.
        finished = await programs.executor.run(
            ("smartctl", "-H", "-A", "-i", "-j", name), seconds=10.0, max_bytes=1 << 20
        )
        disks.append(_disk(name, _object(finished.stdout.decode("utf-8", "replace"))))
    return {"disks": disks}


def _disk(name: str, said: JsonObject) -> JsonObject:
    status, nvme = (
        part(said.get("smart_status")),
        part(said.get("nvme_smart_health_information_log")),
    )
    attributes = map(part, list_of(part(said.get("ata_smart_attributes")).get("table")))
    raw = {str(each.get("name")): part(each.get("raw")).get("value") for each in attributes}
    messages = [part(each) for each in list_of(part(said.get("smartctl")).get("messages"))]
    return {
        "device": name,
        "model": said.get("model_name"),
        "passed": status.get("passed"),
        "temperature_celsius": part(said.get("temperature")).get("current"),
        "power_on_hours": part(said.get("power_on_time")).get("hours"),
        "reallocated_sectors": raw.get("Reallocated_Sector_Ct"),
        "pending_sectors": raw.get("Current_Pending_Sector"),
        "life_used_percent": nvme.get("percentage_used"),
        "media_errors": nvme.get("media_errors"),
        "messages": [each.get("string") for each in messages],
    }


async def _snapshots(programs: PlacePrograms, resource: Resource) -> JsonObject:
    if resource.kind in ("lxc", "vm"):
        program = "pct" if resource.kind == "lxc" else "qm"
        said = await programs.ask(program, "listsnapshot", check_name("guest", resource.uid, GUEST))
        if said is None:
            raise programs.no_answer("snapshots")
        found = (_SNAPSHOT.match(line) for line in said.splitlines())
        return {
            "snapshots": [
                {"name": each[1], "taken_at": each[2], "description": each[3].strip()}
                for each in found
                if each and each[1] != "current"
            ]
        }
    said = await programs.ask(
        "zfs", "list", "-Hp", "-t", "snapshot", "-o", "name,used,creation", "-S", "creation"
    )
    if said is None:
        raise programs.no_answer("snapshots")
    rows = read_table(said, "name", "used_bytes", "created_unix", separator="\t")
    return {"snapshots": as_rows(rows, "used_bytes", "created_unix")}


async def _backups(programs: PlacePrograms, resource: Resource) -> JsonObject:
    said = await programs.ask("pvesm", "status", "--content", "backup")
    if said is None:
        raise programs.no_answer("backups")
    stores = [str(part(row).get("name")) for row in _stores(said)]
    of_guest = ("--vmid", resource.uid) if resource.kind in ("lxc", "vm") else ()
    backups: list[Json] = []
    for store in stores:
        if not _STORE.fullmatch(store):
            continue
        listed = await programs.ask("pvesm", "list", store, "--content", "backup", *of_guest)
        rows = read_table(listed or "", "volume", "format", "type", "size_bytes", "vmid")
        backups += as_rows([row for row in rows if row["volume"] != "Volid"], "size_bytes")
    # Their names end with the time they were taken.
    backups.sort(key=lambda row: _time_in(str(part(row).get("volume"))), reverse=True)
    return {"stores": cast(list[Json], stores), "backups": backups}


def _time_in(volume: str) -> str:
    found = re.search(r"\d{4}[-_]\d\d[-_]\d\d[-T_]\d\d[:_]\d\d[:_]\d\d", volume)
    return found[0].translate(str.maketrans("T_:", "---")) if found else ""


async def _replication(programs: PlacePrograms, _: Resource) -> JsonObject:
    said = await programs.ask("pvesr", "status")
    if said is None:
        raise programs.no_answer("replication")
    names = ("job", "enabled", "target", "last_sync", "next_sync", "seconds", "failures", "state")
    rows = [row for row in read_table(said, *names) if row["job"] != "JobID"]
    return {"jobs": as_rows(rows, "seconds", "failures")}


async def _ceph(programs: PlacePrograms, _: Resource) -> JsonObject:
    said = await programs.ask("ceph", "status", "--format", "json")
    if said is None:
        raise programs.no_answer("Ceph")
    status = _object(said)
    health = part(status.get("health"))
    checks = part(health.get("checks"))
    return {
        "health": health.get("status"),
        "checks": [
            {
                "code": code,
                "severity": part(check).get("severity"),
                "message": part(part(check).get("summary")).get("message"),
            }
            for code, check in checks.items()
        ],
        "osds": status.get("osdmap"),
        "placement_groups": status.get("pgmap"),
    }


def _object(text: str) -> JsonObject:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ToolFailure("EXECUTION_FAILED", "The program printed no JSON.", retryable=True)
    return found


def _df(text: str) -> list[list[str]]:
    """`Filesystem blocks Used Available Capacity Mounted-on`, where it has numbers."""
    rows = (line.split(None, 5) for line in text.splitlines())
    return [row for row in rows if len(row) == 6 and all(word.isdecimal() for word in row[1:4])]

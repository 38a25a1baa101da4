"""Figures of what is not this machine: other hosts, guests, containers and pods."""

from collections.abc import Iterable

from ops.docker_api import DockerApi, as_list, as_object
from ops.envelope import Answer, Json, JsonObject, ToolFailure
from ops.executors.names import LABEL, SUBDOMAIN, check_name
from ops.place_programs import PlacePrograms, number_of, read_table
from ops.query import ResourceQuery
from ops.resources import Resource
from ops.routes import Routes


class RemoteFigures:
    """Each kind of resource through what knows it: engine, cluster, or `/proc` over there."""

    def __init__(self, resources: ResourceQuery, routes: Routes, docker: DockerApi) -> None:
        self._resources = resources
        self._routes = routes
        self._docker = docker

    async def find(self, name: str) -> Resource | None:
        """The resource that is meant, None where that is this machine itself."""
        if not name:
            return None
        resource = await self._resources.resolve(name)
        if not self._routes.is_local(resource):
            return resource
        if resource.kind == "host":
            return None
        raise ToolFailure(
            "INVALID_INPUT",
            f"There are no figures of a {resource.kind} alone; action 'processes' shows those of "
            "each process of this machine.",
            details={"resource_id": resource.resource_id},
        )

    async def take(self, action: str, resource: Resource, limit: int) -> Answer:
        if action == "summary":
            return Answer({"resource_id": resource.resource_id, **await self._summary(resource)})
        if action == "processes" and resource.kind in ("host", "lxc", "vm"):
            return await self._processes(resource, limit)
        raise ToolFailure(
            "EXECUTION_CONTEXT_UNAVAILABLE",
            f"'{action}' is known of this machine only; of {resource.resource_id} there is "
            "'summary', of hosts and guests 'processes' as well.",
            details={"resource_id": resource.resource_id, "action": action},
        )

    async def _summary(self, resource: Resource) -> JsonObject:
        match resource.kind:
            case "container":
                return await self._container(resource)
            case "pod":
                return await self._pod(resource)
            case "deployment":
                raise ToolFailure(
                    "INVALID_INPUT", "A deployment has no figures; give one of its pods."
                )
        programs = PlacePrograms(await self._routes.into(resource), resource.resource_id)
        said = await programs.ask("cat", "/proc/loadavg", "/proc/uptime", "/proc/meminfo")
        if said is None:
            raise programs.no_answer("figures")
        cores = await programs.ask("nproc")
        return _read_proc(said, number_of((cores or "").strip()))

    async def _container(self, resource: Resource) -> JsonObject:
        said = as_object(
            await self._docker.get_json(
                f"/containers/{resource.uid}/stats", {"stream": "false"}, name=resource.uid
            )
        )
        memory = as_object(said.get("memory_stats"))
        if not memory.get("usage"):
            raise ToolFailure(
                "EXECUTION_CONTEXT_UNAVAILABLE",
                f"{resource.resource_id} is {resource.status}, so it has no figures.",
                details={"status": resource.status},
            )
        cache = as_object(memory.get("stats")).get("inactive_file")
        used = _number(memory.get("usage")) - _number(cache)
        limit = _number(memory.get("limit"))
        blocks = as_list(as_object(said.get("blkio_stats")).get("io_service_bytes_recursive"))
        networks = as_object(said.get("networks"))
        return {
            "cpu_percent_of_one_core": _cpu_percent(said),
            "memory_used_bytes": used,
            "memory_limit_bytes": limit or None,
            "memory_used_percent": round(100 * used / limit, 1) if limit else None,
            "processes": as_object(said.get("pids_stats")).get("current"),
            "received_bytes": _sum(networks.values(), "rx_bytes"),
            "sent_bytes": _sum(networks.values(), "tx_bytes"),
            "read_bytes": _sum_of(blocks, "read"),
            "written_bytes": _sum_of(blocks, "write"),
        }

    async def _pod(self, resource: Resource) -> JsonObject:
        cluster = await self._routes.kubectl.find(resource.host)
        namespace, _, pod = resource.uid.partition("/")
        said = await self._routes.kubectl.call(
            cluster, "top", "pod", check_name("pod", pod, SUBDOMAIN),
            f"--namespace={check_name('namespace', namespace, LABEL)}",
            "--containers", "--no-headers",
        )  # fmt: skip
        rows = read_table(said, "pod", "container", "cpu", "memory")
        containers: list[Json] = [
            {"name": row["container"], "cpu": row["cpu"], "memory": row["memory"]} for row in rows
        ]
        return {"containers": containers}

    async def _processes(self, resource: Resource, limit: int) -> Answer:
        programs = PlacePrograms(await self._routes.into(resource), resource.resource_id)
        said = await programs.ask("ps", "-eo", "pid=,user=,pcpu=,rss=,stat=,comm=", "--sort=-pcpu")
        if said is None:
            raise programs.no_answer("processes")
        rows = read_table(said, "pid", "user", "cpu_percent", "rss_kib", "state", "name")
        shown: list[Json] = [
            {**row, "pid": number_of(row["pid"]), "cpu_percent": number_of(row["cpu_percent"]),
             "rss_kib": number_of(row["rss_kib"])}
            for row in rows[:limit]
        ]  # fmt: skip
        cuts = (f"processes: the first {limit} of {len(rows)}",) if len(rows) > limit else ()
        data: dict[str, Json] = {
            "resource_id": resource.resource_id,
            "sort": "cpu",
            "total": len(rows),
            "processes": shown,
        }
        notes = ("cpu_percent is over the whole life of each process, as ps counts it",)
        return Answer(data, cuts, notes)


def _read_proc(said: str, cores: int | float | None) -> JsonObject:
    """`/proc/loadavg`, `/proc/uptime` and `/proc/meminfo`, one after the other."""
    lines = said.splitlines()
    loads, uptime = [line.split() for line in lines[:2]] if len(lines) > 2 else ([], [])
    if len(loads) < 3 or not uptime:
        raise ToolFailure("EXECUTION_FAILED", "/proc there says something unknown.")
    memory = {
        name: int(value.split()[0]) * 1024
        for name, colon, value in (line.partition(":") for line in lines[2:])
        if colon and value.split()[:1] and value.split()[0].isdecimal()
    }
    total, available = memory.get("MemTotal", 0), memory.get("MemAvailable", 0)
    swap, swap_free = memory.get("SwapTotal", 0), memory.get("SwapFree", 0)
    return {
        "load_1m": number_of(loads[0]),
        "load_5m": number_of(loads[1]),
        "load_15m": number_of(loads[2]),
        "cores": cores,
        "uptime_seconds": number_of(uptime[0]),
        "memory_total_bytes": total,
        "memory_available_bytes": available,
        "memory_used_percent": round(100 * (1 - available / total), 1) if total else None,
        "swap_total_bytes": swap,
        "swap_used_bytes": swap - swap_free,
    }


def _cpu_percent(said: JsonObject) -> float | None:
    """Of one core, over the second that the engine watched."""
    now, before = as_object(said.get("cpu_stats")), as_object(said.get("precpu_stats"))
    spent = _total(now) - _total(before)
    passed = _number(now.get("system_cpu_usage")) - _number(before.get("system_cpu_usage"))
    if passed <= 0 or not before.get("system_cpu_usage"):
        return None
    return round(100 * spent / passed * (_number(now.get("online_cpus")) or 1), 1)


def _total(stats: JsonObject) -> float:
    return _number(as_object(stats.get("cpu_usage")).get("total_usage"))


def _sum(rows: Iterable[Json], key: str) -> float:
    return sum(_number(as_object(row).get(key)) for row in rows)


def _sum_of(blocks: list[Json], operation: str) -> float:
    return sum(
        _number(as_object(block).get("value"))
        for block in blocks
        if str(as_object(block).get("op")).lower() == operation
    )


def _number(value: Json) -> float:
    return value if isinstance(value, int | float) else 0

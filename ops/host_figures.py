"""Figures of this machine, taken now, each with its unit in the name."""

import os
import time
from collections import Counter
from pathlib import Path
from typing import Literal

import psutil

from ops.bounded import Deadline
from ops.cgroups import cpu_limit_cores, memory_limits
from ops.envelope import Answer, Json, ToolFailure
from ops.files import timestamp
from ops.redaction import show_command

ProcessOrder = Literal["cpu", "memory"]

_PRESSURE = Path("/proc/pressure")


def take_summary(sample_seconds: float) -> Answer:
    """Processor, memory, load and pressure in one reply."""
    return Answer(
        {
            "cpu": read_cpu(sample_seconds, per_core=False),
            "memory": read_memory(),
            "load": read_load(),
            "pressure": read_pressure(),
        }
    )


def take_cpu(sample_seconds: float) -> Answer:
    return Answer(read_cpu(sample_seconds, per_core=True))


def take_memory() -> Answer:
    return Answer(read_memory())


def take_load() -> Answer:
    return Answer(read_load())


def take_pressure() -> Answer:
    """Share of time in which work waited for a resource (PSI)."""
    pressure = read_pressure()
    if pressure is None:
        raise ToolFailure(
            "NOT_FOUND",
            "This kernel reports no pressure (/proc/pressure is missing). Use action 'load', "
            "'cpu' or 'memory'.",
        )
    return Answer(pressure)


def take_temperatures() -> Answer:
    """Sensors of this machine. Raises `ToolFailure` where the kernel shows none."""
    read = getattr(psutil, "sensors_temperatures", None)
    sensors = read() if read is not None else {}
    rows: list[Json] = [
        {
            "sensor": f"{name} {each.label}".strip(),
            "celsius": each.current,
            "high_celsius": each.high,
            "critical_celsius": each.critical,
        }
        for name, group in sensors.items()
        for each in group
    ]
    if not rows:
        raise ToolFailure("NOT_FOUND", "This machine shows no temperature sensors.")
    return Answer({"sensors": rows})


def read_cpu(sample_seconds: float, *, per_core: bool) -> dict[str, Json]:
    """Shares of the time since `sample_seconds` ago."""
    before = psutil.cpu_times(percpu=True)
    time.sleep(sample_seconds)
    # Not cpu_times_percent: below a second its shares do not add up to 100.
    cores = [_shares(*pair) for pair in zip(before, psutil.cpu_times(percpu=True), strict=False)]
    shares = {
        field: round(sum(core[field] for core in cores) / len(cores), 1) for field in cores[0]
    }
    data: dict[str, Json] = {
        "sample_seconds": sample_seconds,
        "cores": psutil.cpu_count() or len(cores),
        "cgroup_limit_cores": cpu_limit_cores(),
        "used_percent": _used(shares),
    }
    data |= {f"{field}_percent": share for field, share in shares.items()}
    if per_core:
        data["used_percent_by_core"] = [_used(core) for core in cores]
    return data


def _used(shares: dict[str, float]) -> float:
    return round(max(0.0, 100 - shares["idle"] - shares.get("iowait", 0.0)), 1)


def _shares(before: tuple[float, ...], after: tuple[float, ...]) -> dict[str, float]:
    """Percentages of one core by kind of work; guest time is within user time already."""
    fields: tuple[str, ...] = getattr(after, "_fields")  # noqa: B009 - a named tuple by platform
    spent = {
        name: max(0.0, now - then)
        for name, then, now in zip(fields, before, after, strict=True)
        if not name.startswith("guest")
    }
    total = sum(spent.values())
    if not total:
        return {name: 100.0 if name == "idle" else 0.0 for name in spent}
    return {name: 100 * seconds / total for name, seconds in spent.items()}


def read_memory() -> dict[str, Json]:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return {
        "total_bytes": memory.total,
        "available_bytes": memory.available,
        "used_bytes": memory.used,
        "free_bytes": memory.free,
        "buffers_bytes": getattr(memory, "buffers", None),
        "cached_bytes": getattr(memory, "cached", None),
        "shared_bytes": getattr(memory, "shared", None),
        "used_percent": memory.percent,
        "swap_total_bytes": swap.total,
        "swap_used_bytes": swap.used,
        "swap_used_percent": swap.percent,
        "swapped_in_bytes_since_boot": swap.sin,
        "swapped_out_bytes_since_boot": swap.sout,
        "oom_kills_since_boot": read_oom_kills(),
        "cgroup": memory_limits(),
    }


def read_load() -> dict[str, Json]:
    one, five, fifteen = os.getloadavg()
    cores = psutil.cpu_count() or 1
    booted = psutil.boot_time()
    return {
        "load_1m": round(one, 2),
        "load_5m": round(five, 2),
        "load_15m": round(fifteen, 2),
        "load_1m_per_core": round(one / cores, 2),
        "cores": cores,
        "uptime_seconds": round(time.time() - booted),
        "boot_time": timestamp(booted),
    }


def read_pressure() -> dict[str, Json] | None:
    """`avg10` is the percentage of the last 10 s in which some (or all) work was waiting."""
    found: dict[str, Json] = {}
    for resource in ("cpu", "memory", "io"):
        try:
            lines = (_PRESSURE / resource).read_text().splitlines()
        except OSError:
            continue
        found[resource] = {line.split()[0]: _pressure_line(line) for line in lines if line}
    return found or None


def read_oom_kills() -> int | None:
    """Processes the kernel killed for want of memory since boot."""
    try:
        lines = Path("/proc/vmstat").read_text().splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) for line in lines if line.startswith("oom_kill ")), None)


def take_processes(
    order: ProcessOrder, limit: int, sample_seconds: float, deadline: Deadline
) -> Answer:
    """The processes that use most, by processor share over the sample or by resident memory."""
    sampled = list(psutil.process_iter())
    for process in sampled:
        _cpu_percent(process)
    time.sleep(min(sample_seconds, deadline.left))
    rows = [row for process in sampled if (row := _process_row(process)) is not None]
    key = "cpu_percent" if order == "cpu" else "rss_bytes"
    rows.sort(key=lambda row: _as_number(row[key]), reverse=True)
    states = Counter(str(row["state"]) for row in rows)
    data: dict[str, Json] = {
        "sort": order,
        "sample_seconds": sample_seconds,
        "total": len(rows),
        "by_state": states,
        "processes": rows[:limit],
    }
    cuts = (f"processes: the first {limit} of {len(rows)}",) if len(rows) > limit else ()
    return Answer(data, cuts)


def take_network(sample_seconds: float, deadline: Deadline) -> Answer:
    """Counters since boot and rates over the sample, by interface."""
    before = psutil.net_io_counters(pernic=True)
    started = time.monotonic()
    time.sleep(min(sample_seconds, deadline.left))
    after = psutil.net_io_counters(pernic=True)
    seconds = time.monotonic() - started
    states, addresses = psutil.net_if_stats(), psutil.net_if_addrs()
    interfaces: list[Json] = []
    for name, now in after.items():
        then = before.get(name, now)
        state = states.get(name)
        interfaces.append(
            {
                "name": name,
                "up": state.isup if state else None,
                "addresses": [
                    address.address
                    for address in addresses.get(name, [])
                    if address.family.name in ("AF_INET", "AF_INET6")
                ],
                "received_bytes_per_second": round((now.bytes_recv - then.bytes_recv) / seconds),
                "sent_bytes_per_second": round((now.bytes_sent - then.bytes_sent) / seconds),
                "received_bytes": now.bytes_recv,
                "sent_bytes": now.bytes_sent,
                "errors": now.errin + now.errout,
                "dropped": now.dropin + now.dropout,
            }
        )
    return Answer(
        {
            "sample_seconds": round(seconds, 2),
            "interfaces": interfaces,
            "connections_by_state": _connections_by_state(),
        }
    )


def _connections_by_state() -> dict[str, Json] | None:
    try:
        connections = psutil.net_connections(kind="tcp")
    except (psutil.AccessDenied, OSError):
        return None
    return dict(Counter(connection.status for connection in connections))


def _process_row(process: psutil.Process) -> dict[str, Json] | None:
    try:
        with process.oneshot():
            memory = process.memory_info()
            return {
                "pid": process.pid,
                "name": process.name(),
                "user": _user(process),
                "state": process.status(),
                "cpu_percent": round(process.cpu_percent(None), 1),
                "rss_bytes": memory.rss,
                "memory_percent": round(process.memory_percent(), 1),
                "threads": process.num_threads(),
                "started": timestamp(process.create_time()),
                "command": _command(process),
            }
    except (psutil.NoSuchProcess, psutil.AccessDenied, OSError):
        return None


def _command(process: psutil.Process) -> str:
    try:
        return show_command(process.cmdline())
    except (psutil.Error, OSError):
        return ""


def _user(process: psutil.Process) -> str:
    try:
        return process.username()
    except (psutil.Error, OSError, KeyError):
        return "unknown"


def _cpu_percent(process: psutil.Process) -> None:
    try:
        process.cpu_percent(None)  # The first call starts the sample.
    except (psutil.Error, OSError):
        return


def _pressure_line(line: str) -> dict[str, Json]:
    values = dict(pair.split("=", 1) for pair in line.split()[1:])
    return {
        "avg10_percent": float(values["avg10"]),
        "avg60_percent": float(values["avg60"]),
        "avg300_percent": float(values["avg300"]),
        "total_microseconds": int(values["total"]),
    }


def _as_number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0

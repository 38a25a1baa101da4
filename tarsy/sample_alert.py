"""A sample alert about this very machine, with its real figures."""

import socket
from datetime import UTC, datetime

import psutil

_REAL_FILESYSTEMS = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "overlay", "apfs"})


def make_sample_alert() -> dict[str, object]:
    """The body of an alert that asks whether disk or memory is under pressure here."""
    memory = psutil.virtual_memory()
    mount, used_percent = _fullest_filesystem()
    host = socket.gethostname()
    return {
        "alertname": "HostPressureCheck",
        "severity": "warning",
        "summary": f"Is {host} under disk or memory pressure?",
        "description": (
            f"The fullest file system, {mount}, is {used_percent:.0f} % used and "
            f"{memory.percent:.0f} % of memory is in use. Find out whether either is a problem "
            "now, and what uses most of it."
        ),
        "labels": {"host": host, "mountpoint": mount, "source": "sample"},
        "values": {
            "disk_used_percent": round(used_percent, 1),
            "memory_used_percent": round(memory.percent, 1),
            "memory_available_bytes": memory.available,
            "load_1m": round(psutil.getloadavg()[0], 2),
        },
        "startsAt": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def _fullest_filesystem() -> tuple[str, float]:
    """The mount point with the least room and its percentage used; the root when none is listed."""
    usages = {"/": psutil.disk_usage("/").percent}
    for partition in psutil.disk_partitions(all=False):
        if partition.fstype not in _REAL_FILESYSTEMS:
            continue
        try:
            usages[partition.mountpoint] = psutil.disk_usage(partition.mountpoint).percent
        except OSError:
            continue
    mount = max(usages, key=lambda name: usages[name])
    return mount, usages[mount]

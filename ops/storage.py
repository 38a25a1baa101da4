"""Disk space, inodes, the largest directories and files, and disk traffic."""

import heapq
import os
import stat
import threading
import time
from dataclasses import dataclass, field

import psutil

from ops.bounded import Deadline
from ops.envelope import Answer, Json, ToolFailure
from ops.files import timestamp, unreadable

_VIRTUAL_TYPES = """
    proc sysfs devtmpfs devpts cgroup cgroup2 securityfs debugfs tracefs pstore bpf configfs
    mqueue hugetlbfs fusectl binfmt_misc autofs rpc_pipefs nsfs efivarfs ramfs squashfs
    fuse.lxcfs fuse.gvfsd-fuse fuse.portal
"""
_VIRTUAL = frozenset(_VIRTUAL_TYPES.split())
_REMOTE = ("nfs", "cifs", "smb", "fuse.", "ceph", "gluster", "9p", "lustre", "afs")
_CONTAINER_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")
_REMOTE_SECONDS = 2.0
_MAX_ENTRIES = 2_000_000


@dataclass(frozen=True)
class Mount:
    """One mounted file system."""

    device: str
    path: str
    kind: str
    options: str

    @property
    def read_only(self) -> bool:
        return "ro" in self.options.split(",")


@dataclass(frozen=True)
class Usage:
    """Space and inodes of a file system, as an ordinary user may use them."""

    total: int
    used: int
    free: int
    inodes: int
    inodes_free: int

    @property
    def percent(self) -> float:
        usable = self.used + self.free
        return round(100 * self.used / usable, 1) if usable else 0.0

    @property
    def inodes_percent(self) -> float | None:
        return round(100 * (1 - self.inodes_free / self.inodes), 1) if self.inodes else None


def list_mounts(*, include_virtual: bool) -> list[Mount]:
    """Mounted file systems, each place once; the last mount on a place is the one that shows."""
    mounts: dict[str, Mount] = {}
    for part in psutil.disk_partitions(all=True):
        if include_virtual or _holds_data(part.mountpoint, part.fstype):
            mounts[part.mountpoint] = Mount(part.device, part.mountpoint, part.fstype, part.opts)
    return list(mounts.values())


def _holds_data(path: str, kind: str) -> bool:
    if kind in _VIRTUAL or path in _CONTAINER_FILES:
        return False
    if path.startswith(("/sys/", "/proc/", "/dev/")):
        return path == "/dev/shm"
    # The layers of containers are the same space as the disk below them.
    return not (kind == "overlay" and path.startswith("/var/lib/"))


def read_usage(mount: Mount) -> Usage | None:
    """Figures of a mount; None when it does not answer, as a dead network mount does not."""
    found: list[os.statvfs_result] = []

    def ask() -> None:
        try:
            found.append(os.statvfs(mount.path))
        except OSError:
            return

    if mount.kind.startswith(_REMOTE):
        # A daemon, because a dead server holds the call for ever and must not hold our exit.
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(_REMOTE_SECONDS)
    else:
        ask()
    return _to_usage(found[0]) if found else None


def take_usage() -> Answer:
    """Every file system with space: size, used, free, inodes, fullest first."""
    rows: list[dict[str, Json]] = []
    unanswered: list[Json] = []
    for mount in list_mounts(include_virtual=False):
        usage = read_usage(mount)
        if usage is None:
            unanswered.append({"path": mount.path, "device": mount.device, "type": mount.kind})
        elif usage.total:
            rows.append(_usage_row(mount, usage))
    rows.sort(key=lambda row: str(row["path"]))
    rows.sort(key=lambda row: float(str(row["used_percent"])), reverse=True)
    return Answer({"filesystems": rows, "not_answering": unanswered})


def take_mounts() -> Answer:
    rows: list[Json] = [
        {
            "path": mount.path,
            "device": mount.device,
            "type": mount.kind,
            "read_only": mount.read_only,
            "options": mount.options,
        }
        for mount in list_mounts(include_virtual=True)
    ]
    return Answer({"mounts": rows, "total": len(rows)})


def take_io(sample_seconds: float, deadline: Deadline) -> Answer:
    """Counters since boot and rates over the sample, by disk; idle disks are left out."""
    before = psutil.disk_io_counters(perdisk=True)
    started = time.monotonic()
    time.sleep(min(sample_seconds, deadline.left))
    after = psutil.disk_io_counters(perdisk=True)
    seconds = time.monotonic() - started
    disks: list[Json] = []
    idle: list[Json] = []
    for name, now in after.items():
        then = before.get(name, now)
        if not (now.read_count or now.write_count):
            idle.append(name)
            continue
        busy = getattr(now, "busy_time", 0) - getattr(then, "busy_time", 0)
        disks.append(
            {
                "name": name,
                "read_bytes_per_second": round((now.read_bytes - then.read_bytes) / seconds),
                "written_bytes_per_second": round((now.write_bytes - then.write_bytes) / seconds),
                "reads_per_second": round((now.read_count - then.read_count) / seconds, 1),
                "writes_per_second": round((now.write_count - then.write_count) / seconds, 1),
                "busy_percent": min(100.0, round(busy / (seconds * 10), 1)),
                "read_bytes": now.read_bytes,
                "written_bytes": now.write_bytes,
            }
        )
    return Answer({"sample_seconds": round(seconds, 2), "disks": disks, "never_used": idle})


@dataclass
class _Tally:
    """Sizes below a path, collected in one walk."""

    limit: int
    entries: int = 0
    unreadable: int = 0
    stopped: bool = False
    directories: dict[str, int] = field(default_factory=dict)
    files: list[tuple[int, str, float]] = field(default_factory=list)
    links_seen: set[tuple[int, int]] = field(default_factory=set)

    def add_file(self, path: str, status: os.stat_result) -> int:
        if status.st_nlink > 1:
            key = (status.st_dev, status.st_ino)
            if key in self.links_seen:
                return 0
            self.links_seen.add(key)
        size = status.st_blocks * 512
        heapq.heappush(self.files, (size, path, status.st_mtime))
        if len(self.files) > self.limit:
            heapq.heappop(self.files)
        return size


def take_largest(path: str, limit: int, deadline: Deadline) -> Answer:
    """The directories and files that hold most space below a path, on its own file system.

    Sizes are disk space in use, as `du` counts it; a directory's size includes what is below it.
    """
    if not path.startswith("/") or "\0" in path:
        raise ToolFailure("INVALID_INPUT", "'path' must be an absolute path, such as '/var'.")
    root = os.path.realpath(path)
    try:
        device = os.stat(root).st_dev  # noqa: PTH116 - one call, its error is ours to explain
        with os.scandir(root):
            pass
    except NotADirectoryError as error:
        raise ToolFailure("INVALID_INPUT", f"{path} is not a directory.") from error
    except OSError as error:
        raise unreadable(path, error) from error
    tally = _Tally(limit)
    _walk(root, device, tally, deadline)
    return _largest_answer(root, tally)


def _walk(root: str, device: int, tally: _Tally, deadline: Deadline) -> None:
    tally.directories[root] = 0
    pending = [root]
    while pending and not tally.stopped:
        directory = pending.pop()
        own = 0
        try:
            with os.scandir(directory) as entries:
                for entry in entries:
                    tally.entries += 1
                    if tally.entries >= _MAX_ENTRIES or deadline.passed:
                        tally.stopped = True
                        break
                    own += _count(entry, device, tally, pending)
        except OSError:
            tally.unreadable += 1
        _credit(directory, root, own, tally.directories)


def _count(entry: "os.DirEntry[str]", device: int, tally: _Tally, pending: list[str]) -> int:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return 0
    if status.st_dev != device:
        return 0
    if stat.S_ISDIR(status.st_mode):
        tally.directories[entry.path] = 0
        pending.append(entry.path)
        return status.st_blocks * 512
    return tally.add_file(entry.path, status) if stat.S_ISREG(status.st_mode) else 0


def _credit(directory: str, root: str, size: int, directories: dict[str, int]) -> None:
    while True:
        directories[directory] += size
        if directory == root:
            return
        directory = directory.rpartition("/")[0] or "/"


def _largest_answer(root: str, tally: _Tally) -> Answer:
    below = ((size, path) for path, size in tally.directories.items() if path != root)
    directories: list[Json] = [
        {"path": path, "size_bytes": size} for size, path in heapq.nlargest(tally.limit, below)
    ]
    files: list[Json] = [
        {"path": path, "size_bytes": size, "modified": timestamp(modified)}
        for size, path, modified in sorted(tally.files, reverse=True)
    ]
    data: dict[str, Json] = {
        "path": root,
        "total_bytes": tally.directories[root],
        "entries_seen": tally.entries,
        "unreadable_directories": tally.unreadable,
        "complete": not tally.stopped,
        "directories": directories,
        "files": files,
    }
    if not tally.stopped:
        return Answer(data)
    note = f"sizes: counted {tally.entries} entries before time ran out; ask for a deeper path"
    return Answer(data, (note,))


def _usage_row(mount: Mount, usage: Usage) -> dict[str, Json]:
    return {
        "path": mount.path,
        "device": mount.device,
        "type": mount.kind,
        "read_only": mount.read_only,
        "size_bytes": usage.total,
        "used_bytes": usage.used,
        "free_bytes": usage.free,
        "used_percent": usage.percent,
        "inodes_total": usage.inodes,
        "inodes_used_percent": usage.inodes_percent,
    }


def _to_usage(result: os.statvfs_result) -> Usage:
    block = result.f_frsize
    return Usage(
        total=result.f_blocks * block,
        used=(result.f_blocks - result.f_bfree) * block,
        free=result.f_bavail * block,
        inodes=result.f_files,
        inodes_free=result.f_ffree,
    )

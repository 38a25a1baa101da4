"""Finding files by name: bounded in depth, results, entries and time, on one file system."""

import fnmatch
import os
import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from ops.bounded import Deadline
from ops.envelope import Answer, Json, ToolFailure
from ops.files import allowed_path, file_kind, timestamp, unreadable
from safety.paths.sensitive_paths import SensitivePaths

_MAX_ENTRIES = 200_000


@dataclass
class _Walk:
    """What a walk left out."""

    entries: int = 0
    sensitive: int = 0
    unreadable: int = 0
    stopped: bool = False


def find_files(
    path: str,
    sensitive: SensitivePaths,
    deadline: Deadline,
    *,
    pattern: str,
    depth: int,
    limit: int,
) -> Answer:
    """Entries below a directory whose name matches a glob, nearest first."""
    root = allowed_path(path, sensitive)
    try:
        device = os.stat(root).st_dev  # noqa: PTH116 - one call, its error is ours to explain
        with os.scandir(root):
            pass
    except NotADirectoryError as error:
        raise ToolFailure(
            "INVALID_INPUT", f"{path} is not a directory; read it with action 'file'."
        ) from error
    except OSError as error:
        raise unreadable(path, error) from error
    matches = re.compile(fnmatch.translate((pattern or "*").casefold())).match
    walk = _Walk()
    found: list[Json] = []
    more = False
    for entry in _walk_directory(root, device, depth, sensitive, deadline, walk):
        if not matches(entry.name.casefold()):
            continue
        if len(found) >= limit:
            more = True
            break
        found.append(_describe(entry))
    data: dict[str, Json] = {
        "path": root,
        "pattern": pattern or "*",
        "matches": found,
        "entries_seen": walk.entries,
        "sensitive_left_out": walk.sensitive,
        "unreadable_directories": walk.unreadable,
    }
    return Answer(data, _cuts(walk, more, limit))


def _cuts(walk: _Walk, more: bool, limit: int) -> tuple[str, ...]:
    if more:
        return (f"matches: the first {limit}, there are more; raise 'lines' or narrow 'pattern'",)
    if walk.stopped:
        return (f"matches: stopped after {walk.entries} entries; start from a deeper path",)
    return ()


def _walk_directory(
    root: str,
    device: int,
    depth: int,
    sensitive: SensitivePaths,
    deadline: Deadline,
    walk: _Walk,
) -> Iterator["os.DirEntry[str]"]:
    queue: deque[tuple[str, int]] = deque([(root, 1)])
    while queue:
        directory, level = queue.popleft()
        for entry in _list_directory(directory, walk):
            walk.entries += 1
            if walk.entries > _MAX_ENTRIES or deadline.passed:
                walk.stopped = True
                return
            if sensitive.reason_resolved(entry.path):
                walk.sensitive += 1
                continue
            yield entry
            if level < depth and _is_same_device_directory(entry, device):
                queue.append((entry.path, level + 1))


def _list_directory(directory: str, walk: _Walk) -> list["os.DirEntry[str]"]:
    try:
        with os.scandir(directory) as entries:
            return sorted(islice(entries, _MAX_ENTRIES), key=lambda entry: entry.name)
    except OSError:
        walk.unreadable += 1
        return []


def _is_same_device_directory(entry: "os.DirEntry[str]", device: int) -> bool:
    try:
        return (
            entry.is_dir(follow_symlinks=False)
            and entry.stat(follow_symlinks=False).st_dev == device
        )
    except OSError:
        return False


def _describe(entry: "os.DirEntry[str]") -> Json:
    try:
        status = entry.stat(follow_symlinks=False)
    except OSError:
        return {"path": entry.path, "kind": "unknown", "size_bytes": None, "modified": None}
    return {
        "path": entry.path,
        "kind": file_kind(status.st_mode),
        "size_bytes": status.st_size,
        "modified": timestamp(status.st_mtime),
    }

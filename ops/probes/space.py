"""How full a directory is that a service may fill up to a limit, and what fills it."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ops.envelope import Json
from ops.services.declaration import Space

MOST_FILES = 10_000
_SHOWN_FILES = 5
_FULL_PERCENT = 95.0


@dataclass(frozen=True)
class _Sizes:
    """Files with their sizes, and in a clause what was not counted; empty where all was."""

    files: tuple[tuple[Path, int], ...]
    left_out: str


def read_space(space: Space, problems: list[str]) -> dict[str, Json]:
    sizes = _read_sizes(space.directory)
    used = sum(size for _, size in sizes.files)
    percent = _percent(used, space)
    largest: list[Json] = [
        {"path": str(path), "bytes": size, "percent": _percent(size, space)}
        for path, size in sorted(sizes.files, key=lambda each: -each[1])[:_SHOWN_FILES]
    ]
    if percent >= _FULL_PERCENT:
        problems.append(f"{space.directory} holds {used} of {space.limit_bytes} bytes")
    return {
        "directory": str(space.directory),
        "used_bytes": used,
        "limit_bytes": space.limit_bytes,
        "used_percent": percent,
        "largest": largest,
        "left_out": sizes.left_out or None,
    }


def _percent(size: int, space: Space) -> float:
    return round(100 * size / space.limit_bytes, 1)


def _read_sizes(directory: Path) -> _Sizes:
    """What goes while this looks counts for nothing."""
    unread: list[OSError] = []
    found: list[tuple[Path, int]] = []
    is_whole = True
    for each in _walk(directory, unread):
        if len(found) >= MOST_FILES:
            is_whole = False
            break
        found.append(each)
    reasons = [] if is_whole else [f"only its first {MOST_FILES} files were counted, it holds more"]
    if unread:
        reasons.append(f"folders that could not be read: {len(unread)} ({unread[0].strerror})")
    return _Sizes(tuple(found), "; ".join(reasons))


def _walk(directory: Path, unread: list[OSError]) -> Iterator[tuple[Path, int]]:
    for parent, _, names in os.walk(directory, onerror=unread.append):
        for name in names:
            path = Path(parent, name)
            try:
                status = path.lstat()
            except OSError:
                continue
            if path.is_file() and not path.is_symlink():
                yield path, status.st_size

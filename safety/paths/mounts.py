"""Other paths of one file: what is mounted in several places is met in each of them."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_MOUNTS = Path("/proc/self/mountinfo")
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """A part of a file system, `source`, and where it is met; both without a slash at the end."""

    source: str
    point: str
    device: str = ""


def read_mounts(table: Path = _MOUNTS) -> tuple[Mount, ...]:
    """The mounts of this process; none where the system tells of none."""
    try:
        # No other sign ends a line: those that end one in other texts may stand in a name.
        lines = os.fsdecode(table.read_bytes()).split("\n")
    except OSError:
        return ()
    fields = (line.split(" ") for line in lines)
    return tuple(
        Mount(_read_path(each[3]), _read_path(each[4]), each[2]) for each in fields if len(each) > 5
    )


def find_other_paths(path: str, mounts: tuple[Mount, ...]) -> Iterator[str]:
    """Each other path of the same file, for a path without links."""
    for mine in _find_holders(path, mounts):
        inside = mine.source + path[len(mine.point) :]
        for other in mounts:
            is_same = other.device == mine.device and is_within(inside, other.source)
            if is_same and other is not mine:
                yield other.point + inside[len(other.source) :] or "/"


def _find_holders(path: str, mounts: tuple[Mount, ...]) -> Iterator[Mount]:
    """The mounts that may hold the file: the last one on its way, and inner ones listed before it.

    Whether the last one hides those is not told by the order, so each is taken for the one.
    """
    innermost = -1
    for mount in reversed(mounts):
        if len(mount.point) > innermost and is_within(path, mount.point):
            innermost = len(mount.point)
            yield mount


def is_within(path: str, tree: str) -> bool:
    """Whether a path is this directory, whose name ends in no slash, or lies below it."""
    return path == tree or path.startswith(f"{tree}/")


def _read_path(field: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found.group(1), 8)), field).rstrip("/")

"""Other paths of one file: what is mounted in several places is met in each of them."""

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
        lines = table.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    except OSError:
        return ()
    fields = (line.split(" ") for line in lines)
    return tuple(
        Mount(_read_path(each[3]), _read_path(each[4]), each[2]) for each in fields if len(each) > 5
    )


def find_other_paths(path: str, mounts: tuple[Mount, ...]) -> Iterator[str]:
    """Each other path of the same file, for a path without links."""
    under = [mount for mount in mounts if is_within(path, mount.point)]
    if not under:
        return
    # Of several at one point, the last lies on top.
    mine = max(enumerate(under), key=lambda each: (len(each[1].point), each[0]))[1]
    inside = mine.source + path[len(mine.point) :]
    for other in mounts:
        if other is not mine and other.device == mine.device and is_within(inside, other.source):
            yield other.point + inside[len(other.source) :] or "/"


def is_within(path: str, tree: str) -> bool:
    """Whether a path is this directory, whose name ends in no slash, or lies below it."""
    return path == tree or path.startswith(f"{tree}/")


def _read_path(field: str) -> str:
    return _OCTAL.sub(lambda found: chr(int(found.group(1), 8)), field).rstrip("/")

"""Which paths may be read and written, wherever the file is.

What may not be read out may not be written either. Beyond that, nothing is written that decides who
may log in or become root, no device and no file of the kernel's, and nothing of TARSy's own.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from typing_extensions import override

from ops.envelope import ToolFailure
from safety.paths.mounts import Mount, find_other_paths, is_within, read_mounts
from safety.paths.powerful_paths import (
    find_access_reason,
    find_kernel_reason,
    paths_from_inner_roots,
)
from safety.paths.sensitive_paths import SensitivePaths

_MAX_CHARACTERS = 4096
_MAX_PARTS = 256
"""Each part may be a machine's root, and each mount of the file has its own path to be judged."""


class EditablePaths:
    """Judges paths. `own` are files and directories of the product, which no edit touches.

    `is_here`: they are of this machine, so what a path leads to and where else the same file is
    mounted can be seen, and `own` lies where it says. Of other machines, `own` is looked for below
    a directory that may be this machine's root.
    """

    def __init__(self, sensitive: SensitivePaths, own: Sequence[Path], *, is_here: bool) -> None:
        self._sensitive = sensitive
        self._own = tuple(dict.fromkeys(text for path in own for text in _spellings(path)))
        self._is_here = is_here

    def check(self, path: str, *, writes: bool) -> None:
        """Raises `ToolFailure` where the path is none, or must not be touched.

        What is here is judged by where its links lead as well.
        """
        is_long = len(path) > _MAX_CHARACTERS or path.count("/") > _MAX_PARTS
        if not path.startswith("/") or is_long or not path.isprintable():
            raise ToolFailure(
                "INVALID_INPUT",
                "'path' must be absolute (start with '/'), in printable characters and at most "
                f"{_MAX_CHARACTERS} of them and {_MAX_PARTS} directories deep; '~' and variables "
                "are not expanded.",
            )
        self.check_resolved(f"/{os.path.normpath(path).lstrip('/')}", writes=writes, named=path)
        if self._is_here:
            # Not what that spelling leads to: `link/..` is the parent of the link's target.
            self.check_resolved(os.path.realpath(path), writes=writes, named=path)

    def check_resolved(self, path: str, *, writes: bool, named: str = "") -> None:
        """The same for a path that holds no `..`."""
        if reason := self.find_reason(path, writes=writes):
            raise refuse_path(named or path, reason)

    def find_reason(self, path: str, *, writes: bool) -> str | None:
        """Why a path without `..` must not be touched."""
        reasons = (self._judge(each, writes=writes) for each in self._spell(path))
        return next((reason for reason in reasons if reason), None)

    def find_write_reason(self, path: str) -> str | None:
        """Why a path that may be read must not be written."""
        return self.find_reason(path, writes=True)

    def _spell(self, path: str) -> Iterator[str]:
        yield path
        if self._is_here:
            real = os.path.realpath(path)
            yield real
            yield from find_other_paths(real, read_mounts())

    def _judge(self, path: str, *, writes: bool) -> str | None:
        reason = self._sensitive.reason_resolved(path) or find_kernel_reason(path)
        if not reason and (writes or not self._is_here):
            reason = self._find_own_reason(path)
        return reason or (find_access_reason(path) if writes else None)

    def _find_own_reason(self, path: str) -> str | None:
        inner = paths_from_inner_roots(path)
        every = (path, *inner) if self._is_here else inner
        is_own = any(is_within(each, own) for each in every for own in self._own)
        return "it belongs to this product" if is_own else None


class EnclosedPaths(EditablePaths):
    """Paths of a container, pod or guest: judged as it has them, and as its host has its mounts.

    A mount's `source` is a path of the host, its `point` one in the container.
    """

    def __init__(
        self, inside: EditablePaths, outside: EditablePaths, mounts: Sequence[Mount]
    ) -> None:
        self._inside = inside
        self._outside = outside
        self._mounts = sorted(mounts, key=lambda mount: -len(mount.point))
        self._is_here = False

    @override
    def find_reason(self, path: str, *, writes: bool) -> str | None:
        if reason := self._inside.find_reason(path, writes=writes):
            return reason
        mount = next((each for each in self._mounts if is_within(path, each.point)), None)
        if mount is None:
            return None
        source = (mount.source + path[len(mount.point) :]) or "/"
        reason = self._outside.find_reason(source, writes=writes)
        return reason and f"it is {source} of the host, and {reason}"


def refuse_path(path: str, reason: str) -> ToolFailure:
    return ToolFailure(
        "POLICY_BLOCKED",
        f"{path} is not touched: {reason}. Neither another attempt nor another way to it changes "
        "that.",
        details={"path": path, "reason": reason},
    )


def _spellings(path: Path) -> tuple[str, ...]:
    """As it is named and as it resolves. All of a machine is nobody's own."""
    spellings = (str(path.absolute()), str(path.resolve()))
    return tuple(text for text in spellings if text != "/")

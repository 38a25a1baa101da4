"""Which paths may be read and written: by their spelling alone, wherever the file is.

What may not be read out may not be written either. Beyond that, nothing is written that decides who
may log in or become root, no device and no file of the kernel's, and nothing of TARSy's own.
"""

import os
from collections.abc import Sequence
from pathlib import Path

from mcp_bridge.ops.envelope import ToolFailure
from mcp_bridge.ops.sensitive_paths import SensitivePaths

_KERNEL_TREES = ("/proc", "/sys", "/dev")
_ACCESS_TREES = (
    "/boot",
    "/etc/pam.d",
    "/etc/security",
    "/etc/ssh",
    "/etc/selinux",
    "/etc/polkit-1",
)
_ACCESS_FILES = frozenset(
    {
        "/etc/passwd", "/etc/passwd-", "/etc/group", "/etc/group-", "/etc/nsswitch.conf",
        "/etc/ld.so.preload", "/etc/subuid", "/etc/subgid", "/etc/login.defs", "/etc/doas.conf",
    }
)  # fmt: skip
_MAX_CHARACTERS = 4096


class EditablePaths:
    """Judges paths. `own` are files and directories of the product, which no edit touches."""

    def __init__(self, sensitive: SensitivePaths, own: Sequence[Path]) -> None:
        self._sensitive = sensitive
        self._own = tuple(dict.fromkeys(text for path in own for text in _spellings(path)))

    def check(self, path: str, *, writes: bool, is_here: bool) -> None:
        """Raises `ToolFailure` where the path is none, or must not be touched.

        What is here is judged by where its links lead as well.
        """
        if not path.startswith("/") or len(path) > _MAX_CHARACTERS or not path.isprintable():
            raise ToolFailure(
                "INVALID_INPUT",
                "'path' must be absolute (start with '/'), in printable characters and at most "
                f"{_MAX_CHARACTERS} of them; '~' and variables are not expanded.",
            )
        reason = self._sensitive.reason(path) if is_here else None
        spelled = f"/{os.path.normpath(path).lstrip('/')}"
        self.check_resolved(spelled, writes=writes, named=path, reason=reason)

    def check_resolved(
        self, path: str, *, writes: bool, named: str = "", reason: str | None = None
    ) -> None:
        """The same for a path that is known to hold no link."""
        reason = reason or self._sensitive.reason_resolved(path) or _find_kernel_reason(path)
        if writes:
            reason = reason or self.find_write_reason(path)
        if reason:
            raise refuse_path(named or path, reason)

    def find_write_reason(self, path: str) -> str | None:
        """Why a path that may be read must not be written."""
        return _find_access_reason(path) or self._find_own_reason(path)

    def _find_own_reason(self, path: str) -> str | None:
        is_own = any(_is_within(path, own) for own in self._own)
        return "it belongs to this product" if is_own else None


def refuse_path(path: str, reason: str) -> ToolFailure:
    return ToolFailure(
        "POLICY_BLOCKED",
        f"{path} is not touched: {reason}. Neither another attempt nor another way to it changes "
        "that.",
        details={"path": path, "reason": reason},
    )


def _find_kernel_reason(path: str) -> str | None:
    is_kernels = any(_is_within(path, tree) for tree in _KERNEL_TREES)
    return "it is no file of a disk" if is_kernels else None


def _find_access_reason(path: str) -> str | None:
    decides = path in _ACCESS_FILES or any(_is_within(path, tree) for tree in _ACCESS_TREES)
    return "it decides who may log in, become root or start the machine" if decides else None


def _is_within(path: str, tree: str) -> bool:
    return path == tree or path.startswith(f"{tree}/")


def _spellings(path: Path) -> tuple[str, ...]:
    """As it is named and as it resolves. All of a machine is nobody's own."""
    spellings = (str(path.absolute()), str(path.resolve()))
    return tuple(text for text in spellings if text != "/")

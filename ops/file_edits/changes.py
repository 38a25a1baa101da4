"""What is asked of a file, how it stood, and how it stands."""

from dataclasses import dataclass
from typing import Literal, Protocol

from ops.envelope import Json, ToolFailure
from ops.file_edits.allowed_paths import EditablePaths
from ops.file_edits.content import MAX_CONTENT_BYTES, Digest, Part, describe
from safety.checks import ABSENT

FileAction = Literal["read", "write", "append"]
UNKNOWN = "unknown"
MOVED = "what it leads to changed while it was looked at"
NEW_MODE = 0o644


@dataclass(frozen=True)
class FileState:
    """A regular file. `mode` holds the permission bits alone.

    `keeps_attributes`: where it is rewritten, its extended attributes and access control lists go
    over to the new one.
    """

    path: str
    digest: Digest
    mode: int
    owner: str
    group: str
    modified: str
    links: int = 1
    keeps_attributes: bool = True

    def to_json(self) -> dict[str, Json]:
        return {
            **describe(self.digest),
            "mode": f"{self.mode:04o}",
            "owner": self.owner,
            "group": self.group,
            "modified": self.modified,
            "keeps_attributes": self.keeps_attributes,
        }


@dataclass(frozen=True)
class Change:
    """One change that was made; not `is_done` where none was needed.

    `before` is None where the file is new, `after` where somebody else is changing it already.
    """

    path: str
    before: FileState | None
    after: FileState | None
    bytes_written: int
    is_done: bool = True


class Files(Protocol):
    """The files of one place."""

    @property
    def paths(self) -> EditablePaths:
        """Which of them may be touched."""
        ...

    async def read(self, path: str, part: Part) -> FileState:
        """How a file stands. Raises `ToolFailure` for what is not there or may not be read."""
        ...

    async def write(self, path: str, content: bytes, expected: str) -> Change:
        """Put the content in the file's place, all of it or nothing, if it is as expected."""
        ...

    async def append(self, path: str, content: bytes, expected: str) -> Change:
        """Add the content to the file's end, if it is as expected."""
        ...


def refuse_unexpected(path: str, expected: str, before: FileState | None) -> None:
    """Raises `ToolFailure` where the file is not the one that was looked at."""
    found = before.digest.sha256 if before is not None else ABSENT
    if found == expected:
        return
    raise changed_since(path, expected, found)


def changed_since(path: str, expected: str, found: str) -> ToolFailure:
    now = "does not exist" if found == ABSENT else "has changed"
    if expected == ABSENT:
        now = "exists by now"
    return ToolFailure(
        "EXECUTION_FAILED",
        f"{path} {now} since it was looked at. Nothing was written.",
        retryable=True,
        details={"path": path, "expected_sha256": expected, "found_sha256": found},
    )


def find_unfit_reason(before: FileState, *, is_append: bool) -> str:
    """Why a change would damage a file, or could not be shown; empty where it may be made."""
    if before.links > 1:
        return f"it has {before.links} names (hard links), and only one of them is meant"
    if before.mode & 0o6000:
        return "it runs with its owner's rights (setuid or setgid)"
    if not before.digest.is_utf8:
        return "it is not UTF-8, and what is written is"
    if not is_append and before.digest.size > MAX_CONTENT_BYTES:
        size = before.digest.size
        return f"it has {size} bytes; of at most {MAX_CONTENT_BYTES} a change can be shown"
    return ""


def refuse_unfit(before: FileState | None, *, is_append: bool) -> None:
    """Raises `ToolFailure` for a file that is not to be changed like this."""
    reason = find_unfit_reason(before, is_append=is_append) if before is not None else ""
    if before is not None and reason:
        raise ToolFailure(
            "ACTION_NOT_ALLOWED",
            f"{before.path} is not written: {reason}.",
            details={"path": before.path, "reason": reason},
        )


def not_found(path: str, *, has_directory: bool) -> ToolFailure:
    """There is no such file. `directory_exists` says whether one could be made."""
    missing = path if has_directory else f"The directory of {path}"
    return ToolFailure(
        "NOT_FOUND",
        f"{missing} does not exist.",
        details={"path": path, "exists": False, "directory_exists": has_directory},
    )


def refuse_link(path: str, real: str) -> None:
    """Raises `ToolFailure` for a write by way of a link: what that means may change meanwhile."""
    if path == real:
        return
    raise ToolFailure(
        "INVALID_INPUT",
        f"{path} leads to {real}; a write names the file itself. Nothing was written.",
        details={"path": path, "real_path": real},
    )

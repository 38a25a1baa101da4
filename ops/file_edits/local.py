"""Files of the machine at hand: what was checked is what is read, and what is replaced.

A file is reached through a descriptor of its directory, and the kernel says where both really are,
so a link that is swapped in between the look and the change leads nowhere.
"""

import errno
import fcntl
import grp
import os
import pwd
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from ops.bounded import Deadline, run_in_thread
from ops.envelope import ToolFailure
from ops.file_edits.allowed_paths import EditablePaths, refuse_path
from ops.file_edits.changes import (
    MOVED,
    NEW_MODE,
    UNKNOWN,
    Change,
    FileState,
    changed_since,
    not_found,
    refuse_link,
    refuse_unexpected,
    refuse_unfit,
)
from ops.file_edits.content import FACTS, Part, digest, sha256, watch
from ops.files import file_kind, timestamp
from safety.checks import ABSENT
from safety.paths.sensitive_paths import SensitivePaths

_SECONDS = 10.0
_CHUNK = 1 << 16
_LOOK_AGAIN_SECONDS = 0.02
_SAFELY = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY


@dataclass(frozen=True)
class LocalFiles:
    """Implements `Files`."""

    paths: EditablePaths

    async def read(self, path: str, part: Part) -> FileState:
        return await run_in_thread(partial(self._read, path, part), _SECONDS)

    async def write(self, path: str, content: bytes, expected: str) -> Change:
        return await run_in_thread(partial(self._write, path, content, expected), _SECONDS)

    async def append(self, path: str, content: bytes, expected: str) -> Change:
        return await run_in_thread(partial(self._append, path, content, expected), _SECONDS)

    def _read(self, path: str, part: Part, deadline: Deadline) -> FileState:
        real = self._check(path, writes=False)
        with self._open_place(real, path, writes=False) as place:
            found = place.look(part, deadline)
        if found is None:
            raise not_found(place.path, has_directory=True)
        return found

    def _write(self, path: str, content: bytes, expected: str, deadline: Deadline) -> Change:
        with self._changing(path, deadline) as place:
            before = self._look_before(place, expected, deadline, is_append=False)
            if before is not None and before.digest.sha256 == sha256(content):
                return Change(place.path, before, before, 0, is_done=False)
            place.put(content, before, deadline)
            return _tell(place, before, content, deadline)

    def _append(self, path: str, content: bytes, expected: str, deadline: Deadline) -> Change:
        with self._changing(path, deadline) as place:
            before = self._look_before(place, expected, deadline, is_append=True)
            if before is None:
                place.put(content, None, deadline)
            else:
                place.add(content, before, deadline)
            return _tell(place, before, content, deadline)

    def _look_before(
        self, place: "_Place", expected: str, deadline: Deadline, *, is_append: bool
    ) -> FileState | None:
        before = place.look(FACTS, deadline)
        refuse_unexpected(place.path, expected, before)
        refuse_unfit(before, is_append=is_append)
        return before

    def _check(self, path: str, *, writes: bool) -> str:
        """The path without links, if it may be touched."""
        try:
            self.paths.check(path, writes=writes)
            return resolve(path)
        except OSError as error:  # A link went away while it was followed.
            raise _explain(path, error) from error

    @contextmanager
    def _changing(self, path: str, deadline: Deadline) -> Iterator["_Place"]:
        """A place of which no other change of ours is under way."""
        refuse_link(path, self._check(path, writes=True))
        # Not what it resolves to now: that could be something else by now.
        with self._open_place(path, path, writes=True) as place:
            place.lock(deadline)
            yield place

    @contextmanager
    def _open_place(self, real: str, named: str, *, writes: bool) -> Iterator["_Place"]:
        """The place of a path without links; where one is by now, it is refused."""
        parent, name = os.path.split(real)
        try:
            directory = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise not_found(real, has_directory=False) from error
        except OSError as error:
            raise _explain(real, error) from error
        place = _Place(directory, name, real)
        try:
            if not name or _where(directory) != parent:
                raise refuse_path(named, MOVED)
            self.paths.check_resolved(real, writes=writes, named=named)
            yield place
        except OSError as error:
            raise _explain(real, error, is_changed=place.is_changed) from error
        finally:
            os.close(directory)


@dataclass
class _Place:
    """A name in an open directory. `seen` is the file that was last looked at under it."""

    directory: int
    name: str
    path: str
    seen: os.stat_result | None = None
    is_changed: bool = False

    def lock(self, deadline: Deadline) -> None:
        """Let no other change of ours in this directory run meanwhile."""
        while True:
            try:
                fcntl.flock(self.directory, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except BlockingIOError as error:
                if deadline.passed:
                    raise ToolFailure(
                        "EXECUTION_FAILED",
                        f"Another change in the directory of {self.path} takes too long. Nothing "
                        "was written.",
                        retryable=True,
                    ) from error
                time.sleep(_LOOK_AGAIN_SECONDS)

    def look(self, part: Part, deadline: Deadline) -> FileState | None:
        """The file as it is; None where there is none. Never blocks on fifos or devices."""
        self.seen = None
        try:
            descriptor = self._open(os.O_RDONLY)
        except FileNotFoundError:
            return None
        try:
            status = os.fstat(descriptor)
            chunks = iter(lambda: os.read(descriptor, _CHUNK), b"")
            watched = watch(chunks, self.path, deadline)
            found = digest(self.path, watched, status.st_size, part)
        finally:
            os.close(descriptor)
        self.seen = status
        return FileState(
            path=self.path,
            digest=found,
            mode=stat.S_IMODE(status.st_mode),
            owner=_user(status.st_uid),
            group=_group(status.st_gid),
            modified=timestamp(status.st_mtime),
            links=status.st_nlink,
        )

    def put(self, content: bytes, before: FileState | None, deadline: Deadline) -> None:
        """A new file in this place at once; who reads meanwhile sees the old one or the new one."""
        temporary = f".tarsy-{secrets.token_hex(8)}.tmp"
        descriptor = os.open(
            temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY, 0o600, dir_fd=self.directory
        )
        try:
            try:
                self._dress(descriptor)
                _write_all(descriptor, content)
                os.fsync(descriptor)
            finally:
                os.close(descriptor)
            _refuse_late(self.path, deadline)
            self._set(temporary, before)
        finally:
            with suppress(FileNotFoundError):
                os.unlink(temporary, dir_fd=self.directory)
        os.fsync(self.directory)

    def add(self, content: bytes, before: FileState, deadline: Deadline) -> None:
        """Add to the end of the very file that was looked at; what others add is never lost."""
        descriptor = self._open(os.O_WRONLY | os.O_APPEND)
        try:
            if not self._is_seen(os.fstat(descriptor)):
                raise changed_since(self.path, before.digest.sha256, UNKNOWN)
            _refuse_late(self.path, deadline)
            # One call, so that what others add stands before or behind it.
            written = os.write(descriptor, content)
            self.is_changed = written > 0
            if written < len(content):
                raise OSError(errno.ENOSPC, f"only {written} of {len(content)} bytes fit")
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _open(self, flags: int) -> int:
        """The regular file of this name, and nothing else that could stand in its place."""
        try:
            descriptor = os.open(self.name, flags | _SAFELY, dir_fd=self.directory)
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENXIO):
                found = os.stat(self.name, dir_fd=self.directory, follow_symlinks=False)
                raise _irregular(self.path, found.st_mode) from error
            raise
        try:
            status = os.fstat(descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise _irregular(self.path, status.st_mode)
            if reason := SensitivePaths().reason_linked(status):
                raise refuse_path(self.path, reason)
            if _where(descriptor) != self.path:
                raise refuse_path(self.path, MOVED)
        except BaseException:
            os.close(descriptor)
            raise
        return descriptor

    def _set(self, temporary: str, before: FileState | None) -> None:
        here = self.directory
        if before is None:
            try:
                # Unlike a rename, this fails where somebody has made the file meanwhile.
                os.link(temporary, self.name, src_dir_fd=here, dst_dir_fd=here)
            except FileExistsError as error:
                raise changed_since(self.path, ABSENT, UNKNOWN) from error
            self.is_changed = True
            return
        now = os.stat(self.name, dir_fd=here, follow_symlinks=False)
        if not self._is_seen(now):
            raise changed_since(self.path, before.digest.sha256, UNKNOWN)
        os.rename(temporary, self.name, src_dir_fd=here, dst_dir_fd=here)
        self.is_changed = True

    def _dress(self, descriptor: int) -> None:
        """Owner, mode and attributes of the file that is replaced."""
        if self.seen is None:
            os.fchmod(descriptor, NEW_MODE)
            return
        mine = os.fstat(descriptor)
        if (mine.st_uid, mine.st_gid) != (self.seen.st_uid, self.seen.st_gid):
            os.fchown(descriptor, self.seen.st_uid, self.seen.st_gid)
        self._copy_attributes(descriptor)
        os.fchmod(descriptor, stat.S_IMODE(self.seen.st_mode))

    def _copy_attributes(self, descriptor: int) -> None:
        """Those of the very file that was looked at, whatever bears its name by now."""
        source = self._open(os.O_RDONLY)
        try:
            if not self._is_seen(os.fstat(source)):
                raise OSError(errno.ESTALE, "somebody else has changed it meanwhile")
            _copy_attributes(source, descriptor)
        finally:
            os.close(source)

    def _is_seen(self, status: os.stat_result) -> bool:
        return self.seen is not None and _identity(status) == _identity(self.seen)


def _refuse_late(path: str, deadline: Deadline) -> None:
    """Raises `ToolFailure` where nobody waits any more: that it failed has been told already."""
    if deadline.passed:
        raise ToolFailure(
            "EXECUTION_FAILED", f"{path}: it took too long. Nothing was written.", retryable=True
        )


def _tell(place: _Place, before: FileState | None, content: bytes, deadline: Deadline) -> Change:
    """What was done, whatever becomes of the file next."""
    try:
        after = place.look(FACTS, deadline)
    except (ToolFailure, OSError):
        after = None
    return Change(place.path, before, after, len(content))


def resolve(path: str) -> str:
    """The path without links. Two slashes in front are a spelling of one."""
    return f"/{os.path.realpath(path).lstrip('/')}"


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return (
        status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns,
    )  # fmt: skip


def _where(descriptor: int) -> str:
    """Where an open file or directory really is, as the kernel has it."""
    return str(Path(f"/proc/self/fd/{descriptor}").readlink())


def _write_all(descriptor: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(descriptor, left) :]


def _copy_attributes(source: int, descriptor: int) -> None:
    try:
        names = os.listxattr(source)
    except OSError:
        return  # This file system knows none.
    for name in names:
        # What belongs to the file's label is given by the system, which lets nobody else set it.
        try:
            os.setxattr(descriptor, name, os.getxattr(source, name))
        except PermissionError:
            if not name.startswith("security."):
                raise


def _user(number: int) -> str:
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def _group(number: int) -> str:
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def _irregular(path: str, mode: int) -> ToolFailure:
    kind = file_kind(mode)
    return ToolFailure(
        "INVALID_INPUT",
        f"{path} is a {kind}; only regular files are read and written.",
        details={"path": path, "kind": kind},
    )


def _explain(path: str, error: OSError, *, is_changed: bool = False) -> ToolFailure:
    hint = ""
    if isinstance(error, PermissionError):
        hint = f" This server runs as user {_user(os.geteuid())}."
    return ToolFailure(
        "EXECUTION_FAILED",
        f"{path}: {error.strerror or error}.{hint} "
        f"{'The file was changed.' if is_changed else 'Nothing was changed.'}",
        details={"path": path, "errno": error.errno, "changed": is_changed},
    )

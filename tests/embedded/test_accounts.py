import ctypes
import json
import os
import pwd
import shutil
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tarsy.embedded import ensure
from tarsy.embedded.accounts import PRIVATE_BASES, SERVER_UID, Account, _private_name
from tarsy.embedded.files import REPOSITORY
from tarsy.embedded.run_as import CAP_DAC_READ_SEARCH

pytestmark = pytest.mark.slow

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")

CAP_SETUID = 7
CAP_SETPCAP = 8
PR_CAPBSET_DROP = 24

SHOW_USERS = """
import json, sys
from pathlib import Path
import psutil, psycopg
from tarsy.embedded import ensure
with ensure(Path(sys.argv[1]), durable=False) as servers:
    psycopg.connect(servers.database_url).close()
    uids = [psutil.Process(pid).uids().effective for pid in servers.pids]
    print(json.dumps(uids))
"""


@as_root
def test_root_runs_the_servers_as_a_user_without_account(fresh_dir):
    accounts_before = Path("/etc/passwd").read_bytes()

    with ensure(fresh_dir / "var", durable=False) as servers:
        for pid in servers.pids[1:]:
            uids = psutil.Process(pid).uids()
            assert set(uids) == {SERVER_UID}
            kept = _capabilities(pid)
            # The right to walk to a directory below a closed one, and nothing else.
            assert kept in (0, 1 << CAP_DAC_READ_SEARCH)

    assert Path("/etc/passwd").read_bytes() == accounts_before
    with pytest.raises(KeyError):
        pwd.getpwuid(SERVER_UID)


@as_root
def test_root_keeps_no_capability_where_every_user_can_walk(fresh_dir):
    programs = Path(sys.prefix)
    if not all(path.stat().st_mode & 0o001 for path in (programs, *programs.parents)):
        pytest.skip("the virtual environment is below a closed directory")
    fresh_dir.chmod(0o711)
    (fresh_dir / "var").mkdir(mode=0o711)

    with ensure(fresh_dir / "var", durable=False) as servers:
        assert [_capabilities(pid) for pid in servers.pids[1:]] == [0, 0]


@as_root
def test_ordinary_user_runs_them_as_itself(fresh_dir):
    nobody = pwd.getpwnam("nobody")
    os.chown(fresh_dir, nobody.pw_uid, nobody.pw_gid)
    # The interpreter may lie where nobody else can look: reading is let through, writing is not.
    account = Account(nobody.pw_uid, nobody.pw_gid, CAP_DAC_READ_SEARCH)

    uids = _users_of_servers(account.command([sys.executable, "-c", SHOW_USERS]), fresh_dir / "var")

    assert uids == [nobody.pw_uid] * 3
    assert (fresh_dir / "var/embedded/postgres/data").stat().st_uid == nobody.pw_uid


@as_root
def test_a_user_without_an_entry_is_told_what_is_missing(fresh_dir):
    os.chown(fresh_dir, SERVER_UID, SERVER_UID)
    account = Account(SERVER_UID, SERVER_UID, CAP_DAC_READ_SEARCH)
    argv = account.command([sys.executable, "-c", SHOW_USERS, str(fresh_dir / "var")])

    done = subprocess.run(argv, cwd=REPOSITORY, capture_output=True, text=True, check=False)

    assert done.returncode != 0
    assert f"needs to find the user {SERVER_UID}" in done.stderr
    assert "set DATABASE_URL and REDIS_URL" in done.stderr


@as_root
def test_root_goes_on_with_what_an_ordinary_user_began(fresh_dir):
    nobody = pwd.getpwnam("nobody")
    os.chown(fresh_dir, nobody.pw_uid, nobody.pw_gid)
    account = Account(nobody.pw_uid, nobody.pw_gid, CAP_DAC_READ_SEARCH)
    _users_of_servers(account.command([sys.executable, "-c", SHOW_USERS]), fresh_dir / "var")

    uids = _users_of_servers([sys.executable, "-c", SHOW_USERS], fresh_dir / "var")

    assert uids == [0, nobody.pw_uid, nobody.pw_uid]


@as_root
def test_files_move_to_a_private_directory_where_no_capability_can_be_kept(fresh_dir, capfd):
    home = (fresh_dir / "var/embedded").resolve()
    elsewhere = [base / _private_name(home) for base in PRIVATE_BASES]
    try:
        for _ in range(2):  # made, then found again
            argv = [sys.executable, "-c", SHOW_USERS]
            uids = _users_of_servers(argv, fresh_dir / "var", lost=CAP_SETPCAP)
            told = capfd.readouterr().err
            assert uids == [0, SERVER_UID, SERVER_UID]

        (moved,) = [path for path in elsewhere if path.exists()]
        assert (moved / "postgres/data/PG_VERSION").exists()
        assert (moved / "postgres/data").stat().st_mode & 0o777 == 0o700
        assert f"the data are in {moved}" in told
        assert not (home / "postgres").exists()
    finally:
        for path in elsewhere:
            shutil.rmtree(path, ignore_errors=True)


@as_root
def test_root_that_cannot_change_user_is_told_what_to_do_and_nothing_stays(fresh_dir):
    script = """
import sys
from pathlib import Path
from tarsy.embedded import EmbeddedError, ensure
try:
    with ensure(Path(sys.argv[1])):
        pass
except EmbeddedError as error:
    print(error)
"""
    told = _run([sys.executable, "-c", script], fresh_dir / "var", lost=CAP_SETUID)

    assert "no right to run a program as another user" in told
    home = (fresh_dir / "var/embedded").resolve()
    assert not any((base / _private_name(home)).exists() for base in PRIVATE_BASES)


def _users_of_servers(argv: list[str], var_dir: Path, lost: int | None = None) -> list[int]:
    return json.loads(_run(argv, var_dir, lost))


def _run(argv: list[str], var_dir: Path, lost: int | None = None) -> str:
    def lose_capability() -> None:
        if lost is not None:
            ctypes.CDLL(None).prctl(PR_CAPBSET_DROP, lost, 0, 0, 0)

    ran = subprocess.run(
        [*argv, str(var_dir)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        cwd="/",
        stdout=subprocess.PIPE,
        preexec_fn=lose_capability,
        text=True,
        timeout=60,
        check=True,
    )
    return ran.stdout


def _capabilities(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("CapEff:")]
    return int(line.split()[1], 16)

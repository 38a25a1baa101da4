"""The embedded PostgreSQL: made once, started, asked whether it is ready, stopped."""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path

import psycopg
from psycopg import sql

from tarsy.embedded.accounts import Place, initdb_account
from tarsy.embedded.errors import EmbeddedError

SUPERUSER = "postgres"
ROLE = "tarsy"
DATABASE = "tarsy"
MAX_CONNECTIONS = 250
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LANG": "C", "TZ": "UTC"}


@dataclass(frozen=True)
class Postgres:
    """One cluster and how to run it. The application's role is no superuser."""

    place: Place
    superuser_password: str
    password: str
    durable: bool

    name = "PostgreSQL"
    death_signal = signal.SIGINT  # "fast": sessions are ended, then it stops in order
    kill_signal = signal.SIGQUIT  # "immediate": the next start recovers

    @property
    def home(self) -> Path:
        return self.place.data / "postgres"

    @property
    def cluster(self) -> Path:
        return self.home / "data"

    def prepare(self) -> None:
        """Make the cluster unless there is one; refuse one of another major version.

        Only for a first start: no process of an earlier one may be alive.
        """
        if (self.cluster / "PG_VERSION").exists():
            self._check_version()
            # The caller got the lock that every server process shares: whoever wrote this is
            # dead, and its process id may by now be somebody else's.
            (self.cluster / "postmaster.pid").unlink(missing_ok=True)
            return
        self.place.account.own(self.home)
        self._initdb()

    def argv(self, port: int) -> list[str]:
        settings = {
            "listen_addresses": "127.0.0.1",
            "port": str(port),
            "unix_socket_directories": "",
            "max_connections": str(MAX_CONNECTIONS),
            "timezone": "UTC",
            "log_timezone": "UTC",
            "logging_collector": "off",
        }
        if not self.durable:
            settings |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        options = [part for key, value in settings.items() for part in ("-c", f"{key}={value}")]
        return [str(self.place.postgres_bin / "postgres"), "-D", str(self.cluster), *options]

    def environment(self) -> dict[str, str]:
        return ENVIRONMENT

    def stdin(self, port: int) -> bytes:
        return b""

    def is_ready(self, port: int) -> bool:
        try:
            self._open(port).close()
        except psycopg.OperationalError as error:
            if "password authentication failed" in str(error):
                raise EmbeddedError(
                    f"the passwords in secrets.json do not fit the database in {self.cluster}; "
                    "restore that file, or move the directory away to start empty"
                ) from error
            return False
        return True

    def finish(self, port: int) -> None:
        """Once ready: make the application's role and database unless they are there."""
        with self._open(port) as connection:
            role, database = sql.Identifier(ROLE), sql.Identifier(DATABASE)
            if not connection.execute(
                "SELECT 1 FROM pg_roles WHERE rolname = %s", [ROLE]
            ).fetchone():
                connection.execute(
                    sql.SQL("CREATE ROLE {} LOGIN CREATEDB PASSWORD {}").format(role, self.password)
                )
            named = "SELECT 1 FROM pg_database WHERE datname = %s"
            if not connection.execute(named, [DATABASE]).fetchone():
                connection.execute(sql.SQL("CREATE DATABASE {} OWNER {}").format(database, role))

    def url(self, port: int) -> str:
        return f"postgresql://{ROLE}:{self.password}@127.0.0.1:{port}/{DATABASE}"

    def _open(self, port: int) -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host="127.0.0.1",
            port=port,
            user=SUPERUSER,
            password=self.superuser_password,
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def _check_version(self) -> None:
        made_by = (self.cluster / "PG_VERSION").read_text().strip()
        program = self.place.postgres_bin / "postgres"
        said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
        installed = said.stdout.split()[-1].split(".")[0]
        if made_by != installed:
            raise EmbeddedError(
                f"the database in {self.cluster} was made by PostgreSQL {made_by}, and "
                f"PostgreSQL {installed} is installed; dump it with version {made_by} and load "
                f"the dump, or move the directory away to start empty"
            )

    def _initdb(self) -> None:
        """Make the cluster beside its place and move it there, so that half of one never counts."""
        making = self.home.with_name("postgres.new")
        shutil.rmtree(making, ignore_errors=True)
        maker = initdb_account(self.place.account)
        maker.own(making)
        secret = making / "password"
        secret.touch(mode=0o600)
        secret.write_text(self.superuser_password)
        if maker.uid is not None and maker.gid is not None:
            os.chown(secret, maker.uid, maker.gid)
        argv = [
            *(str(self.place.postgres_bin / "initdb"), "-D", str(making / "data")),
            *("--username", SUPERUSER, "--pwfile", str(secret), "--auth", "scram-sha-256"),
            *("--encoding", "UTF8", "--locale", "C"),
            *("--locale-provider", "builtin", "--builtin-locale", "C.UTF-8"),
            *("--no-sync", "--no-instructions"),
        ]
        made = subprocess.run(
            maker.command(argv),
            env=ENVIRONMENT,
            cwd="/",
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        secret.unlink()
        if made.returncode != 0:
            raise EmbeddedError(
                f"initdb could not make the database in {self.cluster}:\n"
                f"{(made.stdout + made.stderr).strip()}"
            )
        _hand_over(making, self.place)
        (making / "data").rename(self.cluster)
        shutil.rmtree(making)


def _hand_over(tree: Path, place: Place) -> None:
    uid, gid = place.account.uid, place.account.gid
    if uid is None or gid is None:
        return
    for path in (tree, *tree.rglob("*")):
        os.chown(path, uid, gid, follow_symlinks=False)

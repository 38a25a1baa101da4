"""The product under measurement: embedded servers, workers, web and the model, all on loopback."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.model import READY
from benchmarks.scripts import Script
from tarsy.embedded import ensure
from tests.processes import ROOT, Process, find_free_port, wait_for

CONFIG_DIR = Path(__file__).parent / "config"
_NOT_OURS = ("GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY",
             "XAI_API_KEY", "DATABASE_URL", "REDIS_URL", "PYTHONDONTWRITEBYTECODE")  # fmt: skip

_WEB_SETTINGS = {"DJANGO_SETTINGS_MODULE": "benchmarks.settings", "LOG_LEVEL": "INFO"}


@dataclass(frozen=True)
class ModelLog:
    """What the model saw so far."""

    arrivals: Sequence[float]
    endings: Sequence[float]
    open: int
    most_open: int
    largest: dict[str, Any]


class Lab:
    """Starts what a benchmark needs; everything ends with the `with` block it was started in."""

    def __init__(
        self,
        directory: Path,
        *,
        is_quick: bool = False,
        sessions: int | None = None,
        only: str = "",
        is_kept: bool = False,
    ) -> None:
        self.directory = directory
        self.is_quick = is_quick
        self.sessions = sessions
        """How long a history pages are measured on; None where nobody said."""
        self.only = only
        """Part of the names of the pages to measure."""
        self.is_kept = is_kept
        """Whether histories stay for the next run."""
        self.model_port = find_free_port()
        self.model_url = f"http://127.0.0.1:{self.model_port}/v1"
        self.server_pids: tuple[int, ...] = ()
        """The keeper of the embedded servers, and these."""

    def choose(self, usual: int, quick: int) -> int:
        return quick if self.is_quick else usual

    # ---- Processes ------------------------------------------------------------------------------

    @contextmanager
    def model(self, script: Script) -> Iterator[Process]:
        path = self.directory / "script.yaml"
        path.write_text(json.dumps(script), encoding="utf-8")
        arguments = ("--script", str(path), "--port", str(self.model_port))
        process = _start("-m", "benchmarks.model", *arguments, ready=READY)
        with _until_stopped(process):
            yield process

    @contextmanager
    def worker(self, *, concurrency: int = 64) -> Iterator[Process]:
        with _until_stopped(self.start_worker(concurrency=concurrency)) as process:
            yield process

    def start_worker(self, *, concurrency: int = 64) -> Process:
        """A worker that is not ready yet, and is the caller's to stop."""
        arguments = ("-m", "celery", "-A", "tarsy.worker", "worker", "-P", "threads")
        options = ("-c", str(concurrency), "--without-gossip", "--without-mingle", "-l", "INFO")
        name = ("-n", f"worker-{find_free_port()}@%h")
        return _start(*arguments, *options, *name, ready=" ready.", LOG_LEVEL="INFO")

    @contextmanager
    def product(self, script: Script, *, concurrency: int = 64) -> Iterator[Process]:
        """The model and one worker process without any session; yields the worker."""
        self.clear()
        with self.model(script), self.worker(concurrency=concurrency) as worker:
            yield worker

    @contextmanager
    def daphne(self) -> Iterator[tuple[Process, int]]:
        port = find_free_port()
        with _until_stopped(self.start_daphne(port)) as process:
            yield process, port

    def start_daphne(self, port: int) -> Process:
        """A web process that is not ready yet, and is the caller's to stop."""
        arguments = ("-m", "daphne", "-b", "127.0.0.1", "-p", str(port), "tarsy.asgi:application")
        return _start(*arguments, ready="Listening on TCP", **_WEB_SETTINGS)

    @contextmanager
    def gunicorn(self, *, workers: int = 1, threads: int = 4) -> Iterator[tuple[Process, int]]:
        port = find_free_port()
        options = ("--bind", f"127.0.0.1:{port}", "--workers", workers, "--threads", threads)
        worker = ("--worker-class", "tarsy.web_worker.EvenWorker")
        arguments = ("-m", "gunicorn", "tarsy.wsgi:application", *worker, *map(str, options))
        process = _start(*arguments, ready="Booting worker", **_WEB_SETTINGS)
        with _until_stopped(process):
            yield process, port

    def measure_apart(self, module: str, *arguments: object) -> Any:
        """Run a measuring client in a process of its own and return what it prints as JSON."""
        done = subprocess.run(
            [sys.executable, "-m", module, *map(str, arguments)],
            cwd=ROOT,
            capture_output=True,
            timeout=900,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{module} failed:\n{done.stderr.decode(errors='replace')[-3000:]}")
        return json.loads(done.stdout)

    def start_apart(self, module: str, *arguments: object, ready: str) -> Process:
        """The same, going on while something else is done."""
        process = Process("-m", module, *map(str, arguments), environment=os.environ, ready=ready)
        process.wait_until_ready()
        return process

    # ---- The model ------------------------------------------------------------------------------

    def model_log(self) -> ModelLog:
        with urllib.request.urlopen(self._model_page("benchmark/log"), timeout=10) as answer:
            return ModelLog(**json.load(answer))

    def release(self, name: str) -> None:
        page = self._model_page(f"control/release/{name}")
        with urllib.request.urlopen(page, data=b"", timeout=10):
            pass

    def _model_page(self, path: str) -> str:
        return f"http://127.0.0.1:{self.model_port}/{path}"

    # ---- Sessions -------------------------------------------------------------------------------

    def clear(self) -> None:
        """Forget all sessions and incidents, and what Redis still has of them."""
        import redis

        from investigations.models import AlertEpisode, AlertSession, Delivery, Incident

        for model in (AlertSession, AlertEpisode, Delivery, Incident):
            model._default_manager.all()._raw_delete("default")
        with redis.Redis.from_url(os.environ["REDIS_URL"]) as client:
            client.flushall()

    @contextmanager
    def database(self, name: str, fill: Callable[[], None]) -> Iterator[None]:
        """This process uses a database with all tables, which `fill` has written when it was new.

        It is gone after the block, unless databases are kept. One that was kept is whole.
        """
        half = f"{name}_half"
        _run_sql(f"DROP DATABASE IF EXISTS {half} WITH (FORCE)")
        if not _is_there(name):
            _run_sql(f"CREATE DATABASE {half}")
            with _used_database(half):
                fill()
            _run_sql(f"ALTER DATABASE {half} RENAME TO {name}")
        with _used_database(name):
            yield
        if not self.is_kept:
            _run_sql(f"DROP DATABASE {name} WITH (FORCE)")

    def submit(self, alert_type: str, data: str = "the load is high") -> Any:
        from investigations.services.intake import read_alert, submit_alert

        return submit_alert(read_alert({"alert_type": alert_type, "data": data}), author="bench")

    def wait_until_all_ended(self, *, but: str = "", within: float = 120.0) -> None:
        """Raises AssertionError when a session, `but` of this alert text, does not complete."""
        from investigations.models import AlertSession

        watched = AlertSession.objects.exclude(alert_data=but)

        def are_ended() -> bool:
            return not watched.exclude(status__in=AlertSession.TERMINAL).exists()

        wait_for(are_ended, within=within, what="the end of the sessions")
        bad = watched.exclude(status="completed").first()
        if bad is not None:
            raise AssertionError(f"a session ended {bad.status}: {bad.error_message}")


@contextmanager
def open_lab(
    *,
    is_quick: bool,
    sessions: int | None = None,
    only: str = "",
    keep: Path | None = None,
    config: Path = CONFIG_DIR,
) -> Iterator[Lab]:
    """Servers of our own in a temporary directory, Django set up on them, tables made.

    What they store is in `keep`, where that is given, and stays there.
    """
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tarsy-bench-")))
        tempfile.tempdir = str(directory)  # logs of the processes go with it
        var_dir = directory / "var" if keep is None else keep.absolute()
        lab = Lab(
            directory, is_quick=is_quick, sessions=sessions, only=only, is_kept=keep is not None
        )
        for name in _NOT_OURS:
            os.environ.pop(name, None)
        servers = stack.enter_context(ensure(var_dir))
        lab.server_pids = servers.pids
        os.environ.update(
            DATABASE_URL=servers.database_url,
            REDIS_URL=servers.redis_url,
            TARSY_VAR_DIR=str(var_dir),
            CONFIG_DIR=str(config),
            TARSY_REHEARSAL_URL=lab.model_url,
            OPENAI_BASE_URL=lab.model_url,
            OPENAI_MODEL="rehearsal",
            BENCHMARK_KEY="none",
            TARSY_AUTH="none",
            LOG_FORMAT="console",
            LOG_LEVEL="WARNING",
            PYTHONUNBUFFERED="1",
            DJANGO_SETTINGS_MODULE="tarsy.settings",
        )
        _prepare_database()
        yield lab
        _close_connections()


def _start(*arguments: str, ready: str, **environment: str) -> Process:
    return Process(*arguments, environment={**os.environ, **environment}, ready=ready)


@contextmanager
def _until_stopped(process: Process) -> Iterator[Process]:
    try:
        process.wait_until_ready()
        yield process
    finally:
        process.stop()


def _prepare_database() -> None:
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0, interactive=False)


@contextmanager
def _used_database(name: str) -> Iterator[None]:
    from django.core.management import call_command
    from django.db import connection

    usual = connection.settings_dict["NAME"]
    try:
        connection.close()
        connection.settings_dict["NAME"] = name
        call_command("migrate", verbosity=0, interactive=False)
        yield
    finally:
        connection.close()
        connection.settings_dict["NAME"] = usual


def _is_there(database: str) -> bool:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [database])
        return cursor.fetchone() is not None


def _run_sql(statement: str) -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(statement)


def _close_connections() -> None:
    from django.db import connections

    connections.close_all()

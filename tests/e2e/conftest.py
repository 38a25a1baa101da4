"""A whole product for end-to-end tests: real workers, the rehearsal model over the real wire."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection

import config
from agents.rehearsal.loading import parse_script
from investigations.models import AlertSession
from investigations.services.intake import read_alert, submit_alert
from tests.processes import Process, find_free_port, start_web, start_worker, wait_for
from tests.rehearsal_server import RunningRehearsal, start_rehearsal

CONFIG_DIR = Path(__file__).parent / "config"
TOOL_SERVER = Path(__file__).parent.parent / "mcp_bridge" / "servers" / "stdio_server.py"

Play = Callable[[str], RunningRehearsal]
StartWorker = Callable[[], Process]
StartWith = Callable[[str], StartWorker]
Investigate = Callable[..., AlertSession]


@pytest.fixture(scope="session")
def rehearsal_port() -> int:
    return find_free_port()


@pytest.fixture(scope="session")
def product_environment(rehearsal_port: int) -> dict[str, str]:
    """Variables that every process of the product shares in these tests."""
    return {
        "CONFIG_DIR": str(CONFIG_DIR),
        "TARSY_REHEARSAL_URL": f"http://127.0.0.1:{rehearsal_port}/v1",
        "TARSY_AUTH": "none",
        "TARSY_TEST_PYTHON": sys.executable,
        "TARSY_TEST_SERVER": str(TOOL_SERVER),
    }


@pytest.fixture(autouse=True)
def configuration(
    product_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[None]:
    """This process reads the same configuration as the workers."""
    for name, value in product_environment.items():
        monkeypatch.setenv(name, value)
    config.configure(CONFIG_DIR)
    yield
    config.configure(None)


class SharedWorker:
    """One worker for all tests that do not harm it; away while a test has workers of its own."""

    def __init__(self, environment: dict[str, str]) -> None:
        self._environment = environment
        self._process: Process | None = None

    def start(self) -> Process:
        if self._process is None:
            self._process = start_worker(**self._environment)
            self._process.wait_until_ready()
        return self._process

    def stop(self) -> None:
        if self._process is not None:
            self._process.stop()
        self._process = None


@pytest.fixture(scope="package")
def shared_worker(
    django_db_setup: None, product_environment: dict[str, str]
) -> Iterator[SharedWorker]:
    """Not for the session: it would go on and claim what other tests make."""
    shared = SharedWorker(product_environment)
    yield shared
    shared.stop()


@pytest.fixture(scope="package", autouse=True)
def emptied_afterwards(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """What workers and tests have committed here is no beginning for the tests of others."""
    yield
    with django_db_blocker.unblock():
        call_command("flush", verbosity=0, interactive=False)
        connection.close()


@pytest.fixture
def live_db(django_db_setup: None, django_db_blocker) -> Iterator[None]:
    """The test database as workers see it: everything commits, and sessions go at the end.

    Not `transactional_db`: its TRUNCATE of all tables would fight with the workers for locks.
    """
    with django_db_blocker.unblock():
        yield
        AlertSession.objects.all()._raw_delete(connection.alias)
        connection.close()


@pytest.fixture
def worker(live_db: None, shared_worker: SharedWorker) -> Process:
    return shared_worker.start()


@dataclass(frozen=True)
class Web:
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def socket_url(self) -> str:
        return f"ws://127.0.0.1:{self.port}/api/v1/ws"


@pytest.fixture(scope="package")
def shared_web(
    django_db_setup: None, django_db_blocker, product_environment: dict[str, str]
) -> Iterator[Web]:
    port = find_free_port()
    with django_db_blocker.unblock():
        process = start_web(port, **product_environment)
        process.wait_until_ready()
    yield Web(port)
    process.stop()


@pytest.fixture
def web(live_db: None, shared_web: Web) -> Web:
    return shared_web


@pytest.fixture
def own_workers(
    live_db: None, shared_worker: SharedWorker, product_environment: dict[str, str]
) -> Iterator[Callable[..., Process]]:
    """Workers to be killed: a function that starts one, with more variables where they are given,
    and waits until it is ready."""
    shared_worker.stop()
    started: list[Process] = []

    def start(**more: str) -> Process:
        process = start_worker(**{**product_environment, **more})
        started.append(process)
        process.wait_until_ready()
        return process

    yield start
    for process in started:
        process.stop()


@pytest.fixture
def configured_workers(own_workers: Callable[..., Process], tmp_path: Path) -> StartWith:
    """Takes a `tarsy.yaml` and gives a function that starts a worker of it; this process reads it,
    too."""

    def configure(text: str) -> StartWorker:
        (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")
        (tmp_path / "llm-providers.yaml").touch()
        config.configure(tmp_path)
        return partial(own_workers, CONFIG_DIR=str(tmp_path))

    return configure


@pytest.fixture
def play(rehearsal_port: int) -> Iterator[Play]:
    """Start the rehearsal model with a script; it answers as fast as it can."""
    running: list[RunningRehearsal] = []

    def start(script: str, *, pace: float = 0) -> RunningRehearsal:
        rehearsal = start_rehearsal(parse_script(script), port=rehearsal_port, pace=pace)
        running.append(rehearsal)
        return rehearsal

    yield start
    for rehearsal in running:
        rehearsal.stop()


def submit(alert_type: str, data: str = "the load is high") -> AlertSession:
    return submit_alert(read_alert({"alert_type": alert_type, "data": data}), author="test")


def wait_until_ended(session: AlertSession, within: float = 40.0) -> AlertSession:
    def look() -> bool:
        session.refresh_from_db()
        return session.is_terminal

    wait_for(look, within=within, what=f"the end of session {session.pk}")
    return session

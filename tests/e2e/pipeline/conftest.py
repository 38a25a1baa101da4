"""A product whose models speak Google's, xAI's and a local server's language, all rehearsed."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import config
from tests.e2e.conftest import Play, SharedWorker
from tests.e2e.test_live import Web
from tests.gemini_server import GeminiServer, run_gemini_server
from tests.processes import Process, find_free_port, start_web, start_worker
from tests.rehearsal_server import RunningRehearsal

HERE = Path(__file__).parent


@pytest.fixture(scope="package")
def gemini(rehearsal_port: int) -> Iterator[GeminiServer]:
    with run_gemini_server(f"http://127.0.0.1:{rehearsal_port}/v1") as server:
        yield server


@pytest.fixture(scope="package")
def pipeline_environment(
    product_environment: dict[str, str], gemini: GeminiServer
) -> dict[str, str]:
    return {
        **product_environment,
        "CONFIG_DIR": str(HERE),
        "TARSY_GEMINI_URL": gemini.url,
        "TARSY_PYTHON": sys.executable,
        "PIPELINE_KEY": "a-key-nobody-checks",
    }


@pytest.fixture(autouse=True)
def pipeline_configuration(
    configuration: None, pipeline_environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in pipeline_environment.items():
        monkeypatch.setenv(name, value)
    assert os.environ["CONFIG_DIR"] == str(HERE)
    config.configure(HERE)


@pytest.fixture(scope="package")
def running_worker(
    shared_worker: SharedWorker,
    pipeline_environment: dict[str, str],
    django_db_setup: None,
    django_db_blocker,
) -> Iterator[Process]:
    shared_worker.stop()
    with django_db_blocker.unblock():
        process = start_worker(**pipeline_environment)
    try:
        process.wait_until_ready(within=120)
        yield process
    finally:
        process.stop()


@pytest.fixture(scope="package")
def running_web(
    pipeline_environment: dict[str, str], django_db_setup: None, django_db_blocker
) -> Iterator[Web]:
    port = find_free_port()
    with django_db_blocker.unblock():
        process = start_web(port, **pipeline_environment)
    try:
        process.wait_until_ready()
        yield Web(port)
    finally:
        process.stop()


@pytest.fixture
def pipeline_worker(live_db: None, running_worker: Process) -> Process:
    return running_worker


@pytest.fixture
def web(live_db: None, running_web: Web) -> Web:
    return running_web


@pytest.fixture
def rehearsal(play: Play) -> RunningRehearsal:
    return play((HERE / "script.yaml").read_text(encoding="utf-8"))

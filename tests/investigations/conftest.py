"""The chains that tests of the engine run on."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.db import connection

import config
from config.model import Config
from tarsy.aio import WorkerLoop

Configure = Callable[[str], Config]
CONFIG_DIR = Path(__file__).parent / "config"


@pytest.fixture
def chains() -> Iterator[Config]:
    """The configuration of `tests/investigations/config`."""
    config.configure(CONFIG_DIR)
    yield config.get_config()
    config.configure(None)


@pytest.fixture
def reconfigure(chains: Config, tmp_path: Path) -> Configure:
    """Change the configuration under running sessions: a function that takes another file."""

    def change(text: str) -> Config:
        (tmp_path / "tarsy.yaml").write_text(text, encoding="utf-8")
        (tmp_path / "llm-providers.yaml").touch()
        config.configure(tmp_path)
        return config.get_config()

    return change


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> Iterator[WorkerLoop]:
    """A worker's. Its threads keep no connection, so that the test database can be emptied."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    loop = WorkerLoop()
    yield loop
    loop.stop_all("lease_lost")

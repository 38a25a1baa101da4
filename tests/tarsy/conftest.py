"""A worker's loop for one test."""

import pytest
from django.db import connection

from tarsy.aio import WorkerLoop


@pytest.fixture
def loop(monkeypatch: pytest.MonkeyPatch) -> WorkerLoop:
    """Its threads keep no connection, so that the test database can be emptied and dropped."""
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    return WorkerLoop()

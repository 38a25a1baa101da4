"""What a caller sees while a server of ours is away."""

import socket
from collections.abc import Iterator

import pytest
from django.db import OperationalError

from investigations import publish
from investigations.api import alerts


def test_a_database_that_is_away_is_a_503_that_says_when_to_come_back(
    api, db, settings, monkeypatch
):
    settings.TARSY_AUTH = "none"

    def fail(*_arguments: object, **_options: object) -> None:
        raise OperationalError("the connection is closed at 10.0.0.7")

    monkeypatch.setattr(alerts, "submit_alert", fail)
    monkeypatch.setattr(alerts, "read_alert", lambda _body: None)

    answer = api.post("/api/v1/alerts", {"data": "x"}, content_type="application/json")

    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "5"
    assert "10.0.0.7" not in answer.content.decode()


@pytest.fixture
def mute_redis(settings) -> Iterator[socket.socket]:
    """Takes connections and never says a word, like a frozen server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        publish._client.cache_clear()
        yield server
        publish._client().close()
        publish._client.cache_clear()


def test_a_frozen_redis_is_tried_once_and_holds_nobody_up(mute_redis, caplog, monkeypatch):
    monkeypatch.setattr(publish, "PATIENCE_SECONDS", 0.2)

    publish.publish_and_ring([])

    assert "dispatchers will poll" in caplog.text
    mute_redis.accept()[0].close()
    mute_redis.settimeout(0)
    with pytest.raises(BlockingIOError):
        mute_redis.accept()

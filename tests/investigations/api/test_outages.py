"""What a caller sees while a server of ours is away."""

import socket
from collections.abc import Iterator

import pytest
from django.db import OperationalError, connection
from django.test import Client

from investigations import doorbell
from investigations.api import alerts
from tests.factories import UserFactory


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


class Away:
    """A database whose every question fails, as when its server is gone."""

    def __call__(self, execute, sql, params, many, context):
        raise OperationalError("connection to server at 10.0.0.7 failed")


PAGES = ["/", "/sessions/5f0c7d4e-0000-4000-8000-000000000001/", "/login/", "/admin/",
         "/nothing-there/", "/submit-alert/", "/system/"]  # fmt: skip


@pytest.mark.parametrize("path", PAGES)
def test_every_page_says_that_the_database_is_away(db, path):
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(UserFactory(admin=True))

    with connection.execute_wrapper(Away()):
        answer = client.get(path)

    page = answer.content.decode()
    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert "The database does not answer" in page
    assert 'http-equiv="refresh" content="5"' in page
    assert "10.0.0.7" not in page


def test_a_page_that_was_sent_something_does_not_throw_it_away(db):
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(UserFactory())

    with connection.execute_wrapper(Away()):
        answer = client.post("/submit-alert/", {"text": "x"})

    assert answer.status_code == 503
    assert "http-equiv" not in answer.content.decode()
    assert "what you typed is still there" in answer.content.decode()


@pytest.mark.parametrize("path", ["/api/v1/sessions", "/api/v1/system/warnings"])
def test_the_api_says_it_in_json(db, path):
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(UserFactory())

    with connection.execute_wrapper(Away()):
        answer = client.get(path)

    assert (answer.status_code, answer.headers["Retry-After"]) == (503, "5")
    assert answer.json() == {"message": "the database is not available now, try again"}


def test_another_mistake_of_ours_stays_a_500(db, monkeypatch):
    def fail(*_arguments: object, **_options: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr("investigations.views.lists.is_empty", fail)
    client = Client(headers={"host": "localhost"}, raise_request_exception=False)
    client.force_login(UserFactory())

    answer = client.get("/")

    assert answer.status_code == 500
    assert "TARSy made a mistake" in answer.content.decode()


@pytest.fixture
def mute_redis(settings) -> Iterator[socket.socket]:
    """Takes connections and never says a word, like a frozen server."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        settings.REDIS_URL = f"redis://127.0.0.1:{server.getsockname()[1]}/0"
        doorbell._client.cache_clear()
        yield server
        doorbell._client().close()
        doorbell._client.cache_clear()


def test_a_frozen_redis_is_tried_once_and_holds_nobody_up(mute_redis, caplog, monkeypatch):
    monkeypatch.setattr(doorbell, "PATIENCE_SECONDS", 0.2)

    doorbell.publish_and_ring([])

    assert "dispatchers will poll" in caplog.text
    mute_redis.accept()[0].close()
    mute_redis.settimeout(0)
    with pytest.raises(BlockingIOError):
        mute_redis.accept()

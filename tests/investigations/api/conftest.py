"""A client of the REST API, and one that speaks JSON."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client

from investigations.services.tokens import create_token
from tests.factories import UserFactory

Submit = Callable[..., HttpResponse]


@pytest.fixture
def api(settings, db) -> Client:
    """Anybody may do anything, as in a closed network."""
    settings.TARSY_AUTH = "none"
    return Client(headers={"host": "localhost"})


@pytest.fixture
def submit(api) -> Submit:
    """Send a body to the intake, as JSON unless it is bytes already."""

    def send(body: Any, *, content_type: str = "application/json", **headers: str) -> HttpResponse:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return api.generic(
            "POST", "/api/v1/alerts", raw, content_type=content_type, headers=headers
        )

    return send


@pytest.fixture
def stranger(settings, db) -> Client:
    """A client without any identity, where one is needed."""
    settings.TARSY_AUTH = "login"
    return Client(headers={"host": "localhost"}, enforce_csrf_checks=True)


@pytest.fixture
def token(db) -> str:
    return create_token(owner=UserFactory.create(), name="pagerduty", actor="test")

"""From which pages the live stream may be opened, as the configuration says it."""

import pytest
from django.test import RequestFactory

from investigations.stream.socket_identity import may_connect
from tests.investigations.conftest import CONFIG_DIR

PLAIN = (CONFIG_DIR / "tarsy.yaml").read_text()


def may_open_from(origin: str) -> bool:
    return may_connect(RequestFactory().get("/api/v1/ws", HTTP_ORIGIN=origin))


@pytest.mark.parametrize(
    "system",
    [
        "system: {dashboard_url: 'https://board.example.com/tarsy'}\n",
        "system: {allowed_ws_origins: ['https://*.example.com']}\n",
    ],
)
def test_the_dashboard_and_listed_origins_are_welcome_and_no_others(reconfigure, system):
    reconfigure(PLAIN + system)

    assert may_open_from("https://board.example.com")
    assert not may_open_from("http://board.example.com")
    assert not may_open_from("https://evil.example.org")
    assert not may_open_from("https://board.example.com.evil.org")


def test_the_usual_address_of_a_dashboard_is_no_welcome_by_itself(reconfigure):
    reconfigure(PLAIN)

    assert not may_open_from("http://localhost:5173")

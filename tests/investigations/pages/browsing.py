"""What tests of pages in a browser share: the other end of the socket, and waiting."""

import json
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest
from django.conf import settings
from django.db import connections
from django.test import Client

from investigations.stream.fragments import fragment_for
from investigations.stream_messages import with_event_id

T = TypeVar("T")
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"

in_a_browser = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        not os.path.exists(CHROMIUM),  # noqa: PTH110  (evaluated at import, a plain answer)
        reason=f"NO BROWSER TEST WAS RUN: there is no Chromium at {CHROMIUM}",
    ),
]


class Stream:
    """A stand-in for the server's end of the socket; the rest of the page is real."""

    def __init__(self) -> None:
        self.route = None
        self.heard: list[dict[str, object]] = []
        self.refuses = False

    def accept(self, route) -> None:
        if self.refuses:
            route.close()
            return
        self.route = route
        route.on_message(self.hear)
        self.send({"type": "connection.established", "connection_id": "1"})

    def hear(self, text: str) -> None:
        message = json.loads(text)
        self.heard.append(message)
        if message["action"] == "subscribe":
            self.send({"type": "subscription.confirmed", "channel": message["channel"]})
        if message["action"] == "ping":
            self.send({"type": "pong"})

    def send(self, payload: dict[str, object]) -> None:
        self.route.send(json.dumps(payload))


def in_thread(work: Callable[[], T]) -> T:
    """Database work of a test: Playwright keeps a loop in the test's own thread."""

    def work_and_close() -> T:
        try:
            return work()
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(work_and_close).result()


def message_of(payload, seq):
    return {**with_event_id(payload, seq), "html": fragment_for(payload)}


def first_said(stream, action):
    return next(message for message in stream.heard if message["action"] == action)


def wait_until_live(page, stream) -> None:
    wait_until(page, lambda: any(m["action"] == "subscribe" for m in stream.heard))


def wait_until(page, condition) -> None:
    for _ in range(100):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("the page did not do it within 5 s")


def log_in(user) -> dict[str, str]:
    """The cookie of somebody who is logged in."""

    def start() -> str:
        client = Client()
        client.force_login(user())
        return client.cookies[settings.SESSION_COOKIE_NAME].value

    return {"name": settings.SESSION_COOKIE_NAME, "value": in_thread(start)}

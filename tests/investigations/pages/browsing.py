"""What tests of pages in a browser share: the browser, the other end of the socket, and waiting."""

import asyncio
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TypeVar

import axe_playwright_python
import pytest
from django.conf import settings
from django.db import connections
from django.test import Client
from playwright.sync_api import Browser, sync_playwright

from investigations.stream.fragments import fragment_for
from investigations.stream_messages import with_event_id
from tests.browser import find_chromium

T = TypeVar("T")
CHROMIUM = find_chromium()

in_a_browser = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        CHROMIUM is None,
        reason="NO CHROMIUM HERE: the browser tests did not run (make chromium)",
    ),
]


class SharedBrowser:
    """One Chromium for all tests of a module; each takes it and leaves none of its pages open.

    Playwright keeps a loop in the thread of the tests and marks it as running, which bars that
    thread from the database. Between two tests it is not marked, so fixtures may use the database.
    """

    def __init__(self) -> None:
        self._playwright = sync_playwright().start()
        self._loop = asyncio.get_running_loop()
        self._browser = self._launch()
        asyncio._set_running_loop(None)

    @contextmanager
    def taken(self) -> Iterator[Browser]:
        """The browser for one test, started anew if the test before has ended it."""
        with self._loop_marked():
            if not self._browser.is_connected():
                self._browser = self._launch()
            yield self._browser
            for context in self._browser.contexts:
                context.close()

    def end(self) -> None:
        with self._loop_marked():
            self._browser.close()
            self._playwright.stop()

    @contextmanager
    def _loop_marked(self) -> Iterator[None]:
        asyncio._set_running_loop(self._loop)
        try:
            yield
        finally:
            asyncio._set_running_loop(None)

    def _launch(self) -> Browser:
        return self._playwright.chromium.launch(
            executable_path=CHROMIUM,
            args=[
                *("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"),
                # A key or a wheel has scrolled when it was pressed or turned.
                "--disable-smooth-scrolling",
            ],
            # Bars that a person can drag.
            ignore_default_args=["--hide-scrollbars"],
        )


class Stream:
    """A stand-in for the server's end of the socket; the rest of the page is real."""

    def __init__(self) -> None:
        self.route = None
        self.heard: list[dict[str, object]] = []
        self.refuses = False
        self.is_mute = False

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
        if self.is_mute:
            return
        if message["action"] == "subscribe":
            self.send({"type": "subscription.confirmed", "channel": message["channel"]})
        if message["action"] == "ping":
            self.send({"type": "pong"})

    def send(self, payload: dict[str, object]) -> None:
        self.route.send(json.dumps(payload))


SERIOUS_FAULTS = """async () => {
  const found = await axe.run(document, { resultTypes: ["violations"] });
  return found.violations
    .filter(({ impact }) => ["serious", "critical"].includes(impact))
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html.slice(0, 160)}`));
}"""


@cache
def _axe() -> str:
    return (Path(axe_playwright_python.__file__).parent / "axe.min.js").read_text()


def find_serious_faults(page) -> list[str]:
    """What axe calls serious or critical on the page as it stands."""
    page.evaluate(_axe())
    return page.evaluate(SERIOUS_FAULTS)


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

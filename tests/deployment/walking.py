"""A person with a browser who goes through a deployment as somebody on call does."""

import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import WebSocket, expect, sync_playwright

from tests.browser import LAUNCH_OPTIONS, Page
from tests.deployment.stack import HOST

WITHIN = 40_000
"""Milliseconds for what takes a worker."""


@dataclass
class Walker:
    """One person at one address of the dashboard."""

    base: str
    page: Page
    folder: Path
    name: str
    frames: list[str] = field(default_factory=list)
    """What came over the socket."""
    sockets: list[str] = field(default_factory=list)
    _pictures: int = 0

    @property
    def shown(self) -> BrowserPage:
        return self.page.browser_page

    def log_in(self, name: str, password: str) -> None:
        self.shown.goto(f"{self.base}/")
        self.shown.wait_for_url(f"{self.base}/login/**")
        self.shown.locator("#id_username").fill(name)
        self.shown.locator("#id_password").fill(password)
        self.take_picture("login")
        self.shown.get_by_role("button", name="Sign in").click()
        self.shown.wait_for_url(f"{self.base}/")

    def submit(self, text: str) -> None:
        self.shown.goto(f"{self.base}/submit-alert/")
        self.shown.fill("#text", text)
        # What a machine would send goes to the same place.
        expect(self.shown.locator("#curl")).to_contain_text(f"{self.base}/api/v1/alerts")
        self.take_picture("submit")
        self.shown.get_by_role("button", name="Start investigation").click()
        self.shown.wait_for_url(f"{self.base}/sessions/**")

    def watch_until_it_asks(self) -> None:
        """The page is not loaded again: what appears came over the socket."""
        expect(self.shown.get_by_role("button", name="Approve")).to_be_visible(timeout=WITHIN)
        assert [url for url in self.sockets if url == self._socket_url] != [], self.sockets
        assert any("approval.requested" in frame for frame in self.frames)
        self.take_picture("asks")

    def approve(self) -> None:
        self.shown.get_by_role("button", name="Approve").click()
        self.wait_until_it_is_over()
        self.shown.evaluate("scrollTo(0, 0)")
        self.take_picture("report")

    def wait_until_it_is_over(self) -> None:
        report = self.shown.get_by_text("The import was looked at").first
        expect(report).to_be_visible(timeout=WITHIN)
        expect(self.shown.get_by_role("button", name="Cancel")).to_have_count(0, timeout=WITHIN)

    def visit_the_administration(self) -> None:
        """A page, and a form of it, which has checks of its own."""
        self.shown.goto(f"{self.base}/admin/")
        self.shown.get_by_role("link", name="Alert sessions").first.click()
        self.take_picture("admin")
        self.shown.goto(f"{self.base}/admin/auth/group/add/")
        self.shown.locator("#id_name").fill(f"{self.name} {secrets.token_hex(4)}")
        self.shown.locator("[name=_save]").click()
        self.shown.get_by_text("was added successfully").wait_for()

    def wait_for_another_socket(self, than: int) -> None:
        for _ in range(600):
            if len(self.sockets) > than:
                return
            self.shown.wait_for_timeout(50)
        raise AssertionError("the page opened no other socket within 30 s")

    def list_events(self) -> list[str]:
        """The ids of what stands on the page, in its order."""
        read = "all => all.map(event => event.dataset.event)"
        ids: list[str] = self.shown.eval_on_selector_all("[data-event]", read)
        return ids

    def take_picture(self, what: str) -> None:
        self._pictures += 1
        path = self.folder / f"{self.name}-{self._pictures}-{what}.png"
        self.shown.screenshot(path=path, animations="disabled")

    @property
    def _socket_url(self) -> str:
        return re.sub("^http", "ws", self.base) + "/api/v1/ws"

    def listen(self) -> None:
        def note(socket: WebSocket) -> None:
            self.sockets.append(socket.url)
            socket.on("framereceived", lambda frame: self.frames.append(str(frame)))

        self.shown.on("websocket", note)


@contextmanager
def walk(
    chromium: str, base: str, folder: Path, name: str, *, forgives: tuple[str, ...] = ()
) -> Iterator[Walker]:
    """Fails on whatever a page complained about meanwhile, but for what holds words it forgives."""
    rules = f"--host-resolver-rules=MAP {HOST} 127.0.0.1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium, args=[*LAUNCH_OPTIONS, rules]
        )
        # The certificates of the walks are made by themselves.
        context = browser.new_context(
            viewport={"width": 1280, "height": 900}, ignore_https_errors=True
        )
        context.set_default_timeout(20_000)
        walker = Walker(base, Page(context.new_page()), folder, name)
        walker.listen()
        try:
            yield walker
        except Exception:
            walker.take_picture("failed")
            raise
        finally:
            browser.close()
    complaints = [
        words for words in walker.page.complaints if not any(part in words for part in forgives)
    ]
    assert complaints == [], "\n".join(complaints)

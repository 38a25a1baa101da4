"""A real browser for tests, which writes down everything a page complains about."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import ConsoleMessage, expect, sync_playwright
from playwright.sync_api import Page as BrowserPage

LAUNCH_OPTIONS = (
    # Chromium refuses its sandbox to root.
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
)


CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""The first is the same engine without a browser around it, and takes a third of the CPU time."""
WATCH_SHIFTS = """() => {
    window.shifted = 0
    new PerformanceObserver((list) => {
        const shifts = list.getEntries().filter((entry) => !entry.hadRecentInput)
        for (const shift of shifts) window.shifted += shift.value
    }).observe({ type: "layout-shift", buffered: true })
}"""
"""Adds up in `window.shifted` how much the page moves that nobody has asked to."""
SHARE_IN_VIEW = """() => {
    const head = [...document.querySelectorAll('.t-stage-head[data-status="active"]')].at(-1)
    const panel = head?.closest(".t-stage").querySelector(".t-agents")
    if (!panel) return null
    const { top, bottom, height } = panel.getBoundingClientRect()
    return (Math.min(bottom, innerHeight) - Math.max(top, 0)) / Math.min(height, innerHeight)
}"""
"""Of the panel that works, or of the window where that is lower; null where none works."""


def find_chromium() -> str | None:
    """The path of the browser that tests and pictures use: what CHROMIUM names, else the best."""
    named = os.environ.get("CHROMIUM")
    return named or next(filter(None, map(shutil.which, CHROMIUMS)), None)


class Page:
    """A page and its complaints: console errors, exceptions, CSP violations, failed requests."""

    def __init__(self, page: BrowserPage) -> None:
        self.browser_page = page
        self.complaints: list[str] = []
        page.on("console", self._note_console)
        page.on("pageerror", lambda error: self.complaints.append(f"exception: {error}"))

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.complaints.append(f"console {message.type}: {message.text}")

    def see(self, text: str, within: float = 10) -> None:
        """Wait until some visible element holds the text."""
        found = self.browser_page.get_by_text(text).locator("visible=true").first
        expect(found).to_be_visible(timeout=within * 1000)


@contextmanager
def open_page(
    chromium: str, url: str, *, width: int = 1280, height: int = 900, theme: str = "light"
) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if theme == "dark" else "light",
        )
        page = Page(context.new_page())
        page.browser_page.goto(url)
        yield page
        browser.close()

"""Whether a page follows nine agents in three stages to their end, as somebody who only watches
sees it: how long the panel that works is in view, and how much the page moves under the reader."""

import time
from concurrent.futures import ThreadPoolExecutor

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.figures import Report
from benchmarks.lab import Lab
from benchmarks.scripts import iterate
from tests.browser import LAUNCH_OPTIONS, SHARE_IN_VIEW, WATCH_SHIFTS, find_chromium

SIZES = {"1440 px": (1440, 900), "390 px": (390, 844)}
EVERY = 200
"""Milliseconds between two looks."""
PATIENCE = 240.0
_ENOUGH = 0.5
"""Of the panel, or of the window where that is lower: then it counts as in view."""


def measure(lab: Lab) -> Report:
    columns = ("window", "looks", "% in view", "layout shift", "sideways px")
    chromium = find_chromium()
    if chromium is None:
        return Report(columns, [], {}, ("No Chromium here: nothing was measured.",))
    rounds = lab.choose(3, 1)
    rows: list[list[str | int | float]] = []
    with lab.product(iterate((rounds,))), lab.daphne() as (_, port), sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        for name, (width, height) in SIZES.items():
            # Playwright marks its loop as running in this thread, which bars it from the database.
            with ThreadPoolExecutor(1) as apart:
                session = apart.submit(lab.submit, "nine", f"rounds {rounds}").result()
            page = _open(browser, f"http://127.0.0.1:{port}/sessions/{session.pk}/", width, height)
            shares = _follow(page)
            shifted = page.evaluate("window.shifted")
            sideways = page.evaluate("document.documentElement.scrollWidth - innerWidth")
            seen = sum(share >= _ENOUGH for share in shares)
            part = 100 * seen / len(shares) if shares else 0.0
            rows.append([name, len(shares), round(part, 1), round(shifted, 3), max(0, sideways)])
            page.close()
        browser.close()
    lab.clear()
    figures: dict[str, float | int | None] = {}
    for name, _looks, part, shifted, _sideways in rows:
        figures |= {f"in_view_percent_{name}": float(part), f"layout_shift_{name}": float(shifted)}
    notes = (
        f"Of the looks, one each {EVERY} ms, at which a stage had agents at work: those at which "
        "half of its panel, or of the window, showed them.",
        "Layout shift: every shift of the whole session added up. Goal: under 0.1.",
    )
    return Report(columns, rows, figures, notes)


def _open(browser: Browser, address: str, width: int, height: int) -> Page:
    page = browser.new_page(viewport={"width": width, "height": height})
    page.goto(address)
    page.evaluate(WATCH_SHIFTS)
    return page


def _follow(page: Page) -> list[float]:
    """The share in view at each look, until the session has ended."""
    shares: list[float] = []
    until = time.monotonic() + PATIENCE
    while page.locator("#session").get_attribute("data-live") == "1":
        if time.monotonic() > until:
            raise AssertionError("the session did not end")
        share = page.evaluate(SHARE_IN_VIEW)
        if share is not None:
            shares.append(float(share))
        page.wait_for_timeout(EVERY)
    page.wait_for_timeout(1000)
    return shares

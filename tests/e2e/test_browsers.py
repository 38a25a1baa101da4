"""Real browsers at two web processes: late, reloaded, cut off, and told each event once."""

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Page as BrowserPage
from playwright.sync_api import expect, sync_playwright

from investigations.models import AlertSession, TimelineEvent
from tests.browser import LAUNCH_OPTIONS, Page
from tests.e2e.conftest import Play, Web, submit, wait_until_ended
from tests.e2e.scripts import HELD_AT_FIRST_ANSWER
from tests.investigations.pages.browsing import in_thread
from tests.processes import Process, find_free_port, start_web, wait_for

pytestmark = [pytest.mark.worker, pytest.mark.browser]

PATIENCE = 40_000


class RestartableWeb:
    """A web process that a test may kill; it comes back at the same address."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.web = Web(find_free_port())
        self._environment = environment
        self.start()

    def start(self) -> None:
        self.process = start_web(self.web.port, **self._environment)
        self.process.wait_until_ready()


@pytest.fixture
def killed_web(live_db: None, product_environment: dict[str, str]) -> Iterator[RestartableWeb]:
    own = RestartableWeb(product_environment)
    yield own
    own.process.stop()


@contextmanager
def browsers(chromium: str) -> Iterator[tuple[Page, Page]]:
    """Two that share nothing."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        yield Page(browser.new_context().new_page()), Page(browser.new_context().new_page())
        browser.close()


def count_shown(page: BrowserPage) -> Counter[str]:
    return Counter(page.locator(".t-event").evaluate_all("all => all.map(e => e.dataset.event)"))


def check_each_event_once(page: BrowserPage, stored: list[str]) -> None:
    """All of them, however late some come in."""
    once = Counter(stored)
    try:
        page.wait_for_function(
            "ids => ids.every(id => document.querySelector(`[data-event='${id}']`))",
            arg=list(once), timeout=PATIENCE,
        )  # fmt: skip
    finally:
        assert count_shown(page) == once


def test_two_browsers_at_two_web_processes_see_each_event_once_though_one_process_is_killed(
    worker: Process, web: Web, killed_web: RestartableWeb, play: Play, chromium: str
):
    rehearsal = play(HELD_AT_FIRST_ANSWER)
    session = submit("parallel")
    rehearsal.wait_until_held("first", replies=2, timeout=30)

    with browsers(chromium) as (steady, cut_off):
        steady.browser_page.goto(f"{web.url}/sessions/{session.pk}/")
        cut_off.browser_page.goto(f"{killed_web.web.url}/sessions/{session.pk}/")
        for page in (steady, cut_off):
            # Both are late: this was streamed before they came, and no table holds it yet.
            page.see("Looking")
        steady.browser_page.reload()
        steady.see("Looking")
        strip = cut_off.browser_page.locator("#strip")
        expect(strip).to_be_hidden()

        killed_web.process.kill()
        expect(strip).to_contain_text(
            re.compile("Reconnecting|refreshing every 5 s"), timeout=PATIENCE
        )
        rehearsal.release("first")
        expect(steady.browser_page).to_have_title(re.compile("^✓"), timeout=PATIENCE)
        expect(cut_off.browser_page).not_to_have_title(re.compile("^✓"))
        killed_web.start()

        expect(cut_off.browser_page).to_have_title(re.compile("^✓"), timeout=PATIENCE)
        cut_off.see("The load was normal.")
        expect(strip).not_to_contain_text("Reconnecting")
        stored = in_thread(lambda: _read_events(wait_until_ended(session)))
        for page in (steady, cut_off):
            check_each_event_once(page.browser_page, stored)

    assert steady.complaints == []
    refused = ("ERR_CONNECTION", "WebSocket connection")
    assert [c for c in cut_off.complaints if not any(words in c for words in refused)] == []


def _read_events(session: AlertSession) -> list[str]:
    def read() -> list[str]:
        rows = TimelineEvent.objects.filter(session=session)
        if rows.filter(status=TimelineEvent.Status.STREAMING).exists():
            return []
        return [str(pk) for pk in rows.values_list("pk", flat=True)]

    return wait_for(read, what="a timeline with nothing under way")

"""A chat on the pages: two browsers, the web server, a worker and a model that can be held."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from playwright.sync_api import Locator, expect, sync_playwright

from investigations.models import Stage
from tests.browser import LAUNCH_OPTIONS, Page
from tests.e2e.conftest import Play, Web, submit, wait_until_ended
from tests.e2e.test_chat import SCRIPT
from tests.processes import Process, wait_for

pytestmark = [pytest.mark.worker, pytest.mark.browser]

QUESTION = "Is it still so?"


@contextmanager
def open_twice(chromium: str, address: str) -> Iterator[tuple[Page, Page]]:
    """The page in two browsers."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(LAUNCH_OPTIONS))
        first, second = (Page(browser.new_context().new_page()) for _ in range(2))
        for page in (first, second):
            page.browser_page.goto(address)
        yield first, second
        browser.close()


def field_of(page: Page) -> Locator:
    return page.browser_page.get_by_label("Ask about this investigation")


def test_both_browsers_see_a_question_its_answer_as_it_is_written_and_its_end(
    worker: Process, web: Web, play: Play, chromium: str
):
    rehearsal = play(SCRIPT)
    session = wait_until_ended(submit("parallel"))

    with open_twice(chromium, f"{web.url}/sessions/{session.pk}/") as (asking, watching):
        field_of(asking).fill(QUESTION)
        field_of(asking).press("Control+Enter")
        rehearsal.wait_until_held("chat", timeout=20)
        for page in (asking, watching):
            page.see(QUESTION, within=15)
            page.see("is being answered")
            expect(field_of(page)).to_be_disabled()
        rehearsal.release("chat")
        for page in (asking, watching):
            page.see("The load is still normal", within=30)
            turn = page.browser_page.locator(".t-stage--chat")
            expect(turn.locator("a.t-ev")).to_have_text("T5 metrics")
            expect(turn.get_by_text(QUESTION)).to_have_count(1)
            expect(field_of(page)).to_be_enabled()
            assert page.complaints == []


def test_whoever_watches_can_stop_the_answer_and_ask_the_next(
    worker: Process, web: Web, play: Play, chromium: str
):
    rehearsal = play(SCRIPT)
    session = wait_until_ended(submit("parallel"))

    with open_twice(chromium, f"{web.url}/sessions/{session.pk}/") as (asking, watching):
        field_of(asking).fill(QUESTION)
        asking.browser_page.get_by_role("button", name="Ask", exact=True).click()
        rehearsal.wait_until_held("chat", timeout=20)
        watching.see("is being answered", within=15)
        watching.browser_page.locator("#ask").get_by_role("button", name="Stop").click()
        for page in (asking, watching):
            expect(field_of(page)).to_be_enabled(timeout=20_000)
            page.see("Cancelled")
        rehearsal.release("chat")
        field_of(watching).fill("And now?")
        field_of(watching).press("Enter")
        for page in (asking, watching):
            page.see("The load is still normal", within=30)
            assert page.complaints == []

    chats = Stage.objects.filter(session=session, stage_type="chat").order_by("stage_index")
    wait_for(
        lambda: list(chats.values_list("status", flat=True)) == ["cancelled", "completed"],
        what="both questions to have ended",
    )

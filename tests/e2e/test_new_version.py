"""A deployment under an open page: it says so, and takes along what somebody was typing."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from tests.browser import open_page
from tests.factories import SessionFactory
from tests.processes import Process, find_free_port, start_web

pytestmark = [pytest.mark.worker, pytest.mark.browser]

DRAFT = "Is it the disk, or"


class Deployment:
    """One web server at an address that stays, in one build after the other."""

    def __init__(self) -> None:
        self.port = find_free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process: Process | None = None

    def run(self, build: str) -> None:
        self.stop()
        self.process = start_web(self.port, TARSY_AUTH="none", TARSY_BUILD=build)
        self.process.wait_until_ready()

    def stop(self) -> None:
        if self.process is not None:
            self.process.stop()


@pytest.fixture
def deployment(live_db: None) -> Iterator[Deployment]:
    own = Deployment()
    own.run("first")
    yield own
    own.stop()


def test_an_open_page_tells_of_a_new_version_and_keeps_what_was_typed(
    deployment: Deployment, chromium: str
):
    session = SessionFactory(completed=True)
    with open_page(chromium, f"{deployment.url}/sessions/{session.pk}/") as page:
        line = page.browser_page.locator("#new-version")
        question = page.browser_page.locator("#question")
        question.fill(DRAFT)
        deployment.run("first")
        connected = page.browser_page.locator("body:not(.is-cut-off)")
        expect(connected).to_have_count(1, timeout=30_000)
        expect(line).to_be_hidden()

        deployment.run("second")

        expect(line).to_be_visible(timeout=30_000)
        expect(line).to_contain_text("A new version is running.")
        expect(question).to_have_value(DRAFT)
        line.get_by_text("Reload").click()
        expect(line).to_be_hidden()
        expect(question).to_have_value(DRAFT)


def test_a_page_without_a_stream_hears_of_it_with_the_next_answer_and_keeps_its_form(
    deployment: Deployment, chromium: str
):
    with open_page(chromium, f"{deployment.url}/submit-alert/") as page:
        line = page.browser_page.locator("#new-version")
        field = page.browser_page.locator("textarea:visible").first
        field.fill(DRAFT)
        deployment.run("second")
        expect(line).to_be_hidden()

        page.browser_page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")

        expect(line).to_be_visible(timeout=30_000)
        line.get_by_text("Reload").click()
        expect(line).to_be_hidden()
        expect(page.browser_page.locator("textarea:visible").first).to_have_value(DRAFT)

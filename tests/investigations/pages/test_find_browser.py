"""The search within a session: while somebody types, and again by its address."""

import re

import pytest
from playwright.sync_api import expect

from investigations.models import TimelineEvent
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.browsing import find_serious_faults, in_a_browser, in_thread
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = in_a_browser
SEARCHES = re.compile(r"/search/\?q=")
PHONE = {"viewport": {"width": 390, "height": 800}}


@pytest.fixture
def told(transactional_db):
    def make():
        session = SessionFactory(completed=True)
        execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
        for number, words in enumerate(("zebra", "zebra again", "carts & more"), 1):
            add_tool_call(execution, number, f"{words} restarted")
        add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, "It is the **memory**.")
        return session

    return in_thread(make)


def _count(page):
    return page.locator("[data-find-count]")


def test_a_search_goes_on_while_somebody_types_and_enter_goes_through_its_hits(told, page):
    page.goto(f"/sessions/{told.pk}/")
    page.keyboard.press("/")

    page.keyboard.type("zebra")

    expect(_count(page)).to_have_text("1 of 2")
    expect(page.locator("details:has(> #T1)[open]")).to_be_in_viewport()
    assert page.evaluate("document.activeElement.id") == "find-words"
    page.keyboard.press("Enter")
    expect(_count(page)).to_have_text("1 of 2")
    for key, words in (("Enter", "2 of 2"), ("Shift+Enter", "1 of 2")):
        page.keyboard.press(key)
        expect(_count(page)).to_have_text(words)
    page.keyboard.type(" again")
    expect(_count(page)).to_have_text("1 of 1")
    page.locator("#find-words").fill("")
    expect(_count(page)).to_have_text("")
    assert "find=" not in page.url


def test_typing_back_below_what_is_looked_for_forgets_the_search_and_its_question(told, page):
    page.goto(f"/sessions/{told.pk}/")
    page.keyboard.press("/")
    page.keyboard.type("zebra")
    expect(_count(page)).to_have_text("1 of 2")

    page.locator("#find-words").fill("z")

    expect(_count(page)).to_have_text("")
    assert "find=" not in page.url
    assert page.evaluate("CSS.highlights.has('found')") is False
    page.route(SEARCHES, lambda _route: None)
    with page.expect_request(SEARCHES):
        page.locator("#find-words").fill("zebra")
    with page.expect_event("requestfailed"):
        page.locator("#find-words").fill("z")
    expect(_count(page)).to_have_text("")


def test_typing_back_to_the_words_of_the_hits_drops_what_was_asked_since(told, page):
    page.goto(f"/sessions/{told.pk}/")
    page.keyboard.press("/")
    page.keyboard.type("zebra")
    expect(_count(page)).to_have_text("1 of 2")
    page.route(re.compile(r"q=zebra%20again"), lambda _route: None)
    with page.expect_request(SEARCHES):
        page.keyboard.type(" again")
    expect(_count(page)).to_have_text("Searching")

    page.locator("#find-words").fill("zebra")

    expect(_count(page)).to_have_text("1 of 2")
    assert page.url.endswith("?find=zebra")


def test_an_old_answer_never_replaces_a_newer_one(told, page):
    held = []
    page.goto(f"/sessions/{told.pk}/")
    page.keyboard.press("/")

    def hold_first(route):
        held.append(route)
        if len(held) > 1:
            route.continue_()

    page.route(SEARCHES, hold_first)
    with page.expect_request(SEARCHES):
        page.keyboard.type("zebra")
    page.keyboard.type(" again")
    expect(_count(page)).to_have_text("1 of 1")
    held[0].abort()
    with page.expect_response(SEARCHES):
        page.keyboard.type("!")

    expect(_count(page)).to_have_text("No hits")
    assert page.url.endswith("?find=zebra+again%21")


@pytest.mark.parametrize("page", [{}, PHONE], indirect=True)
def test_the_address_of_a_search_shows_the_same_hit_to_whoever_opens_it(told, page):
    address = f"/sessions/{told.pk}/?find=carts+%26+more"
    # It is there before any script, so that it moves nothing.
    assert '/search/">' in page.request.get(address).text()
    page.goto(f"{address}#claim-1")

    expect(_count(page)).to_have_text("1 of 1")

    assert page.input_value("#find-words") == "carts & more"
    expect(page.locator("details:has(> #T3)[open]")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert find_serious_faults(page) == []
    page.get_by_role("button", name="Close the search").click()
    assert page.url.endswith(f"/sessions/{told.pk}/#claim-1")


def test_words_that_are_markup_are_words(told, page):
    page.goto(f"/sessions/{told.pk}/?find=%22%3E%3Cimg+src%3Dx%3E")

    expect(_count(page)).to_have_text("No hits")
    assert page.input_value("#find-words") == '"><img src=x>'

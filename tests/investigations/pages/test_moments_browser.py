"""Moments in a real Chromium: one that no browser can read never stops what else a page does."""

import pytest
from playwright.sync_api import expect

from tests.factories import SessionFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread

pytestmark = in_a_browser
UNREADABLE = (
    '<time datetime="1-01-01T00:00:00Z" data-kind="{kind}" title="as it was">as it was</time>'
)
KINDS = ("clock", "offset", "stamp", "date", "since", "age", "left")


def add(line):
    return in_thread(lambda: SessionFactory(completed=True, final_analysis=line))


def see_scripts_at_work(page):
    page.keyboard.type("gn")
    page.wait_for_url("**/submit-alert/")


def test_the_zero_of_a_clock_stays_as_it_is_written_and_every_script_starts(page):
    add("Seen 0001-01-01T00:00:00Z, 1970-01-01T00:00:00Z and 2026-11-30T12:50:01Z.")

    page.goto("/")

    expect(page.locator("#recent .t-cell-sub")).to_have_text(
        "Seen 0001-01-01T00:00:00Z, 1970-01-01T00:00:00Z and 2026-11-30T12:50:01Z."
    )
    see_scripts_at_work(page)


@pytest.mark.parametrize("page", [{"timezone_id": "Asia/Tokyo"}], indirect=True)
def test_a_report_tells_moments_in_local_time_as_exactly_as_they_are_written(page):
    session = add(
        "From 2026-11-30T10:00:01Z to 2026-11-30T10:00:58.123456789Z, not 2026-11-30 10:00 UTC, "
        "and never 0001-01-01T00:00:00Z."
    )

    page.goto(f"/sessions/{session.pk}/")

    expect(page.locator("#conclusion .t-prose").first).to_have_text(
        "From 2026-11-30 19:00:01 GMT+9 to 2026-11-30 19:00:58.123456789 GMT+9, "
        "not 2026-11-30 19:00 GMT+9, and never 0001-01-01T00:00:00Z."
    )
    expect(page.locator("#conclusion time").first).to_have_attribute(
        "title", "30 Nov 2026, 19:00:01 GMT+9, 30 Nov 2026, 10:00:01 UTC"
    )
    see_scripts_at_work(page)


@pytest.mark.parametrize("kind", KINDS)
def test_a_moment_that_no_browser_reads_keeps_its_words_and_the_page_goes_on(page, kind):
    def spoil(route):
        answer = route.fetch()
        bad = UNREADABLE.format(kind=kind)
        route.fulfill(response=answer, body=answer.text().replace("<main", f"{bad}<main", 1))

    page.route("**/?spoilt", spoil)

    page.goto("/?spoilt")

    expect(page.locator("time", has_text="as it was")).to_have_attribute("title", "as it was")
    see_scripts_at_work(page)

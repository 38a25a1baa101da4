"""A page that hears nothing says so at once, and its clocks stand still."""

import re
from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession
from tests.investigations.pages.browsing import in_a_browser, in_thread, wait_until_live

pytestmark = in_a_browser

ELAPSED = "#facts time[data-kind=since]"


def seconds_until_strip(page) -> int:
    """By the page's own clock, which is turned by hand."""
    strip = page.locator("#strip")
    for second in range(90):
        if strip.is_visible():
            return second
        page.clock.run_for(1000)
    raise AssertionError("the page says that it is live")


@pytest.fixture
def watched(running, page, stream):
    page.clock.install(time=timezone.now())
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    page.clock.run_for(2000)
    expect(page.locator("#strip")).to_be_hidden()
    return page


def test_silence_and_a_closed_socket_show_the_strip_and_hold_the_clocks(running, watched, stream):
    page, strip = watched, watched.locator("#strip")
    # While the other end answers, nothing that an agent does not say is a cut.
    page.clock.run_for(60_000)
    expect(strip).to_be_hidden()
    expect(page.locator(".t-alive.t-stale")).to_have_count(1)

    stream.is_mute = True
    assert 15 <= seconds_until_strip(page) <= 25
    expect(strip).to_contain_text(re.compile("Reconnecting, try 1. Showing data as of"))
    expect(page.locator("body")).to_have_class(re.compile("is-cut-off"))
    stood = page.locator(ELAPSED).text_content()
    page.clock.run_for(3000)
    expect(page.locator(ELAPSED)).to_have_text(stood)

    stream.is_mute = False
    for _ in range(12):
        page.clock.run_for(1000)
    expect(page.locator("body")).not_to_have_class(re.compile("is-cut-off"))
    expect(page.locator(ELAPSED)).not_to_have_text(stood)
    page.clock.run_for(4000)
    expect(strip).to_be_hidden()

    stream.route.close()
    assert seconds_until_strip(page) <= 1
    for _ in range(6):
        page.clock.run_for(1000)
    expect(strip).to_be_hidden()


def test_a_browser_that_goes_offline_says_so_at_once(watched, stream):
    page, strip = watched, watched.locator("#strip")
    stream.is_mute = True

    page.context.set_offline(True)
    expect(strip).to_contain_text("This browser is offline. Showing data as of")
    # No second of the page's clock has passed.
    stream.is_mute = False
    page.context.set_offline(False)
    for _ in range(4):
        page.clock.run_for(1000)
    expect(page.locator("body")).not_to_have_class(re.compile("is-cut-off"))


@pytest.mark.parametrize("hours", [-2, 2])
def test_a_clock_that_is_wrong_changes_no_age(running, page, stream, hours):
    def act_now():
        AlertSession.objects.filter(pk=running.pk).update(last_interaction_at=timezone.now())

    in_thread(act_now)
    page.clock.install(time=timezone.now() + timedelta(hours=hours))
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    page.clock.run_for(3000)

    expect(page.locator("[data-last-event]")).to_have_text(re.compile(r"^\d{1,2} s ago$"))


def test_a_tab_that_slept_for_a_night_is_not_taken_for_live(watched, stream):
    page = watched
    subscribed = [each for each in stream.heard if each["action"] == "subscribe"]
    stream.is_mute = True

    page.clock.fast_forward(8 * 3600 * 1000)
    assert seconds_until_strip(page) <= 1
    stream.is_mute = False
    for _ in range(20):
        page.clock.run_for(1000)

    expect(page.locator("body")).not_to_have_class(re.compile("is-cut-off"))
    again = [each for each in stream.heard if each["action"] == "subscribe"]
    assert len(again) > len(subscribed)
    assert again[-1]["last_event_id"] == subscribed[0]["last_event_id"]

"""A countdown that goes on through a reload, and is announced once."""

import re

from playwright.sync_api import expect

from investigations.models import TimelineEvent
from investigations.stream_messages import timeline_event_completed, timeline_event_created
from tests.investigations.pages.browsing import (
    find_serious_faults,
    in_a_browser,
    in_thread,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.test_provider_waits import add_wait

pytestmark = in_a_browser

COUNTED = re.compile(r"^[01]:[0-5]\d$")


def test_a_wait_for_a_provider_counts_down_through_a_reload_until_it_is_over(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    strip = page.locator("#provider-waits")
    expect(strip).to_be_hidden()
    execution = in_thread(lambda: running.executions.get())
    card = page.locator(f"#agent-{execution.pk}-head")
    announced = page.locator("#announce")

    event = in_thread(lambda: add_wait(execution))
    stream.send(in_thread(lambda: message_of(timeline_event_created(event), event.sequence_number)))

    expect(strip).to_contain_text("inspector: the provider lab asks to wait 90 s")
    expect(card).to_contain_text("Provider asks to wait 90 s")
    expect(announced).to_have_text("Provider asks to wait 90 s")
    left = strip.locator("time")
    expect(left).to_have_text(COUNTED)
    expect(left).not_to_have_text(left.text_content())
    expect(announced).to_have_text("Provider asks to wait 90 s")
    assert find_serious_faults(page) == []

    stream.heard.clear()
    page.reload()
    wait_until_live(page, stream)

    for place in (strip, card, page.locator(f"#e-{event.sequence_number}")):
        expect(place.locator("time[data-kind=left]")).to_have_text(COUNTED)

    def finish():
        TimelineEvent.objects.filter(pk=event.pk).update(status="completed")
        return message_of(timeline_event_completed(event), event.sequence_number + 1)

    stream.send(in_thread(finish))

    expect(strip).to_be_hidden()
    expect(card).to_contain_text("Waiting for the model")
    expect(page.locator("time[data-kind=left]")).to_have_count(0)

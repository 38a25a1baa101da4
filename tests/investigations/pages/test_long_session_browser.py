"""A session of 5,000 events: the page stays small, and everything in it can be reached."""

import uuid

import pytest
from playwright.sync_api import expect

from investigations.models import AlertSession, TimelineEvent
from investigations.stream_messages import timeline_event_created
from tests.factories import TimelineEventFactory
from tests.investigations.pages.browsing import (
    in_a_browser,
    in_thread,
    message_of,
    wait_until_live,
)

pytestmark = in_a_browser

COUNT = 5000
NEEDLE = "needle-in-the-result"


def write_history(session: AlertSession) -> None:
    """Thoughts and tool calls in turn, so that `e-1001` is a thought and `T500` is `e-1000`."""
    execution = session.executions.get()
    session.timeline_events.all().delete()
    made = []
    for seq in range(1, COUNT + 1):
        is_call = seq % 2 == 0
        kinds = TimelineEvent.Type
        arguments = {"kind": "pods", "page": seq, "note": "argument-of-77" if seq == 154 else ""}
        made.append(
            TimelineEventFactory.build(
                id=uuid.uuid4(), session=session, stage=execution.stage, execution=execution,
                event_type=kinds.LLM_TOOL_CALL if is_call else kinds.LLM_THINKING,
                content="x" * 9000 + NEEDLE if seq == 2000 else f"what was seen at step {seq}",
                status="completed", sequence_number=seq,
                metadata={"tool_number": seq // 2, "server_name": "ops", "tool_name": "query",
                          "arguments": arguments, "is_error": False} if is_call else {},
            )
        )  # fmt: skip
    TimelineEvent.objects.bulk_create(made)
    AlertSession.objects.filter(pk=session.pk).update(last_seq=COUNT)
    session.refresh_from_db()


@pytest.fixture
def long(running) -> AlertSession:
    write_history(running)
    return running


def read_feed(page) -> list[object]:
    """The numbers of the events, and the words of the links between them."""
    return page.locator(".t-feed > *").evaluate_all(
        "all => all.map(e => e.matches('.t-event') ? Number(e.id.slice(2)) : e.innerText)"
    )


def count_events(page) -> int:
    return page.locator(".t-event").count()


def test_everything_of_a_long_session_can_be_reached_on_a_page_that_stays_small(long, page, stream):
    page.goto(f"/sessions/{long.pk}/")
    wait_until_live(page, stream)
    assert count_events(page) == 200
    page.keyboard.press("j")
    expect(page.locator(".is-here")).to_have_count(1)

    # A link to an old event brings what is around it, not all that came since.
    page.goto(f"/sessions/{long.pk}/#T500")
    opened = page.locator("details:has(> #T500)[open]")
    expect(opened).to_be_in_viewport()
    assert count_events(page) == 400
    assert read_feed(page) == [
        "Load earlier, 899 more", *range(900, 1100), "Load 3701 in between", *range(4801, 5001),
    ]  # fmt: skip
    page.get_by_text("Load 3701 in between").click()
    page.locator("#e-4700").wait_for()
    expect(page.get_by_text("Load 3501 in between")).to_be_visible()
    page.get_by_text("Load earlier, 899 more").click()
    page.locator("#e-700").wait_for()
    assert count_events(page) == 800

    # Search knows what the page does not: an argument, and a result behind what is shown of it.
    page.reload()
    wait_until_live(page, stream)
    page.keyboard.press("/")
    page.keyboard.type("argument-of-77")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 1")
    expect(
        page.locator("details:has(> #T77)[open]").get_by_text("argument-of-77", exact=True)
    ).to_be_in_viewport()
    page.get_by_role("searchbox").fill(NEEDLE)
    page.get_by_role("searchbox").press("Enter")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 1")
    result = page.locator("details:has(> #T1000)[open] .t-out")
    expect(result).to_contain_text(NEEDLE)
    assert result.evaluate("e => e.scrollTop > 0")
    assert page.evaluate("[...CSS.highlights.get('found')].map(String)") == [NEEDLE]
    page.get_by_role("searchbox").fill("SEEN AT STEP 47")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-count]")).to_have_text("1 of 111")
    page.evaluate("document.activeElement.blur()")
    for key, words in (("n", "2 of 111"), ("N", "1 of 111"), ("N", "111 of 111")):
        page.keyboard.press(key)
        expect(page.locator("[data-find-count]")).to_have_text(words)
    expect(page.locator("#e-4799")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(page.get_by_role("searchbox")).to_be_hidden()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_page_that_is_left_open_gives_back_what_has_long_scrolled_away(long, page, stream):
    page.goto(f"/sessions/{long.pk}/")
    wait_until_live(page, stream)

    def go_on(count):
        execution = long.executions.get()
        made = [
            TimelineEventFactory(
                session=long, stage=execution.stage, execution=execution, status="completed",
                event_type=TimelineEvent.Type.LLM_THINKING, content=f"later {seq}",
                sequence_number=seq,
            )
            for seq in range(COUNT + 1, COUNT + 1 + count)
        ]  # fmt: skip
        return [message_of(timeline_event_created(e), e.sequence_number) for e in made]

    for message in in_thread(lambda: go_on(420)):
        stream.send(message)

    page.locator(f"#e-{COUNT + 420}").wait_for()
    assert count_events(page) < 500
    first = page.locator(".t-feed > .t-event").first.get_attribute("id")
    page.locator("[data-earlier]").click()
    page.locator(f"#e-{int(first.removeprefix('e-')) - 1}").wait_for()
    link, *events = read_feed(page)
    assert link.startswith("Load earlier, ")
    assert events == list(range(events[0], COUNT + 421))


def test_the_clocks_of_a_long_session_leave_the_page_free_for_what_a_person_does(
    long, page, stream
):
    # To make a formatter takes far longer than to use it, and a page has hundreds of times.
    page.add_init_script(
        "window.made = 0; const Real = Intl.DateTimeFormat;"
        "Intl.DateTimeFormat = function (...given) { window.made += 1; return new Real(...given); }"
    )
    page.goto(f"/sessions/{long.pk}/")
    wait_until_live(page, stream)
    elapsed = page.locator("#facts time[data-kind=since]")
    for _ in range(2):
        shown = elapsed.inner_text()
        expect(elapsed).not_to_have_text(shown)

    assert page.locator("time[data-kind]").count() > 100
    assert page.evaluate("window.made") < 20


def test_times_that_are_loaded_later_are_told_in_the_zone_of_the_others(long, page, stream):
    page.goto(f"/sessions/{long.pk}/")
    wait_until_live(page, stream)
    times = page.locator(".t-feed time[data-kind=offset]")
    count = times.count()
    assert count
    page.locator("[data-earlier]").click()

    expect(times).not_to_have_count(count)
    expect(times.filter(has_text=", +")).to_have_count(times.count())

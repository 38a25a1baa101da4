"""Follow mode is a state: people change it, growing content never does."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession, Incident, TimelineEvent
from investigations.stream_messages import (
    session_status,
    timeline_event_completed,
    timeline_event_created,
)
from tests.factories import ExecutionFactory, IncidentFactory
from tests.investigations.pages.browsing import (
    in_a_browser,
    in_thread,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.conftest import REPORT, add_event, add_tool_call

pytestmark = in_a_browser

AT_END = "e => e.scrollHeight - e.scrollTop - e.clientHeight < 2"


@pytest.fixture
def columns(running) -> AlertSession:
    """Two agents side by side, each with more than its column shows."""
    first = running.executions.get()
    second = ExecutionFactory(stage=first.stage, agent_name="second", agent_index=2, active=True)
    for number in range(2, 42):
        add_tool_call(first, number)
        add_tool_call(second, 100 + number)
    running.refresh_from_db()
    return running


def next_event(session, content="And now?", kind=TimelineEvent.Type.LLM_THINKING):
    """Something new of the first agent, as the stream brings it."""

    def add():
        execution = session.executions.order_by("agent_index").first()
        event = add_event(execution, kind, content)
        return message_of(timeline_event_created(event), event.sequence_number)

    return in_thread(add)


def fill(session) -> None:
    """More calls than a window shows."""
    for number in range(2, 60):
        add_tool_call(session.executions.get(), number)
    session.refresh_from_db()


def end(session):
    """Its end with a report, as the stream brings it."""
    session.refresh_from_db()
    session.status, session.final_analysis = "completed", REPORT
    session.completed_at = session.started_at
    session.last_seq += 1
    session.save()
    return message_of(session_status(session.pk, "completed"), session.last_seq)


def drag_bar(page, box) -> None:
    area = box.bounding_box()
    inside = box.evaluate("e => e.clientWidth")
    x = area["x"] + (inside + area["width"]) / 2
    page.mouse.move(x, area["y"] + area["height"] - 20)
    page.mouse.down()
    page.mouse.move(x, area["y"] + area["height"] / 2, steps=4)
    page.mouse.up()


def swipe_down(page, box) -> None:
    area = box.bounding_box()
    x, y = area["x"] + 100, area["y"] + 60
    touch = page.context.new_cdp_session(page)
    for kind, points in (
        ("touchStart", [{"x": x, "y": y}]),
        ("touchMove", [{"x": x, "y": y + 60}]),
        ("touchMove", [{"x": x, "y": y + 160}]),
        ("touchEnd", []),
    ):
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def turn_wheel(page, box) -> None:
    box.hover(position={"x": 100, "y": 100})
    page.mouse.wheel(0, -120)


def press(key):
    def do(page, box) -> None:
        box.focus()
        page.keyboard.press(key)

    return do


# Where it stands once it has stood still for some frames: a finger's scrolling goes on after it.
AT_REST = """e => new Promise((tell) => {
    let last, still = 0
    const look = () => {
        still = e.scrollTop === last ? still + 1 : 0
        last = e.scrollTop
        if (still > 20) tell(last)
        else requestAnimationFrame(look)
    }
    look()
})"""

UPWARD = {
    "wheel": turn_wheel,
    "PageUp": press("PageUp"),
    "Home": press("Home"),
    "ArrowUp": press("ArrowUp"),
    "scrollbar": drag_bar,
    "touch": swipe_down,
}


@pytest.mark.parametrize("page", [{"has_touch": True}], indirect=True)
def test_each_gesture_upward_stops_following_and_end_or_the_pill_starts_it_again(
    columns, page, stream
):
    page.goto(f"/sessions/{columns.pk}/")
    wait_until_live(page, stream)
    box, other = page.locator(".t-agent-body").all()
    pill, others_pill = page.locator("[data-follow]").all()
    expect(pill).to_be_hidden()
    assert box.evaluate(AT_END)

    for name, gesture in UPWARD.items():
        gesture(page, box)

        expect(pill, name).to_be_visible()
        page.wait_for_function(f"() => !({AT_END})(document.querySelector('.t-agent-body'))")
        expect(pill).to_have_text("Follow")
        expect(others_pill).to_be_hidden()
        top = box.evaluate(AT_REST)
        stream.send(next_event(columns, f"Thought after {name}."))
        expect(pill, name).to_have_text("Follow - 1 new")
        assert box.evaluate("e => e.scrollTop") == top, name
        if name in ("wheel", "touch"):
            pill.click()
        else:
            press("End")(page, box)
        expect(pill, name).to_be_hidden()
        page.wait_for_function(f"() => ({AT_END})(document.querySelector('.t-agent-body'))")

    assert other.evaluate(AT_END)


def test_only_a_person_changes_it_however_the_content_grows_or_shrinks(columns, page, stream):
    page.goto(f"/sessions/{columns.pk}/")
    wait_until_live(page, stream)
    box = page.locator(".t-agent-body").first
    pill = page.locator("[data-follow]").first

    # A long thought that is written at full length and folded to three lines when it is complete.
    def think():
        execution = columns.executions.order_by("agent_index").first()
        words = "A long thought. " * 400
        event = add_event(execution, TimelineEvent.Type.LLM_THINKING, words, status="streaming")
        created = message_of(timeline_event_created(event), event.sequence_number)
        return event, created

    event, created = in_thread(think)
    stream.send(created)
    page.get_by_text("A long thought. A long thought.").first.wait_for()

    def finish():
        event.status = "completed"
        event.save()
        AlertSession.objects.filter(pk=columns.pk).update(last_seq=event.sequence_number + 1)
        return message_of(timeline_event_completed(event), event.sequence_number + 1)

    stream.send(in_thread(finish))
    page.get_by_text("Show all thinking").last.wait_for()

    expect(pill).to_be_hidden()
    assert box.evaluate(AT_END)
    # The keys of a field are nobody's wish to scroll, and neither is what the page scrolls itself.
    page.evaluate("document.querySelector('#question').disabled = false")
    page.locator("#question").press("PageUp")
    expect(pill).to_be_hidden()

    turn_wheel(page, box)
    for number in range(23):
        stream.send(next_event(columns, f"Thought {number}."))
    expect(pill).to_have_text("Follow - 23 new")
    # Down again by one's own hand: from the end on it follows.
    box.hover(position={"x": 100, "y": 100})
    page.mouse.wheel(0, 20_000)
    expect(pill).to_be_hidden()
    page.mouse.wheel(0, -300)
    expect(pill).to_be_visible()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("f")
    expect(pill).to_be_hidden()


@pytest.mark.parametrize("follows", [True, False])
def test_the_end_leads_who_followed_to_the_conclusion_and_moves_nothing_for_others(
    running, page, stream, follows
):
    in_thread(lambda: fill(running))
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    stream.send(next_event(running))
    page.get_by_text("And now?").wait_for()
    page.wait_for_function(f"() => ({AT_END})(document.scrollingElement)")
    if not follows:
        page.mouse.move(600, 600)
        page.mouse.wheel(0, -400)
        expect(page.locator("[data-follow]")).to_be_visible()
    seen = page.locator("#T50")
    before = seen.evaluate("e => e.getBoundingClientRect().top")

    stream.send(in_thread(lambda: end(running)))
    expect(page).to_have_title(re.compile("^✓"))
    page.locator("#conclusion .t-lead").wait_for()

    if follows:
        expect(page.locator("#conclusion .t-lead")).to_be_in_viewport()
    else:
        assert abs(seen.evaluate("e => e.getBoundingClientRect().top") - before) < 2
        expect(page.locator("#strip")).to_contain_text("The basket service passes its memory")
    expect(page.locator("[data-follow]")).to_be_hidden()


def test_what_was_told_of_the_end_is_told_anew_when_the_alert_is_over(running, page, stream):
    """The check recovers seconds after the repair, and who watched still reads the line."""

    def join_incident():
        running.incident = IncidentFactory()
        running.save()

    def recover():
        Incident.objects.filter(pk=running.incident_id).update(
            state=Incident.State.RECOVERED, firing_count=0, recovered_at=timezone.now()
        )
        running.last_seq += 1
        running.save()
        return message_of(session_status(running.pk, "completed"), running.last_seq)

    in_thread(lambda: fill(running))
    in_thread(join_incident)
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    strip = page.locator("#strip")
    page.mouse.move(600, 600)
    page.mouse.wheel(0, 600)

    stream.send(in_thread(lambda: end(running)))
    expect(strip).to_contain_text("The alert still fires.")
    stream.send(in_thread(recover))

    expect(strip).to_contain_text("The alert is over.")
    expect(strip).to_contain_text("The basket service passes its memory")
    # At the top it would lie on the first row, and the conclusion is in sight.
    page.keyboard.press("Home")
    expect(strip).to_be_hidden()


def test_the_end_of_what_was_cancelled_leads_to_no_conclusion(running, page, stream):
    def find():
        fill(running)
        stage = running.executions.get().stage
        other = ExecutionFactory(stage=stage, agent_name="second", agent_index=2, completed=True)
        add_event(other, TimelineEvent.Type.FINAL_ANALYSIS, REPORT)

    def cancel():
        running.refresh_from_db()
        running.status, running.completed_at = "cancelled", running.started_at
        running.last_seq += 1
        running.save()
        return message_of(session_status(running.pk, "cancelled"), running.last_seq)

    in_thread(find)
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    page.mouse.move(600, 600)
    page.mouse.wheel(0, 600)

    stream.send(in_thread(cancel))

    expect(page.locator("#strip [data-strip-text]")).to_have_text("Cancelled. No conclusion.")
    expect(page.locator("#strip [data-strip-link]")).to_have_text("Show how it ended")
    found = page.locator("#conclusion")
    expect(found).to_contain_text("Last finding, not a conclusion")
    expect(found).to_contain_text("The basket service passes its memory limit.")
    # The agent's own headings stand where its report is asked for.
    expect(found.get_by_role("heading", name="Conclusion", exact=True)).to_have_count(0)

"""Nothing moves under who watches: what comes has its room, and what goes is above the window."""

import pytest
from playwright.sync_api import expect

from investigations.models import AgentExecution, TimelineEvent
from investigations.stream_messages import (
    execution_progress,
    interaction_created,
    stream_chunk,
    timeline_event_created,
)
from tests.browser import SHARE_IN_VIEW, WATCH_SHIFTS
from tests.factories import SessionFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread, message_of, wait_until_live
from tests.investigations.pages.conftest import add_event
from tests.investigations.pages.test_work_browser import FRAMES, Run

pytestmark = in_a_browser

DESKTOP, PHONE = (
    {"viewport": {"width": width, "height": height}} for width, height in ((1440, 900), (390, 844))
)
BOTH = pytest.mark.parametrize("page", [DESKTOP, PHONE], indirect=True, ids=("1440", "390"))
NO_MORE_THAN = 0.02
"""What is left to a clock that gets wider, and to the foot where a long text brings it in view."""
FOOT = "document.querySelector('.t-foot').getBoundingClientRect().top"


@pytest.fixture
def run(db, stream):
    return Run(SessionFactory(running=True, title="basket restarts", total_stages=3), stream)


def open_page(run, page, stream) -> None:
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    page.evaluate(WATCH_SHIFTS)


def shifted(page) -> float:
    page.evaluate(FRAMES)
    return page.evaluate("window.shifted")


def fill(run, page, rows, first=1) -> None:
    for number in range(first, first + rows):
        run.act(run.agents[0], number)
    page.locator(f"#T{first + rows - 1}").wait_for(state="attached")


def write(run, stream, words, *, drawn=()):
    """A text as it comes, a word at a time; `drawn` are its blocks after the words so far."""
    agent = run.agents[0]

    def begin():
        event = add_event(agent, TimelineEvent.Type.LLM_RESPONSE, "", status="streaming")
        return event, message_of(timeline_event_created(event), event.sequence_number)

    event, message = in_thread(begin)
    stream.send(message)
    offset = 0
    for place, word in enumerate(words):
        chunk = stream_chunk(agent, str(event.pk), offset, word)
        offset += len(word)
        blocks = dict(drawn).get(place)
        stream.send(chunk if blocks is None else {**chunk, "blocks": blocks})
    return event


@BOTH
@pytest.mark.parametrize("rows", [3, 40])
def test_a_stage_takes_the_place_of_the_one_before_and_nothing_moves(run, page, stream, rows):
    open_page(run, page, stream)

    for index, agents in ((1, 1), (2, 3), (3, 1)):
        run.begin(index, agents=agents)
        expect(page.locator(f"#stage-{index} .t-agent")).to_have_count(agents)
        fill(run, page, rows, first=100 * index)
        assert page.evaluate(SHARE_IN_VIEW) > 0.8
        if index > 1:
            expect(page.locator(f"#stage-{index - 1} > .t-inside")).to_be_attached()
        run.finish()
    run.end()

    expect(page.locator("#conclusion .t-lead")).to_be_in_viewport()
    assert shifted(page) < NO_MORE_THAN
    # The room that was kept for stages to come is gone, where nobody saw it go: of a page that is
    # shorter than the window, at its top.
    page.keyboard.press("Home")
    expect(page.locator("#timeline:not(.is-followed)")).to_be_attached()


@BOTH
def test_the_foot_of_the_page_stays_below_the_work_and_its_end_is_no_empty_window(
    run, page, stream
):
    open_page(run, page, stream)
    height = page.viewport_size["height"]
    seen = [page.evaluate(FOOT)]

    for index in (1, 2):
        run.begin(index)
        expect(page.locator(f"#stage-{index} .t-agents--live")).to_be_in_viewport()
        page.evaluate(FRAMES)
        seen.append(page.evaluate(FOOT))
        run.finish()
    assert min(seen) >= height, seen

    # Whoever scrolls to the end by hand is in front of the work, not of nothing.
    page.mouse.move(200, 30)
    page.mouse.wheel(0, 20_000)
    expect(page.locator("#stage-2 .t-agents")).to_be_in_viewport()
    run.end()
    expect(page.locator("#conclusion .t-lead")).to_be_in_viewport()
    assert shifted(page) < NO_MORE_THAN


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_on_a_phone_no_agent_pushes_down_the_next_one_and_each_shows_its_newest(run, page, stream):
    open_page(run, page, stream)
    run.begin(1)
    heads = page.locator(".t-agents--live .t-agent-head")
    expect(heads).to_have_count(3)
    before = [each.bounding_box() for each in heads.all()]

    for number in range(12):
        for place, agent in enumerate(run.agents):
            run.act(agent, 100 * place + number + 1)
    page.locator("#T212").wait_for(state="attached")

    assert shifted(page) < NO_MORE_THAN
    assert [each.bounding_box() for each in heads.all()] == before
    for number in (12, 112, 212):
        expect(page.locator(f"#T{number}")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@BOTH
def test_facts_and_a_line_that_come_above_the_work_leave_it_in_its_place(run, page, stream):
    open_page(run, page, stream)
    run.begin(1)
    head = page.locator(".t-stage-head")
    expect(head).to_be_visible()
    page.evaluate(FRAMES)
    before = head.bounding_box()

    def learn():
        AgentExecution.objects.filter(session=run.session).update(llm_provider="rehearsal")
        agent = run.agents[0]
        return interaction_created(agent, agent.pk, "iteration")

    stream.send(in_thread(learn))

    expect(page.locator("#rehearsal")).to_contain_text("Scripted answers")
    assert shifted(page) < NO_MORE_THAN
    assert head.bounding_box()["y"] == pytest.approx(before["y"], abs=1)


@BOTH
def test_words_that_come_and_what_an_agent_does_move_nothing_that_stands(run, page, stream):
    open_page(run, page, stream)
    run.begin(1)
    expect(page.locator(".t-agents--live .t-agent")).to_have_count(3)

    write(run, stream, [f"{word} " for word in ("basket", "is", "out", "of", "memory") * 30])
    for agent in run.agents:
        for doing in ("Gathering", "Investigating the memory", "Concluding"):
            stream.send(execution_progress(agent, "investigating", doing))

    page.get_by_text("Concluding").last.wait_for()
    page.get_by_text("basket is out of memory basket").last.wait_for()
    assert shifted(page) < NO_MORE_THAN


def test_the_space_between_a_drawn_block_and_the_next_word_is_kept(run, page, stream):
    open_page(run, page, stream)
    run.begin(1)
    expect(page.locator(".t-agents--live .t-agent")).to_have_count(3)

    drawn = {1: {"first": 0, "html": ["<p>The pod</p>"]}}
    event = write(run, stream, ["The ", "pod ", "died"], drawn=drawn)

    expect(page.locator(f'[data-event="{event.pk}"] p')).to_have_text("The pod died")


def test_a_wheel_that_goes_on_from_an_agent_to_the_page_stops_the_following(run, page, stream):
    open_page(run, page, stream)
    run.begin(1)
    fill(run, page, 30)
    run.finish()
    run.begin(2)
    expect(page.locator("#stage-2 .t-agents")).to_be_in_viewport()
    page.evaluate(FRAMES)
    # Nothing is scrolled in it yet, so that a wheel upward goes on at once.
    fill(run, page, 40, first=201)
    box = page.locator("#stage-2 .t-agent-body").first
    box.evaluate("e => e.scrollTo(0, 0)")
    box.hover(position={"x": 100, "y": 100})
    page.mouse.wheel(0, -3000)
    page.wait_for_function("() => scrollY === 0")

    run.finish()
    run.begin(3)

    expect(page.locator("#now")).to_contain_text("Now: Verify")
    assert page.evaluate("scrollY") == 0

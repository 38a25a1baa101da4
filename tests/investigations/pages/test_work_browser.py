"""The window follows the work from stage to stage, and ends where it was found out."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession, TimelineEvent
from investigations.stream_messages import (
    approval_requested,
    execution_status,
    session_status,
    stage_status,
    timeline_event_created,
)
from tests.browser import SHARE_IN_VIEW, WATCH_SHIFTS
from tests.factories import (
    ApprovalRequestFactory,
    ExecutionFactory,
    SessionFactory,
    StageFactory,
)
from tests.investigations.approving import make_decider
from tests.investigations.pages.browsing import (
    find_serious_faults,
    in_a_browser,
    in_thread,
    log_in,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.conftest import REPORT, add_event, add_tool_call

pytestmark = in_a_browser

STAGES = ("scope", "investigate", "verify")
SIZES = [(1360, 900), (390, 844)]
FRAMES = """() => new Promise((tell) => {
    const wait = (left) => left ? requestAnimationFrame(() => wait(left - 1)) : tell()
    wait(10)
})"""


class Run:
    """Nine agents in three stages, step by step, as the stream tells of them."""

    def __init__(self, session, stream):
        self.session, self.stream = session, stream
        self.agents = []

    def tell(self, make):
        def work():
            payload = make()
            self.session.refresh_from_db()
            self.session.last_seq += 1
            self.session.save()
            return message_of(payload, self.session.last_seq)

        self.stream.send(in_thread(work))

    def begin(self, index, agents=3):
        def make():
            self.stage = StageFactory(
                session=self.session,
                stage_name=STAGES[index - 1],
                stage_index=index,
                active=True,
            )
            AlertSession.objects.filter(pk=self.session.pk).update(current_stage_id=self.stage.pk)
            self.agents = [
                ExecutionFactory(
                    stage=self.stage, agent_name=f"agent-{number}", agent_index=number, active=True
                )
                for number in range(1, agents + 1)
            ]
            return stage_status(self.stage)

        self.tell(make)

    def act(self, agent, number):
        def work():
            event = add_tool_call(agent, number)
            return message_of(timeline_event_created(event), event.sequence_number)

        self.stream.send(in_thread(work))

    def ask(self):
        def make():
            self.request = ApprovalRequestFactory(execution=self.agents[0])
            return approval_requested(self.request)

        self.tell(make)

    def finish(self):
        for agent in self.agents:
            self.conclude(agent)

        def make():
            self.stage.status, self.stage.completed_at = "completed", timezone.now()
            self.stage.save()
            AlertSession.objects.filter(pk=self.session.pk).update(final_analysis=REPORT)
            return stage_status(self.stage)

        self.tell(make)

    def conclude(self, agent):
        def find():
            event = add_event(agent, TimelineEvent.Type.FINAL_ANALYSIS, REPORT)
            return message_of(timeline_event_created(event), event.sequence_number)

        def make():
            agent.status, agent.completed_at = "completed", timezone.now()
            agent.lease_token = None
            agent.save()
            return execution_status(agent)

        self.stream.send(in_thread(find))
        self.tell(make)

    def end(self):
        def make():
            AlertSession.objects.filter(pk=self.session.pk).update(
                status="completed", completed_at=timezone.now()
            )
            return session_status(self.session.pk, "completed")

        self.tell(make)


@pytest.fixture
def run(db, stream):
    session = SessionFactory(running=True, title="basket restarts", total_stages=3)
    return Run(session, stream)


def test_who_follows_sees_the_work_of_nine_agents_and_then_the_conclusion(run, page, stream):
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    page.evaluate(WATCH_SHIFTS)
    pill = page.locator("#now")
    shares = []

    for index in (1, 2, 3):
        run.begin(index)
        expect(page.locator(".t-agents--live .t-agent")).to_have_count(3)
        for number in range(4):
            for place, agent in enumerate(run.agents):
                run.act(agent, 100 * index + 10 * place + number)
            page.locator(f"#T{100 * index + 20 + number}").wait_for(state="attached")
            shares.append(page.evaluate(SHARE_IN_VIEW))
        expect(pill).to_be_hidden()
        if index > 1:
            # What is done takes a line.
            expect(page.locator("#stage-1 > .t-inside:not([open])")).to_be_visible()
            expect(page.locator("#so-far > summary")).to_contain_text("passes its memory limit")
        run.finish()
        expect(page.locator(".t-agents--live")).to_have_count(1)
    assert min(shares) > 0.6, shares
    assert find_serious_faults(page) == []
    run.end()
    expect(page).to_have_title(re.compile("^✓"))

    lead = page.locator("#conclusion .t-lead")
    expect(lead).to_be_in_viewport()
    expect(pill).to_be_hidden()
    shifted = page.evaluate("window.shifted")
    assert shifted < 0.1


def test_who_reads_above_is_told_where_the_work_is_and_what_came_of_it(run, page, stream):
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    pill, strip = page.locator("#now"), page.locator("#strip")
    run.begin(1)
    for number in range(30):
        run.act(run.agents[0], number + 1)
    page.locator("#T30").wait_for(state="attached")
    run.finish()
    run.begin(2)
    expect(page.locator("#stage-2")).to_be_visible()
    page.mouse.move(700, 30)
    page.mouse.wheel(0, -5000)
    page.wait_for_function("() => scrollY === 0")
    page.evaluate("document.querySelector('#stage-1').style.minHeight = '1500px'")
    run.finish()
    run.begin(3)

    expect(pill).to_have_text("Now: Verify, 3 agents")
    assert page.evaluate("scrollY") == 0
    assert find_serious_faults(page) == []
    pill.click()
    expect(pill).to_be_hidden()
    expect(page.locator("#stage-3 .t-agents")).to_be_in_viewport()
    page.mouse.wheel(0, -300)
    expect(page.locator("#stage-2")).to_be_in_viewport()
    before = page.evaluate("scrollY")
    run.finish()
    run.end()

    expect(strip).to_contain_text("The basket service passes its memory limit")
    expect(strip).to_contain_text("High confidence")
    assert page.evaluate("scrollY") == pytest.approx(before, abs=400)
    strip.get_by_role("link").click()
    expect(page.locator("#conclusion .t-lead")).to_be_in_viewport()


def test_the_line_that_says_it_ended_covers_no_heading_of_the_conclusion(run, page, stream):
    page.set_viewport_size({"width": 1280, "height": 600})
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    run.begin(1)
    for number in range(30):
        run.act(run.agents[0], number + 1)
    page.locator("#T30").wait_for(state="attached")
    run.finish()
    run.begin(2)
    expect(page.locator("#stage-2")).to_be_in_viewport()
    page.evaluate("document.querySelector('#stage-1').style.minHeight = '1500px'")
    run.act(run.agents[0], 101)
    page.locator("#T101").wait_for(state="attached")
    page.wait_for_function("() => scrollY > 200")
    run.finish()
    run.end()

    expect(page.locator("#strip")).to_contain_text("Completed")
    expect(page.locator("#conclusion .t-lead")).to_be_in_viewport()
    page.evaluate(FRAMES)
    strip, conclusion = page.locator("#strip").bounding_box(), page.locator("#conclusion")
    assert conclusion.bounding_box()["y"] >= strip["y"] + strip["height"]


def test_who_decided_is_told_so_and_led_to_the_stage_that_works(run, page, stream, live_server):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    run.begin(1)
    for number in range(40):
        run.act(run.agents[0], number + 1)
    page.locator("#T40").wait_for(state="attached")
    run.finish()
    run.begin(2, agents=1)
    for number in range(40):
        run.act(run.agents[0], number + 101)
    run.ask()

    page.get_by_role("button", name="Approve").click()

    expect(page.locator("#approvals")).to_contain_text("Approved by ana")
    expect(page.locator("#announce")).to_contain_text("Approved by ana")
    expect(page.locator("#approvals > .t-decided")).to_be_focused()
    expect(page.locator("#stage-2 .t-agents")).to_be_in_viewport()
    expect(page.locator("#now")).to_be_hidden()
    page.reload()
    expect(page.locator("#approvals")).to_contain_text("Approved by ana")
    expect(page.locator("#announce")).to_be_empty()


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": width, "height": height}} for width, height in SIZES],
    indirect=True,
)
def test_who_follows_is_shown_the_request_that_waits_and_never_an_empty_window(run, page, stream):
    page.goto(f"/sessions/{run.session.pk}/")
    wait_until_live(page, stream)
    run.begin(1, agents=1)
    for number in range(60):
        run.act(run.agents[0], number + 1)
    page.locator("#T60").wait_for(state="attached")
    run.finish()
    run.begin(2, agents=1)
    expect(page.locator("#stage-1 > .t-inside:not([open])")).to_be_attached()
    run.act(run.agents[0], 101)
    run.ask()
    request = page.locator(f"#approval-{run.request.pk}")
    expect(request.get_by_role("heading", name="Approve this change?")).to_be_in_viewport()

    # What its agent does on the way leads nobody away from it.
    run.act(run.agents[0], 102)
    page.locator("#T102").wait_for(state="attached")
    page.evaluate(FRAMES)
    expect(request.get_by_role("heading", name="Approve this change?")).to_be_in_viewport()

    # Whoever goes on by hand is not pulled back: one button leads there.
    pill = page.locator("#now")
    expect(pill).to_be_hidden()
    page.mouse.move(200, 400)
    page.mouse.wheel(0, 20_000)
    expect(pill).to_have_text("An approval waits")
    expect(page.locator("#stage-2")).to_be_in_viewport()
    run.act(run.agents[0], 103)
    page.locator("#T103").wait_for(state="attached")
    page.evaluate(FRAMES)
    expect(pill).to_be_visible()
    pill.click()
    expect(request).to_be_in_viewport()
    expect(pill).to_be_hidden()

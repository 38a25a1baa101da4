"""The list of sessions in a real Chromium; a word on the console fails a test."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession
from investigations.stream_messages import session_status
from tests.factories import ApprovalRequestFactory, SessionFactory, UserFactory
from tests.investigations.pages.browsing import (
    find_serious_faults,
    in_a_browser,
    in_thread,
    log_in,
    wait_until,
    wait_until_live,
)

pytestmark = in_a_browser

HOSTILE = "<img src=x onerror=alert(1)>"
LONG = "a-name-without-a-blank-" * 8
SIZES = [{"viewport": {"width": width, "height": 844}} for width in (360, 390, 900, 1440)]
DARK = {"viewport": {"width": 390, "height": 844}, "color_scheme": "dark"}
BROWSERS = [*SIZES, DARK, {**DARK, "viewport": {"width": 1440, "height": 900}}]


@pytest.fixture(autouse=True)
def known_chains(chains) -> None:
    """Sessions are cancelled and sent again by the engine's own services."""


def add(**fields) -> AlertSession:
    return in_thread(lambda: SessionFactory(**fields))


def ended(title, **fields) -> AlertSession:
    return add(title=title, **{"completed": True, **fields})


def shown(page) -> list[str]:
    return page.locator("#recent .t-cell-title").all_inner_texts()


def see_only(page, *titles) -> None:
    expect(page.locator("#recent .t-cell-title")).to_have_text(list(titles))


def finish(stream, session) -> None:
    in_thread(
        lambda: AlertSession.objects.filter(pk=session.pk).update(
            status="completed", started_at=timezone.now(), completed_at=timezone.now()
        )
    )
    stream.send(session_status(session.pk, "completed"))


def test_a_filter_is_the_address_and_survives_reload_and_back(page):
    ended("went well")
    in_thread(lambda: SessionFactory(failed=True, title="went badly", alert_type="disk"))
    page.goto("/")
    see_only(page, "went badly", "went well")

    page.get_by_label("Type").select_option("disk")
    see_only(page, "went badly")
    assert page.url.endswith("/?alert_type=disk")
    page.fill("#search", "no such text")
    page.get_by_text("No incident matches these filters").wait_for()
    assert page.url.endswith("/?alert_type=disk&search=no+such+text")

    page.reload()
    assert page.input_value("#search") == "no such text"
    assert page.get_by_label("Type").input_value() == "disk"
    page.go_back()
    see_only(page, "went badly")
    assert page.input_value("#search") == ""
    page.go_back()
    see_only(page, "went badly", "went well")


def test_back_from_a_session_shows_the_same_view(page):
    in_thread(lambda: SessionFactory(failed=True, title="went badly"))
    ended("went well")
    page.goto("/?status=failed")
    page.locator("#recent").get_by_role("link", name="went badly").click()
    page.wait_for_url("**/sessions/**")

    page.go_back()

    see_only(page, "went badly")
    expect(page.get_by_text("Clear (1)")).to_be_visible()


def test_a_status_is_ticked_and_its_chip_takes_it_off_again(page):
    in_thread(lambda: SessionFactory(timed_out=True, title="took too long"))
    ended("went well")
    page.goto("/")
    page.locator("[data-pick] summary").click()
    page.get_by_role("checkbox", name="Timed out").check()
    see_only(page, "took too long")
    page.keyboard.press("Escape")
    expect(page.get_by_role("checkbox", name="Timed out")).to_be_hidden()

    page.get_by_role("link", name="Remove filter Timed out").click()

    see_only(page, "went well", "took too long")
    assert page.url.endswith("/")


def test_each_list_of_boxes_closes_when_somebody_goes_on_to_the_search(page):
    for severity in ("critical", "warning"):
        ended(severity, severity=severity)
    page.goto("/")
    for name in ("Status", "Severity"):
        page.locator("[data-pick] summary", has_text=name).click()
        boxes = page.get_by_role("group", name=name)
        expect(boxes).to_be_visible()
        page.keyboard.press("/")
        expect(page.locator("#search")).to_be_focused()
        expect(boxes).to_be_hidden()
        page.locator("#search").blur()

    page.locator("[data-pick] summary", has_text="Severity").click()
    page.get_by_role("checkbox", name="Critical", exact=True).check()
    see_only(page, "critical")
    expect(page.locator("[data-pick] summary", has_text="Severity: 1")).to_be_visible()


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_the_filters_work_without_a_script(page):
    in_thread(lambda: SessionFactory(failed=True, title="went badly"))
    ended("went well")
    page.goto("/")
    page.fill("#search", "PodCrash")
    page.locator("[data-pick] summary").click()
    page.get_by_role("checkbox", name="Failed").check()
    page.locator("#search").press("Enter")

    page.wait_for_url("**status=failed**")
    assert shown(page) == ["went badly"]


def test_new_rows_wait_until_they_are_asked_for(page, stream):
    ended("was there before")
    session = add(title="comes later")
    page.goto("/")
    wait_until_live(page, stream)

    finish(stream, session)
    page.get_by_text("1 new incident. Show it").wait_for()
    assert shown(page) == ["was there before"]
    page.get_by_text("1 new incident. Show it").click()

    see_only(page, "comes later", "was there before")
    assert not page.get_by_text("1 new incident. Show it").is_visible()
    assert page.locator("#recent-count").inner_text() == "2 incidents"


def test_new_rows_of_another_view_are_not_told(page, stream):
    in_thread(lambda: SessionFactory(failed=True, title="went badly"))
    session = add(title="comes later")
    page.goto("/?status=failed")
    wait_until_live(page, stream)

    with page.expect_response("**/fragments/new/**") as answer:
        finish(stream, session)

    assert answer.value.text().strip() == ""
    assert shown(page) == ["went badly"]


def test_the_rows_of_a_search_say_where_it_found_them(page):
    session = ended("went well", final_analysis="The connection pool was exhausted.")
    page.goto("/")

    page.fill("#search", "connection")

    hit = page.locator(f"#hit-{session.pk}")
    expect(hit).to_have_text("In the report: The connection pool was exhausted.")
    expect(hit.locator("mark")).to_have_text("connection")
    page.reload()
    expect(hit.locator("mark")).to_have_text("connection")


@pytest.mark.parametrize("page", [SIZES[1]], indirect=True)
def test_a_row_that_waits_has_its_title_on_a_phone(page):
    add(title="waits")

    page.goto("/")

    row = page.locator(".t-qrow")
    expect(row.get_by_role("link", name="waits")).to_be_visible()
    expect(row.locator(".t-sel")).to_be_hidden()


def test_several_are_cancelled_once_that_is_confirmed(page):
    for title in ("first", "second", "third"):
        add(title=title)
    page.goto("/?status=pending")
    page.locator("#recent").get_by_role("checkbox", name="Select first").check()
    page.locator("#recent").get_by_role("checkbox", name="Select second").check()
    expect(page.get_by_text("2 selected")).to_be_visible()
    page.locator(".t-bulk").get_by_role("button", name="Cancel").click()

    page.get_by_role("heading", name="Cancel 2 sessions?").wait_for()
    assert in_thread(lambda: AlertSession.objects.filter(status="pending").count()) == 3
    page.get_by_role("button", name="Cancel 2 sessions").click()

    page.get_by_role("heading", name="2 of 2 sessions cancelled").wait_for()
    page.get_by_role("link", name="Back to the list").click()
    page.wait_for_url("**/?status=pending")
    assert shown(page) == ["third"]


def test_those_that_run_and_wait_are_cancelled_together_and_stay_ticked_meanwhile(page, stream):
    first, second = add(running=True, title="runs"), add(running=True, title="runs too")
    add(title="waits")
    page.goto("/")
    wait_until_live(page, stream)
    for title in ("runs", "runs too", "waits"):
        page.get_by_label(f"Select {title}", exact=True).check()
    expect(page.get_by_text("3 selected")).to_be_visible()

    stream.send(session_status(first.pk, "in_progress"))
    in_thread(lambda: AlertSession.objects.filter(pk=second.pk).update(title="renamed"))
    stream.send(session_status(second.pk, "in_progress"))
    page.get_by_label("Select renamed", exact=True).wait_for()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.locator(".t-bulk").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel 3 sessions").click()

    expect(page.get_by_role("heading", name="3 of 3 sessions cancelled")).to_be_visible()


def test_all_rows_are_selected_and_let_go_of_at_once(page):
    for n in range(3):
        ended(f"session {n}")
    page.goto("/")
    expect(page.locator(".t-bulk")).to_be_hidden()

    page.get_by_role("checkbox", name="Select all rows").check()
    expect(page.get_by_text("3 selected")).to_be_visible()
    page.get_by_role("button", name="Clear selection").click()

    page.locator(".t-bulk").wait_for(state="hidden")
    expect(page.get_by_role("checkbox", name="Select all rows")).not_to_be_checked()


def test_the_keyboard_walks_opens_and_searches(page):
    old = ended("older", created_at=timezone.now() - timedelta(hours=1))
    ended("newer")
    page.goto("/")
    for key in ("j", "j", "j", "k", "j"):
        page.keyboard.press(key)
    assert page.locator(".is-here .t-cell-title").inner_text() == "older"
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.id") == "search"
    page.keyboard.type("jk")
    assert page.input_value("#search") == "jk"
    page.goto("/")
    for key in ("j", "j", "Enter"):
        page.keyboard.press(key)

    page.wait_for_url(f"**/sessions/{old.pk}/")


def test_an_approval_comes_to_the_top_and_into_the_title(page, stream):
    session = add(running=True, title="basket restarts")
    page.goto("/")
    wait_until_live(page, stream)
    assert page.title() == "● 1 running - TARSy"

    in_thread(lambda: ApprovalRequestFactory(execution__stage__session=session))
    stream.send({"type": "approval.requested", "session_id": str(session.pk)})

    page.get_by_role("heading", name="Needs an approver").wait_for()
    wait_until(page, lambda: page.title() == "! 1 approval - TARSy")
    assert page.locator("#needs .t-timer time").inner_text().startswith(("4:5", "5:00"))


def test_a_failure_that_was_looked_at_leaves_the_top(page):
    failed = in_thread(lambda: SessionFactory(failed=True, title="went badly"))
    other = {"failed": True, "error_message": "Redis was away."}
    in_thread(lambda: SessionFactory(title="nobody looked", **other))
    page.goto("/")
    assert page.locator("[data-needs-count]").inner_text() == "2"

    seen = f'{{"{failed.pk}": [1, 1]}}'
    page.evaluate("seen => localStorage.setItem('tarsy.seen', seen)", seen)
    page.reload()

    wait_until(page, lambda: page.locator("[data-needs-count]").inner_text() == "1")
    assert "went badly" not in page.locator("#needs").inner_text()
    assert "went badly" in page.locator("#recent").inner_text()


def make_world() -> None:
    """Every section, with names that are long and hostile."""
    now = timezone.now()
    running = SessionFactory(running=True, title=f"{HOSTILE} {LONG}", alert_type=LONG, author=LONG)
    ApprovalRequestFactory(execution__stage__session=running, target=f"{HOSTILE}{LONG}")
    SessionFactory(title=HOSTILE, alert_type=HOSTILE)
    SessionFactory(failed=True, title=f"{HOSTILE} {LONG}", error_message=f"{HOSTILE} {LONG}")
    for n in range(27):
        at = now - timedelta(hours=n)
        SessionFactory(completed=True, title=f"{HOSTILE} {n}", author=HOSTILE, created_at=at)
    AlertSession.objects.filter(pk=running.pk).update(started_at=now)


@pytest.mark.parametrize("page", BROWSERS, indirect=True)
def test_no_page_of_the_list_is_wider_than_the_window_or_refused_by_axe(page):
    in_thread(make_world)
    session = in_thread(lambda: AlertSession.objects.filter(status="completed").first())

    for address in (
        "/",
        f"/?status=completed&status=failed&search=img&author={HOSTILE}&time=range"
        "&start_date=2020-01-01T00:00",
        "/?search=nothing-has-this&time=24h",
        f"/sessions/retry/?session={session.pk}",
    ):
        page.goto(address)
        fold = page.locator("[data-fold]")
        if fold.count() and fold.is_visible():
            fold.click()
        selecting = page.locator("[data-selecting]:visible")
        if selecting.count():
            selecting.first.click()
        page.evaluate("document.querySelectorAll('[data-pick]').forEach(d => { d.open = true; })")
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address
        assert page.locator("main img").count() == 0
        assert find_serious_faults(page) == [], address


@pytest.mark.parametrize("page", [SIZES[1]], indirect=True)
def test_a_thumb_selects_several_on_a_phone_and_cancels_them(page, stream):
    runs, waits = add(running=True, title="runs"), add(title="waits")
    ended("went well")
    page.goto("/")
    wait_until_live(page, stream)
    boxes = page.locator("#sessions input[name='session']")
    expect(boxes.first).to_be_hidden()

    page.get_by_role("button", name="Select", exact=True).first.click()
    for session in (runs, waits):
        box = page.locator(f"#row-{session.pk} .t-sel").bounding_box()
        assert min(box["width"], box["height"]) >= 44
        page.mouse.click(box["x"] + 4, box["y"] + 40)
    expect(page.get_by_text("2 selected")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.locator(".t-bulk").get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Cancel 2 sessions").click()

    expect(page.get_by_role("heading", name="2 of 2 sessions cancelled")).to_be_visible()


@pytest.mark.parametrize("page", [SIZES[1]], indirect=True)
def test_who_is_done_with_selecting_has_nothing_selected(page):
    ended("went well")
    page.goto("/")
    page.get_by_role("button", name="Select", exact=True).click()
    page.get_by_label("Select went well").check()

    page.get_by_role("button", name="Done", exact=True).click()

    expect(page.locator(".t-bulk")).to_be_hidden()
    assert not page.get_by_label("Select went well").is_checked()


@pytest.mark.parametrize("page", [SIZES[1]], indirect=True)
def test_a_thumb_hits_every_control_of_the_list(page):
    in_thread(make_world)
    page.goto("/?status=completed")
    page.locator("[data-fold]").click()
    page.get_by_role("button", name="Select", exact=True).last.click()
    page.get_by_role("checkbox", name="Select").last.check()

    small = page.evaluate(
        """() => [...document.querySelectorAll("main :is(button, select, input, summary, .t-btn)")]
            .map(e => [e.closest("label") ?? e, e])
            .filter(([e]) => e.offsetParent && e.getBoundingClientRect().height > 0)
            .filter(([e]) => e.getBoundingClientRect().height < 44)
            .map(([e, own]) => own.outerHTML.slice(0, 120))"""
    )

    assert small == []


RINGS = """
    window.rings = 0;
    const real = OscillatorNode.prototype.start;
    OscillatorNode.prototype.start = function (...at) {
        window.rings += 1;
        return real.apply(this, at);
    };
"""
ONE_WAITS = '<a class="t-waits" href="/">1 approval waits for you</a>'


def test_a_sound_for_approvals_is_off_until_wanted_and_remembered(page, live_server):
    cookie = log_in(lambda: UserFactory(admin=True))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    page.add_init_script(RINGS)
    page.goto("/")
    button = page.locator("[data-chime]")

    def one_more_waits() -> None:
        page.locator("#waits").evaluate("(slot, html) => { slot.innerHTML = html; }", ONE_WAITS)

    expect(button).to_have_attribute("aria-pressed", "false")
    one_more_waits()
    assert page.evaluate("window.rings") == 0

    button.click()
    expect(button).to_have_text("Sound for approvals: on")
    page.reload()
    expect(button).to_have_attribute("aria-pressed", "true")
    one_more_waits()
    page.wait_for_function("window.rings === 2")

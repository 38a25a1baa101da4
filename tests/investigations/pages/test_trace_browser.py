"""The trace in a real Chromium: bodies load when they are opened, and stay text."""

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession, MCPInteraction
from investigations.stream_messages import interaction_created
from tests.investigations.pages.browsing import (
    in_a_browser,
    in_thread,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.conftest import add_model_call, add_traced_tool

pytestmark = in_a_browser


@pytest.fixture
def asked(page) -> list[str]:
    """The addresses of bodies that the page asked for."""
    addresses: list[str] = []

    def note(request) -> None:
        if "/trace/" in request.url and not request.is_navigation_request():
            addresses.append(request.url)

    page.on("request", note)
    return addresses


def _call(session, number):
    return in_thread(lambda: session.mcp_interactions.get(tool_number=number))


def test_a_body_is_fetched_when_its_call_is_opened_and_once(traced, page, asked):
    page.goto(f"/sessions/{traced.pk}/trace/")
    row = page.locator("details:has(> #T1)")
    expect(row).to_be_visible()
    assert asked == []

    for _ in range(3):
        page.locator("#T1").click()
    row.get_by_text("OOMKilled").wait_for()
    row.get_by_text("checkout", exact=True).wait_for()

    assert len(asked) == 1


def test_a_model_call_opens_down_to_each_message(traced, page, asked):
    page.goto(f"/sessions/{traced.pk}/trace/")

    page.get_by_text("LLM call 2").click()
    page.get_by_text("3 messages that the model had been asked before").click()
    assert len(asked) == 1
    page.locator(".t-msg-earlier summary", has_text="system").click()

    message = page.locator(".t-msg-earlier .t-out").first
    message.wait_for()
    assert message.text_content() == "You investigate alerts. " * 200
    assert len(asked) == 2


def test_a_body_that_cannot_be_loaded_is_told_and_loads_at_the_next_try(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/")
    page.told_to_expect("net::ERR_FAILED")
    page.route("**/trace/tools/**", lambda route: route.abort())
    page.locator("#T1").click()
    page.get_by_text("This could not be loaded. Close it and open it again.").wait_for()

    page.unroute("**/trace/tools/**")
    page.locator("#T1").click()
    page.locator("#T1").click()

    page.locator("details:has(> #T1)").get_by_text("OOMKilled").wait_for()
    assert page.get_by_text("This could not be loaded").count() == 0


def test_a_call_that_was_opened_before_the_script_came_gets_its_body(traced, page):
    held = []
    page.route("**/trace*.js", lambda route: held.append(route))
    page.goto(f"/sessions/{traced.pk}/trace/#T1", wait_until="commit")
    row = page.locator("details:has(> #T1)")
    row.locator("xpath=self::*[@open]").wait_for()

    held[0].continue_()

    row.get_by_text("OOMKilled").wait_for()


def test_raw_and_rendered_change_places(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/#T1")
    row = page.locator("details:has(> #T1)")
    result = row.get_by_role("group", name="Result")
    expect(result).to_contain_text('    "reason": "OOMKilled"')

    row.get_by_role("link", name="Raw").last.click()
    expect(result).to_have_text('{"items": [{"reason": "OOMKilled"}]}')
    row.get_by_role("link", name="Rendered").click()
    expect(result).to_contain_text('    "reason": "OOMKilled"')


def test_the_filter_is_an_address_that_survives_a_reload_and_going_back(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/")
    page.get_by_role("link", name="Errors 1").click()
    expect(page.locator("#T1")).to_have_count(0)
    expect(page.locator("#T2")).to_be_visible()

    page.reload()
    expect(page.locator("#T1")).to_have_count(0)
    page.go_back()
    expect(page.locator("#T1")).to_be_visible()


def test_a_link_from_the_timeline_opens_the_call_and_one_leads_back(traced, page):
    page.goto(f"/sessions/{traced.pk}/#T1")
    page.locator("details:has(> #T1)").get_by_role("link", name="Trace").click()

    row = page.locator("details:has(> #T1)")
    row.get_by_role("link", name="Show in the timeline").click()

    page.wait_for_url(f"**/sessions/{traced.pk}/#T1")
    page.locator("details:has(> #T1)[open]").wait_for()
    page.get_by_role("link", name="Trace").first.click()
    page.wait_for_url(f"**/sessions/{traced.pk}/trace/")


def test_a_link_to_a_call_of_a_closed_iteration_loads_and_opens_it(traced, page):
    def go_on():
        execution = traced.executions.get()
        for n in range(3, 41):
            at = traced.started_at + timedelta(seconds=10 + 2 * n)
            add_model_call(execution, iteration=n, at=at)
            add_traced_tool(execution, n, "all is well", at=at + timedelta(seconds=1))

    in_thread(go_on)
    page.goto(f"/sessions/{traced.pk}/trace/")
    expect(page.locator("#T33")).to_have_count(0)

    page.goto(f"/sessions/{traced.pk}/trace/#T33")

    page.locator("details:has(> #T33).is-target").wait_for()
    expect(page.locator("#T33")).to_be_in_viewport()
    page.locator("details:has(> #T33)").get_by_text("all is well").wait_for()
    page.get_by_role("button", name="Close all iterations").click()
    expect(page.locator("[data-iteration][open]")).to_have_count(0)


def test_the_keyboard_walks_to_errors_and_opens_them(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/")

    page.keyboard.press("e")
    page.keyboard.press("o")

    page.locator("details:has(> #T2)[open]").get_by_text("range vector expected").first.wait_for()


HOSTILE = (
    "<script>alert(1)</script>",
    "<img src=https://collector.example.net/i onerror=alert(2)>",
    "</textarea></div></details><svg onload=alert(3)>",
    "<link rel=stylesheet href=https://collector.example.net/c>",
    "<iframe src=javascript:alert(4)></iframe>",
    "<b hx-get=https://collector.example.net/h hx-trigger=load>b</b>",
    "![x](https://collector.example.net/m) [y](javascript:alert(5))",
)


def test_hostile_text_is_text_and_runs_and_fetches_nothing(traced, page):
    text = "\n".join(HOSTILE)

    def poison():
        rows = MCPInteraction.objects.filter(session=traced)
        rows.update(tool_name=text[:200], tool_arguments={text: text},
                    tool_result={"content": text}, error_message=text)  # fmt: skip
        traced.messages.update(content=text)
        traced.llm_interactions.update(model_name=text[:200], thinking_content=text)

    in_thread(poison)
    dialogs, foreign = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    page.goto(f"/sessions/{traced.pk}/trace/")
    own = page.url.split("/sessions")[0]
    page.on("request", lambda r: foreign.append(r.url) if not r.url.startswith(own) else None)

    for row in page.locator(".t-row-call > summary").all():
        row.click()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.t-row-call')].every(e => !e.dataset.body)"
    )
    page.locator(".t-node-body:not([aria-busy]) .t-nums").first.wait_for()
    for link in page.locator("[data-raw]").all():
        link.click()
    for message in page.locator(".t-msg > summary").all():
        message.evaluate("e => { e.parentElement.open = true; }")
    page.wait_for_function(
        "() => [...document.querySelectorAll('.t-msg')].every(e => !e.dataset.text)"
    )

    for line in HOSTILE:
        assert page.get_by_text(line).count() > 0, line
    assert (dialogs, foreign) == ([], [])


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_every_body_can_be_reached(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/")
    page.locator("#T1").click()
    page.locator("details:has(> #T1)").get_by_role("link").click()

    expect(page.get_by_text("OOMKilled")).to_be_visible()
    page.get_by_role("link", name="Back to the trace of").click()
    page.get_by_text("LLM call 2").click()
    page.locator(".t-row-call[open]").get_by_role("link").last.click()
    page.get_by_text("3 messages that the model had been asked before").click()
    page.locator(".t-msg-earlier summary", has_text="system").click()
    whole = page.get_by_role("link", name="Show the whole message").first.get_attribute("href")
    assert page.request.get(whole).text() == "You investigate alerts. " * 200


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": width, "height": 800}} for width in (360, 390, 900)],
    indirect=True,
)
def test_an_opened_trace_is_never_wider_than_its_window(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/#T2")
    page.locator("details:has(> #T2) .t-nums").wait_for()
    page.get_by_text("LLM call 2").click()
    page.get_by_text("3 messages that the model had been asked before").wait_for()

    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_the_trace_grows_with_the_session_and_keeps_what_was_opened(traced, page, stream):
    page.goto(f"/sessions/{traced.pk}/trace/")
    wait_until_live(page, stream)
    page.locator("#T1").click()
    page.locator("details:has(> #T1)").get_by_text("OOMKilled").wait_for()
    page.get_by_text("LLM call 2").click()
    page.get_by_text("LLM call 2").click()

    def go_on():
        execution = traced.executions.get()
        call = add_traced_tool(execution, 7, "later", at=timezone.now())
        told = interaction_created(execution, call.pk, "mcp")
        return message_of(told, AlertSession.objects.get(pk=traced.pk).last_seq)

    page.evaluate("window.isSameDocument = true")
    stream.send(in_thread(go_on))

    page.locator("#T7").wait_for()
    expect(page.locator("details:has(> #T1)").get_by_text("OOMKilled")).to_be_visible()
    expect(page.locator("#trace-filters")).to_contain_text("Tools 3")
    assert page.evaluate("window.isSameDocument")


def test_a_trace_that_is_cut_off_from_its_session_says_so(traced, page, stream):
    page.goto(f"/sessions/{traced.pk}/trace/")
    wait_until_live(page, stream)
    stream.refuses = True

    stream.route.close()

    expect(page.locator("#strip")).to_contain_text("Live stream unavailable")


def test_a_choice_counts_at_once_and_keeps_the_focus(traced, page):
    page.goto(f"/sessions/{traced.pk}/trace/")
    expect(page.get_by_role("button", name="Apply")).to_be_hidden()

    page.get_by_label("Took at least").select_option("10")

    page.wait_for_url("**/trace/?*longer=10*")
    expect(page.get_by_label("Took at least")).to_have_value("10")
    expect(page.get_by_label("Took at least")).to_be_focused()

"""What people do on the page of a session: decide, come back, hand over, use the keyboard."""

import json

import pytest
from django.contrib.auth.models import Group
from playwright.sync_api import expect

from investigations.models import AlertSession, TimelineEvent
from investigations.services.approvals import decide_approval
from investigations.stream_messages import (
    approval_decided,
    interaction_created,
    timeline_event_created,
)
from tests.factories import ApprovalRequestFactory, SessionFactory, UserFactory
from tests.investigations.approving import make_decider
from tests.investigations.pages.browsing import (
    in_a_browser,
    in_thread,
    log_in,
    message_of,
    wait_until_live,
)
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = in_a_browser


def in_role(name: str):
    def make():
        user = UserFactory(username=name)
        user.groups.set(Group.objects.filter(name=name))
        return user

    return make


def request_write(running, **fields):
    known = {"arguments": {"name": "render-4"}, "risk": "high", "target": "render-4"}
    return ApprovalRequestFactory(execution=running.executions.get(), **{**known, **fields})


@pytest.fixture
def second(page, live_server):
    """Another person's browser, without a socket that the test answers for."""
    cookie = log_in(lambda: make_decider(username="ben"))
    context = page.context.browser.new_context(base_url=live_server.url)
    context.add_cookies([{**cookie, "url": live_server.url}])
    other = context.new_page()
    other.route_web_socket("**/api/v1/ws", lambda _route: None)
    yield other
    context.close()


def test_of_two_people_who_decide_one_is_first_and_the_other_is_told_who(
    running, page, stream, second, live_server
):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    approval = in_thread(lambda: request_write(running, risk="medium"))
    for each in (page, second):
        each.goto(f"/sessions/{running.pk}/")
        expect(each.get_by_role("button", name="Approve")).to_be_visible()
    wait_until_live(page, stream)

    # The second has not heard of it when it decides.
    second.get_by_role("button", name="Deny").click()
    expect(second.locator("#approvals").get_by_text("Denied by ben")).to_be_visible()
    page.get_by_role("button", name="Approve").click()

    expect(page.locator("#approvals").get_by_text("Denied by ben")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)
    in_thread(approval.refresh_from_db)
    assert approval.status == "denied"


def test_a_grave_write_takes_two_steps_and_no_key_decides(running, page, stream, live_server):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    approval = in_thread(lambda: request_write(running))
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    assert page.evaluate("document.activeElement === document.body")
    approve = page.get_by_role("button", name="Approve")
    typed = page.get_by_label("Type render-4 to approve it")
    expect(typed).to_be_hidden()

    page.keyboard.press("a")
    expect(page.locator(".t-appr.is-here")).to_be_in_viewport()
    page.get_by_label("Note, kept in the audit log").press("Enter")
    approve.click()
    expect(typed).to_be_focused()
    typed.fill("render-")
    typed.press("Enter")
    approve.click()
    in_thread(approval.refresh_from_db)
    assert approval.status == "pending"
    typed.fill("render-4")
    approve.click()

    expect(page.locator("#approvals").get_by_text("Approved by ana")).to_be_visible()
    in_thread(approval.refresh_from_db)
    assert approval.status == "approved"


def test_a_decision_made_elsewhere_takes_the_buttons_away_at_once(
    running, page, stream, live_server
):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    approval = in_thread(lambda: request_write(running))
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    page.get_by_role("button", name="Approve").click()

    def decide():
        decide_approval(approval.pk, "denied", account=make_decider(username="ben"), actor="ben")
        approval.refresh_from_db()
        return message_of(approval_decided(approval), running.last_seq + 1)

    stream.send(in_thread(decide))

    expect(page.locator("#approvals").get_by_text("Denied by ben")).to_be_visible()
    expect(page.get_by_role("button", name="Approve")).to_have_count(0)


def test_people_see_only_the_buttons_that_work_for_them(
    finished, running, page, live_server, settings
):
    settings.TARSY_AUTH = "session"
    in_thread(lambda: request_write(running))
    names = ("Cancel", "Approve", "Deny")
    for role, seen in (("viewer", ()), ("operator", ("Cancel",)), ("approver", names)):
        page.context.add_cookies([{**log_in(in_role(role)), "url": live_server.url}])
        page.goto(f"/sessions/{running.pk}/")
        shown = [n for n in names if page.get_by_role("button", name=n, exact=True).is_visible()]
        assert shown == list(seen), role
        told = page.get_by_text("Your account may not decide about changes")
        expect(told).to_be_visible() if role != "approver" else expect(told).to_be_hidden()
        page.goto(f"/sessions/{finished.pk}/")
        assert page.get_by_role("link", name="Retry").is_visible() is (role != "viewer"), role


def test_who_comes_back_is_shown_what_is_new(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    expect(page.locator("#since")).to_be_hidden()
    page.goto("/system/")

    def go_on():
        execution = running.executions.get()
        for number in range(3):
            add_event(execution, TimelineEvent.Type.LLM_THINKING, f"Thought {number}.")

    in_thread(go_on)
    page.goto(f"/sessions/{running.pk}/")

    expect(page.locator("#since")).to_contain_text("3 new events since ")
    rule = page.locator(".t-since")
    expect(rule).to_have_count(1)
    assert "Thought 0." in rule.locator("xpath=following-sibling::*[1]").inner_text()
    page.get_by_role("link", name="Go to the first").click()
    expect(page.locator(".t-event.is-target")).to_contain_text("Thought 0.")
    page.reload()
    expect(page.locator("#since")).to_be_hidden()


def test_what_was_found_is_handed_over_as_markdown_and_json(finished, page):
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.goto(f"/sessions/{finished.pk}/")
    read = "navigator.clipboard.readText()"

    page.get_by_role("button", name="Copy summary").click()
    page.get_by_text("Copied").first.wait_for()
    assert page.evaluate(read) == (
        "# basket restarts\n\nThe basket service passes its memory limit.\n\n"
        "High confidence, with gaps in its evidence. Claims: 1 cited, 1 uncited.\n\n"
        "1. [cited] The pod was killed with exit code 137.\n"
        "2. [uncited] Somebody changed the limit on Monday.\n"
        "3. The alert says so (alert).\n\n"
        "Do next:\n\n"
        "1. Raise the limit: `kubectl set resources deploy/basket --limits=memory=1Gi`\n\n"
        f"{page.url}"
    )
    page.get_by_text("Full report as written").click()
    page.locator("#full-report").get_by_role("button", name="Copy as Markdown").click()
    page.wait_for_function(f"async () => (await {read}).includes('## Next steps')")
    page.locator(".t-finding .t-copy").first.click()
    page.wait_for_function(f"async () => (await {read}).startsWith('Killed, as **seen**')")

    with page.expect_download() as download:
        page.get_by_role("link", name="Export").click()
    document = json.loads(download.value.path().read_text())
    assert document["session"]["id"] == str(finished.pk)
    assert document["session"]["final_analysis"] == finished.final_analysis
    assert len(document["timeline"]) == in_thread(finished.timeline_events.count)
    assert [each["agent_name"] for each in document["executions"]] == ["inspector-1", "inspector-2"]
    assert "lease_token" not in json.dumps(document)


def test_the_help_lists_exactly_the_keys_that_work(finished, page):
    older, newer = in_thread(lambda: _neighbours_of(finished))
    page.goto(f"/sessions/{finished.pk}/")

    page.keyboard.press("?")

    listed = page.locator("#help dt").all_inner_texts()
    assert [" ".join(each.split()) for each in listed] == [
        "j", "k", "o", "Enter", "e", "a", "y", "[", "]", "g l", "g n", "g s", "?",
        "/", "n", "N", "Esc", "f", "p", "c",
    ]  # fmt: skip
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("[")
    page.wait_for_url(f"**/sessions/{older}/")
    page.keyboard.press("]")
    page.wait_for_url(f"**/sessions/{finished.pk}/")
    page.keyboard.press("]")
    page.wait_for_url(f"**/sessions/{newer}/")
    page.keyboard.press("?")
    assert "]" not in page.locator("#help dt").all_inner_texts()


def _neighbours_of(session):
    older, newer = SessionFactory(completed=True), SessionFactory(completed=True)
    rows = AlertSession.objects
    rows.filter(pk=older.pk).update(created_at="2020-01-01T00:00:00Z")
    rows.filter(pk=session.pk).update(created_at="2020-01-02T00:00:00Z")
    rows.filter(pk=newer.pk).update(created_at="2020-01-03T00:00:00Z")
    return older.pk, newer.pk


@pytest.mark.parametrize("page", [{"timezone_id": "Asia/Tokyo"}], indirect=True)
def test_times_are_local_or_utc_as_one_chooses_and_say_which(finished, page):
    page.goto(f"/sessions/{finished.pk}/#T1")
    time = page.locator("details:has(> #T1) time[data-kind=offset]")
    expect(time).to_contain_text("GMT+9")
    expect(page.locator("[data-zone]")).to_have_text("Times in GMT+9")
    title = time.get_attribute("title")
    assert "GMT+9" in title
    assert "UTC" in title

    page.get_by_role("button", name="Show UTC").click()

    expect(time).to_contain_text("UTC")
    page.reload()
    expect(page.locator("[data-zone]")).to_have_text("Times in UTC")
    expect(time).to_contain_text("UTC")


def test_raw_is_one_click_however_quickly_it_is_clicked_and_it_is_remembered(finished, page):
    page.goto(f"/sessions/{finished.pk}/#T1")
    call = page.locator("details:has(> #T1)")
    call.get_by_role("link", name="Raw").dblclick()
    expect(call.locator(".t-out")).to_have_class("t-out is-raw")
    expect(call.get_by_role("link", name="Rendered")).to_be_visible()

    page.goto(f"/sessions/{finished.pk}/#T2")
    page.reload()

    expect(page.locator("details:has(> #T2) .t-out")).to_have_class("t-out is-raw")
    page.locator("details:has(> #T2)").get_by_role("link", name="Rendered").click()
    expect(page.locator("details:has(> #T2) .t-out")).to_have_class("t-out")


def test_a_link_to_what_is_not_there_yet_is_told_and_then_followed(running, page, stream):
    page.goto(f"/sessions/{running.pk}/#e-99")
    page.get_by_text("This session has no such event yet.").wait_for()
    wait_until_live(page, stream)

    def think():
        execution = running.executions.get()
        event = add_event(execution, TimelineEvent.Type.LLM_THINKING, "And now?")
        return message_of(timeline_event_created(event), event.sequence_number)

    stream.send(in_thread(think))
    page.get_by_text("And now?").wait_for()
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("k")
    expect(page.locator(".is-here")).to_contain_text("And now?")


def test_the_summary_of_a_result_is_its_first_view_and_the_others_are_one_click_away(
    running, page, stream
):
    execution = in_thread(running.executions.get)
    in_thread(lambda: add_tool_call(execution, 2, '{"restarts": 9}'))
    kind = TimelineEvent.Type.MCP_TOOL_SUMMARY
    in_thread(lambda: add_event(execution, kind, "Nine restarts.", tool_number=2))
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    summary, result = page.get_by_text("Nine restarts."), page.locator("details:has(> #T2) .t-out")
    expect(summary).to_be_visible()

    page.locator("#T2").click()
    expect(page.get_by_role("button", name="Summary")).to_have_attribute("aria-pressed", "true")
    expect(summary).to_be_visible()
    expect(result).to_be_hidden()

    page.get_by_role("button", name="Rendered").click()
    expect(result).to_have_text('{\n  "restarts": 9\n}', use_inner_text=True)
    expect(summary).to_be_hidden()

    page.locator("details:has(> #T2) [data-raw]").click()
    expect(result).to_have_text('{"restarts": 9}', use_inner_text=True)

    page.get_by_role("button", name="Summary").click()
    expect(summary).to_be_visible()
    expect(result).to_be_hidden()

    page.keyboard.press("/")
    page.keyboard.type('"restarts"')
    page.keyboard.press("Enter")
    expect(result).to_be_visible()


def test_a_result_without_a_summary_offers_no_view_of_one(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    page.locator("#T1").click()

    expect(page.locator("details:has(> #T1) .t-out")).to_be_visible()
    expect(page.get_by_role("button", name="Summary")).to_be_hidden()


IS_ON_TOP = """element => {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return element.contains(document.elementFromPoint((left + right) / 2, top + 2))
    && element.contains(document.elementFromPoint((left + right) / 2, bottom - 2));
}"""


@pytest.mark.parametrize("page", [{"viewport": {"width": 800, "height": 600}}], indirect=True)
@pytest.mark.parametrize("way", ["link", "key"])
def test_the_request_is_shown_and_gone_through_from_its_heading_on(
    running, page, stream, live_server, way
):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    approval = in_thread(lambda: request_write(running))
    place = f"#approval-{approval.pk}"
    page.goto(f"/sessions/{running.pk}/{place if way == 'link' else ''}")
    wait_until_live(page, stream)
    heading = page.get_by_role("heading", name="Approve this change?")
    if way == "key":
        page.keyboard.press("a")
        expect(heading).to_be_focused()
    expect(heading).to_be_in_viewport()
    assert heading.evaluate(IS_ON_TOP)
    page.keyboard.press("Tab")
    expect(page.locator(f"{place} :focus")).to_have_count(1)


def test_the_count_of_tools_comes_with_the_call_it_counts_and_never_goes_back(
    running, page, stream
):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    head = page.locator(".t-agent-head").first
    expect(head).to_contain_text("1 tool")
    facts = page.evaluate("async () => (await fetch(location.pathname + 'facts/')).text()")
    late = facts.replace('id="facts"', 'id="facts" data-late')
    page.route("**/facts/", lambda route: route.fulfill(body=late, content_type="text/html"))

    def call():
        event = add_tool_call(running.executions.get(), 2)
        return message_of(timeline_event_created(event), event.sequence_number)

    def begin_step():
        execution = running.executions.get()
        running.refresh_from_db()
        running.last_seq += 1
        running.save()
        told = interaction_created(execution, execution.pk, "iteration")
        return message_of(told, running.last_seq)

    stream.send(in_thread(call))
    expect(page.locator("#T2")).to_be_visible()
    assert "2 tools" in head.inner_text()

    stream.send(in_thread(begin_step))
    expect(page.locator("#facts[data-late]")).to_be_visible()
    assert "2 tools" in head.inner_text()

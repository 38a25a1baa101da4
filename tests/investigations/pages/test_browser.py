"""The pages in a real Chromium: what a person sees, and that nothing is refused or logged."""

import re

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import AlertSession, TimelineEvent
from investigations.rendering.written_blocks import render_blocks
from investigations.services.approvals import decide_approval
from investigations.stream_messages import (
    approval_decided,
    approval_requested,
    session_status,
    timeline_event_completed,
    timeline_event_created,
)
from tests.factories import ApprovalRequestFactory
from tests.investigations.approving import make_decider
from tests.investigations.pages.browsing import (
    find_serious_faults,
    first_said,
    in_a_browser,
    in_thread,
    log_in,
    message_of,
    wait_until,
    wait_until_live,
)
from tests.investigations.pages.conftest import add_event

pytestmark = in_a_browser


def test_a_finished_session_shows_its_conclusion(finished, page):
    page.goto(f"/sessions/{finished.pk}/")

    assert page.locator("#conclusion .t-lead").inner_text() == (
        "The basket service passes its memory limit."
    )
    assert page.title() == "✓ basket restarts - TARSy"
    expect(page.get_by_role("button", name="Copy summary")).to_be_visible()


def test_a_chip_opens_its_call_beside_the_claim_and_from_there_in_the_timeline(finished, page):
    page.goto(f"/sessions/{finished.pk}/")
    call = page.locator("details:has(> #T1)")
    evidence = page.locator("#evidence")
    expect(evidence).to_be_hidden()

    page.locator('#conclusion a[href="#T1"]').first.click()

    expect(evidence.locator("mark")).to_have_text("137")
    claim, beside = page.locator("#claim-1").bounding_box(), evidence.bounding_box()
    assert claim["x"] + claim["width"] <= beside["x"]
    assert call.get_attribute("open") is None
    evidence.get_by_role("link", name="Show in the timeline").click()
    expect(evidence).to_be_hidden()
    expect(call).to_have_attribute("open", "")
    expect(call).to_have_class(re.compile(r"\bis-target\b"))
    assert page.locator("#T1").evaluate("e => e.getBoundingClientRect().top >= 0")


def test_a_claim_that_nothing_supports_is_marked_in_words_and_its_evidence_can_be_reached(
    finished, page
):
    def review() -> None:
        report = finished.final_analysis
        place = report.index("exit code 137")
        named = {"start": place, "end": place + 13, "text": "exit code 137", "kind": "number",
                 "reason": "no result has <b>137</b>"}  # fmt: skip
        execution = finished.executions.order_by("agent_index").last()
        kind = TimelineEvent.Type.FINAL_ANALYSIS
        add_event(execution, kind, report, unsupported=[named])

    in_thread(review)
    page.goto(f"/sessions/{finished.pk}/")

    claim = page.locator("#conclusion .t-claim").first
    marked = claim.locator("mark.t-unsup-words")
    assert marked.inner_text() == "exit code 137"
    assert marked.evaluate("e => getComputedStyle(e).textDecorationStyle") == "dashed"
    assert marked.evaluate("e => getComputedStyle(e).backgroundColor") == "rgba(0, 0, 0, 0)"
    expect(claim.get_by_title("Unsupported")).to_have_text("no result has <b>137</b>")
    expect(page.get_by_text("1 passage of the report is marked as unsupported")).to_be_visible()

    claim.locator("a.t-ev").click()
    expect(page.locator("#evidence")).to_contain_text("Claim 1 of 3")


def test_a_deep_link_opens_what_is_around_it(finished, page):
    page.goto(f"/sessions/{finished.pk}/#T2")

    page.locator("details:has(> #T2)[open]").wait_for()


def test_an_unknown_link_is_told_without_getting_in_the_way(finished, page):
    page.goto(f"/sessions/{finished.pk}/#T77")

    page.get_by_text("This session has no tool call T77 yet.").wait_for()


@pytest.mark.parametrize(
    "page",
    [{"viewport": {"width": 390, "height": 844}}, {"viewport": {"width": 360, "height": 640}}],
    indirect=True,
)
def test_nothing_is_wider_than_a_phone(finished, running, page):
    for address in ("/", f"/sessions/{finished.pk}/", f"/sessions/{running.pk}/", "/login/"):
        page.goto(address)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), address


def test_the_theme_switch_goes_through_its_states_and_stays(finished, page):
    page.goto(f"/sessions/{finished.pk}/")
    seen = set()
    for _ in range(3):
        page.locator(".theme-toggle").click()
        seen.add(page.evaluate("document.documentElement.dataset.theme"))
        if seen >= {"dark"} and page.evaluate("document.documentElement.dataset.theme") == "dark":
            break
    page.reload()

    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 23, 26)"


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_the_page_is_complete(finished, page):
    page.goto(f"/sessions/{finished.pk}/")

    expect(page.get_by_text("The basket service passes its memory limit.").first).to_be_visible()
    page.locator("#T1").click()
    expect(page.locator("details:has(> #T1) .t-out")).to_be_visible()


def test_the_keyboard_walks_opens_and_explains(finished, page):
    page.goto(f"/sessions/{finished.pk}/")

    page.keyboard.press("e")
    page.keyboard.press("o")
    assert page.locator(".t-call--bad[open]").count() == 1
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()


def test_a_live_page_continues_from_what_it_shows(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    page.locator("#strip").wait_for(state="hidden")

    wait_until_live(page, stream)
    assert first_said(stream, "subscribe") == {
        "action": "subscribe",
        "channel": f"session:{running.pk}",
        "last_event_id": running.last_seq,
        "format": "html",
    }


@pytest.fixture
def writing(running) -> dict[str, str]:
    """The block that is being written, as its chunks name it."""
    event = running.timeline_events.get(event_type="llm_response")
    return {
        "type": "stream.chunk",
        "event_id": str(event.pk),
        "execution_id": str(event.execution_id),
    }


def test_text_is_appended_as_text_and_never_twice(running, writing, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    more, last = " <b>6</b> times 👍.", "!"

    for offset, delta in ((7, " restarts"), (7, " restarts"), (16, more), (16 + len(more), last)):
        stream.send({**writing, "offset": offset, "delta": delta})

    _wait_for_text(page, writing, "The pod restarts <b>6</b> times 👍.!")


def test_markdown_is_drawn_while_it_comes_and_nothing_moves_that_is_read(
    running, writing, page, stream
):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    text = "The pod\n\n## Evidence\n\n- died [T1]\n- **again"
    blocks = [block.html for block in render_blocks(text)]
    stream.send({**writing, "offset": 7, "delta": text[7:], "blocks": {"first": 0, "html": blocks}})
    block = page.locator(f'[data-event="{writing["event_id"]}"] [data-stream]')
    expect(block.locator("h2")).to_have_text("Evidence")
    expect(block.locator("strong")).to_have_text("again")
    assert block.locator("li a.t-ev").inner_text() == "T1"
    block.locator("li").first.evaluate("item => { item.seen = true; }")

    stream.send({**writing, "offset": len(text), "delta": " and again"})
    expect(block.locator("li").nth(1)).to_have_text("again and again")
    more = f"{text} and again**\n- thrice"
    last = {"first": 2, "html": [render_blocks(more)[2].html]}
    offset = len(text) + len(" and again")
    stream.send({**writing, "offset": offset, "delta": more[offset:], "blocks": last})

    expect(block.locator("li")).to_have_text(["died [T1]", "again and again", "thrice"])
    assert block.locator("li").first.evaluate("item => item.seen")
    assert find_serious_faults(page) == []


def test_text_goes_on_in_a_block_that_was_put_there_anew(running, writing, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    stream.send({**writing, "offset": 7, "delta": " restarts"})
    _wait_for_text(page, writing, "The pod restarts")

    page.locator(f'[data-event="{writing["event_id"]}"]').evaluate(
        "block => block.replaceWith(block.cloneNode(true))"
    )
    stream.send({**writing, "offset": 16, "delta": " again."})

    _wait_for_text(page, writing, "The pod restarts again.")


def test_a_citation_is_a_link_as_soon_as_it_is_written_if_there_is_such_a_call(
    running, writing, page, stream
):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)

    for offset, delta in ((7, " died [T"), (15, "1], as [T99] says"), (32, " [T1]. Raise it.")):
        stream.send({**writing, "offset": offset, "delta": delta})
    _wait_for_text(page, writing, "The pod died [T1], as [T99] says [T1]. Raise it.")

    links = page.locator("[data-stream] a")
    assert links.all_inner_texts() == ["T1", "T1"]
    links.first.click()
    page.locator("details:has(> #T1)[open]").wait_for()


def test_the_field_for_questions_comes_when_there_is_something_to_ask(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    expect(page.locator("#ask")).to_be_hidden()

    def end():
        AlertSession.objects.filter(pk=running.pk).update(
            status="completed", completed_at=timezone.now(), final_analysis="It is the memory."
        )
        return message_of(session_status(running.pk, "completed"), running.last_seq + 1)

    stream.send(in_thread(end))

    expect(page.locator("#reading #ask")).to_be_visible()


def test_a_gap_in_the_text_is_shown_as_one(running, writing, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)

    stream.send({**writing, "offset": 100, "delta": "times."})

    _wait_for_text(page, writing, "The pod[…] times.")


def test_a_stored_message_puts_its_piece_where_it_belongs_once(running, writing, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)

    seen = running.last_seq

    def go_on():
        event = running.timeline_events.get(pk=writing["event_id"])
        event.status, event.content = "completed", "It *died*."
        event.save()
        kind = TimelineEvent.Type.LLM_THINKING
        thought = add_event(running.executions.get(), kind, "And now?")
        return (
            message_of(timeline_event_completed(event), seen + 1),
            message_of(timeline_event_created(thought), seen + 2),
        )

    done, new = in_thread(go_on)
    for message in (done, new, done, new):
        stream.send(message)

    page.get_by_text("And now?").wait_for()
    assert page.get_by_text("And now?").count() == 1
    assert page.locator(f'[data-event="{writing["event_id"]}"] em').inner_text() == "died"


def test_a_hole_in_the_numbers_is_asked_for_again(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)

    stream.send({"type": "session.status", "db_event_id": running.last_seq + 5})
    wait_until(page, lambda: any(m["action"] == "catchup" for m in stream.heard))

    assert first_said(stream, "catchup")["last_event_id"] == running.last_seq


def test_a_lost_stream_is_told_and_the_page_goes_on_by_asking(running, page, stream):
    stream.refuses = True
    page.goto(f"/sessions/{running.pk}/")

    page.get_by_text("Live stream unavailable, refreshing every 5 s.").first.wait_for()
    stream.refuses = False

    page.get_by_text("Live again.").first.wait_for()
    page.locator("#strip").wait_for(state="hidden")


def _wait_for_text(page, writing, text) -> None:
    block = page.locator(f'[data-event="{writing["event_id"]}"] [data-stream]')
    wait_until(page, lambda: block.text_content() == text)


def _request_write(running, risk="high", **told):
    arguments = {"name": "render-4", "note": "x\u200by"}
    execution = running.executions.get()
    return ApprovalRequestFactory(execution=execution, arguments=arguments, risk=risk, **told)


def test_a_request_appears_counts_down_and_gives_way_to_the_decision(running, page, stream):
    page.goto(f"/sessions/{running.pk}/")
    wait_until_live(page, stream)
    approval = in_thread(lambda: _request_write(running))

    stream.send(in_thread(lambda: message_of(approval_requested(approval), running.last_seq + 1)))

    panel = page.locator(f"#approval-{approval.pk}")
    panel.get_by_text("Approve this change?").wait_for()
    assert re.fullmatch(r"[45]:\d\d", panel.locator(".t-clock time").inner_text())
    assert panel.locator(".t-inv").inner_text() == "U+200B"
    expect(page.locator("#session-head .t-pill--you").first).to_be_visible()
    assert page.title().startswith("(!)")
    assert not panel.get_by_role("button", name="Approve").is_visible()

    def decide():
        decide_approval(approval.pk, "denied", account=make_decider(username="ben"), actor="ben")
        approval.refresh_from_db()
        return message_of(approval_decided(approval), running.last_seq + 2)

    stream.send(in_thread(decide))

    page.get_by_text("Denied by ben").wait_for()
    assert page.get_by_text("Approve this change?").count() == 0
    assert page.locator("#session-head .t-pill--you").count() == 0


@pytest.mark.parametrize(("button", "status"), [("Deny", "denied"), ("Approve", "approved")])
def test_a_person_decides_on_the_page(running, page, live_server, button, status):
    cookie = log_in(lambda: make_decider(username="ana"))
    why = "Four of six pods were killed for memory. " * 30
    approval = in_thread(lambda: _request_write(running, risk="medium", reason=why))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    page.set_viewport_size({"width": 1366, "height": 768})
    page.goto(f"/sessions/{running.pk}/")

    # Within reach, however much there is to be read above them.
    expect(page.get_by_role("button", name=button)).to_be_in_viewport(ratio=1)
    page.get_by_label("Note, kept in the audit log").fill("as agreed")
    page.get_by_role("button", name=button).click()

    page.locator("#approvals").get_by_text(f"{status.capitalize()} by ana").wait_for()
    in_thread(approval.refresh_from_db)
    assert (approval.status, approval.decision_reason) == (status, "as agreed")


@pytest.mark.parametrize("page", [{"viewport": {"width": 360, "height": 800}}], indirect=True)
def test_a_decision_fits_on_a_phone(running, page, live_server):
    cookie = log_in(lambda: make_decider(username="ana"))
    in_thread(lambda: _request_write(running))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    page.goto(f"/sessions/{running.pk}/")

    expect(page.get_by_role("button", name="Approve")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def _request_file_write(running):
    rows = [
        {"kind": "same", "text": "[limits]", "old": 1, "new": 1, "note": ""},
        {"kind": "del", "text": "limit=10", "old": 2, "new": None, "note": ""},
        {"kind": "add", "text": "limit=\u200b20", "old": None, "new": 2, "note": ""},
        {"kind": "gap", "text": "", "old": None, "new": None, "note": ""},
    ] + [
        {"kind": "add", "text": f"line {n} " + "long " * 60, "old": None, "new": n, "note": ""}
        for n in range(3, 303)
    ]
    change = {
        "path": "/srv/shop/app.conf", "asked_path": "/srv/shop/app.conf", "exists": True,
        "facts": {}, "state": "a file of 28 bytes, owner root:root, mode 0640", "size_after": 40,
        "rows": rows, "added": 301, "removed": 1, "left_out": 0,
    }  # fmt: skip
    return ApprovalRequestFactory(
        execution=running.executions.get(),
        server_name="ops",
        tool_name="file_edit",
        target="host:web-1",
        arguments={"action": "write", "path": "/srv/shop/app.conf", "content": "limit=20\n"},
        risk="medium",
        preview={"verification": ["TARSy calls ops.file_edit."], "change": change},
    )


def _colour(locator) -> str:
    return str(locator.evaluate("e => getComputedStyle(e).backgroundColor"))


@pytest.mark.parametrize(
    "page",
    [
        {"viewport": {"width": 1440, "height": 900}},
        {"viewport": {"width": 360, "height": 800}},
        {"viewport": {"width": 1440, "height": 900}, "color_scheme": "dark"},
    ],
    ids=["wide", "phone", "dark"],
    indirect=True,
)
def test_a_person_sees_what_becomes_of_a_file(running, page, live_server):
    cookie = log_in(make_decider)
    in_thread(lambda: _request_file_write(running))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    page.goto(f"/sessions/{running.pk}/")

    change = page.get_by_role("region", name="What changes, line by line")
    removed, added = change.locator(".is-del").first, change.locator(".is-add").first

    assert removed.inner_text().split() == ["2", "-", "limit=10"]
    assert added.locator(".t-inv").inner_text() == "U+200B"
    same = change.locator(".is-same").first
    assert len({_colour(removed), _colour(added), _colour(same)}) == 3
    last = change.get_by_text("line 302 long")
    assert not last.is_visible()
    change.get_by_text("104 lines more").click()
    expect(last).to_be_visible()
    width = page.viewport_size["width"]
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    expect(page.get_by_role("button", name="Approve")).to_be_visible()

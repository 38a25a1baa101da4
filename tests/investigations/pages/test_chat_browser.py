"""Asking on the page of an investigation, in a real Chromium."""

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from investigations.models import ChatUserMessage, Stage, TimelineEvent
from investigations.services.chat import ask_question
from investigations.stream_messages import (
    execution_status,
    stage_status,
    timeline_event_completed,
    timeline_event_created,
)
from tests.factories import UserFactory
from tests.investigations.pages.browsing import (
    Stream,
    in_a_browser,
    in_thread,
    log_in,
    message_of,
    wait_until,
    wait_until_live,
)
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = [*in_a_browser, pytest.mark.usefixtures("chains", "clean_redis")]

PHONE = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
QUESTION = "Was the database affected?"


@pytest.fixture
def field(answerable, page):
    """The field of the open page of an investigation that has ended."""
    page.goto(f"/sessions/{answerable.pk}/")
    # A page that was loaded anew forgets it.
    page.evaluate("window.sameLoad = true")
    return page.get_by_label("Ask about this investigation")


def _asked(session) -> list[str]:
    def read() -> list[str]:
        return list(ChatUserMessage.objects.filter(chat__session=session).values_list(
            "content", flat=True))  # fmt: skip

    return in_thread(read)


def _answer(session) -> dict[str, object]:
    """Begin to write an answer: its payloads."""
    session.refresh_from_db()
    stage = session.stages.get(stage_type="chat")
    execution = stage.executions.get()
    execution.status, execution.lease_token = "active", session.pk
    execution.save()
    call = add_tool_call(execution, 3)
    block = add_event(execution, TimelineEvent.Type.LLM_RESPONSE, "The", status="streaming")
    return {
        "stage": stage_status(stage),
        "began": execution_status(execution),
        "call": timeline_event_created(call),
        "block": timeline_event_created(block),
    }


def _finish(session) -> list[dict[str, object]]:
    session.refresh_from_db()
    stage = session.stages.get(stage_type="chat")
    execution = stage.executions.get()
    block = execution.timeline_events.get(event_type="llm_response")
    block.status, block.metadata = "completed", {"is_final": True}
    block.content = "The database was *fine* [T3]."
    block.save()
    found = add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, block.content)
    now = found.created_at
    execution.status, execution.completed_at, execution.lease_token = "completed", now, None
    execution.save()
    stage.status, stage.completed_at = "completed", now
    stage.save()
    return [
        timeline_event_completed(block),
        timeline_event_created(found),
        execution_status(execution),
        stage_status(stage),
    ]


def _send_all(stream, session, payloads) -> None:
    """As the server would: each with its piece, numbered behind what the page knows."""
    seq = max(m["last_event_id"] for m in stream.heard if m["action"] == "subscribe")
    sent = getattr(stream, "sent", 0)

    def numbered():
        return [message_of(each, seq + sent + n) for n, each in enumerate(payloads, start=1)]

    for message in in_thread(numbered):
        stream.send(message)
    stream.sent = sent + len(payloads)


def test_a_question_is_asked_without_a_reload_and_answered_in_the_timeline(
    answerable, field, page, stream
):
    wait_until_live(page, stream)
    field.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()

    turn = page.locator(".t-stage--chat")
    turn.get_by_text(QUESTION).wait_for()
    expect(field).to_have_value("")
    expect(field).to_be_disabled()
    page.get_by_text("The question of anonymous is being answered").wait_for()
    assert page.evaluate("window.sameLoad")
    assert _asked(answerable) == [QUESTION]
    expect(turn).to_be_in_viewport()

    begun = in_thread(lambda: _answer(answerable))
    _send_all(stream, answerable, [begun[name] for name in ("stage", "began", "call", "block")])
    block = begun["block"]["event_id"]
    turn.locator("#T3").wait_for()
    stream.send({
        "type": "stream.chunk", "event_id": block, "offset": 3, "delta": " <b>database</b>",
        "execution_id": begun["block"]["execution_id"],
    })  # fmt: skip
    turn.get_by_text("The <b>database</b>").wait_for()

    _send_all(stream, answerable, in_thread(lambda: _finish(answerable)))
    turn.locator("em", has_text="fine").wait_for()
    expect(field).to_be_enabled()
    assert turn.get_by_role("link", name="T3").get_attribute("href") == "#T3"
    assert page.locator(".t-stage--chat").count() == 1
    # The next question is asked right below the answer.
    boxes = [each.bounding_box() for each in (turn, field)]
    assert boxes[0]["y"] + boxes[0]["height"] <= boxes[1]["y"] <= page.viewport_size["height"]
    # There is nothing to follow any more, however one scrolls.
    page.locator("h1").click()
    page.keyboard.press("End")
    page.mouse.wheel(0, -300)
    page.mouse.wheel(0, -300)
    expect(turn.locator("[data-follow]")).to_be_hidden()


def test_an_answer_is_stopped_without_a_reload_and_the_field_opens(answerable, field, page, stream):
    wait_until_live(page, stream)
    field.fill(QUESTION)
    field.press("Enter")
    page.locator(".t-stage--chat").get_by_role("button", name="Stop").click()

    wait_until(page, lambda: in_thread(lambda: _chat_of(answerable).status) == "cancelled")
    _send_all(stream, answerable, in_thread(lambda: [stage_status(_chat_of(answerable))]))

    expect(field).to_be_enabled()
    page.locator(".t-stage--chat .t-pill", has_text="Cancelled").first.wait_for()
    assert page.evaluate("window.sameLoad")


def _chat_of(session) -> Stage:
    return Stage.objects.get(session=session, stage_type="chat")


def test_another_browser_sees_the_question_and_its_answer(
    answerable, field, page, stream, live_server
):
    other, others = page.context.browser.new_page(base_url=live_server.url), Stream()
    other.route_web_socket("**/api/v1/ws", others.accept)
    other.goto(f"/sessions/{answerable.pk}/")
    wait_until_live(other, others)
    place = other.evaluate("scrollY")

    field.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    page.locator(".t-stage--chat").wait_for()
    begun = in_thread(lambda: _answer(answerable))
    _send_all(others, answerable, [begun[name] for name in ("stage", "began", "call", "block")])
    _send_all(others, answerable, in_thread(lambda: _finish(answerable)))

    turn = other.locator(".t-stage--chat")
    turn.get_by_text(QUESTION).wait_for()
    turn.locator("em", has_text="fine").wait_for()
    # Who reads something else is not pulled away from it.
    assert other.evaluate("scrollY") == place


@pytest.mark.parametrize(
    ("keys", "is_asked"),
    [("Enter", True), ("Control+Enter", True), ("Meta+Enter", True), ("Shift+Enter", False)],
)
def test_the_keyboard_asks_or_starts_a_line(answerable, field, page, keys, is_asked):
    page.keyboard.press("c")
    expect(field).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press(keys)

    if is_asked:
        page.locator(".t-stage--chat").get_by_text(QUESTION).wait_for()
        assert _asked(answerable) == [QUESTION]
    else:
        expect(field).to_have_value(f"{QUESTION}\n")


def test_a_draft_outlives_a_reload_and_is_gone_once_it_was_asked(answerable, field, page):
    field.fill("half a ques")
    page.reload()
    expect(field).to_have_value("half a ques")

    field.press("Enter")
    page.locator(".t-stage--chat").wait_for()
    page.reload()

    expect(field).to_have_value("")


def test_the_server_out_of_reach_costs_no_text(answerable, field, page):
    page.route("**/ask/", lambda route: route.abort())
    # The browser itself says on its console that the request failed.
    page.told_to_expect("net::ERR_FAILED")
    field.fill(QUESTION)
    field.press("Enter")

    page.get_by_text("Not asked: the server cannot be reached. Your text stays here.").wait_for()
    expect(field).to_have_value(QUESTION)
    expect(field).to_be_enabled()
    expect(field).to_be_focused()
    page.unroute("**/ask/")
    field.press("Enter")
    page.locator(".t-stage--chat").get_by_text(QUESTION).wait_for()


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (500, "<html>", "Not asked: the server answered with 500."),
        (409, '{"error": "another question is being answered"}', "another question is being"),
        (401, "Sign in again.", "Not asked: you are signed out."),
    ],
)
def test_a_refusal_costs_no_text(answerable, field, page, status, body, said):
    page.route("**/ask/", lambda route: route.fulfill(status=status, body=body))
    page.told_to_expect(f"status of {status}")
    field.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()

    page.get_by_role("alert").get_by_text(said).wait_for()
    expect(field).to_have_value(QUESTION)
    page.reload()
    expect(field).to_have_value(QUESTION)


def test_a_draft_is_kept_while_somebody_else_is_answered(answerable, field, page, stream):
    wait_until_live(page, stream)
    field.fill("my own question")

    def ask():
        ask_question(answerable.pk, QUESTION, author="ben")
        return [stage_status(_chat_of(answerable))]

    _send_all(stream, answerable, in_thread(ask))

    page.get_by_text("The question of ben is being answered").wait_for()
    expect(field).to_be_disabled()
    expect(field).to_have_value("my own question")
    page.locator(".t-stage--chat").get_by_text(QUESTION).wait_for()


def test_why_nothing_can_be_asked_stands_in_one_line(running, chains, page):
    in_thread(
        lambda: (
            type(running)
            .objects.filter(pk=running.pk)
            .update(chain_id="single", status="cancelled", completed_at=timezone.now())
        )
    )
    page.goto(f"/sessions/{running.pk}/")

    expect(page.locator("#question")).to_be_hidden()
    assert page.get_by_text("The investigation was cancelled").first.is_visible()
    assert page.locator("#talk").bounding_box()["height"] < 60


def test_a_suggestion_fills_the_field_and_asks_nothing(answerable, field, page):
    page.get_by_role("button", name="Which tool result supports claim 2?").click()

    expect(field).to_have_value("Which tool result supports claim 2?")
    expect(field).to_be_focused()
    assert _asked(answerable) == []


@pytest.mark.parametrize("page", [{"java_script_enabled": False}], indirect=True)
def test_without_a_script_a_question_is_asked_stopped_and_never_lost(answerable, page):
    page.goto(f"/sessions/{answerable.pk}/")
    field = page.get_by_label("Ask about this investigation")
    field.fill("   ")
    page.told_to_expect("status of 400")
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.get_by_text("Not asked: the question must not be empty.")).to_be_visible()
    assert field.input_value() == "   "

    field.fill(QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    expect(page.locator(".t-stage--chat").get_by_text(QUESTION)).to_be_visible()
    assert "Load this page again to see how the answer goes on." in page.content()

    page.locator("#ask").get_by_role("button", name="Stop").click()
    expect(page.locator(".t-stage--chat").get_by_text("Cancelled").first).to_be_visible()
    assert field.is_enabled()


@pytest.mark.parametrize("page", [PHONE], indirect=True)
def test_on_a_phone_a_question_fits_and_is_asked_with_the_button(answerable, field, page):
    field.tap()
    page.keyboard.type("Was the database")
    page.keyboard.press("Enter")
    page.keyboard.type("affected by all this, or was it something else entirely?" * 3)
    button = page.get_by_role("button", name="Ask", exact=True)
    assert button.bounding_box()["height"] >= 44
    button.tap()

    turn = page.locator(".t-stage--chat")
    turn.get_by_text("Was the database").wait_for()
    assert _asked(answerable)[0].startswith("Was the database\naffected")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(turn.get_by_role("button", name="Stop")).to_be_visible()


def test_questions_and_answers_have_links_of_their_own(answerable, page, live_server):
    cookie = log_in(lambda: UserFactory(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])

    def prepare():
        ask_question(answerable.pk, QUESTION, author="ana")
        _answer(answerable)
        return _finish(answerable)

    in_thread(prepare)
    page.goto(f"/sessions/{answerable.pk}/")
    for title in ("Link to this question", "Link to this answer"):
        link = page.get_by_title(title)
        address = link.get_attribute("href")
        page.goto(f"/sessions/{answerable.pk}/{address}")
        page.locator(f"{address}.is-target").wait_for()
        expect(page.locator(address)).to_be_in_viewport()


def test_hostile_words_in_a_chat_run_nothing_and_fetch_nothing(answerable, field, page, stream):
    dialogs, foreign = [], []
    page.on("dialog", lambda dialog: (dialogs.append(dialog.message), dialog.dismiss()))
    own = page.url.split("/sessions")[0]
    page.on("request", lambda r: foreign.append(r.url) if not r.url.startswith(own) else None)
    wait_until_live(page, stream)
    hostile = "<script>alert(1)</script><img src=https://collector.example.net/x onerror=alert(2)>"

    field.fill(hostile)
    field.press("Enter")
    page.locator(".t-stage--chat").get_by_text(hostile).wait_for()
    page.reload()
    page.locator(".t-stage--chat").get_by_text(hostile).wait_for()

    assert (dialogs, foreign) == ([], [])

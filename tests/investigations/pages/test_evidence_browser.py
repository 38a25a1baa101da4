"""The evidence of claims beside the conclusion: by keyboard, from a claim to the bytes and back."""

import pytest
from playwright.sync_api import expect

from investigations.models import TimelineEvent
from tests.browser import WATCH_SHIFTS
from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.pages.browsing import find_serious_faults, in_a_browser, in_thread
from tests.investigations.pages.conftest import add_event, add_tool_call

pytestmark = in_a_browser

REPORT = """## Conclusion
The pod ran out of memory. Confidence: high

## Evidence
1. It ended with exit code 137 [T1 "exitCode: 137"].
2. It has 3 restarts [T1 "restarts: 3"] [T2].
3. Somebody changed the limit.

## Next steps
1. Raise the limit.
"""


@pytest.fixture
def proved(transactional_db):
    def make():
        session = SessionFactory(completed=True, final_analysis=REPORT)
        execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
        log = "line of a log\n" * 900
        add_tool_call(execution, 1, f"{log}  exitCode: 137, reason: OOMKilled\n{log}")
        add_tool_call(execution, 2, "basket-7 restarts 0", is_error=True)
        add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, REPORT)
        return session

    return in_thread(make)


def test_keys_alone_lead_from_claim_to_claim_to_the_bytes_and_back(proved, page):
    page.goto(f"/sessions/{proved.pk}/")
    quoted = page.locator("#claim-1 .t-quote")
    assert quoted.inner_text() == "exitCode: 137, reason: OOMKilled"
    assert quoted.locator("mark").inner_text() == "exitCode: 137"
    expect(page.locator("#claim-2 .t-quotes")).to_contain_text("not in this result")

    evidence = page.locator("#evidence")
    page.keyboard.press("n")
    expect(evidence.locator("mark")).to_have_text("exitCode: 137")
    expect(evidence.locator("mark")).to_be_in_viewport()
    expect(evidence).to_contain_text("Claim 1 of 3 Proved", use_inner_text=True)
    assert find_serious_faults(page) == []
    page.keyboard.press("n")
    expect(evidence).to_contain_text("T1 does not say")
    evidence.get_by_role("link", name="T2").focus()
    page.keyboard.press("Enter")
    expect(evidence).to_contain_text("This call failed")
    page.keyboard.press("n")
    expect(evidence).to_contain_text("It cites no tool call")
    page.keyboard.press("p")
    expect(evidence).to_contain_text("Claim 2 of 3")
    assert page.url.endswith("#claim-2")
    page.keyboard.press("Escape")
    expect(evidence).to_be_hidden()
    assert page.evaluate("document.activeElement.closest('.t-claim').id") == "claim-2"
    page.wait_for_function("location.hash === ''")


def test_a_link_to_a_claim_opens_its_evidence_and_a_search_has_its_own_next(proved, page):
    page.goto(f"/sessions/{proved.pk}/#claim-1")
    evidence = page.locator("#evidence")
    expect(evidence).to_contain_text("Claim 1 of 3")

    page.keyboard.press("/")
    page.locator("#find-words").fill("restarts")
    page.keyboard.press("Enter")
    expect(page.locator("[data-find-count]")).to_contain_text("1 of")
    page.locator("#find-words").blur()
    page.keyboard.press("n")

    expect(page.locator("[data-find-count]")).to_contain_text("2 of")
    expect(evidence).to_contain_text("Claim 1 of 3")
    page.locator("[data-find-close]").click()

    # To the quoted words in the timeline, and back by the key that the list of keys names for it.
    evidence.get_by_role("link", name="Show in the timeline").click()
    back = page.get_by_role("button", name="Back to where you read")
    expect(back).to_be_visible()
    expect(page.locator("#timeline mark")).to_have_text("exitCode: 137")
    expect(page.locator("#timeline mark")).to_be_in_viewport()
    page.keyboard.press("Escape")
    expect(back).to_be_hidden()
    page.wait_for_function("location.hash === '#claim-1'")
    expect(page.locator("#claim-1")).to_be_in_viewport()


def test_what_a_call_was_asked_is_read_whole_in_the_panel(proved, page):
    runs = "/opt/shop/releases/42/bin/python -m shop.web " + "--set limit=64Mi " * 30 + "--last"

    def ask():
        event = TimelineEvent.objects.get(session=proved, metadata__tool_number=1)
        event.metadata["arguments"] = {"unit": "shop-web", "runs": runs}
        event.save(update_fields=["metadata"])

    in_thread(ask)
    page.goto(f"/sessions/{proved.pk}/")
    page.keyboard.press("n")

    asked = page.locator("#evidence .t-kv")
    expect(asked).to_contain_text("--last")
    cut = """list => [list, ...list.children].filter(
        (each) => each.scrollHeight > each.clientHeight + 1
            || each.scrollWidth > each.clientWidth + 1
    ).map((each) => each.textContent)"""
    assert asked.evaluate(cut) == []
    expect(page.locator("#evidence mark")).to_have_text("exitCode: 137")
    assert find_serious_faults(page) == []


ANSWER = (
    '{"services": [{"service": "shop", "state": "idle in transaction", "connections": 8, '
    '"note": "<b>plain</b>", "listens_on": []}], "left_out": 0}'
)


@pytest.mark.parametrize("page", [{}, {"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_json_is_laid_out_beside_the_claim_and_its_bytes_are_one_click_away(transactional_db, page):
    report = REPORT.replace('"exitCode: 137"', '«"idle in transaction", "connections": 8»')

    def make():
        session = SessionFactory(completed=True, final_analysis=report)
        execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
        add_tool_call(execution, 1, ANSWER)
        add_event(execution, TimelineEvent.Type.FINAL_ANALYSIS, report)
        return session

    session = in_thread(make)
    page.goto(f"/sessions/{session.pk}/#claim-1")
    evidence = page.locator("#evidence")

    mark = evidence.locator("mark")
    expect(mark).to_be_in_viewport()
    words = mark.text_content()
    assert " ".join(words.split()) == '"idle in transaction", "connections": 8'
    shown = evidence.locator(".t-out")
    assert '\n      "note": "<b>plain</b>",\n' in shown.text_content()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert find_serious_faults(page) == []
    evidence.get_by_role("link", name="Raw").click()
    expect(shown).to_have_class("t-out is-raw")
    assert shown.text_content() == ANSWER
    evidence.get_by_role("link", name="Rendered").click()
    expect(mark).to_have_count(1)
    assert '\n      "note"' in shown.text_content()
    assert page.evaluate("localStorage.getItem('tarsy.raw')") is None


@pytest.mark.parametrize(
    "page",
    [{"timezone_id": "Asia/Tokyo", "viewport": {"width": 390, "height": 800}}],
    indirect=True,
)
def test_moments_of_claims_are_local_on_the_page_and_as_written_in_quotes_and_in_a_copy(
    transactional_db, page
):
    line = "2026-11-30T12:50:01Z ERROR exit"
    report = (
        "## Conclusion\nIt ended at 2026-11-30 12:50 UTC. Confidence: high\n\n"
        f'## Evidence\n1. It ended at 2026-11-30T12:50:01Z [T1 "{line}"].\n'
    )

    def make():
        session = SessionFactory(completed=True, final_analysis=report)
        execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
        add_tool_call(execution, 1, f"first\n{line}\n")
        return session

    session = in_thread(make)
    page.add_init_script(f"({WATCH_SHIFTS})()")
    page.goto(f"/sessions/{session.pk}/")

    local = "2026-11-30 21:50 GMT+9"
    expect(page.locator(".t-lead")).to_have_text(f"It ended at {local}.")
    exactly = "2026-11-30 21:50:01 GMT+9"
    expect(page.locator("#claim-1 .t-claim-words")).to_have_text(f"It ended at {exactly}.")
    assert page.locator("#claim-1 .t-quote").inner_text() == line
    assert "It ended at 2026-11-30 12:50 UTC." in page.locator("#summary-text").text_content()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    # A zone with a longer name may take a line more on a phone, once, when the page is opened.
    assert page.evaluate("window.shifted") < 0.1

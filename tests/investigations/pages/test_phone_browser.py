"""A session on a phone: what is to be touched is large enough, and a decision stays in reach."""

import pytest
from playwright.sync_api import expect

from tests.factories import ExecutionFactory, SessionFactory, StageFactory
from tests.investigations.approving import make_decider
from tests.investigations.pages.browsing import in_a_browser, in_thread, log_in
from tests.investigations.pages.conftest import add_tool_call
from tests.investigations.pages.test_session_browser import request_write

pytestmark = in_a_browser

PHONES = [
    {"viewport": {"width": width, "height": 844}, "has_touch": True, "is_mobile": True}
    for width in (360, 390)
]
SMALL = """
all => all.filter(each => {
  const box = each.getBoundingClientRect();
  if (!box.width || !each.checkVisibility()) return false;
  each.scrollIntoView({block: "center"});
  const {left, right, top, bottom} = each.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (top + bottom) / 2];
  // Where a finger lands that is up to 21 px off, up and down, and to the sides.
  const places = [[x, y - 21], [x, y + 21], [x - 21, y], [x + 21, y]];
  return !places.every(([px, py]) => each.contains(document.elementFromPoint(px, py)));
}).map(each => each.outerHTML.slice(0, 120))
"""
TARGETS = ".t-waits, .t-crumb a, .t-tabs a, .t-head-end .t-btn, .t-ev, .t-iconbtn, .t-call-bar a"


@pytest.fixture
def deciding(running, page, live_server):
    cookie = log_in(lambda: make_decider(username="ana"))
    page.context.add_cookies([{**cookie, "url": live_server.url}])
    in_thread(lambda: request_write(running, risk="medium", tool_number=1))
    page.goto(f"/sessions/{running.pk}/")
    return running


@pytest.mark.parametrize("page", PHONES, indirect=True, ids=("360", "390"))
def test_everything_that_is_touched_is_44_pixels_large(deciding, page):
    page.locator("summary#T1").tap()
    page.locator(".t-call[open] .t-iconbtn").wait_for()

    assert page.locator(TARGETS).evaluate_all(SMALL) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("page", PHONES, indirect=True, ids=("360", "390"))
def test_what_is_decided_stays_in_reach_and_covers_nothing(deciding, page):
    for add in range(2, 30):
        in_thread(lambda number=add: add_tool_call(deciding.executions.get(), number))
    page.reload()
    page.locator("summary#T29").wait_for()
    page.evaluate("scrollTo(0, document.body.scrollHeight)")

    bar = page.locator(".t-decide-bar")
    for name in ("Deny", "Approve"):
        expect(page.get_by_role("button", name=name)).to_be_in_viewport(ratio=1)
    expect(bar).to_contain_text("render-4")
    top = bar.bounding_box()["y"]
    last = page.locator(".t-foot").bounding_box()
    assert last["y"] + last["height"] <= top

    page.get_by_role("button", name="Deny").tap()
    expect(page.locator("#approvals").get_by_text("Denied by ana")).to_be_visible()
    expect(bar).to_have_count(0)


@pytest.mark.parametrize("page", PHONES, indirect=True, ids=("360", "390"))
def test_the_head_shows_the_whole_of_the_time_that_has_passed(deciding, page):
    times = page.locator("#facts time")
    assert times.count() == 2
    for place in range(2):
        assert times.nth(place).evaluate(
            "e => { const b = e.getBoundingClientRect(); return b.right <= innerWidth"
            " && document.elementFromPoint(b.right - 2, b.y + 4) === e }"
        )


TWELVE = "\n".join(
    f"{number}. Words that need more than one line of a phone" for number in range(1, 13)
)
LONG_REPORT = f"""## Conclusion
Much went wrong. Confidence: low

## Evidence
{TWELVE}

## Next steps
{TWELVE}
"""


@pytest.mark.parametrize("page", PHONES, indirect=True, ids=("360", "390"))
def test_a_number_of_two_digits_stands_whole_and_beside_its_text(page):
    session = in_thread(lambda: SessionFactory(completed=True, final_analysis=LONG_REPORT))
    page.goto(f"/sessions/{session.pk}/")
    page.locator(".t-claim").last.wait_for()

    claims = page.locator(".t-claim").evaluate_all(
        """all => all.map(claim => {
          const [number, text] = claim.children;
          const words = document.createRange();
          words.selectNodeContents(number);
          return [words.getClientRects().length, words.getBoundingClientRect().right
            <= text.getBoundingClientRect().left];
        })"""
    )
    assert claims == [[1, True]] * 12
    # The number of a step is drawn before its text: the room for it has to hold two digits.
    rooms = page.locator(".t-next > ol > li").evaluate_all(
        """all => all.map(step => {
          const probe = document.createElement("b");
          probe.textContent = "12 ";
          step.append(probe);
          const needed = probe.getBoundingClientRect().width;
          probe.remove();
          return needed < parseFloat(getComputedStyle(step).paddingLeft);
        })"""
    )
    assert rooms == [True] * 12


@pytest.mark.parametrize("page", PHONES, indirect=True, ids=("360", "390"))
def test_a_title_has_more_room_than_the_buttons_beside_it(finished, page):
    page.goto(f"/sessions/{finished.pk}/")

    title, buttons = (page.locator(each).bounding_box() for each in ("h1", ".t-head-end"))
    assert title["width"] > buttons["width"]
    assert page.locator(".t-head-end .t-btn:visible").count() == 3


@pytest.mark.parametrize("page", PHONES[:1], indirect=True, ids=("360",))
def test_one_tap_on_a_chip_shows_the_quote_where_it_stands_in_a_long_result(page):
    report = '## Conclusion\nIt died.\n\n## Evidence\n1. It was killed [T1 "exit_code: 137"].\n'

    def make():
        session = SessionFactory(completed=True, final_analysis=report)
        execution = ExecutionFactory(stage=StageFactory(session=session, completed=True))
        result = "line of a log\n" * 2_000 + '{"exit_code": 137}\n' + "another line\n" * 2_000
        add_tool_call(execution, 1, result)
        return session

    session = in_thread(make)
    page.goto(f"/sessions/{session.pk}/")

    page.locator(".t-claim .t-ev--said").tap()

    mark = page.locator(".t-passage mark")
    expect(mark).to_have_text('exit_code": 137')
    expect(mark).to_be_in_viewport()
    assert page.url.endswith("#claim-1")
    # The claim is seen above the sheet, and the browser's own way back closes it.
    sheet = page.locator("#evidence").bounding_box()
    claim = page.locator("#claim-1").bounding_box()
    assert claim["y"] + claim["height"] <= sheet["y"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.go_back()
    expect(page.locator("#evidence")).to_be_hidden()

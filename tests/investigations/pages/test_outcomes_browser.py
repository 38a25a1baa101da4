"""Green is what came to a good end: nothing else of a session's page is, whatever stages say."""

import pytest

from tests.factories import ExecutionFactory, IncidentFactory, SessionFactory, StageFactory
from tests.investigations.pages.browsing import in_a_browser, in_thread
from tests.investigations.pages.test_outcomes import end_with_denied_write

pytestmark = in_a_browser

GREEN_ONES = """() => {
    const probe = document.body.appendChild(document.createElement("i"))
    probe.className = "t-fg-ok"
    const green = getComputedStyle(probe).color
    const drawn = [...document.querySelectorAll(".t-trail .t-i, .t-stage-head > .t-pill")]
    return drawn.map((each) => getComputedStyle(each).color === green)
}"""


def _draw(page, make) -> list[bool]:
    """Whether each mark of a stage is green."""
    session = in_thread(make)
    page.goto(f"/sessions/{session.pk}/")
    page.locator(".t-trail .t-i").first.wait_for()
    drawn: list[bool] = page.evaluate(GREEN_ONES)
    return drawn


@pytest.mark.parametrize("is_recovered", [False, True])
def test_no_stage_is_green_over_a_write_that_was_denied_whatever_the_alert_does(page, is_recovered):
    incident = {"recovered": is_recovered}

    assert _draw(page, lambda: end_with_denied_write(incident=IncidentFactory(**incident))[0]) == [
        False, False,
    ]  # fmt: skip


def test_the_stages_of_what_came_to_a_good_end_are_green(page):
    def make():
        session = SessionFactory(completed=True, incident=IncidentFactory(recovered=True))
        ExecutionFactory(stage=StageFactory(session=session, completed=True), completed=True)
        return session

    assert _draw(page, make) == [True, True]
